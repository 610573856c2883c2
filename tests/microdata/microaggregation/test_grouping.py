"""Groups: the figures of the literature, sizes from k to 2k - 1, people, blocks that cover every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.errors import DataError
from cloister.kernels.loops import microaggregate_numpy
from cloister.kernels.loops.arrays import F64, I32
from cloister.microdata.microaggregation import block_order, grouping
from cloister.microdata.microaggregation.centroids import publish_columns
from cloister.microdata.microaggregation.grouping import group_modes, make_groups
from cloister.microdata.microaggregation.row_scales import scales_of
from tests.microdata.microaggregation.mixed_tables import mixed_rows, number_rows
from tests.real_data import real

REFERENCES = [
    ("casc-census.csv", 3, 5.6922), ("casc-census.csv", 5, 9.0884), ("casc-census.csv", 10, 14.1559),
    ("casc-tarragona.csv", 3, 16.9326), ("casc-tarragona.csv", 5, 22.4619), ("casc-tarragona.csv", 10, 33.1929),
]  # fmt: skip


def loss_of(values: F64, of: I32) -> float:
    """100 SSE/SST on z-scores, counted plainly."""
    scores = (values - values.mean(axis=0)) / values.std(axis=0)
    within = sum(((part - part.mean(axis=0)) ** 2).sum() for part in (scores[of == g] for g in np.unique(of)))
    return float(100 * within / scores.size)


@pytest.mark.parametrize(("file", "k", "figure"), REFERENCES)
def test_mdav_has_the_losses_of_the_literature(file: str, k: int, figure: float) -> None:
    """MDAV on the CASC reference sets loses what is published of it, to four decimals; the summary's own figure agrees."""
    values = np.loadtxt(real(file), delimiter=",", skiprows=1)
    rows = number_rows(values)
    groups = make_groups(rows, k, "standardized", "mdav")
    assert f"{loss_of(values, groups.of):.4f}" == f"{figure:.4f}"
    own = np.mean([column.loss for column in publish_columns(rows, groups, {})])
    assert f"{own:.4f}" == f"{figure:.4f}"


