"""Made-up rows that agree with what was released: post-processing, whose random numbers are public.

A round of clusters releases noisy value counts of every column in every cluster. Rows are made up cluster by cluster, columns
independently of each other within one; then they are weighted until they agree with the counts of this round and of those before
it, as far as each count's noise lets it be heeded, and with the marginals. That is a mixture of products (latent classes), raked
over several partitions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.kernels.class_counts import ValueBins, best_classes
from cloister.synthesis.cell_rows import whole_counts
from cloister.tabulation.margins import onto_simplex

__all__ = ["ReleasedClusters", "RowCloud", "independent_rows"]

Array = NDArray[np.float64]
SCORE_UNIT = 1_024  # scores are logarithms in units of 1 / 1,024
FLOOR = 0.02  # is added to each share before its logarithm, so that no single value decides a row's cluster
FITTED_ROWS, FITTING_PASSES = 20_000, 6  # of the cloud, to find clusters in
EVEN_PASSES = 3  # at first clusters do not attract rows by their size
PRIOR_ROWS = 5.0  # of the table's own shares, in every cluster that is found in a cloud
RAKING_PASSES, WEIGHING_PASSES = 20, 5
DOUBT = 0.5  # variance of a made-up count, as a part of its square, before a released count is seen
LARGEST_STEP = 5.0  # by which one released count multiplies weights at most
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedClusters:
    """What a round released: the scores that say whose row is whose, and the noisy value counts of each cluster."""

    scores: NDArray[np.int32]  # (k, bins)
    counts: Array  # (k, bins)
    deviation: float

    def sizes(self, bins: ValueBins, rows: float) -> Array:
        """How many rows each cluster has: not negative, adding up to the rows, (k,).

        The counts of every column add up to it; a column of fewer values has less noise in its sum.
        """
        sums = np.add.reduceat(self.counts, bins.offsets, axis=1)  # (k, columns)
        trust = 1 / np.array(bins.widths)
        return onto_simplex(sums @ trust / trust.sum(), rows)

    def shares(self, sizes: Array, table: Array, bins: ValueBins) -> Array:
        """The shares of each column's values in each cluster, drawn by their noise towards those of the whole table, (k, bins).

        James and Stein: of a difference D in w values the part 1 - w deviation^2 / |D|^2 is kept.
        """
        shares = np.empty_like(self.counts)
        for offset, width in zip(bins.offsets, bins.widths, strict=True):
            column = slice(offset, offset + width)
            expected = np.outer(sizes, table[column])
            moves = self.counts[:, column] - expected
            kept = np.maximum(0.0, 1 - width * self.deviation**2 / np.maximum((moves**2).sum(axis=1), TINY))
            for place, counts in enumerate(expected + kept[:, None] * moves):
                shares[place, column] = onto_simplex(counts / max(sizes[place], 1.0), 1.0)
        return raked(shares, sizes / sizes.sum(), table, bins)


@dataclass(frozen=True, slots=True, eq=False)
class RowCloud:
    """Made-up rows as bins of every column."""

    codes: NDArray[np.int64]  # (columns, m)
    bins: ValueBins

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def clusters(self, scores: NDArray[np.int32]) -> NDArray[np.int64]:
        """The cluster of each made-up row, by the rule that holds for rows."""
        return best_classes(scores, list(self.codes), self.bins.offsets, len(self))

    def counts(self, labels: NDArray[np.int64], clusters: int) -> Array:
        """How many made-up rows of each cluster hold each value, (clusters, bins)."""
        columns = [
            np.bincount(labels * width + column, minlength=clusters * width).reshape(clusters, width)
            for column, width in zip(self.codes, self.bins.widths, strict=True)
        ]
        return np.concatenate(columns, axis=1).astype(np.float64)

    def find_clusters(self, clusters: int, table: Array, random: PublicChance) -> NDArray[np.int32]:
        """Scores of so many clusters of the made-up rows: latent classes by hard expectation maximisation."""
        some = RowCloud(self.codes[:, random.permutation(len(self))[:FITTED_ROWS]], self.bins)  # public
        starts = some.codes[:, random.integers(len(some), size=clusters)]  # public; (columns, clusters)
        shares = np.tile(table, (clusters, 1))
        for offset, codes in zip(self.bins.offsets, starts, strict=True):
            shares[np.arange(clusters), offset + codes] += 1.0
        shares /= np.add.reduceat(shares, self.bins.offsets, axis=1).repeat(self.bins.widths, axis=1)
        weights = np.full(clusters, 1 / clusters)
        for turn in range(FITTING_PASSES):
            labels = some.clusters(scores_of(shares, weights if turn >= EVEN_PASSES else np.ones(clusters), self.bins))
            sizes = np.bincount(labels, minlength=clusters).astype(np.float64)
            shares = (some.counts(labels, clusters) + PRIOR_ROWS * table) / (sizes[:, None] + PRIOR_ROWS)
            weights = (sizes + 1) / (sizes + 1).sum()
        return scores_of(shares, weights, self.bins)

    def agreeing(self, rounds: Sequence[ReleasedClusters], table: Array, rows: float) -> Array:
        """Weights with which the made-up rows agree with all rounds and with the table's marginals, (m,).

        A count moves as far towards the released one as its noise lets that be believed, and half of that at a time.
        """
        weights = np.full(len(self), rows / len(self))
        labels = [self.clusters(released.scores) for released in rounds]
        columns = list(zip(self.bins.offsets, self.bins.widths, self.codes, strict=True))
        for _ in range(WEIGHING_PASSES):
            for released, found in zip(rounds, labels, strict=True):
                for offset, width, codes in columns:
                    cells = found * width + codes
                    wanted = released.counts[:, offset : offset + width].ravel()
                    present: Array = np.bincount(cells, weights, wanted.size).astype(np.float64)
                    weights *= correction(present, wanted, released.deviation)[cells]
            for offset, width, codes in columns:
                present = np.bincount(codes, weights, width).astype(np.float64)
                weights *= (table[offset : offset + width] * rows / np.maximum(present, TINY))[codes]
        return weights

    def resampled(self, weights: Array, size: int, random: PublicChance) -> RowCloud:
        """So many of the made-up rows, each as often as its weight says."""
        times = whole_counts(weights, size, random)
        return RowCloud(np.repeat(self.codes, times, axis=1), self.bins)


def correction(present: Array, wanted: Array, deviation: float) -> Array:
    """By what the weights of the rows behind each count are multiplied."""
    doubt = DOUBT * np.maximum(present, 1.0) ** 2
    believed = (wanted * doubt + present * deviation**2) / (doubt + deviation**2)
    factors = np.clip(believed / np.maximum(present, TINY), 1 / LARGEST_STEP, LARGEST_STEP)
    halfway: Array = np.sqrt(factors)
    return halfway


def scores_of(shares: Array, weights: Array, bins: ValueBins) -> NDArray[np.int32]:
    """Logarithms of shares and of the clusters' weights, as whole numbers."""
    logarithms = np.log(shares + FLOOR)
    logarithms[:, : bins.widths[0]] += np.log(weights)[:, None]  # every row has one value of the first column
    scores: NDArray[np.int32] = np.rint(SCORE_UNIT * logarithms).astype(np.int32)
    return scores


