"""Bounds found inside the budget: how often a scale is wrong, what an empty cell passes for, and columns of one value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

import cloister as cl
from cloister.clustering.domain import from_bounds, widen_narrow
from cloister.clustering.votes import bounds
from cloister.clustering.votes.bounds import BOUNDS_PARTS, bounds_share, search_bounds, set_apart
from cloister.clustering.votes.column_tails import ColumnCells
from cloister.kernels import ValueCounts
from cloister.privacy.mechanisms import Laplace, Mechanism, Spend, calibrate, part_of, whole_spend
from cloister.schema import Neighbours

LEVEL = 1e-6
WRONG = 1e-4  # the share of fits that may have a wrong scale
ROWS, COLUMNS = 20_000, 4
FITS = 800  # of an empty table
MOST_EMPTY = poisson.isf(LEVEL, FITS * bounds.DOUBT)

Array = np.ndarray
KINDS: dict[str, Callable[[np.random.Generator], Array]] = {
    "log-normal": lambda random: random.lognormal(10, 1, ROWS),
    "heavy": lambda random: -random.lognormal(0, 1.5, ROWS),
    "normal": lambda random: random.normal(50, 10, ROWS),
    "uniform": lambda random: random.uniform(0, 1, ROWS),
    "mostly 0": lambda random: np.where(random.random(ROWS) < 0.9, 0.0, random.lognormal(8.6, 0.9, ROWS)),
    "years": lambda random: np.floor(random.uniform(1900, 2021, ROWS)),
    "far from 0": lambda random: 1e9 + random.normal(0, 1, ROWS),
}
BUDGETS = {"laplace": cl.PureDP(1), "gaussian": cl.ApproxDP(1, "1e-6")}


def steps(budget: cl.PureDP | cl.ApproxDP, columns: int = COLUMNS) -> list[Mechanism]:
    """The mechanism of every step, as a fit of this budget has them."""
    spend: Spend = part_of(whole_spend(budget, budget.epsilon * Fraction(98, 100)), bounds_share(columns))
    sensitivity = ValueCounts((1,) * columns).sensitivity(Neighbours.ADD_REMOVE)
    return [calibrate(sensitivity, part_of(spend, part)) for part in BOUNDS_PARTS]


def noise(mechanism: Mechanism, size: int, random: np.random.Generator) -> Array:
    """Draws of the mechanism's law, by NumPy: thousands of histograms in a second."""
    if isinstance(mechanism, Laplace):
        two = np.floor(float(mechanism.scales["counts"]) * random.standard_exponential((2, size)))  # geometric, exactly
        return np.asarray(two[0] - two[1])
    return np.rint(random.normal(0, mechanism.deviation()["counts"], size))


def found_bounds(column: Array, mechanisms: list[Mechanism], random: np.random.Generator, columns: int = COLUMNS) -> Array:
    """The bounds of a table of this sorted column, some times over; (2, columns)."""

    def histograms(edges: list[Array], step: int) -> tuple[list[Array], Mechanism]:
        exact = [np.diff(np.searchsorted(column, ends[1:-1]), prepend=0, append=len(column)) for ends in edges]
        return [counts + noise(mechanisms[step], len(counts), random) for counts in exact], mechanisms[step]

    return np.array(search_bounds(columns, float(len(column)), histograms))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_wrong_scale_is_rarer_than_one_in_ten_thousand(budget: str) -> None:
    """Bounds eight times too wide, or that leave out a hundredth of the rows on a side; wrong once in a million runs.

    Were the chance as large as one in ten thousand, so many draws would show more than `most` less than once in a million.
    """
    random, mechanisms = np.random.default_rng(1), steps(BUDGETS[budget])
    wrong, draws = 0, 0
    for make in KINDS.values():
        column = np.sort(make(np.random.default_rng(0)))
        width = np.subtract(*np.quantile(column, [0.9995, 0.0005]))
        found = np.hstack([found_bounds(column, mechanisms, random) for _ in range(40)])
        clipped = np.maximum(
            np.searchsorted(column, found[0]), len(column) - np.searchsorted(column, found[1], side="right")
        )
        wrong += int(((found[1] - found[0] > 8 * width) | (clipped > 0.01 * len(column))).sum())
        draws += found.shape[1]
    most = poisson.isf(LEVEL, draws * WRONG)
    assert wrong <= most


def empty_tables_with_rows(doubt: float, monkeypatch: pytest.MonkeyPatch) -> int:
    """In how many fits of an empty table some run of cells stands out, in any step."""
    seen: list[bool] = []
    standing_out = ColumnCells.standing_out

    def watched(self: ColumnCells, run: int) -> tuple[int, int] | None:
        found = standing_out(self, run)
        seen.append(found is not None)
        return None

    monkeypatch.setattr(ColumnCells, "standing_out", watched)
    monkeypatch.setattr(bounds, "DOUBT", doubt)
    random, mechanisms, passed = np.random.default_rng(2), steps(cl.PureDP(1)), 0
    for _ in range(FITS):
        seen.clear()
        found_bounds(np.empty(0), mechanisms, random)
        passed += any(seen)
    return passed


