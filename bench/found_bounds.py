"""Bounds found inside the budget: the loss beside that with good public bounds, and how often a scale is wrong.

`found_bounds_loss` fits whole tables. `found_bounds_scale` draws the released histograms alone, many thousand times: a scale is
wrong where bounds are more than 8 times as wide as the range of 99.9% of the rows, or leave out more than 1% of them on a side.
Noise is drawn from the mechanism's law by NumPy there, which is public and fast.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import cloister as cl
from bench.measure import keep, show
from bench.panel import loss
from cloister.clustering.votes.bounds import BOUNDS_PARTS, bounds_share, search_bounds
from cloister.kernels import ValueCounts
from cloister.privacy.mechanisms import Laplace, Mechanism, calibrate, part_of, whole_spend
from cloister.schema import Neighbours

Array = NDArray[np.float64]
Random = np.random.Generator
ROWS, CLUSTERS, FITS, DRAWS = 20_000, 5, 20, 1_100
BAR, WIDEST, MOST_CLIPPED = 1.25, 8.0, 0.01
BUDGETS: dict[str, Any] = {"1": cl.PureDP(1), "1, 1e-6": cl.ApproxDP(1, "1e-6")}

COLUMNS: dict[str, Callable[[Random, int], Array]] = {
    "log-normal 0.5": lambda r, n: r.lognormal(0, 0.5, n),
    "log-normal 1": lambda r, n: r.lognormal(10, 1, n),
    "log-normal 1.5": lambda r, n: r.lognormal(0, 1.5, n),
    "exponential": lambda r, n: r.exponential(3, n),
    "Pareto 2.5": lambda r, n: r.pareto(2.5, n) + 1,
    "normal": lambda r, n: r.normal(50, 10, n),
    "normal around 0": lambda r, n: r.normal(0, 1, n),
    "uniform": lambda r, n: r.uniform(0, 1, n),
    "mostly 0": lambda r, n: np.where(r.random(n) < 0.917, 0.0, np.minimum(np.rint(r.lognormal(8.6, 0.9, n)), 99_999)),
    "counts": lambda r, n: r.poisson(3, n).astype(np.float64),
    "negative skew": lambda r, n: -r.lognormal(3, 1, n),
    "years": lambda r, n: np.floor(r.triangular(1900, 2005, 2021, n)),
    "far from 0": lambda r, n: 1e9 + r.normal(0, 1, n),
    "three groups": lambda r, n: r.choice([0.0, 5.0, 20.0], n) + r.normal(0, 1, n),
}
TABLES: dict[str, list[str]] = {
    "log-normal 0.5, twice": ["log-normal 0.5"] * 2,
    "log-normal 1, twice": ["log-normal 1"] * 2,
    "log-normal 1.5, twice": ["log-normal 1.5"] * 2,
    "exponential, 3 times": ["exponential"] * 3,
    "Pareto, twice": ["Pareto 2.5"] * 2,
    "log-normal and normal": ["log-normal 1", "normal"],
    "log-normal and uniform": ["log-normal 1.5", "uniform"],
    "Pareto, normal, uniform": ["Pareto 2.5", "normal around 0", "uniform"],
    "like a census": ["normal", "mostly 0", "counts", "log-normal 1"],
    "both skews": ["negative skew", "log-normal 0.5", "normal"],
    "far from 0": ["years", "far from 0", "log-normal 1"],
    "groups and log-normal": ["three groups", "log-normal 1", "three groups"],
    "log-normal 1, 5 times": ["log-normal 1"] * 5,
    "log-normal 1, 8 times": ["log-normal 1"] * 8,
    "8 kinds": list(COLUMNS)[:8],
}


def made_up(names: list[str], rows: int = ROWS) -> Array:
    """Rows of independent columns of these kinds."""
    random = np.random.default_rng([17, len(names), rows])
    return np.column_stack([COLUMNS[name](random, rows) for name in names])


def good_bounds(X: Array) -> dict[str, tuple[Array, Array]]:
    """Two readings of good public bounds: the range of 99.9% of the rows, and of all of them."""
    low, high = np.quantile(X, [0.0005, 0.9995], axis=0)
    return {"99.9%": (low, high), "all": (X.min(axis=0), X.max(axis=0))}


def plain_centers(X: Array, bounds: Array) -> Array:
    """Non-private k-means on rows scaled and clipped by bounds, back in the columns' own units."""
    low, high = bounds[:, 0], bounds[:, 1]
    scaled = (np.clip(X, low, high) - low) / (high - low)
    centers = KMeans(CLUSTERS, n_init=3, random_state=0).fit(scaled).cluster_centers_
    return np.asarray(centers * (high - low) + low)


