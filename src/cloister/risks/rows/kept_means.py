"""How far the means of number columns moved, in deviations of the original and in the column's own units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cloister.risks.rows.row_tables import RowTable

__all__ = ["KeptMeans", "kept_means"]


@dataclass(frozen=True, slots=True)
class KeptMeans:
    """The mean that moved most."""

    columns: int  # number columns that have one
    mean: float  # of all moves, in standard deviations of the original
    largest: float
    worst: str
    original: float  # that column's mean, in its own units; days since 1970 for dates
    released: float
    is_date: bool = False


def kept_means(original: RowTable, released: RowTable) -> KeptMeans | None:
    """How far means moved; None where no number column has values that differ."""
    numbers = [column for column in original.columns if column.is_number]
    moves = []
    for place, column in enumerate(numbers):
        before, after = (_mean_and_deviation(table, place) for table in (original, released))
        if before is None or after is None or before[1] <= 0:
            continue
        means = [column.low + mean * column.width for mean, _ in (before, after)]
        moves.append((abs(after[0] - before[0]) / before[1], column, means))
    if not moves:
        return None
    largest, column, means = max(moves, key=lambda move: move[0])
    mean = float(np.mean([move for move, _, _ in moves]))
    return KeptMeans(len(moves), mean, largest, column.name, means[0], means[1], column.is_date)


def _mean_and_deviation(table: RowTable, place: int) -> tuple[float, float] | None:
    """Of one number column on its scale, blanks aside."""
    values = table.numbers[:, place]
    is_known = np.isfinite(values)
    weights = table.counts[is_known].astype(np.float64)
    if not weights.sum():
        return None
    mean = float(np.average(values[is_known], weights=weights))
    return mean, float(np.sqrt(np.average((values[is_known] - mean) ** 2, weights=weights)))
