"""From noisy cells, margins and sums to one table that agrees with itself: post-processing of released values."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from cloister.kernels.tables import TableCounts
from cloister.tabulation.axes import TableLayout
from cloister.tabulation.margins import CERTAIN, Axes, fit_cells, not_negative, precisions, spread_of
from cloister.tabulation.private_table import PrivateTable

__all__ = ["settle"]

LEAST_VARIANCE = 1e-12  # at an absurd epsilon the noise rounds to 0, where weights would divide by it


def settle(
    layout: TableLayout,
    kernel: TableCounts,
    parts: Mapping[str, Any],
    deviation: Mapping[str, float],
    public_rows: float | None,
    interval_width: float,
) -> PrivateTable:
    """Least squares, counts that are not negative, and what is known of each number's error. Released values only."""
    shape = kernel.cells.shape
    everything = tuple(range(len(shape)))
    measured: dict[Axes, Any] = {everything: parts["cells"].astype(np.float64)}
    variances = {everything: max(LEAST_VARIANCE, deviation["cells"] ** 2)}
    for i, kept in enumerate(kernel.margins):
        measured[kept] = parts[f"margin {i}"].astype(np.float64)
        variances[kept] = max(LEAST_VARIANCE, deviation[f"margin {i}"] ** 2)
    if public_rows is not None:
        measured[()] = np.array(float(public_rows))
        variances[()] = min(variances.values()) / CERTAIN
    known = precisions(shape, variances)
    fitted = fit_cells(shape, measured, variances)
    if public_rows is not None:  # known to be so, which least squares with a large weight only comes near
        fitted += (public_rows - fitted.sum()) / fitted.size
    counts = not_negative(fitted, known)
    errors = {kept: spread_of(shape, known, kept) for kept in known}
    sums, sum_errors = {}, {}
    for i, measure in enumerate(layout.measures):
        sums[measure.name] = parts[f"sum {i}"] * measure.step + measure.center * counts
        own = deviation[f"sum {i}"] * measure.step
        sum_errors[measure.name] = {
            kept: float(np.sqrt(own**2 * prod(shape) / prod(shape[a] for a in kept) + (measure.center * error) ** 2))
            for kept, error in errors.items()
        }
    return PrivateTable.from_layout(layout, counts, fitted, errors, sums, sum_errors, interval_width)
