"""How far rows are from the nearest released record, and how much nearer that is than the next ones.

References
----------
Platzer and Reutterer, Holdout-based empirical assessment of mixed-type synthetic data, 2021: distances to the closest record,
beside those of rows that the release was not made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.choose import record_loops
from cloister.risks.rows.row_tables import RowTable

__all__ = ["FAR", "SEED", "RecordDistances", "NearestRecords", "closeness", "draw_rows", "look_up", "ratios_of"]

FAR = 5  # the distance to the nearest record is compared with the one to so many different records further on
TIES = 4  # nearest records of a row that are listed
SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class NearestRecords:
    """What rows find nearest to them among the records of another table.

    Parameters
    ----------
    squares : array of float64, (n, FAR)
        The smallest squared distances to different records, rising; infinite where there are fewer records.
    ties : array of int64, (n, TIES)
        Records at the smallest distance, -1 where there are no more: of many, some that do not depend on the row.
    tied : array of int64, (n,)
        How many rows all records at the smallest distance stand for.
    counts : array of int64, (n,)
        How many times each row counts.
    """

    squares: NDArray[np.float64]
    ties: NDArray[np.int64]
    tied: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def tried(self) -> int:
        """How many rows were looked at."""
        return int(self.counts.sum())

    def mean(self, values: NDArray[np.float64], rows: int) -> tuple[float, float]:
        """The mean of a value of each row, and its standard error where these rows were drawn from more."""
        mean = float(values @ self.counts) / self.tried
        spread = float((values - mean) ** 2 @ self.counts) / max(1, self.tried - 1)
        return mean, float(np.sqrt(spread / self.tried * max(0.0, 1 - self.tried / rows)))


@dataclass(frozen=True, slots=True)
class RecordDistances:
    """Distances of rows to their nearest released record, and ratios of these to the distances further on."""

    rows: int  # that were looked at
    unchanged: float  # share of rows that stand in the release as they are
    unchanged_error: float
    distance_low: float  # the 5th percentile
    distance_median: float
    ratio_low: float
    ratio_median: float


def draw_rows(table: RowTable, most: int | None, seed: int = SEED) -> RowTable:
    """At most so many rows of a table, each as likely; all for None."""
    if most is None or table.rows <= most:
        return table
    random = np.random.default_rng(seed)  # public: which rows a figure for the holder rests on
    drawn = random.choice(table.rows, most, replace=False, shuffle=False)
    places = np.searchsorted(np.cumsum(table.counts), drawn, side="right")
    return table.taken(*np.unique(places, return_counts=True))


def look_up(rows: RowTable, records: RowTable) -> NearestRecords:
    """The nearest records of each row."""
    n, m = len(rows), len(records)
    order = np.random.default_rng(SEED).permutation(m)  # public: of many nearest records none is listed more often
    squares, ties, tied = np.empty((n, FAR)), np.empty((n, TIES), np.int64), np.empty(n, np.int64)
    loops = record_loops(n * m * len(rows.columns))
    loops.nearest_records(
        rows.numbers, rows.codes, records.numbers[order], records.codes[order], records.counts[order], squares, ties, tied
    )
    return NearestRecords(squares, np.where(ties >= 0, order[ties], -1), tied, rows.counts)


def closeness(nearest: NearestRecords, rows: int) -> RecordDistances:
    """The measures of rows that were drawn from so many."""
    distances = np.sqrt(nearest.squares[:, 0])
    repeated, repeated_ratios = (np.repeat(each, nearest.counts) for each in (distances, ratios_of(nearest)))
    unchanged, error = nearest.mean((distances == 0).astype(np.float64), rows)
    low, middle = np.percentile(repeated, [5, 50])
    ratio_low, ratio_middle = np.percentile(repeated_ratios, [5, 50])
    return RecordDistances(nearest.tried, unchanged, error, float(low), float(middle), float(ratio_low), float(ratio_middle))


def ratios_of(nearest: NearestRecords) -> NDArray[np.float64]:
    """Each row's distance to its nearest record over that to the fifth nearest different one."""
    distances = np.sqrt(nearest.squares)
    last = np.isfinite(distances).sum(axis=1) - 1  # of fewer records the farthest
    far = distances[np.arange(len(distances)), last]
    # a row that sits on its fifth record too stands out by nothing
    ratios: NDArray[np.float64] = np.divide(distances[:, 0], far, out=np.ones(len(far)), where=far > 0)
    return ratios
