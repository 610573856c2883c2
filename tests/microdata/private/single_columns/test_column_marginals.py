"""Bins of numbers that follow the rows, and distributions from noisy counts."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.encode import Grid
from cloister.microdata.private.single_columns.column_marginals import (
    ColumnMarginals,
    NumberCounts,
    coarse_ends,
)
from cloister.microdata.private.single_columns.number_places import MarginalPlaces
from cloister.schema.value_steps import ValueSteps
from cloister.tabulation.margins import onto_simplex

HALF = 2**19


def whole_numbers(low: float, high: float, step: float = 1.0) -> MarginalPlaces:
    """A column of so many values on a fine grid."""
    grid = Grid("x", (low + high) / 2, (high - low) / 2 / HALF, HALF, values=ValueSteps(low, step, low, high))
    return MarginalPlaces.of(grid)


def counted(places: MarginalPlaces, ends: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How many values lie in each bin, by the cuts in grid units."""
    cells = np.searchsorted(np.array(places.cuts(ends)), places.grid.put(values), side="right")
    return np.bincount(cells, minlength=len(ends) - 1).astype(np.float64)


@pytest.mark.parametrize("step", [1.0, 0.1, 7.0])
def test_a_value_lies_in_the_bin_of_its_place(step: float) -> None:
    """Whatever bins there are: cuts lie halfway between values, also where the step does not divide the range."""
    places = whole_numbers(-3, 1000, step)
    ends = places.first_bins(9)
    values = places.values(np.arange(places.count))
    assert values.max() <= 1000 + 1e-9
    assert counted(places, ends, values).tolist() == np.diff(ends).tolist()


def test_both_ends_have_bins_of_their_own() -> None:
    """What lies beyond the bounds was clipped to them, so that many rows may be there."""
    ends = whole_numbers(0, 99_999).first_bins(32)
    assert ends[1] == 1
    assert ends[-2] == ends[-1] - 1


def test_few_values_have_a_bin_each() -> None:
    """Nothing is gained by joining them."""
    assert whole_numbers(1, 16).first_bins(32).tolist() == list(range(17))


def test_a_value_that_many_rows_share_ends_up_in_a_narrow_bin() -> None:
    """Two passes without noise: 40 of 0 to 9,999 has at most ten neighbours in its bin, and the rest is hardly cut."""
    random = np.random.default_rng(0)
    places, values = whole_numbers(0, 9_999), np.append(np.full(5_000, 40.0), random.integers(0, 10_000, 500))
    known, ends = NumberCounts.unknown(places, 5_500.0), places.first_bins(32)
    for _ in range(2):
        known = known.refined(ends, counted(places, ends, values), 1.0)
        ends = known.pieces(5_500.0, 50.0)
    widths = np.diff(ends)
    assert widths[np.searchsorted(ends, 40, side="right") - 1] <= 10
    assert len(widths) < 200


def test_two_estimates_of_a_bin_are_averaged_by_their_variances() -> None:
    """A bin known with certainty keeps its count; one of which nothing is known takes that of its pieces."""
    places = whole_numbers(0, 3)
    sure = NumberCounts(places, np.array([0, 2, 4]), np.array([10.0, 20.0]), np.array([1e-9, 1e9]))
    finer = sure.refined(np.arange(5), np.array([8.0, 6.0, 1.0, 2.0]), 1.0)
    assert np.allclose(finer.counts, [6.0, 4.0, 1.0, 2.0])
    assert np.allclose(finer.variances, [0.5, 0.5, 1.0, 1.0])


def test_averages_have_the_variance_that_is_stated() -> None:
    """4,000 draws of a fixed seed: a standard error of a variance is 2.2% of it."""
    random = np.random.default_rng(1)
    places, drawn = whole_numbers(0, 3), []
    for _ in range(4_000):
        before = NumberCounts(places, np.array([0, 4]), random.normal(0, 3, 1), np.array([9.0]))
        finer = before.refined(np.arange(5), random.normal(0, 2, 4), 2.0)
        drawn.append(finer.counts)
    assert np.allclose(np.var(drawn, axis=0), finer.variances, rtol=0.11)


def test_made_up_numbers_are_values_of_the_column_in_the_released_shares() -> None:
    """Shares come out to the row; a value is one that the column has, in its own bin."""
    places = whole_numbers(0, 50, 0.5)
    counts = NumberCounts(places, np.array([0, 1, 21, 101]), np.array([600.0, 300.0, 100.0]), np.ones(3))
    marginals = ColumnMarginals.of([counts], [np.array([1.0, 1.0])], 1000.0, 8)
    codes = np.repeat(np.arange(len(marginals.coarse[0]) - 1), [600, 300, 100])
    values = marginals.values(0, codes, np.random.default_rng(0))
    assert [(values == 0).sum(), ((values > 0) & (values <= 10)).sum(), (values > 10).sum()] == [600, 300, 100]
    assert np.array_equal(values * 2, np.rint(values * 2))


def test_coarse_bins_hold_all_rows() -> None:
    """Their shares are sums of those of the fine ones."""
    random = np.random.default_rng(2)
    for _ in range(50):
        shares = random.dirichlet(np.full(random.integers(1, 60), 0.2))
        ends = np.append(0, np.cumsum(random.integers(1, 9, len(shares))))
        kept = coarse_ends(ends, shares, 8)
        assert (kept[0], kept[-1]) == (ends[0], ends[-1])
        assert (np.diff(kept) > 0).all()
        assert len(kept) <= 18


def test_counts_onto_the_simplex() -> None:
    """Not negative, adding up to the total, and no other such counts are nearer."""
    random = np.random.default_rng(3)
    counts = random.normal(0, 5, 20)
    nearest = onto_simplex(counts, 7.0)
    others = random.dirichlet(np.ones(20), 2_000) * 7
    assert nearest.min() >= 0
    assert np.isclose(nearest.sum(), 7)
    assert ((others - counts) ** 2).sum(axis=1).min() >= ((nearest - counts) ** 2).sum()


def test_joined_bins_have_the_sums_of_counts_and_variances() -> None:
    """Each coarse bin has its own."""
    fine = NumberCounts(whole_numbers(0, 8), np.array([0, 1, 4, 9]), np.array([5.0, -1.0, 2.0]), np.array([1.0, 2.0, 4.0]))
    coarse = fine.joined(np.array([0, 1, 9]))
    assert coarse.counts.tolist() == [5.0, 1.0]
    assert coarse.variances.tolist() == [1.0, 6.0]
