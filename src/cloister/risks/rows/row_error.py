"""SSE of a release: squared distances of the original rows to their nearest released record, beside those to one centre.

References
----------
Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, 2005, for SSE and SST of a
microaggregated table, where a row's record is that of its group. Here it is the nearest one, which every release has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cloister.risks.rows.closest_records import NearestRecords
from cloister.risks.rows.row_tables import RowTable

__all__ = ["SquaredError", "squared_error"]


@dataclass(frozen=True, slots=True)
class SquaredError:
    """SSE by nearest record, of all original rows, and SST, which one record for all of them would have."""

    sse: float
    sse_error: float  # standard error, where not all rows were looked at
    sst: float

    @property
    def ratio(self) -> float | None:
        """SSE / SST; None where all rows are the same."""
        return self.sse / self.sst if self.sst > 0 else None


def squared_error(original: RowTable, nearest: NearestRecords) -> SquaredError:
    """The error of a release whose records lie so near to some rows of the original."""
    mean, error = nearest.mean(nearest.squares[:, 0], original.rows)
    return SquaredError(original.rows * mean, original.rows * error, total_squares(original))


def total_squares(table: RowTable) -> float:
    """SST: squared distances of all rows to the means of numbers and the most frequent words.

    A blank among numbers is 1 from the mean, and at it where a column has nothing but blanks.
    """
    total = 0.0
    for j in range(table.numbers.shape[1]):
        values = table.numbers[:, j]
        real = ~np.isnan(values)
        weights = table.counts[real]
        if len(weights):
            mean = np.average(values[real], weights=weights)
            total += float((values[real] - mean) ** 2 @ weights) + float(table.counts[~real].sum())
    for j in range(table.codes.shape[1]):
        total += table.rows - float(np.bincount(table.codes[:, j], table.counts).max())
    return total
