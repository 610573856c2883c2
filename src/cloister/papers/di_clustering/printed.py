"""DI k-means as printed (algorithms 1 and 2), its start, and the DP k-means that it is compared with. None of it is private.

What is wrong with it
---------------------
- The size of every cluster is exact: a centre is a noisy sum divided by it, so that the scale of its noise says how many rows
  there are, and a cluster without rows shows that there are none.
- The start is the optimized Canopy on the rows themselves: every centre of it is a row.
- The noise of the sums is for a row that stays in its cluster. One that leaves moves two sums.
- The schedule of rounds cannot be run as printed (`printed_formulas.scheduled_rhos`); callers give an epsilon a round.

Where the paper leaves something open the reading that favours it is taken: every coordinate has a draw of its own, and a
cluster without rows keeps its centre. The same table is run many times at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.canopy import farthest_first
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected

__all__ = ["NUMBER", "claim_of", "cluster_sums", "di_kmeans", "dp_kmeans", "nearest", "optimized_canopy"]

NUMBER = "000"
PROVED = "nothing: exact cluster sizes, and a start that is rows"
MOST_CELLS = 4_000_000  # distances that are held at once

Array = NDArray[np.float64]


def claim_of(epsilons: Sequence[float]) -> Claimed:
    """What the paper says of rounds of these epsilons."""
    return Claimed(NUMBER, f"differential identifiability worth epsilon {math.fsum(epsilons):.4g}", PROVED)


def optimized_canopy(rows: Unprotected[Array], clusters: int) -> PrintedResult[Array]:
    """The start, (k, d): the first row, and then each time the row that is farthest from all centres so far.

    Each centre *is* somebody's row. The paper does not say which row is first.
    """
    chosen, _ = farthest_first(rows.value, np.ones(len(rows.value)), clusters)
    claimed = Claimed(NUMBER, "nothing is said of it", "nothing: each centre is a row")
    return stamp(rows.value[chosen], claimed, clusters=clusters)


def di_kmeans(
    rows: Unprotected[Array],
    clusters: int,
    epsilons: Sequence[float],
    *,
    seed: int,
    start: Array | None = None,
    runs: int = 1,
) -> PrintedResult[Array]:
    """Algorithms 1 and 2: the centres of the last round, (runs, k, d), for rows in the unit cube.

    Parameters
    ----------
    rows
        Of the unit cube, (n, d).
    clusters
        How many.
    epsilons
        One a round: ln((m-1) rho_i / (1-rho_i)).
    seed
        Of the noise.
    start
        (k, d); None: the optimized Canopy on the rows, as printed.
    runs
        How many times, each with noise of its own.
    """
    width = rows.value.shape[1]
    centers = _rounds(rows, clusters, [width / each for each in epsilons], seed, start, runs, has_noisy_sizes=False)
    passes = len(epsilons) + (clusters if start is None else 0)  # the start looks at all rows once a centre
    facts = {"clusters": clusters, "rounds": len(epsilons), "passes": passes, "runs": runs, "seed": seed}
    return stamp(centers, claim_of(epsilons), **facts)


def dp_kmeans(
    rows: Unprotected[Array],
    clusters: int,
    epsilons: Sequence[float],
    *,
    seed: int,
    start: Array | None = None,
    runs: int = 1,
) -> PrintedResult[Array]:
    """What figure 2 compares with: the same rounds, with noise of scale (d + 1) / epsilon_i on sums and sizes.

    Its sizes are noisy, under add-remove neighbours; its start is the same Canopy on the rows.
    """
    width = rows.value.shape[1] + 1
    centers = _rounds(rows, clusters, [width / each for each in epsilons], seed, start, runs, has_noisy_sizes=True)
    claimed = Claimed(NUMBER, f"epsilon {math.fsum(epsilons):.4g}", "nothing: a start that is rows")
    return stamp(centers, claimed, clusters=clusters, rounds=len(epsilons), runs=runs, seed=seed)


def cluster_sums(
    rows: Unprotected[Array], centers: Array, epsilon: float, *, seed: int, runs: int = 1
) -> PrintedResult[Array]:
    """The reducers of one round before they divide: noisy sums of all clusters, (runs, k, d), each with Lap(d / epsilon).

    A row that changes its cluster moves two sums by up to d each: twice the epsilon is proved, where epsilon is claimed.
    """
    points, weights = _distinct(rows.value)
    belongs = _one_hot(nearest(points, centers[None]), len(centers))[0]  # (u, k)
    sums = (belongs * weights[:, None]).T @ points
    noise = np.random.default_rng(seed).laplace(0, points.shape[1] / epsilon, (runs, *sums.shape))
    claimed = Claimed(NUMBER, f"differential identifiability worth epsilon {epsilon:.4g}", f"epsilon {2 * epsilon:.4g}")
    return stamp(sums + noise, claimed, clusters=len(centers), runs=runs, seed=seed)


def nearest(points: Array, centers: Array) -> NDArray[np.intp]:
    """The nearest centre of each point in each run, (runs, u), for centres (runs, k, d); ties go to the first."""
    norms = (centers**2).sum(axis=2)  # (runs, k)
    return np.asarray((norms[:, None] - 2 * (points @ centers.transpose(0, 2, 1))).argmin(axis=2))


def _rounds(
    rows: Unprotected[Array],
    clusters: int,
    scales: Sequence[float],
    seed: int,
    start: Array | None,
    runs: int,
    *,
    has_noisy_sizes: bool,
) -> Array:
    """Rounds of noisy Lloyd from one start, many runs at once, in parts that fit into memory."""
    first = optimized_canopy(rows, clusters).value if start is None else start
    points, weights = _distinct(rows.value) if runs > 1 else (rows.value, np.ones(len(rows.value)))
    random = np.random.default_rng(seed)
    at_once = max(1, MOST_CELLS // (len(points) * clusters))
    parts = [
        _some_runs(points, weights, first, scales, random, min(at_once, runs - done), has_noisy_sizes)
        for done in range(0, runs, at_once)
    ]
    return np.concatenate(parts)


def _some_runs(
    points: Array,
    weights: Array,
    start: Array,
    scales: Sequence[float],
    random: np.random.Generator,
    runs: int,
    has_noisy_sizes: bool,
) -> Array:
    centers = np.broadcast_to(start, (runs, *start.shape))
    for scale in scales:
        belongs = _one_hot(nearest(points, centers), len(start)) * weights[:, None]  # (runs, u, k)
        sizes = belongs.sum(axis=1)  # (runs, k): exact, as printed
        sums = belongs.transpose(0, 2, 1) @ points + random.laplace(0, scale, centers.shape)
        if has_noisy_sizes:
            sizes = sizes + random.laplace(0, scale, sizes.shape)
        centers = np.where((sizes >= 1)[..., None], sums / np.maximum(sizes, 1)[..., None], centers)
    return np.asarray(centers)


def _distinct(points: Array) -> tuple[Array, Array]:
    """Each different row once, with how often it is there: small tables are run many times."""
    found, counts = np.unique(points, axis=0, return_counts=True)
    return found, counts.astype(np.float64)


def _one_hot(labels: NDArray[Any], count: int) -> Array:
    """(..., u) -> (..., u, count)."""
    return np.asarray(labels[..., None] == np.arange(count), dtype=np.float64)
