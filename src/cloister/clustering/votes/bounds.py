"""Bounds of each column, estimated inside the budget.

Privacy
-------
Released: a noisy histogram of every column over exponential bins, then three over 64 equal bins inside what the last one showed.
Neighbours: both relations. Sensitivity: `kernels.ValueCounts`; a row falls into one bin of every column. Budget: the share that
the plan gives to bounds, in four equal steps. Post-processing: which bins count as full, joined bins, the bounds. Bins are
public or follow from released counts; a value outside them falls into the nearest, one that cannot be read into that of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.progress import Progress
from cloister.encode import Bins, Encoding
from cloister.kernels import ValueCounts
from cloister.privacy.mechanisms import Mechanism, Spend, calibrate
from cloister.vault import Vault

__all__ = ["BOUNDS_STEPS", "estimate_bounds"]

EXPONENTS = range(-20, 40)  # |x| from 4**e up to 4**(e+1)
ZOOMS = 3
BOUNDS_STEPS = 1 + ZOOMS
BINS = 64
DOUBT = 0.05  # chance that an empty bin anywhere passes for a full one
COVER = 0.95  # full bins must hold this part of the rows, or coarser bins are looked at

Array = NDArray[np.float64]


def estimate_bounds(
    vault: Vault, names: Sequence[str], spend: Spend, rows: float, progress: Progress
) -> tuple[Array, Array]:
    """The lower and upper bound of each column, for a table of about so many rows."""
    magnitudes = 4.0 ** np.array(EXPONENTS)
    edges = np.concatenate([-magnitudes[::-1], magnitudes])  # cell i: edges[i] to edges[i + 1]; the middle one holds 0
    low, high = np.empty(len(names)), np.empty(len(names))
    for j, histogram in enumerate(histograms(vault, names, [edges] * len(names), spend, "bounds 1", progress)):
        i, k = histogram.first_range(rows)
        low[j], high[j] = edges[max(i, 0)], edges[min(k, len(edges) - 1)]
    for zoom in range(ZOOMS):
        all_edges = [np.linspace(a, b, BINS + 1) for a, b in zip(low, high, strict=True)]
        for j, histogram in enumerate(histograms(vault, names, all_edges, spend, f"bounds {zoom + 2}", progress)):
            i, k = histogram.narrow_range(rows)
            low[j], high[j] = all_edges[j][i], all_edges[j][k]
    return low, high


def histograms(
    vault: Vault, names: Sequence[str], edges: list[Array], spend: Spend, step: str, progress: Progress
) -> list[ColumnHistogram]:
    """A noisy histogram of each column over the cells between its edges."""
    progress(step)
    columns = tuple(Bins(name, tuple(float(e) for e in inner[1:-1])) for name, inner in zip(names, edges, strict=True))
    vault.recode(Encoding(categories=columns))
    kernel = ValueCounts(tuple(len(inner) - 1 for inner in edges))
    mechanism = calibrate(vault.sensitivity(kernel), spend)
    released = vault.measure(kernel, mechanism, step)
    tests = log(len(names) * BOUNDS_STEPS * 128 / (2 * DOUBT))
    cells = np.split(released.value["counts"].astype(np.float64), np.cumsum(kernel.sizes)[:-1])
    return [ColumnHistogram(counts, mechanism, tests) for counts in cells]


@dataclass(frozen=True, slots=True)
class ColumnHistogram:
    """The noisy histogram of one column."""

    counts: Array
    mechanism: Mechanism  # of its noise
    tests: float  # log of the number of tested cells over twice DOUBT

    def threshold(self, joined: int) -> float:
        """The count that hardly any empty cell exceeds, for cells joined from so many bins."""
        return self.mechanism.tail("counts", self.tests, joined)

    def covers(self, full: Array, joined: int, rows: float) -> bool:
        """Whether the full cells hold nearly all rows, even if noise made them look fuller than they are."""
        doubt = self.mechanism.deviation()["counts"] * sqrt(len(full) * joined)
        return len(full) > 0 and full.sum() >= COVER * rows and full.sum() - doubt >= (2 * COVER - 1) * rows

    def first_range(self, rows: float) -> tuple[int, int]:
        """The range of exponential cells that are full; where they miss rows, both signs and one cell outwards."""
        last = len(self.counts)
        full = np.flatnonzero(self.counts > self.threshold(1))
        full = full if len(full) else np.array([int(self.counts.argmax())])
        i, k = int(full[0]), int(full[-1]) + 1
        if not self.covers(self.counts[full], 1, rows):
            k = max(k, last - i) + 1
            i = last - k
        return i, k

    def narrow_range(self, rows: float) -> tuple[int, int]:
        """The range of equal cells that hold nearly all rows at the finest joining that shows it, and one cell more."""
        joined = 1
        while joined <= BINS // 4:
            counts = self.counts.reshape(-1, joined).sum(axis=1)
            full = np.flatnonzero(counts > self.threshold(joined))
            if self.covers(counts[full], joined, rows):
                return max(int(full[0]) - 1, 0) * joined, min((int(full[-1]) + 2) * joined, BINS)
            joined *= 2
        return 0, BINS
