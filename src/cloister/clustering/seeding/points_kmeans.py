"""Weighted k-means on released points in plain NumPy. Free: no row is looked at.

On the few thousand points of a sketch or a synopsis it takes a third of scikit-learn's time and none of its start-up.
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

__all__ = [
    "Weighted",
    "best_of_restarts",
    "draw_by_odds",
    "lloyd",
    "nearest",
    "one_thread",
    "plus_plus_members",
    "plus_plus_seeds",
]

Floats = NDArray[Any]  # float32 where a search is enough, float64 where the result is kept

MOST_ITERATIONS = 300
BLOCK = 2**17  # products of points and centres at a time: they stay in the second cache


@dataclass(frozen=True, slots=True)
class Weighted:
    """Centres of weighted points."""

    centers: NDArray[np.float64]  # (k, d)
    sizes: NDArray[np.float64]  # (k,), the weight of each
    loss: float  # weighted squared error


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
    transposed = np.ascontiguousarray(centers.T)
    block = max(64, BLOCK // len(centers))
    with one_thread():
        for first in range(0, len(points), block):
            closeness = points[first : first + block] @ transposed  # |x - c|^2 = |x|^2 - 2 (x c - |c|^2 / 2)
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
    seeds: Floats = plus_plus_members(points, weights, clusters, 1, random, 2 + int(log(clusters)))[0]
    return seeds


def plus_plus_members(
    points: Floats, weights: NDArray[np.float64], clusters: int, members: int, random: PublicChance, draws: int
) -> Floats:
    """k-means++ several times at once, (members, k, d), with the best of so many draws for each centre."""
    lengths = (points**2).sum(axis=1)
    mass = weights.astype(points.dtype)
    below = np.cumsum(weights)
    chosen = np.empty((members, clusters), dtype=np.intp)
    chosen[:, 0] = np.minimum(np.searchsorted(below, random.random(members) * below[-1], side="right"), len(points) - 1)
    gaps = ((points - points[chosen[:, 0]][:, None]) ** 2).sum(axis=2)  # (members, n) to the nearest chosen so far
    each = np.arange(members)
    with one_thread():
        for i in range(1, clusters):
            drawn = draw_by_odds(gaps * weights, draws, random).ravel()
            after = points[drawn] @ points.T  # (members x draws, n)
            after *= -2
            after += lengths
            after += lengths[drawn][:, None]
            after = after.reshape(members, draws, -1)
            np.clip(after, 0, gaps[:, None], out=after)
            best = (after @ mass).argmin(axis=1)
            chosen[:, i], gaps = drawn.reshape(members, draws)[each, best], after[each, best]
    return points[chosen]


def draw_by_odds(odds: Floats, draws: int, random: PublicChance) -> NDArray[np.intp]:
    """Indices drawn by the odds of each row, (members, draws); a row of nothing but zeros gives any index."""
    below = np.cumsum(odds, axis=1)
    levels = random.random((len(odds), draws)) * below[:, -1:]
    drawn = np.stack([np.searchsorted(row, level) for row, level in zip(below, levels, strict=True)])
    within: NDArray[np.intp] = np.minimum(drawn, odds.shape[1] - 1)
    return within


def one_thread() -> AbstractContextManager[Any]:
    """One thread for NumPy's products: blocks this small are done before a second thread has started."""
    return threads().limit(limits=1)  # type: ignore[no-any-return]


@cache
def threads() -> Any:
    """The threads of NumPy's linear algebra; looking for them takes longer than most calls here."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
