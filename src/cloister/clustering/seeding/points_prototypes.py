"""Weighted k-prototypes and k-modes on released tuples. Free: no row is looked at.

A tuple has grid integers and category codes, and a weight: how many rows it stands for. What is clustered may be a cloud of
made-up rows (`clustering.prototypes`), or tuples whose frequencies were estimated from reports, as local collection will do.
Without numbers this is k-modes. Distances are those of the kernels (`kernels.centers.find_nearest`), in the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.encode import Encoded
from cloister.kernels import Modes
from cloister.kernels.centers import find_nearest

__all__ = ["Prototypes", "WeightedTuples", "best_prototypes", "lloyd_prototypes", "nearest_prototypes", "seed_prototypes"]

MOST_ITERATIONS = 100

Columns = tuple[NDArray[np.float64], NDArray[np.int32]]  # numbers (d, n) and codes (c, n)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedTuples:
    """Released tuples with their weights; the integers are those that an encoding would give."""

    rows: Encoded
    weights: NDArray[np.float64]  # (n,), not below 0
    sizes: tuple[int, ...]  # of the domains of the category columns

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Prototypes:
    """Centres with categories, the weight of the tuples nearest to each, and the weighted sum of the distances to them."""

    centers: NDArray[np.int32]  # (k, d)
    modes: Modes  # (k, c)
    sizes: NDArray[np.float64]  # (k,)
    loss: float


def best_prototypes(
    tuples: WeightedTuples,
    clusters: int,
    gamma: int,
    random: PublicChance,
    *,
    restarts: int,
    iterations: int = MOST_ITERATIONS,
) -> Prototypes:
    """The best of several runs from different seeds.

    Parameters
    ----------
    tuples : WeightedTuples
    clusters : int
    gamma : int
        What a differing category adds, in squared grid steps; 1 for k-modes.
    random : numpy Generator, public
    restarts, iterations : int

    Examples
    --------
    >>> rows = Encoded(np.zeros((4, 0), np.int32), np.array([[0, 0], [0, 1], [2, 2], [2, 1]], np.int32))
    >>> tuples = WeightedTuples(rows, np.array([9.0, 1.0, 9.0, 1.0]), (3, 3))
    >>> found = best_prototypes(tuples, 2, 1, np.random.default_rng(0), restarts=4)
    >>> sorted(found.modes.codes.tolist()), found.loss
    ([[0, 0], [2, 2]], 2.0)
    """
    starts = [seed_prototypes(tuples, clusters, gamma, random) for _ in range(restarts)]
    return min((lloyd_prototypes(tuples, *start, iterations) for start in starts), key=lambda run: run.loss)


def seed_prototypes(
    tuples: WeightedTuples, clusters: int, gamma: int, random: PublicChance
) -> tuple[NDArray[np.int32], Modes]:
    """k-means++ with the mixed distance: each prototype is a tuple drawn by weight times distance to those chosen so far.

    Of a few tuples drawn for each prototype the one that leaves the least loss is taken.
    """
    draws = 2 + int(log(clusters))
    chosen = np.empty(clusters, dtype=np.intp)
    chosen[0] = draw_places(tuples.weights, 1, random)[0]
    columns = np.ascontiguousarray(tuples.rows.numbers.T, dtype=np.float64), np.ascontiguousarray(tuples.rows.codes.T)
    gaps = distances(columns, chosen[:1], gamma)[0]  # (n,) to the nearest chosen so far
    for i in range(1, clusters):
        odds = gaps * tuples.weights
        drawn = draw_places(odds if odds.sum() > 0 else tuples.weights, draws, random)
        after = np.minimum(distances(columns, drawn, gamma), gaps)  # (draws, n)
        best = int((after @ tuples.weights).argmin())
        chosen[i], gaps = drawn[best], after[best]
    codes = np.ascontiguousarray(tuples.rows.codes[chosen])
    return np.ascontiguousarray(tuples.rows.numbers[chosen]), Modes(codes, np.full(clusters, gamma, dtype=np.int64))


def lloyd_prototypes(
    tuples: WeightedTuples, centers: NDArray[np.int32], modes: Modes, iterations: int = MOST_ITERATIONS
) -> Prototypes:
    """Weighted k-prototypes from these prototypes until no tuple changes its own; one without tuples stays as it is.

    The numbers of a prototype are the mean of its tuples, on the grid; its categories the most frequent ones, the first of
    equals.
    """
    rows, weights, clusters = tuples.rows, tuples.weights, len(centers)
    previous: NDArray[np.int32] | None = None
    for _ in range(iterations):
        labels, _ = find_nearest(rows, centers, modes)
        if previous is not None and np.array_equal(labels, previous):
            break
        previous = labels
        mass = np.bincount(labels, weights=weights, minlength=clusters)
        filled = mass > 0
        centers = centers.copy()
        codes = modes.codes.copy()
        for j, column in enumerate(rows.numbers.T):
            sums = np.bincount(labels, weights=weights * column, minlength=clusters)
            centers[filled, j] = np.rint(sums[filled] / mass[filled])
        for j, size in enumerate(tuples.sizes):
            cells = np.bincount(labels.astype(np.int64) * size + rows.codes[:, j], weights, clusters * size)
            codes[filled, j] = cells.reshape(clusters, size).argmax(axis=1)[filled]
        modes = Modes(codes, modes.weights)
    labels, squares = find_nearest(rows, centers, modes)
    sizes = np.bincount(labels, weights=weights, minlength=clusters).astype(np.float64)
    return Prototypes(centers, modes, sizes, float(squares @ weights))


def nearest_prototypes(tuples: WeightedTuples, found: Prototypes) -> NDArray[np.int32]:
    """The nearest prototype of each tuple, (n,)."""
    return find_nearest(tuples.rows, found.centers, found.modes)[0]


def distances(columns: Columns, of: NDArray[np.intp], gamma: int) -> NDArray[np.float64]:
    """The squared distance of every tuple from some of them, (m, n)."""
    numbers, codes = columns
    total = np.zeros((len(of), codes.shape[1]))
    for column in codes:
        total += column != column[of, None]
    total *= gamma
    for column in numbers:
        move = column - column[of, None]
        move *= move
        total += move
    return total


def draw_places(odds: NDArray[np.float64], draws: int, random: PublicChance) -> NDArray[np.intp]:
    """Places drawn by these odds, with replacement."""
    below = np.cumsum(odds)
    places: NDArray[np.intp] = np.searchsorted(below, random.random(draws) * below[-1], side="right")
    return np.minimum(places, len(odds) - 1)