def raked(shares: Array, weights: Array, table: Array, bins: ValueBins) -> Array:
    """The shares of clusters of these weights, changed until their average is the table's."""
    for _ in range(RAKING_PASSES):
        shares = shares * (table / np.maximum(weights @ shares, TINY))
        sums = np.add.reduceat(shares, bins.offsets, axis=1).repeat(bins.widths, axis=1)
        shares = np.where(sums > TINY, shares / np.maximum(sums, TINY), table)
    return shares


def independent_rows(table: Array, bins: ValueBins, size: int, random: PublicChance) -> RowCloud:
    """Made-up rows whose columns have these shares, independently of each other."""
    return rows_of_clusters(np.ones(1), table[None], bins, size, random)


def rows_of_clusters(sizes: Array, shares: Array, bins: ValueBins, size: int, random: PublicChance) -> RowCloud:
    """Made-up rows of clusters of these sizes, whose columns have these shares, independently of each other within a cluster."""
    codes = np.empty((len(bins.widths), size), dtype=np.int64)
    times = whole_counts(sizes, size, random)
    for place, (end, count) in enumerate(zip(np.cumsum(times), times, strict=True)):
        for j, (offset, width) in enumerate(zip(bins.offsets, bins.widths, strict=True)):
            values = whole_counts(shares[place, offset : offset + width], count, random)
            codes[j, end - count : end] = random.permutation(np.repeat(np.arange(width), values))  # public
    return RowCloud(codes, bins)
