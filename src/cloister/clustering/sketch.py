"""A released sketch of a table: cells with a weight, a mean and a spread. All of it is post-processing of released values."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain

__all__ = ["Round", "Sketch", "sketch_of_moments", "weighted_kmeans"]

Array = NDArray[np.float64]

POINTS_PER_CELL = 25  # public points drawn from the sketch for each cell that is wanted
RESTARTS = 20
RADIUS_QUANTILE = 0.8  # of the rows, as the sketch expects them, lie nearer to their candidate than the clipping radius
LEAST_SPREAD = 0.002  # of the squared radius


@dataclass(frozen=True, slots=True)
class Round:
    """What one round released around its candidates, in grid steps, with the deviation of its noise."""

    candidates: Array  # (m, d)
    radius: float
    counts: Array  # (m,)
    sums: Array  # (m, d) of clipped moves
    squares: Array  # (m,) of clipped squared distances
    count_noise: float
    sum_noise: float
    square_noise: float


@dataclass(frozen=True, slots=True)
class Sketch:
    """Rows as a mixture of cells, as far as releases tell.

    Attributes
    ----------
    means : (m, d); weights : (m,) rows in each cell; spreads : (m,) mean squared distance to the mean; shape : (d,) how a
    spread divides over the columns, adding up to 1; errors : (m,) standard error of each coordinate of a mean
    """

    means: Array
    weights: Array
    spreads: Array
    shape: Array
    errors: Array

    def draw(self, size: int, domain: Domain, random: np.random.Generator) -> tuple[Array, Array]:
        """About `size` points as the sketch expects rows to lie, with weights; at least two for each cell."""
        share = np.maximum(self.weights, 1e-9)
        share = share / share.sum()
        times = np.maximum(2, np.rint(share * size)).astype(np.int64)
        cell = np.repeat(np.arange(len(share)), times)
        steps = random.standard_normal((len(cell), len(self.shape)))  # public: points of the sketch, not noise
        points = self.means[cell] + steps * np.sqrt(self.shape) * np.sqrt(self.spreads[cell])[:, None]
        return domain.put(points).astype(np.float64), (share / times)[cell]

    def candidates(self, wanted: int, clusters: int, domain: Domain, random: np.random.Generator) -> Array:
        """Where to look next: so many candidates where the sketch expects rows."""
        if wanted == clusters and len(self.means) == clusters:
            return self.means
        if wanted == clusters and len(self.means) > clusters:
            return weighted_kmeans(self.means, self.weights, clusters, random, RESTARTS)
        points, weights = self.draw(POINTS_PER_CELL * wanted, domain, random)
        return weighted_kmeans(points, weights, wanted, random, restarts=1, rounds=6)

    def radius(self, candidates: Array, domain: Domain, random: np.random.Generator) -> float:
        """The clipping radius: as far from its candidate as four fifths of the rows lie, if the sketch is right."""
        points, weights = self.draw(max(2000, 4 * len(candidates)), domain, random)
        distances = np.sqrt(nearest_squares(points, candidates))
        order = np.argsort(distances)
        below = np.cumsum(weights[order])
        found = distances[order][np.searchsorted(below, RADIUS_QUANTILE * below[-1])]
        return float(np.clip(found, 1e-4 * domain.radius, domain.radius))

    def update(self, seen: Round, rows: float, clusters: int, domain: Domain) -> Sketch:
        """The sketch after a round.

        A move is shrunk by its own noise, 1 - E|noise|^2 / |move|^2 and not below 0 (James and Stein); a spread is drawn
        towards that of all cells. Of more cells than clusters only the largest are kept, until they add up to the rows:
        the others are what noise explains.
        """
        floor = np.maximum(seen.counts, max(2 * seen.count_noise, 1.0))
        moves = seen.sums / floor[:, None]
        lengths = (moves**2).sum(axis=1)
        noise = moves.shape[1] * (seen.sum_noise / floor) ** 2
        kept = np.maximum(0.0, 1 - noise / np.maximum(lengths, 1e-300))
        means = domain.put(seen.candidates + kept[:, None] * moves).astype(np.float64)
        square = seen.radius**2
        pooled = np.clip(seen.squares.sum() / rows / square, 0.01, 1.0)
        weight = 2 * seen.square_noise / square  # rows that the pooled spread counts for
        spread = np.clip((seen.squares / square + weight * pooled) / (floor + weight), LEAST_SPREAD, 1.0) * square
        spreads = np.maximum(spread - kept**2 * lengths, 0.1 * spread)
        errors = kept * seen.sum_noise / floor
        if len(means) == clusters:
            return Sketch(means, np.maximum(seen.counts, 1.0), spreads, self.shape, errors)
        order = np.argsort(-seen.counts, kind="stable")
        enough = int(np.searchsorted(np.cumsum(seen.counts[order]), rows)) + 1
        cells = order[: max(clusters, enough)]
        cells = cells[seen.counts[cells] > 0] if (seen.counts[cells] > 0).any() else order[:1]
        weights = np.maximum(seen.counts[cells], 1.0)
        return Sketch(means[cells], weights, spreads[cells], self.shape, errors[cells])


def sketch_of_moments(
    sums: Array, squares: Array, sum_noise: float, square_noise: float, rows: float, domain: Domain
) -> Sketch:
    """One cell: the mean and variance of each column, drawn towards those of the even law over the domain by their noise."""
    scale = np.full(len(sums), domain.radius) if domain.is_ball else domain.halves.astype(np.float64)  # (d,)
    even = 1 / (len(sums) + 2) if domain.is_ball else 1 / 3  # variance of a column in units of its scale
    mean_error = (sum_noise / rows / scale) ** 2
    square_error = (square_noise / rows / scale**2) ** 2
    mean = sums / rows / scale * (even / 2) / (even / 2 + mean_error)
    second = even + (squares / rows / scale**2 - even) * (even / 2) ** 2 / ((even / 2) ** 2 + square_error)
    variance = np.clip(second - mean**2, 0.02 * even, 2 * even) * scale**2
    middle = domain.put((mean * scale)[None]).astype(np.float64)
    one = np.ones(1)
    return Sketch(middle, one * rows, one * variance.sum(), variance / variance.sum(), one * np.inf)


def one_thread() -> AbstractContextManager[Any]:
    """A few thousand points are done sooner by one thread than two threads have found each other."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)  # type: ignore[no-any-return]


def nearest_squares(points: Array, centers: Array) -> Array:
    """The squared distance of each released point to its nearest centre."""
    from sklearn.metrics import pairwise_distances_argmin_min

    with one_thread():
        found = pairwise_distances_argmin_min(points.astype(np.float32), centers.astype(np.float32))
    return np.asarray(found[1], dtype=np.float64) ** 2


def weighted_kmeans(
    points: Array, weights: Array, clusters: int, random: np.random.Generator, restarts: int = RESTARTS, rounds: int = 30
) -> Array:
    """The best of several weighted k-means runs on released points."""
    from sklearn.cluster import KMeans

    seed = int(random.integers(2**31))  # public: where the search starts
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # points that coincide are no surprise here
        model = KMeans(clusters, n_init=restarts, max_iter=rounds, random_state=seed)
        model.fit(points.astype(np.float32), sample_weight=weights)  # a search: seven digits are plenty
    return np.asarray(model.cluster_centers_, dtype=np.float64)
