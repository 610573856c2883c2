"""The compiled loops of `intervals` in NumPy: slower, the same integers. For small jobs and for workers without numba."""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import I32, I64


def intervals(rows: I32, halves: I64, sides: I64) -> I64:
    """The interval of each value, (n, d)."""
    return (rows.astype(np.int64) + halves) * sides // (2 * halves + 1)


def write_cells(rows: I32, halves: I64, sides: I64, cells: I64) -> None:
    """Write each row's cell, the last column changing fastest."""
    cells[:] = 0
    for j, column in enumerate(intervals(rows, halves, sides).T):
        cells[:] = cells * sides[j] + column


def add_cells(rows: I32, halves: I64, sides: I64, counts: I64) -> None:
    """Count each row in its cell."""
    cells = np.empty(len(rows), dtype=np.int64)
    write_cells(rows, halves, sides, cells)
    counts += np.bincount(cells, minlength=len(counts))


def add_nested(rows: I32, halves: I64, sides: I64, inner: I64, starts: I64, counts: I64) -> None:
    """Count each row in its cell of the second level."""
    cells = np.empty(len(rows), dtype=np.int64)
    write_cells(rows, halves, sides, cells)
    cut = inner[cells]  # (n,)
    outer = intervals(rows, halves, sides)
    within = np.zeros(len(rows), dtype=np.int64)
    for j in range(rows.shape[1]):
        place = (rows[:, j].astype(np.int64) + halves[j]) * sides[j] * cut // (2 * halves[j] + 1)
        within = within * cut + place - outer[:, j] * cut
    counts += np.bincount(starts[cells] + within, minlength=len(counts))


def write_morton(rows: I32, halves: I64, bits: int, keys: I64) -> None:
    """Write each row's Morton key: the binary digits of its intervals (2**bits a column), column by column, highest first."""
    columns = rows.shape[1]
    places = intervals(rows, halves, np.full(columns, 1 << bits, dtype=np.int64))
    keys[:] = 0
    for j in range(columns):
        for b in range(bits):
            keys |= ((places[:, j] >> b) & 1) << (b * columns + columns - 1 - j)


def add_leaves(
    rows: I32, halves: I64, bits: int, leaves: I64, low: I64, high: I64, unit: int, counts: I64, sums: I64
) -> None:
    """Count each row in its leaf and add where in the leaf it lies: -unit at its lower edge, unit at its upper."""
    counts += np.bincount(leaves, minlength=len(counts))
    widths = 2 * halves + 1
    places = (2 * (rows.astype(np.int64) + halves) + 1) << bits
    gaps = (places - (low[leaves] + high[leaves]) * widths).astype(np.float64)
    offsets = np.rint(np.float64(unit) * gaps / ((high[leaves] - low[leaves]) * widths).astype(np.float64))
    np.add.at(sums, leaves, np.clip(offsets, -unit, unit).astype(np.int64))
