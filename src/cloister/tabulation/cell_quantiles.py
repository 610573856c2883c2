"""Quantiles of a number in each cell and margin, from noisy counts of its values.

Privacy
-------
Released: for every cell, empty ones too, noisy counts of public bins of the number, fine ones and, where they are more than 48,
about as many coarse ones as the root of that (`kernels.tables.TableCounts`, parts "values i level j"). Neighbours: both
relations. Sensitivity: a row has one value of the number and is in one cell, so at each level adding it moves one count by 1,
and replacing it moves two, whether it stays in its cell or not; a person with at most g rows moves g times that. Budget: four
parts for each number, shared by its levels, inside the one step of the table: one frozen plan. Post-processing: all that is
in this file, least squares over the levels and the released count, quantiles, intervals, and which cells have none.

One histogram answers all quantiles of a number, in all cells and, added up, in all margins. The exponential mechanism for each
cell would be nearer to a single quantile (median rank error on Adult at epsilon 0.5: 5 in place of 10), as near to three, and
has neither margins nor an interval.

References
----------
M. Hay et al., "Boosting the accuracy of differentially private histograms through consistency", VLDB 2010.
W. Qardaji et al., "Understanding hierarchical methods for differentially private histograms", VLDB 2013 (how many levels).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.tables import ValueLevels
from cloister.report.numbers import decimals_left
from cloister.tabulation.cell_statistics import LEAST_COUNT, Columns, MarginCounts
from cloister.tabulation.quantile_bins import QuantileBins
from cloister.tabulation.table_digits import MOST_DIGITS, significant

__all__ = ["CellQuantiles", "RankFit", "fit_ranks", "quantile_name"]

Array = NDArray[np.float64]
LEAST_PART = 1e-9  # of the largest variance: a count that is known exactly gets that


@dataclass(frozen=True, slots=True)
class RankFit:
    """Least squares over the levels of a histogram and its total: a linear map, and the covariance of what it gives."""

    weights: Array  # (bins, counts of all levels and the total)
    covariance: Array  # (bins, bins)

    def rank_errors(self, quantile: float) -> Array:
        """The standard deviation of F_k - quantile F_B at each edge k, F the fitted counts below an edge, (bins + 1,)."""
        bins = len(self.covariance)
        below = np.tril(np.ones((bins + 1, bins)), -1) - quantile  # (bins + 1, bins)
        variances: Array = np.maximum(0.0, ((below @ self.covariance) * below).sum(axis=1))
        return np.sqrt(variances)


@lru_cache(maxsize=16)  # public numbers alone; rows of a table are written, hashed and shown
def fit_ranks(levels: ValueLevels, variances: tuple[float, ...], total_variance: float) -> RankFit:
    """The fit for noise of these variances, a level each, and of the total."""
    size = levels.bins
    design = [np.arange(size) // width == np.arange(-(-size // width))[:, None] for width in levels.widths]
    rows = np.concatenate([*design, np.ones((1, size), dtype=bool)]).astype(np.float64)  # (counts, bins)
    spread = [*(np.full(len(level), v) for level, v in zip(design, variances, strict=True)), np.array([total_variance])]
    noise = np.concatenate(spread)
    precision = 1 / np.maximum(noise, LEAST_PART * noise.max())
    covariance = np.linalg.inv((rows.T * precision) @ rows)
    return RankFit(covariance @ (rows.T * precision), covariance)


@dataclass(frozen=True, slots=True)
class CellQuantiles:
    """The quantiles of a number by cell, each with a 95% interval, the noise's part alone.

    An interval holds every bin that the noisy ranks do not exclude: those whose edges lie within `width` standard deviations of
    the wanted rank. A cell has a quantile where its count is at least three times the count's standard error, and where the
    interval is not as wide as the bounds.
    """

    bins: QuantileBins
    counts: tuple[Array, ...]  # a level each, (cells..., bins of the level)
    deviations: tuple[float, ...]  # of the noise of a level
    width: float  # standard deviations to either side of an interval

    @property
    def names(self) -> tuple[str, ...]:
        """What the quantiles are called."""
        return tuple(quantile_name(self.bins.name, quantile) for quantile in self.bins.quantiles)

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(head for name in self.names for head in (name, f"low of {name}", f"high of {name}"))

    def columns(self, margin: MarginCounts) -> Columns:
        fit = fit_ranks(self.bins.levels, tuple(margin.added * each**2 for each in self.deviations), margin.error**2)
        shape = margin.counts.shape
        levels = [margin.sum_of(level).reshape(margin.counts.size, -1) for level in self.counts]
        known = np.concatenate([*levels, margin.fitted.reshape(-1, 1)], axis=1)  # (cells, counts)
        ranks = np.cumsum(known @ fit.weights.T, axis=1)
        ranks = np.concatenate([np.zeros((len(ranks), 1)), ranks], axis=1)  # (cells, bins + 1)
        enough = margin.counts.ravel() >= max(1.0, LEAST_COUNT * margin.error)
        columns: dict[str, NDArray[Any]] = {}
        for name, quantile in zip(self.names, self.bins.quantiles, strict=True):
            reach = self.width * fit.rank_errors(quantile)
            found = np.full((len(ranks), 3), None, dtype=object)
            for cell in np.flatnonzero(enough):
                found[cell] = self._quantile(ranks[cell], quantile, reach)
            for place, head in enumerate((name, f"low of {name}", f"high of {name}")):
                columns[head] = found[:, place].reshape(shape)
        return columns

    def _quantile(self, ranks: Array, quantile: float, reach: Array) -> tuple[float | None, float | None, float | None]:
        """A quantile and its interval from the noisy ranks of edges, (bins + 1,); None where they say nothing."""
        last = len(ranks) - 1
        offsets = ranks - quantile * ranks[-1]
        first_bin = max(0, int(np.argmax(offsets + reach >= 0)) - 1)
        last_bin = min(last - 1, last - int(np.argmax((offsets - reach <= 0)[::-1])))
        if first_bin == 0 and last_bin == last - 1 and last > 1:
            return None, None, None
        rising = (np.maximum.accumulate(offsets) + np.minimum.accumulate(offsets[::-1])[::-1]) / 2
        points = self.bins.points
        if self.bins.has_values:
            crossing = min(max(int(np.argmax(rising[1:] >= 0)), first_bin), last_bin)
            return _rounded(points[crossing]), _rounded(points[first_bin]), _rounded(points[last_bin])
        low, high = _rounded(points[first_bin]), _rounded(points[last_bin + 1])
        digits = decimals_left(points[1] - points[0])
        return min(max(round(float(np.interp(0.0, rising, points)), digits), low), high), low, high


def _rounded(point: float) -> float:
    """A point of a public grid with the digits that every file keeps, also a workbook: 0.3 and not 0.30000000000000004."""
    return significant(point, MOST_DIGITS)


def quantile_name(column: str, quantile: float) -> str:
    """What a quantile of a column is called in a table."""
    return f"median of {column}" if quantile == 0.5 else f"quantile {quantile:g} of {column}"
