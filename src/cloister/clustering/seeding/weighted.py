"""Weighted k-means on released points, from one of four seedings. Free: no row is looked at.

Plain NumPy, which on these few thousand points takes a third of scikit-learn's time and none of its start-up.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.seeding.canopy import canopy_centers
from cloister.clustering.seeding.evolution import evolve
from cloister.errors import UsageError

__all__ = [
    "SEEDINGS",
    "Weighted",
    "best_of_restarts",
    "cluster_points",
    "lloyd",
    "nearest",
    "parallel_seeds",
    "plus_plus_seeds",
]

Floats = NDArray[Any]  # float32 where a search is enough, float64 where the result is kept

SEEDINGS = ("kmeans++", "kmeans||", "canopy", "evolution")
RESTARTS = 10  # of seedings that draw at random once
OVERSAMPLING = 2  # times k candidates a round: Bahmani et al. 2012
ROUNDS = 5
MOST_ITERATIONS = 300
BLOCK = 2**17  # products of points and centres at a time: they stay in the second cache


@dataclass(frozen=True, slots=True)
class Weighted:
    """Centres of weighted points."""

    centers: NDArray[np.float64]  # (k, d)
    sizes: NDArray[np.float64]  # (k,), the weight of each
    loss: float  # weighted squared error


def cluster_points(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    clusters: int,
    seeding: str,
    random: PublicChance,
    densities: NDArray[np.float64] | None = None,
) -> Weighted:
    """Seed, then weighted Lloyd until nothing moves.

    Parameters
    ----------
    points : (n, d), released
    weights : (n,), above 0
    clusters : int, at most n
    seeding : "kmeans++", "kmeans||", "canopy" or "evolution"
    random : numpy Generator, public
    densities : (n,), optional
        For "canopy": which points are densest; by default the heaviest.
    """
    check_seeding(seeding)
    if clusters > len(points):
        raise UsageError(
            f"{clusters} clusters were asked for, and the synopsis has {len(points)} cells that are not empty. Ask for "
            f"{len(points)} or fewer, or release a finer synopsis."
        )
    if seeding == "canopy":
        starts = [canopy_centers(points, weights, clusters, densities)]
    elif seeding == "evolution":
        starts = [evolve(points, weights, clusters, random).centers]
    else:
        seed = plus_plus_seeds if seeding == "kmeans++" else parallel_seeds
        starts = [seed(points, weights, clusters, random) for _ in range(RESTARTS)]
    return min((lloyd(points, weights, start) for start in starts), key=lambda run: run.loss)


def check_seeding(seeding: str) -> None:
    """Refuse a seeding that does not exist."""
    if seeding not in SEEDINGS:
        raise UsageError(f'seeding "{seeding}" is not known. Choose one of: {", ".join(SEEDINGS)}.')


def best_of_restarts(
    points: Floats, weights: Floats, clusters: int, random: PublicChance, *, restarts: int, iterations: int
) -> NDArray[np.float64]:
    """The best of several short runs from k-means++, (k, d): a search in single precision, seven digits are plenty."""
    # around the origin single precision keeps its digits
    middle: NDArray[np.float64] = np.average(points, axis=0, weights=weights)
    centered = (points - middle).astype(np.float32)
    starts = [plus_plus_seeds(centered, weights, clusters, random) for _ in range(restarts)]
    runs = [lloyd(centered, weights, start, iterations) for start in starts]
    return min(runs, key=lambda run: run.loss).centers + middle


def lloyd(points: Floats, weights: NDArray[np.float64], start: Floats, iterations: int = MOST_ITERATIONS) -> Weighted:
    """Weighted Lloyd from these centres until no point changes its centre; a centre without points stays where it is."""
    centers, clusters = start, len(start)
    weighted = points * weights[:, None].astype(points.dtype)
    previous = None
    for _ in range(iterations):
        labels, _ = nearest(points, centers)
        if previous is not None and np.array_equal(labels, previous):
            break
        previous = labels
        mass = np.bincount(labels, weights=weights, minlength=clusters)
        sums = np.stack([np.bincount(labels, weights=column, minlength=clusters) for column in weighted.T], axis=1)
        filled = (mass > 0)[:, None]
        centers = np.where(filled, sums / np.where(filled, mass[:, None], 1.0), centers).astype(points.dtype)
    labels, squares = nearest(points, centers)
    sizes = np.bincount(labels, weights=weights, minlength=clusters).astype(np.float64)
    return Weighted(centers.astype(np.float64), sizes, float(squares.astype(np.float64) @ weights))


def nearest(points: Floats, centers: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each released point, and the squared distance to it, (n,) each."""
    labels = np.empty(len(points), dtype=np.intp)
    half_lengths = (centers**2).sum(axis=1) / 2
    turned = np.ascontiguousarray(centers.T)
    block = max(64, BLOCK // len(centers))
    with one_thread():
        for first in range(0, len(points), block):
            closeness = points[first : first + block] @ turned  # |x - c|^2 = |x|^2 - 2 (x c - |c|^2 / 2)
            closeness -= half_lengths
            labels[first : first + block] = closeness.argmax(axis=1)
    return labels, ((points - centers[labels]) ** 2).sum(axis=1)


def plus_plus_seeds(points: Floats, weights: NDArray[np.float64], clusters: int, random: PublicChance) -> Floats:
    """k-means++, (k, d): each centre a point drawn by weight times squared distance to those chosen so far.

    Of a few points drawn for each centre the one that leaves the least error is taken.

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    draws = 2 + int(log(clusters))
    lengths = (points**2).sum(axis=1)
    mass = weights.astype(points.dtype)
    chosen = np.empty(clusters, dtype=np.intp)
    chosen[0] = random.choice(len(points), p=weights / weights.sum())
    gaps = ((points - points[chosen[0]]) ** 2).sum(axis=1)  # (n,) to the nearest chosen so far
    with one_thread():
        for i in range(1, clusters):
            odds = np.cumsum(gaps * weights)
            drawn = np.minimum(np.searchsorted(odds, random.random(draws) * odds[-1]), len(points) - 1)
            after = points[drawn] @ points.T  # (draws, n)
            after *= -2
            after += lengths
            after += lengths[drawn][:, None]
            np.clip(after, 0, gaps, out=after)
            best = int((after @ mass).argmin())
            chosen[i], gaps = drawn[best], after[best]
    return points[chosen]


def one_thread() -> AbstractContextManager[Any]:
    """Blocks this small are multiplied by one thread before a second one has started."""
    return threads().limit(limits=1)  # type: ignore[no-any-return]


@cache
def threads() -> Any:
    """The threads of NumPy's linear algebra; looking for them takes longer than most calls here."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def parallel_seeds(
    points: NDArray[np.float64], weights: NDArray[np.float64], clusters: int, random: PublicChance
) -> NDArray[np.float64]:
    """k-means||: a few rounds that each keep about 2k points, then k-means++ on the kept points by what is nearest to them.

    References
    ----------
    B. Bahmani et al., "Scalable k-means++", VLDB 2012.
    """
    chosen = np.zeros(len(points), dtype=bool)
    chosen[random.choice(len(points), p=weights / weights.sum())] = True
    gaps = ((points - points[chosen][0]) ** 2).sum(axis=1)
    for _ in range(ROUNDS):
        cost = weights * gaps
        if cost.sum() <= 0:
            break
        kept = (random.random(len(points)) < OVERSAMPLING * clusters * cost / cost.sum()) & ~chosen
        chosen |= kept
        for candidate in points[kept]:
            np.minimum(gaps, ((points - candidate) ** 2).sum(axis=1), out=gaps)
    if chosen.sum() < clusters:  # few distinct points: fill up with the heaviest of the rest
        rest = np.where(chosen, -1.0, weights)
        chosen[np.argsort(-rest, kind="stable")[: clusters - int(chosen.sum())]] = True
    candidates = points[chosen]
    masses = np.bincount(nearest(points, candidates)[0], weights=weights, minlength=len(candidates)).astype(np.float64)
    heavy = masses > 0
    if heavy.sum() < clusters:
        return candidates[:clusters]
    return plus_plus_seeds(candidates[heavy], masses[heavy], clusters, random)