def test_empty_cells_hardly_ever_stand_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests of a fit together take noise for rows with a chance of at most `DOUBT`; wrong once in a million runs."""
    assert empty_tables_with_rows(bounds.DOUBT, monkeypatch) <= MOST_EMPTY


def test_more_doubt_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: with a doubt of 0.05 a fit, empty cells stand out more often than the test above allows."""
    assert empty_tables_with_rows(0.05, monkeypatch) > MOST_EMPTY


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", ["normal", "heavy", "log-normal", "uniform"])
def test_without_noise_bounds_are_a_little_wider_than_the_range(name: str, budget: str) -> None:
    """They hold 99.9% of the rows, and are at most twice as wide as that range."""
    column = np.sort(KINDS[name](np.random.default_rng(0)))
    much = {"laplace": cl.PureDP(1000), "gaussian": cl.ApproxDP(1000, "1e-6")}[budget]
    low, high = found_bounds(column, steps(much), np.random.default_rng(3))[:, 0]
    range_low, range_high = np.quantile(column, [0.0005, 0.9995])
    assert low <= range_low < range_high <= high
    assert high - low <= 2 * (range_high - range_low)


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(2000), np.full(2000, np.nan), np.full(2000, -7e18), np.full(2000, 1e300), np.full(2000, 1e-300),
        np.array([3.0]), np.empty(0), np.repeat([0.0, 1.0], 1000),
    ],
    ids=["zero", "missing", "far", "farther than cells", "nearer than cells", "one row", "no row", "two values"],
)  # fmt: skip
@pytest.mark.parametrize("scale", ["bounds", None])
def test_after_the_charge_nothing_is_refused(column: Array, scale: str | None) -> None:
    """Columns of one value, of none that can be read, and of hardly any rows give centres and finite bounds."""
    model = cl.KMeans(2, 1.0, scale=scale).fit(np.column_stack([column, np.arange(len(column)) % 10]))
    ends = np.array(model.release_.parameters["bounds"])
    assert np.isfinite(ends).all()
    assert (ends[:, 0] < ends[:, 1]).all()
    assert model.release_.adds_up()


def test_many_columns_of_few_rows_are_seldom_much_too_wide() -> None:
    """Six groups between 0 and 1, 6,000 rows, 10 columns, epsilon 1: eight times too wide in a tenth at most; it was a third."""
    random, mechanisms = np.random.default_rng(5), steps(cl.PureDP(1), 10)
    column = np.sort(random.choice([0.05, 0.2, 0.45, 0.6, 0.8, 0.95], 6000) + random.normal(0, 0.02, 6000))
    found = np.hstack([found_bounds(column, mechanisms, random, 10) for _ in range(40)])
    too_wide = int((found[1] - found[0] > 8 * np.subtract(*np.quantile(column, [0.9995, 0.0005]))).sum())
    assert too_wide <= binom.isf(LEVEL, found.shape[1], 0.1)


@pytest.mark.parametrize(("rows", "is_noisy"), [(2000, True), (200_000, False)])
def test_a_plan_says_when_bounds_are_not_to_be_trusted(rows: int, is_noisy: bool) -> None:
    """From the number of rows and columns and the budget alone."""
    said = cl.KMeans(5, 1.0).plan(n=rows, d=10).choices["bounds"]
    assert ("state them if you can" in said) is is_noisy


@pytest.mark.parametrize("scale", ["bounds", None])
@pytest.mark.parametrize("columns", [1, 5, 60])
def test_bounds_from_noise_alone_are_accepted(columns: int, scale: str | None) -> None:
    """Whatever noise shows of a table of no rows, every low bound lies below its high bound, and a domain is made of them."""
    names = [f"x{i}" for i in range(columns)]
    for budget in (cl.PureDP("0.01"), cl.PureDP(1), cl.ApproxDP(1, "1e-6")):
        mechanisms, random = steps(budget, columns), np.random.default_rng(4)
        for _ in range(max(3, 120 // columns)):
            low, high = found_bounds(np.empty(0), mechanisms, random, columns)
            assert np.isfinite([low, high]).all()
            assert (low < high).all()
            from_bounds(names, widen_narrow(low, high) if scale is None else (low, high), scale)


@given(
    low=st.lists(st.floats(allow_nan=False), min_size=1, max_size=6),
    width=st.floats(0, 1e300),
    scale=st.sampled_from(["bounds", None]),
)
def test_any_numbers_are_set_apart(low: list[float], width: float, scale: str | None) -> None:
    """Ends that are equal, infinite or far apart become bounds that a domain is made of."""
    ends = np.array(low)
    bounds = set_apart(ends, ends + width)
    assert (bounds[0] < bounds[1]).all()
    from_bounds([f"x{i}" for i in range(len(low))], widen_narrow(*bounds) if scale is None else bounds, scale)


@pytest.mark.parametrize("scale", ["bounds", None])
def test_tables_of_two_rows_are_fitted(scale: str | None) -> None:
    """Noise alone puts medians anywhere: with 20 columns nearly every third fit was refused after its charge."""
    for seed in range(12):
        X = np.random.default_rng(seed).random((2, 20))
        ends = np.array(cl.KMeans(2, 1.0, scale=scale).fit(X).release_.parameters["bounds"])
        assert (ends[:, 0] < ends[:, 1]).all()


@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_less_budget_gives_wider_bounds_rather_than_clipped_rows(epsilon: str) -> None:
    """Half of the fits of 2,000 rows leave out at most a hundredth of a log-normal column."""
    column = np.sort(np.random.default_rng(0).lognormal(10, 1, 2000))
    found = np.hstack([found_bounds(column, steps(cl.PureDP(epsilon)), np.random.default_rng(i)) for i in range(25)])
    assert np.median(np.mean(column[:, None] > found[1], axis=0)) <= 0.01


def test_the_certificate_keeps_what_the_plan_says_of_found_bounds() -> None:
    """Of few rows they are not to be trusted, in the plan and in the certificate; of many nothing is said."""
    for rows, is_told in ((60, True), (50_000, False)):
        ages = np.arange(rows)[:, None] % 60 + 21.0
        choices = cl.KMeans(2, 1 if rows > 60 else 0.1).fit(ages).release_.parameters["choices"]
        assert ("state them if you can" in choices["bounds"]) is is_told
        assert choices["bounds"].startswith("found inside the budget: ")
