"""From noisy cells, margins and sums to one table that agrees with itself: post-processing of released values."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Grid
from cloister.kernels.tables import TableCounts
from cloister.report.numbers import decimals_left
from cloister.tabulation.axes import TableLayout
from cloister.tabulation.cell_quantiles import CellQuantiles
from cloister.tabulation.cell_statistics import CellMeans, CellStatistic, CellSums
from cloister.tabulation.margins import CERTAIN, Axes, fit_cells, not_negative, precisions, spread_of
from cloister.tabulation.private_table import PrivateTable
from cloister.tabulation.table_digits import whole_counts

__all__ = ["settle"]

Array = NDArray[np.float64]

BY_ITSELF = ("margin", "missing")  # parts that are not laid out as the cells are
LEAST_VARIANCE = 1e-12  # at an absurd epsilon the noise rounds to 0, where weights would divide by it


def settle(
    layout: TableLayout,
    kernel: TableCounts,
    parts: Mapping[str, Any],
    deviation: Mapping[str, float],
    public_rows: float | None,
    interval_width: float,
) -> PrivateTable:
    """Least squares, counts that are not negative and whole, and what is known of each number's error. Released values only."""
    shape = layout.own_shape
    parts = {name: part if name.startswith(BY_ITSELF) else layout.in_own_order(part) for name, part in parts.items()}
    everything = tuple(range(len(shape)))
    measured: dict[Axes, Any] = {everything: parts["cells"].astype(np.float64)}
    variances = {everything: max(LEAST_VARIANCE, deviation["cells"] ** 2)}
    for i, kept in enumerate(layout.in_order(kernel.margins)):
        measured[kept] = parts[f"margin {i}"].astype(np.float64)
        variances[kept] = max(LEAST_VARIANCE, deviation[f"margin {i}"] ** 2)
    if public_rows is not None:
        measured[()] = np.array(float(public_rows))
        variances[()] = min(variances.values()) / CERTAIN
    known = precisions(shape, variances)
    fitted = fit_cells(shape, measured, variances)
    if public_rows is not None:  # known to be so, which least squares with a large weight only comes near
        fitted += (public_rows - fitted.sum()) / fitted.size
    counts = whole_counts(not_negative(fitted, known))
    errors = {kept: spread_of(shape, known, kept) for kept in known}
    statistics: list[CellStatistic] = []
    for i, grid in enumerate(layout.summed):
        own = deviation[f"sum {i}"] * grid.step
        centred = parts[f"sum {i}"] * grid.step
        if grid.name in layout.contents.measures:
            statistics.append(cell_sums(grid, centred, own, counts, errors))
        if grid.name in layout.contents.means:
            statistics.append(CellMeans(grid.name, centred, own, grid.center, grid.half * grid.step))
    for i, bins in enumerate(layout.ranked):
        levels = [f"values {i} level {j}" for j in range(len(bins.levels.widths))]
        counted = tuple(parts[level].astype(np.float64) for level in levels)
        statistics.append(CellQuantiles(bins, counted, tuple(deviation[level] for level in levels), interval_width))
    names = tuple(axis.name for axis in layout.axes)
    labels = tuple(axis.labels for axis in layout.axes)
    return PrivateTable(names, labels, counts, fitted, errors, tuple(statistics), interval_width)


def cell_sums(
    grid: Grid, centred: Array, own_error: float, counts: NDArray[np.int64], errors: Mapping[Axes, float]
) -> CellSums:
    """The sums of a number from its sums around the middle of its bounds, rounded to the digits that noise leaves in a cell."""
    shape = counts.shape
    sum_errors = {
        kept: float(np.sqrt(own_error**2 * prod(shape) / prod(shape[a] for a in kept) + (grid.center * error) ** 2))
        for kept, error in errors.items()
    }
    decimals = decimals_left(max(sum_errors[tuple(range(len(shape)))], grid.step / 2))
    sums = centred + grid.center * counts.astype(np.float64)
    return CellSums(grid.name, np.round(sums, decimals), sum_errors, decimals)
