"""Low-order marginals count what they say, and no row moves their distances farther apart than the reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.encode import Encoded
from cloister.kernels import Histogram, LowOrderMarginals
from cloister.kernels.base import Summary
from cloister.kernels.low_order import FARTHEST_DISTANCE, MarginalDistances, part_name
from cloister.schema import Neighbours

CELLS = Histogram(((0, 5),), (2, 2))  # three bins, and two categories of two values
KERNEL = LowOrderMarginals(CELLS, ((0,), (0, 1), (1, 2), (0, 1, 2)))
PAIRS = LowOrderMarginals(CELLS, ((0, 1), (0, 2), (1, 2)))

row = st.tuples(st.integers(-3, 8), st.integers(0, 1), st.integers(0, 1))
tables = st.lists(row, max_size=12)
counts = st.lists(st.integers(-3, 6), min_size=16, max_size=16)  # of all references, one after the other


def encoded(rows: list[tuple[int, int, int]]) -> Encoded:
    cells = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Encoded(np.ascontiguousarray(cells[:, :1]), np.ascontiguousarray(cells[:, 1:]))


def distances(values: list[int], handicaps: tuple[int, ...] = (0, 2, 5)) -> MarginalDistances:
    """References of the three pairs, of 6, 6 and 4 cells."""
    flat = np.array(values, dtype=np.int64)
    references = (flat[:6].reshape(3, 2), flat[6:12].reshape(3, 2), flat[12:].reshape(2, 2))
    return MarginalDistances(PAIRS, references, handicaps)


def farthest_apart(scores: MarginalDistances, one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> int:
    """How far two tables move two scores apart."""
    moves = scores.scores(PAIRS.fold(encoded(one))) - scores.scores(PAIRS.fold(encoded(other)))
    return int(moves.max() - moves.min())


@given(rows=tables)
def test_every_marginal_counts_its_columns(rows: list[tuple[int, int, int]]) -> None:
    """As counting the rows one by one does, for one, two and three columns."""
    found = KERNEL.fold(encoded(rows))
    for i, kept in enumerate(KERNEL.kept):
        plain = np.zeros([CELLS.shape[axis] for axis in kept], dtype=np.int64)
        for number, *codes in rows:
            places = [int(np.searchsorted([0, 5], number, side="right")), *codes]
            plain[tuple(places[axis] for axis in kept)] += 1
        assert found[part_name(i)].tolist() == plain.tolist()


def test_a_row_is_in_a_cell_of_each_marginal() -> None:
    """Four marginals move by 1 each when a row is added, by 2 each when one is replaced."""
    for neighbours, each in ((Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE_ONE, 2)):
        (move,) = KERNEL.sensitivity(neighbours).moves
        assert sum(change.l1 for change in move.values()) == sum(change.l2_squared for change in move.values()) == 4 * each


@given(rows=tables, values=counts)
def test_scores_are_distances_less_the_handicap(rows: list[tuple[int, int, int]], values: list[int]) -> None:
    """The sum of the absolute differences of all cells."""
    scores, summary = distances(values), PAIRS.fold(encoded(rows))
    plain = [
        int(np.abs(summary[part_name(i)] - table).sum()) - scores.handicaps[i] for i, table in enumerate(scores.references)
    ]
    assert scores.scores(summary).tolist() == plain


@given(rows=tables, one=row, other=row, values=counts)
def test_a_row_moves_distances_apart_by_at_most_the_reach(
    rows: list[tuple[int, int, int]], one: tuple[int, int, int], other: tuple[int, int, int], values: list[int]
) -> None:
    """Added, or replaced, whatever was released before."""
    scores = distances(values)
    assert farthest_apart(scores, [*rows, one], rows) <= scores.reach(Neighbours.ADD_REMOVE)
    assert farthest_apart(scores, [*rows, one], [*rows, other]) <= scores.reach(Neighbours.REPLACE_ONE)


FULL, EMPTY = [[9, 9], [9, 9], [9, 9]], [[0, 0], [0, 0], [0, 0]]  # above and below every count
ABOVE_AND_BELOW = [*np.ravel(FULL), *np.ravel(EMPTY), 0, 0, 0, 0]
TIGHT = [
    (Neighbours.ADD_REMOVE, ABOVE_AND_BELOW, [(0, 0, 0)], []),  # nearer to a full table, farther from an empty one
    # nearer to the first reference by 2, farther from the second by 2
    (Neighbours.REPLACE_ONE, [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [(1, 0, 0)], [(-1, 0, 0)]),
]


@pytest.mark.parametrize(("neighbours", "values", "one", "other"), TIGHT)
def test_the_reach_is_attained(neighbours: Neighbours, values: list[int], one: list, other: list) -> None:
    """It is not larger than it needs to be; half of it, as for counts, which all move the same way, would be caught."""
    scores = distances([int(value) for value in values])
    assert farthest_apart(scores, one, other) == scores.reach(neighbours)


def test_a_distance_beyond_all_tables_is_cut_off() -> None:
    """References that no table comes near: the scores stay numbers of 64 bits."""
    scores = replace(distances([2**62, *[0] * 15]), handicaps=(0, 2**63 - 1, 0))
    none = Summary({name: np.zeros(shape, dtype=np.int64) for name, shape in PAIRS.parts.items()})
    assert scores.scores(none).tolist() == [FARTHEST_DISTANCE, -FARTHEST_DISTANCE, 0]


def test_a_marginal_without_its_reference_is_refused() -> None:
    """A reference of another shape would be broadcast, and a row moved several of its cells."""
    with pytest.raises(ValueError, match="reference of its shape"):
        MarginalDistances(PAIRS, (np.zeros((1, 1), dtype=np.int64),) * 3, (0, 0, 0))
