"""Which interval a grid integer falls into: compiled loops.

The quotient of two integers below 2**53 is divided in float64 and rounded down. That is exact: a quotient that is not a
whole number q lies at least 1/W below q, and u m < 2**53 keeps that gap above the rounding of the division.

The arguments are documented here, also for the twins in `intervals_numpy`.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import I32, I64
from cloister.kernels.loops.compiled import compiled


@compiled(error_model="numpy")
def _interval_of(value: int, half: int, sides: int) -> int:
    """The interval of one value, of `sides` over -half..half."""
    return np.int64(np.float64((np.int64(value) + half) * sides) / np.float64(2 * half + 1))  # type: ignore[return-value]


@compiled(error_model="numpy")
def _cell_of(row: I32, halves: I64, sides: I64) -> int:
    """The cell of one row, the last column changing fastest.

    row, halves, sides : IN (d,)
    """
    cell = np.int64(0)
    for j in range(len(row)):
        cell = cell * sides[j] + _interval_of(row[j], halves[j], sides[j])
    return cell  # type: ignore[return-value]


@compiled(error_model="numpy")
def write_cells(rows: I32, halves: I64, sides: I64, cells: I64) -> None:
    """Write each row's cell, the last column changing fastest.

    rows : IN (n, d); halves, sides : IN (d,); cells : OUT (n,)
    """
    for i in range(len(rows)):
        cells[i] = _cell_of(rows[i], halves, sides)


@compiled(error_model="numpy")
def add_cells(rows: I32, halves: I64, sides: I64, counts: I64) -> None:
    """Count each row in its cell.

    rows : IN (n, d); halves, sides : IN (d,); counts : IN/OUT (cells,)
    """
    for i in range(len(rows)):
        counts[_cell_of(rows[i], halves, sides)] += 1


@compiled(error_model="numpy")
def add_nested(rows: I32, halves: I64, sides: I64, inner: I64, starts: I64, counts: I64) -> None:
    """Count each row in its cell of the second level.

    rows : IN (n, d); halves, sides : IN (d,); inner : IN (cells,); starts : IN (cells + 1,); counts : IN/OUT (all,)
    """
    n, d = rows.shape
    outer = np.empty(d, dtype=np.int64)
    for i in range(n):
        cell = np.int64(0)
        for j in range(d):
            outer[j] = _interval_of(rows[i, j], halves[j], sides[j])
            cell = cell * sides[j] + outer[j]
        cut = inner[cell]
        within = np.int64(0)
        if cut > 1:
            for j in range(d):
                within = within * cut + _interval_of(rows[i, j], halves[j], sides[j] * cut) - outer[j] * cut
        counts[starts[cell] + within] += 1


@compiled(error_model="numpy")
def write_morton(rows: I32, halves: I64, bits: int, keys: I64) -> None:
    """Write each row's Morton key: the binary digits of its intervals (2**bits a column), column by column, highest first.

    rows : IN (n, d); halves : IN (d,); keys : OUT (n,)
    """
    n, d = rows.shape
    for i in range(n):
        key = np.int64(0)
        for j in range(d):
            interval = _interval_of(rows[i, j], halves[j], 1 << bits)
            for b in range(bits):
                key |= ((interval >> b) & 1) << (b * d + d - 1 - j)
        keys[i] = key


@compiled(error_model="numpy")
def add_leaves(
    rows: I32, halves: I64, bits: int, leaves: I64, low: I64, high: I64, unit: int, counts: I64, sums: I64
) -> None:
    """Count each row in its leaf and add where in the leaf it lies: -unit at its lower edge, unit at its upper.

    rows : IN (n, d); halves : IN (d,); leaves : IN (n,); low, high : IN (leaves, d) intervals of the leaf, half-open;
    counts : IN/OUT (leaves,); sums : IN/OUT (leaves, d)
    """
    n, d = rows.shape
    for i in range(n):
        leaf = leaves[i]
        counts[leaf] += 1
        for j in range(d):
            width = 2 * halves[j] + 1
            place = (2 * (np.int64(rows[i, j]) + halves[j]) + 1) << bits
            gap = np.float64(place - (low[leaf, j] + high[leaf, j]) * width)
            offset = np.rint(np.float64(unit) * gap / np.float64((high[leaf, j] - low[leaf, j]) * width))
            sums[leaf, j] += np.int64(min(max(offset, -np.float64(unit)), np.float64(unit)))
