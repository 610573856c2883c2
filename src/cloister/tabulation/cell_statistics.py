"""What a table says of a number in each cell and margin, beside counts: its sum and its mean. Post-processing.

Privacy
-------
Sums around the middle of a column's bounds are released with noise; the middle times the released count is added, and a mean
is what was released divided by the released count. Nothing here sees a row: rounding, and which cells are said to have too few
rows for a mean, follow from released numbers and public noise scales.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.report.numbers import decimals_left
from cloister.tabulation.margins import Axes
from cloister.tabulation.table_digits import MOST_DIGITS, significant

__all__ = ["CellMeans", "CellStatistic", "CellSums", "MarginCounts"]

Array = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]  # arrays of the shape of a margin; None where there is no number
LEAST_COUNT = 3  # standard errors that a count must have for a mean of its cell: an empty cell has 1 in 70 times that


@dataclass(frozen=True, slots=True)
class MarginCounts:
    """The counts of the cells, of one margin or of the whole table, and how they come of the cells."""

    kept: Axes
    lost: Axes
    counts: NDArray[np.int64]
    fitted: Array  # unbiased: before they were made not negative and whole
    error: float
    added: int  # cells that each of them adds up

    def sum_of(self, cells: Array) -> Array:
        """Cells added up as the counts are."""
        summed: Array = cells.sum(axis=self.lost)
        return summed


class CellStatistic(Protocol):
    """A statistic of one column by cell, which knows the columns that it adds to the rows of a table."""

    @property
    def heads(self) -> tuple[str, ...]: ...

    def columns(self, margin: MarginCounts) -> Columns: ...


@dataclass(frozen=True, slots=True)
class CellSums:
    """The sums of a number: an estimate without a limit, to the digits that the noise of a cell leaves."""

    name: str
    sums: Array  # of the cells, rounded
    errors: Mapping[Axes, float]
    decimals: int

    @property
    def heads(self) -> tuple[str, ...]:
        return f"sum of {self.name}", f"standard_error of {self.name}"

    def columns(self, margin: MarginCounts) -> Columns:
        sums = np.round(margin.sum_of(self.sums), self.decimals) + 0.0  # -0.0 becomes 0.0
        errors = np.full(sums.shape, significant(self.errors[margin.kept]))
        return dict(zip(self.heads, (sums, errors), strict=True))


@dataclass(frozen=True, slots=True)
class CellMeans:
    """The means of a number, clipped into its bounds.

    A cell has one where its count is at least three times the count's standard error, and where the noise of its sum leaves less
    doubt than the bounds do: at most the deviation of a number that is anywhere between them, their width / sqrt 12.

    Its standard error (delta method): a mean is center + s / n, so its variance is (var s + (s / n)^2 var n) / n^2.
    """

    name: str
    sums: Array  # of the cells, around the center
    sum_error: float  # of a cell
    center: float
    half: float  # of the width of the bounds

    @property
    def heads(self) -> tuple[str, ...]:
        return f"mean of {self.name}", f"standard_error of mean of {self.name}"

    def columns(self, margin: MarginCounts) -> Columns:
        own = self.sum_error * sqrt(margin.added)
        fewest = max(1.0, LEAST_COUNT * margin.error, own * sqrt(3) / self.half)
        counts = np.maximum(margin.counts, 1)
        offsets = np.clip(margin.sum_of(self.sums) / counts, -self.half, self.half)
        errors = np.sqrt(own**2 + (offsets * margin.error) ** 2) / counts
        given = margin.counts >= fewest
        means = np.full(given.shape, None, dtype=object)
        deviations = means.copy()
        for place in np.argwhere(given):
            at = tuple(place)
            error = max(float(errors[at]), self.half * 1e-12)
            mean = round(self.center + float(offsets[at]), decimals_left(error))
            means[at] = significant(min(max(mean, self.center - self.half), self.center + self.half), MOST_DIGITS)
            deviations[at] = significant(error)
        return dict(zip(self.heads, (means, deviations), strict=True))