def test_a_wrong_rule_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: pairs while 2k are left, as in cmd, give another loss than MDAV has."""
    file, k, figure = REFERENCES[4]
    values = np.loadtxt(real(file), delimiter=",", skiprows=1)
    monkeypatch.setitem(grouping.PAIRS_FROM, "mdav", 2)
    assert f"{loss_of(values, make_groups(number_rows(values), k, 'standardized', 'mdav').of):.4f}" != f"{figure:.4f}"


@settings(max_examples=60)
@given(
    n=st.integers(2, 120), k=st.integers(2, 9), seed=st.integers(0, 10**6), rule=st.sampled_from(["cmd", "mdav"]),
    distance=st.sampled_from(["mixed", "standardized"]), columns=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)  # fmt: skip
def test_groups_have_k_to_2k_minus_1_rows(
    n: int, k: int, seed: int, rule: str, distance: str, columns: tuple[int, int]
) -> None:
    """Every row is in one group, and every group has k to 2k - 1 rows; fewer than k rows are refused."""
    rows = mixed_rows(n, seed, *columns)
    if n < k:
        with pytest.raises(DataError, match=f"fewer than k = {k} rows"):
            make_groups(rows, k, distance, rule)
        return
    groups = make_groups(rows, k, distance, rule)
    assert len(groups.of) == n
    assert groups.of.min() == 0
    assert groups.of.max() == groups.count - 1
    assert k <= groups.sizes.min() <= groups.sizes.max() < 2 * k


@settings(max_examples=30)
@given(n=st.integers(5, 120), k=st.integers(2, 5), persons=st.integers(1, 40), seed=st.integers(0, 10**6))
def test_groups_have_k_people(n: int, k: int, persons: int, seed: int) -> None:
    """Where k counts people, every group has rows of k of them, however many rows they have."""
    rows = mixed_rows(n, seed, persons=persons)
    if rows.units < k:
        with pytest.raises(DataError, match=f"fewer than k = {k} people"):
            make_groups(rows, k, "mixed", "cmd")
        return
    groups = make_groups(rows, k, "mixed", "cmd")
    assert min(len(np.unique(rows.people[groups.of == g])) for g in range(groups.count)) >= k


def test_people_with_one_row_each_are_rows() -> None:
    """k people or k rows is the same where everybody has one row."""
    rows = mixed_rows(150)
    by_person = type(rows)(rows.columns, np.arange(150, dtype=np.int32), 150)
    for rule in ("cmd", "mdav"):
        assert np.array_equal(make_groups(rows, 4, "mixed", rule).of, make_groups(by_person, 4, "mixed", rule).of)


@pytest.mark.parametrize("persons", [0, 300])
def test_blocks_cover_every_row_once(persons: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in blocks has all its rows, none above the limit, and groups of k in each; the cost of a cut is told."""
    monkeypatch.setattr(block_order, "WHOLE_ROWS", 500)
    monkeypatch.setattr(block_order, "BLOCK_ROWS", 130)
    monkeypatch.setattr(block_order, "FEWEST_GROUPS", 4)
    rows = mixed_rows(1001, persons=persons)
    blocks = block_order.cut_blocks(scales_of(rows, "mixed"), 3)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(1001))
    assert len(blocks) == 8
    assert max(map(len, blocks)) <= 130
    groups = make_groups(rows, 3, "mixed", "cmd")
    assert groups.blocks == 8
    assert groups.block_cost is not None
    assert -0.5 < groups.block_cost < 1
    assert groups.sizes.min() >= 3
    assert all(len(np.unique(rows.people[groups.of == g])) >= 3 for g in range(groups.count) if persons)


def test_blocks_are_near_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks along the order lose far less than blocks of rows as they come."""
    values = np.random.default_rng(0).random((4000, 2))
    rows = number_rows(values)
    whole = loss_of(values, make_groups(rows, 5, "standardized", "cmd").of)
    monkeypatch.setattr(block_order, "WHOLE_ROWS", 1000)
    monkeypatch.setattr(block_order, "BLOCK_ROWS", 250)
    in_blocks = loss_of(values, make_groups(rows, 5, "standardized", "cmd").of)
    monkeypatch.setattr(block_order, "order_in", lambda scales, part: np.arange(len(part)))
    as_they_come = loss_of(values, make_groups(rows, 5, "standardized", "cmd").of)
    assert whole < in_blocks < 1.5 * whole < as_they_come


def test_what_is_left_joins_the_nearest_group() -> None:
    """Five rows, k 2: two pairs, and the last row is with the pair that it is nearest to."""
    rows = number_rows(np.array([[0.0], [1.0], [10.0], [11.0], [3.0]]))
    of = make_groups(rows, 2, "mixed", "cmd").of
    assert of[0] == of[1] == of[4] != of[2] == of[3]


def test_ties_go_to_the_lowest_index() -> None:
    """Equal rows are taken in the order in which they come."""
    groups = np.empty(6, np.int32)
    no_codes, nobody = np.zeros((0, 6), np.int32), np.zeros(0, np.int32)
    microaggregate_numpy.group_rows(np.zeros((1, 6)), no_codes, np.zeros(1, np.int64), nobody, 0, 2, 4, False, 1.0, groups)
    assert groups.tolist() == [0, 0, 1, 1, 2, 2]


def test_modes_are_the_lowest_of_the_most_common_codes() -> None:
    """And how many rows hold them."""
    modes, times = group_modes(np.array([0, 0, 0, 1, 1], np.int32), np.array([2, 1, 2, 3, 0], np.int32), 2)
    assert modes.tolist() == [2, 0]
    assert times.tolist() == [2, 1]
