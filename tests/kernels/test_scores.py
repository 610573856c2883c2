"""Scores are what their definitions say, and no row moves two of them farther apart than their reach."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.kernels.keyed import distinct
from cloister.kernels.scores import FARTHEST_GAP, Counts, PlaceScore, RankDistance, Scoring, TotalDistance, reach_for
from cloister.privacy.mechanisms.exponential import one_by_one
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.testing.choice_law import plain_scores

SIZE = 7
OPTIONS = (1, 5, 2)
SCORINGS = {
    "count": Scoring(Counts(), SIZE),
    "count of options": Scoring(Counts(), SIZE, OPTIONS),
    "median": Scoring(RankDistance(1, 2), SIZE),
    "quantile": Scoring(RankDistance(9, 10), SIZE),
    "low quantile of options": Scoring(RankDistance(1, 3), SIZE, OPTIONS),
    "distance": Scoring(TotalDistance(SIZE, 4), SIZE, OPTIONS),
    "clipped distance": Scoring(TotalDistance(2, 4), SIZE, OPTIONS),
}
rows_of_a_table = st.lists(st.integers(0, SIZE - 1), max_size=12)


def scores_of(scoring: Scoring, rows: list[int]) -> np.ndarray:
    """The score of every candidate, less the best, by the runs that a release uses."""
    counted = distinct(np.array(rows, dtype=np.int64).reshape(-1, 1))
    return -one_by_one(scoring.runs(counted.keys[:, 0], counted.counts))


def farthest_apart(scoring: Scoring, one: list[int], other: list[int]) -> int:
    """How far two tables move two scores apart."""
    moves = scores_of(scoring, one) - scores_of(scoring, other)
    return int(moves.max() - moves.min())


@pytest.mark.parametrize("name", SCORINGS)
@given(rows=rows_of_a_table)
def test_runs_have_the_scores_of_the_definitions(name: str, rows: list[int]) -> None:
    """Every candidate is in one run, with the score that counting over all rows gives."""
    scoring = SCORINGS[name]
    counted = distinct(np.array(rows, dtype=np.int64).reshape(-1, 1))
    plain = plain_scores(scoring, counted.keys[:, 0], counted.counts)
    assert scores_of(scoring, rows).tolist() == (plain - plain.max()).tolist()


@given(rows=rows_of_a_table, a=st.integers(1, 9))
def test_some_value_is_the_quantile(rows: list[int], a: int) -> None:
    """The ranks of all values cover every target, so the best distance is 0: what `within` promises rests on it."""
    counted = distinct(np.array(rows, dtype=np.int64).reshape(-1, 1))
    scores = RankDistance(a, 10).at(np.arange(SIZE), counted.keys[:, 0], counted.counts)
    assert scores.max() == 0


@pytest.mark.parametrize("name", SCORINGS)
@given(rows=rows_of_a_table, one=st.integers(0, SIZE - 1), other=st.integers(0, SIZE - 1))
def test_a_row_moves_scores_apart_by_at_most_the_reach(name: str, rows: list[int], one: int, other: int) -> None:
    """Added, or replaced: under both relations."""
    scoring = SCORINGS[name]
    assert farthest_apart(scoring, [*rows, one], rows) <= scoring.score.reach(Neighbours.ADD_REMOVE)
    assert farthest_apart(scoring, [*rows, one], [*rows, other]) <= scoring.score.reach(Neighbours.REPLACE_ONE)


@pytest.mark.parametrize("name", SCORINGS)
@given(rows=rows_of_a_table, theirs=st.lists(st.integers(0, SIZE - 1), max_size=3))
def test_a_person_moves_scores_apart_by_at_most_the_reach(name: str, rows: list[int], theirs: list[int]) -> None:
    """All rows of somebody come or go at once."""
    scoring = SCORINGS[name]
    assert farthest_apart(scoring, rows + theirs, rows) <= reach_for(scoring.score, Neighbours.ADD_REMOVE, Unit("who", 3))


TIGHT = [
    ("count", Neighbours.ADD_REMOVE, [], [3]),
    ("count", Neighbours.REPLACE_ONE, [2], [3]),
    ("median", Neighbours.ADD_REMOVE, [3], [3, 6]),
    ("median", Neighbours.REPLACE_ONE, [3, 3, 0], [3, 3, 6]),
    ("quantile", Neighbours.ADD_REMOVE, [2] * 30, [2] * 30 + [5]),
    ("quantile", Neighbours.REPLACE_ONE, [*[2] * 3, *[4] * 27, 0], [*[2] * 3, *[4] * 27, 6]),
    ("distance", Neighbours.ADD_REMOVE, [], [0]),
    ("distance", Neighbours.REPLACE_ONE, [0], [6]),
    ("clipped distance", Neighbours.ADD_REMOVE, [], [5]),
    ("clipped distance", Neighbours.REPLACE_ONE, [1], [5]),
]


@pytest.mark.parametrize(("name", "neighbours", "one", "other"), TIGHT, ids=str)
def test_a_reach_is_attained(name: str, neighbours: Neighbours, one: list[int], other: list[int]) -> None:
    """None is larger than it needs to be, which would waste the budget."""
    scoring = SCORINGS[name]
    assert farthest_apart(scoring, one, other) == scoring.score.reach(neighbours)


@dataclass(frozen=True)
class MonotoneRank(RankDistance):
    """Planted: ranks taken for scores that all move the same way, as counts do."""

    def reach(self, neighbours: Neighbours) -> int:
        return super().reach(neighbours) // 2


def test_a_reach_that_is_too_small_would_be_seen() -> None:
    """Planted: the median with half its reach."""
    score: PlaceScore = MonotoneRank(1, 2)
    assert farthest_apart(replace(SCORINGS["median"], score=score), [3], [3, 6]) > score.reach(Neighbours.ADD_REMOVE)


def test_a_gap_that_is_cut_off_keeps_its_place() -> None:
    """Scores beyond all numbers of rows count as equally far behind; the best stays the best."""
    keys, counts = np.array([0, 3]), np.array([2**62, 2**62 + 5])
    runs = Scoring(Counts(), SIZE).runs(keys, counts)
    assert one_by_one(runs).tolist() == [5, FARTHEST_GAP, FARTHEST_GAP, 0, *[FARTHEST_GAP] * 3]


def test_runs_do_not_grow_with_the_grid() -> None:
    """Ten million places with three values are seven runs."""
    counted = distinct(np.array([[5], [7], [9_000_000], [7]]))
    runs = Scoring(RankDistance(1, 2), 10**7).runs(counted.keys[:, 0], counted.counts)
    assert len(runs.gaps) == 7
    assert int(runs.widths.sum()) == 10**7
