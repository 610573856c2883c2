"""Two noisy estimates of the same counts: the least-squares counts of two levels, and the best total.

Post-processing of released counts with public noise.

References
----------
M. Hay et al., "Boosting the accuracy of differentially private histograms through consistency", VLDB 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.synopsis.noisy_cells import variance_of
from cloister.privacy.plan import Step

__all__ = ["Agreed", "agree", "best_total"]


@dataclass(frozen=True, slots=True)
class Agreed:
    """Counts of the second level that add up to one estimate of each first-level cell, with their errors."""

    counts: NDArray[np.float64]  # (cells,)
    variances: NDArray[np.float64]  # (cells,) of a count
    common: NDArray[np.float64]  # (cells,) covariance with another cell of the same group
    totals: NDArray[np.float64]  # (groups,)
    total_variances: NDArray[np.float64]  # (groups,)


def agree(
    upper: NDArray[np.float64],
    upper_variance: float,
    lower: NDArray[np.float64],
    lower_variance: float,
    sizes: NDArray[np.int64],
) -> Agreed:
    """Weighted least squares: cell i of the first level holds the next sizes[i] cells of the second.

    A group of m cells knows its total twice, as N' of variance v1 and as the sum T of variance m v2. The best total is their
    mean weighted by 1/variance; every cell of the group takes an equal part of the difference. The total's variance
    1 / (1/v1 + 1/(m v2)) is below both, and a cell's, v2 - v2/m + total/m^2, is never above v2.
    """
    groups = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(groups, weights=lower, minlength=len(sizes))
    precision_upper = 1 / upper_variance
    precision_sums = 1 / (sizes * lower_variance)
    total_variances = 1 / (precision_upper + precision_sums)
    totals = total_variances * (upper * precision_upper + sums * precision_sums)
    common = total_variances / sizes**2 - lower_variance / sizes  # (groups,)
    counts = lower + ((totals - sums) / sizes)[groups]
    return Agreed(counts, lower_variance + common[groups], common[groups], totals, total_variances)


def best_total(size: Step | None, rows: float, total: float, variance: float) -> float:
    """The number of rows from the step that bought it and from the sum of the cells, by their variances."""
    if size is None:
        return rows
    bought = variance_of(size.mechanism.deviation())
    return float((rows / bought + total / variance) / (1 / bought + 1 / variance))
