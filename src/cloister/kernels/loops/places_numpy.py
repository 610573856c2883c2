"""The compiled loops of `places` in plain NumPy: slower, the same integers. For workers that have no compiler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def intervals(rows: NDArray[np.int32], halves: Ints, sides: Ints) -> Ints:
    """The interval of each value, (n, d)."""
    return (rows.astype(np.int64) + halves) * sides // (2 * halves + 1)


def write_cells(rows: NDArray[np.int32], halves: Ints, sides: Ints, cells: Ints) -> None:
    """Write each row's cell, the last column changing fastest.

    rows : IN (n, d); halves, sides : IN (d,); cells : OUT (n,)
    """
    cells[:] = 0
    for j, column in enumerate(intervals(rows, halves, sides).T):
        cells[:] = cells * sides[j] + column


def add_cells(rows: NDArray[np.int32], halves: Ints, sides: Ints, counts: Ints) -> None:
    """Count each row in its cell.

    rows : IN (n, d); halves, sides : IN (d,); counts : IN/OUT (cells,)
    """
    cells = np.empty(len(rows), dtype=np.int64)
    write_cells(rows, halves, sides, cells)
    counts += np.bincount(cells, minlength=len(counts))


def add_nested(rows: NDArray[np.int32], halves: Ints, sides: Ints, inner: Ints, starts: Ints, counts: Ints) -> None:
    """Count each row in its cell of the second level.

    rows : IN (n, d); halves, sides : IN (d,); inner : IN (cells,); starts : IN (cells + 1,); counts : IN/OUT (all,)
    """
    cells = np.empty(len(rows), dtype=np.int64)
    write_cells(rows, halves, sides, cells)
    cut = inner[cells]  # (n,)
    outer = intervals(rows, halves, sides)
    within = np.zeros(len(rows), dtype=np.int64)
    for j in range(rows.shape[1]):
        place = (rows[:, j].astype(np.int64) + halves[j]) * sides[j] * cut // (2 * halves[j] + 1)
        within = within * cut + place - outer[:, j] * cut
    counts += np.bincount(starts[cells] + within, minlength=len(counts))


def write_morton(rows: NDArray[np.int32], halves: Ints, bits: int, keys: Ints) -> None:
    """Write each row's Morton key: the binary digits of its intervals (2**bits a column), column by column, highest first.

    rows : IN (n, d); halves : IN (d,); keys : OUT (n,)
    """
    columns = rows.shape[1]
    places = intervals(rows, halves, np.full(columns, 1 << bits, dtype=np.int64))
    keys[:] = 0
    for j in range(columns):
        for b in range(bits):
            keys |= ((places[:, j] >> b) & 1) << (b * columns + columns - 1 - j)


def add_leaves(
    rows: NDArray[np.int32],
    halves: Ints,
    bits: int,
    leaves: Ints,
    low: Ints,
    high: Ints,
    unit: int,
    counts: Ints,
    sums: NDArray[np.int64],
) -> None:
    """Count each row in its leaf and add where in the leaf it lies: -unit at its lower edge, unit at its upper.

    rows : IN (n, d); halves : IN (d,); leaves : IN (n,); low, high : IN (leaves, d) intervals of the leaf, half-open;
    counts : IN/OUT (leaves,); sums : IN/OUT (leaves, d)
    """
    counts += np.bincount(leaves, minlength=len(counts))
    widths = 2 * halves + 1
    places = (2 * (rows.astype(np.int64) + halves) + 1) << bits
    gaps = (places - (low[leaves] + high[leaves]) * widths).astype(np.float64)
    offsets = np.rint(np.float64(unit) * gaps / ((high[leaves] - low[leaves]) * widths).astype(np.float64))
    np.add.at(sums, leaves, np.clip(offsets, -unit, unit).astype(np.int64))