def ratios(fits: int) -> list[dict[str, Any]]:
    """The loss with bounds found inside the budget over the median loss with good public bounds, in units of the latter."""
    rows = []
    for name, kinds in TABLES.items():
        X = made_up(kinds)
        for shown, budget in BUDGETS.items():
            models = [cl.KMeans(CLUSTERS, budget).fit(X) for _ in range(fits)]
            found = [np.array(model.release_.parameters["bounds"]) for model in models]
            for reading, (low, high) in good_bounds(X).items():
                width = high - low
                units = (X - low) / width

                def measured(centers: Array, low: Array = low, width: Array = width, units: Array = units) -> float:
                    return loss(units, (centers - low) / width)

                public = [measured(cl.KMeans(CLUSTERS, budget, (low, high)).fit(X).cluster_centers_) for _ in range(fits)]
                over = np.array([measured(model.cluster_centers_) for model in models]) / np.median(public)
                plain = measured(plain_centers(X, np.column_stack([low, high])))
                without_noise = [measured(plain_centers(X, bounds)) / plain for bounds in found[:5]]
                tail = float(np.quantile(over, 0.9))
                rows.append(
                    {"table": name, "epsilon, delta": shown, "good bounds": reading, "median": float(np.median(over)),
                     "90%": tail, "worst": float(over.max()), "public 90%": float(np.quantile(public, 0.9) / np.median(public)),
                     "k-means without noise": float(np.median(without_noise)), "met": tail <= BAR}
                )  # fmt: skip
                print("  ", rows[-1], flush=True)
    return rows


def drawn(mechanism: Mechanism, size: int, random: Random) -> Array:
    """Noise of a mechanism's law for so many counts."""
    if isinstance(mechanism, Laplace):
        two = np.floor(float(mechanism.scales["counts"]) * random.standard_exponential((2, size)))  # geometric, exactly
        return np.asarray(two[0] - two[1])
    return np.rint(random.normal(0, mechanism.deviation()["counts"], size))


def wrong_scales(kind: str, budget: Any, columns: int, draws: int) -> dict[str, Any]:
    """How many columns of this kind get a wrong scale, in tables of so many of them."""
    random = np.random.default_rng([columns, draws])
    column = np.sort(made_up([kind])[:, 0])
    spend = part_of(whole_spend(budget, budget.epsilon * Fraction(98, 100)), bounds_share(columns))
    sensitivity = ValueCounts((1,) * columns).sensitivity(Neighbours.ADD_REMOVE)
    mechanisms = [calibrate(sensitivity, part_of(spend, part)) for part in BOUNDS_PARTS]

    def histograms(edges: list[Array], step: int) -> tuple[list[Array], Mechanism]:
        inside = [np.searchsorted(column, ends[1:-1]) for ends in edges]
        exact = [np.diff(places, prepend=0, append=len(column)) for places in inside]
        return [counts + drawn(mechanisms[step], len(counts), random) for counts in exact], mechanisms[step]

    found = np.hstack([search_bounds(columns, len(column), histograms) for _ in range(-(-draws // columns))])
    low, high = np.quantile(column, [0.0005, 0.9995])
    width = (found[1] - found[0]) / (high - low)
    below = np.searchsorted(column, found[0]) / len(column)
    above = 1 - np.searchsorted(column, found[1], side="right") / len(column)
    clipped = np.maximum(below, above) > MOST_CLIPPED
    return {
        "columns drawn": found.shape[1], "width 5%": float(np.quantile(width, 0.05)), "median": float(np.median(width)),
        "95%": float(np.quantile(width, 0.95)), "too wide": int((width > WIDEST).sum()), "clipped": int(clipped.sum()),
    }  # fmt: skip


def scales(draws: int) -> list[dict[str, Any]]:
    """Wrong scales of every kind of column, in so many tables of 2 columns and of 5."""
    rows = []
    for kind in COLUMNS:
        for shown, budget in BUDGETS.items():
            for columns in (2, 5):
                row = {"column": kind, "epsilon, delta": shown, "columns": columns}
                rows.append(row | wrong_scales(kind, budget, columns, draws * columns))
                print("  ", rows[-1], flush=True)
    return rows


def tell_chance(wrong: int, fits: int) -> str:
    """How likely a wrong scale is at most (Clopper and Pearson 1934, one-sided, 95%)."""
    from scipy.stats import beta

    most = beta.ppf(0.95, wrong + 1, fits - wrong)
    return f"{wrong} wrong scales in {fits:,} fits: a chance of at most {most:.1e} a fit"


def main() -> None:
    parts = set(sys.argv[2:]) or {"loss", "scale"}
    if "loss" in parts:
        rows = ratios(FITS)
        show(f"found_bounds_loss: {FITS} fits, {ROWS:,} rows, {CLUSTERS} clusters", rows)
        keep("found_bounds_loss", rows)
    if "scale" in parts:
        rows = scales(DRAWS)
        show(f"found_bounds_scale: wrong scales in {DRAWS:,} tables each", rows)
        print(tell_chance(sum(row["too wide"] + row["clipped"] for row in rows), DRAWS * len(rows)))
        keep("found_bounds_scale", rows)


if __name__ == "__main__":
    main()
