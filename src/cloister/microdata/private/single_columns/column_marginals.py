"""The distribution of each column by itself, from noisy counts: post-processing of released values.

Numbers are counted in three passes. The first has bins of equal width; each bin is then cut into more pieces the more rows it
seems to hold, so that a value which many rows share (a zero, forty hours) ends up in a narrow bin of its own. What an earlier
pass said of a bin and what its pieces add up to are averaged by their variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.kernels import ValueBins
from cloister.microdata.private.single_columns.number_places import Ends, MarginalPlaces, split_bins
from cloister.synthesis.cell_rows import whole_counts
from cloister.tabulation.margins import onto_simplex

__all__ = ["ColumnMarginals", "NumberCounts", "most_coarse"]

Array = NDArray[np.float64]
MOST_PIECES = 32  # of a bin in one pass
MOST_BINS = 2_048  # of a column, beside those of the first pass
NOTHING_KNOWN = 1e300  # variance of what nobody has measured


@dataclass(frozen=True, slots=True, eq=False)
class NumberCounts:
    """About how many rows lie in each bin of a number column, with the variance of the noise in that."""

    places: MarginalPlaces
    ends: Ends  # (m + 1,)
    counts: Array  # (m,)
    variances: Array  # (m,)

    @classmethod
    def unknown(cls, places: MarginalPlaces, rows: float) -> NumberCounts:
        """A column of which nothing was released yet."""
        return cls(places, np.array([0, places.count]), np.array([rows]), np.array([NOTHING_KNOWN]))

    def pieces(self, rows: float, least: float) -> Ends:
        """Finer bins for the next pass: pieces that would hold at least so many rows each."""
        expected = onto_simplex(self.counts, rows)
        smallest = max(least, rows / MOST_BINS)
        return split_bins(self.ends, np.clip(expected / smallest, 1, MOST_PIECES).astype(np.int64))

    def refined(self, ends: Ends, counts: Array, deviation: float) -> NumberCounts:
        """With the counts of finer bins, which move by equal parts until each bin has the average of both estimates of it.

        Parts x_i of one variance v with the sum S: x_i - S/m has variance v (1 - 1/m) and does not depend on S.
        """
        begins = np.searchsorted(ends, self.ends[:-1])
        pieces = np.diff(np.append(begins, len(counts)))
        sums, variance = np.add.reduceat(counts, begins), deviation**2
        trust = self.variances / (self.variances + pieces * variance)  # in the sums of the pieces
        average = trust * sums + (1 - trust) * self.counts
        variances = variance * (1 - 1 / pieces) + trust * pieces * variance / pieces**2
        moved = counts + np.repeat((average - sums) / pieces, pieces)
        return NumberCounts(self.places, ends, moved, np.repeat(variances, pieces))

    def joined(self, kept: Ends) -> NumberCounts:
        """Bins joined into those that end there: counts and variances add up.

        Pieces of one bin lean against each other where an earlier pass knew their sum, which makes this variance an upper bound.
        """
        begins = np.searchsorted(self.ends, kept[:-1])
        return NumberCounts(self.places, kept, np.add.reduceat(self.counts, begins), np.add.reduceat(self.variances, begins))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnMarginals:
    """The shares of each column's values: numbers in fine bins and in the coarse ones that models are made of."""

    places: tuple[MarginalPlaces, ...]
    ends: tuple[Ends, ...]  # fine bins of each number column
    shares: tuple[Array, ...]  # of the fine bins of numbers, then of the values of categories; each adds up to 1
    coarse: tuple[Ends, ...]  # those of the fine ends that are kept

    @classmethod
    def of(cls, numbers: Sequence[NumberCounts], categories: Sequence[Array], rows: float, bins: int) -> ColumnMarginals:
        """From noisy counts of all columns of a table of about so many rows; clusters have about so many bins of a number."""
        shares = [onto_simplex(counts, rows) / rows for counts in (*(column.counts for column in numbers), *categories)]
        coarse = tuple(coarse_ends(column.ends, share, bins) for column, share in zip(numbers, shares, strict=False))
        places, ends = tuple(column.places for column in numbers), tuple(column.ends for column in numbers)
        return cls(places, ends, tuple(shares), coarse)

    @property
    def bins(self) -> ValueBins:
        """How clusters tell values apart."""
        cuts = tuple(places.cuts(ends) for places, ends in zip(self.places, self.coarse, strict=True))
        return ValueBins(cuts, tuple(len(share) for share in self.shares[len(cuts) :]))

    def coarse_shares(self) -> list[Array]:
        """The shares of the bins that clusters are made of, column by column."""
        numbers = [
            np.add.reduceat(share, np.searchsorted(ends, kept[:-1]))
            for share, ends, kept in zip(self.shares, self.ends, self.coarse, strict=False)
        ]
        return [*numbers, *self.shares[len(numbers) :]]

    def values(self, column: int, codes: NDArray[np.int64], random: PublicChance) -> NDArray[np.float64]:
        """Numbers for coarse bins: a fine bin by the table's shares, in it any place."""
        ends, share, kept = self.ends[column], self.shares[column], self.coarse[column]
        fine = np.empty(len(codes), dtype=np.int64)
        begins = np.searchsorted(ends, kept)
        for i, (begin, end) in enumerate(pairwise(begins.tolist())):
            rows = np.flatnonzero(codes == i)
            times = whole_counts(share[begin:end], len(rows), random)
            fine[rows] = random.permutation(np.repeat(np.arange(begin, end), times))  # public
        places = ends[fine] + (random.random(len(codes)) * np.diff(ends)[fine]).astype(np.int64)  # public
        return self.places[column].values(places)


def coarse_ends(ends: Ends, shares: Array, bins: int) -> Ends:
    """Neighbouring bins joined until each holds its part of the rows; a bin that holds as much by itself stands alone.

    There are at most `most_coarse(bins)` of them.

    >>> coarse_ends(np.array([0, 1, 2, 3, 9]), np.array([0.05, 0.9, 0.02, 0.03]), 8).tolist()
    [0, 1, 2, 9]
    """
    kept, weight = [0], 0.0
    for i, share in enumerate(shares.tolist()):
        if share >= 1 / bins and kept[-1] != i:
            kept.append(i)
            weight = 0.0
        weight += share
        if weight >= 1 / bins:
            kept.append(i + 1)
            weight = 0.0
    if kept[-1] == len(shares):
        kept.pop()
    return np.append(ends[kept], ends[-1])


def most_coarse(bins: int) -> int:
    """How many coarse bins there are at most, whatever the shares: 2 bins + 1.

    A bin that was closed because it is full holds at least 1 / bins of all rows, so there are at most `bins` of these. Any other
    ends where a full one begins, or is the last: each full one has at most one such bin before it, and one may come at the end.
    """
    return 2 * bins + 1
