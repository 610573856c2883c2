"""Which interval a grid integer falls into: compiled loops.

The quotient of two integers below 2**53 is divided in float64 and rounded down. That is exact: a quotient that is not a
whole number q lies at least 1/W below q, and u m < 2**53 keeps that gap above the rounding of the division.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def write_cells(rows: NDArray[np.int32], halves: Ints, sides: Ints, cells: Ints) -> None:
    """Write each row's cell, the last column changing fastest.

    rows : IN (n, d); halves, sides : IN (d,); cells : OUT (n,)
    """
    n, d = rows.shape
    for i in range(n):
        cell = np.int64(0)
        for j in range(d):
            place = np.float64((np.int64(rows[i, j]) + halves[j]) * sides[j])
            cell = cell * sides[j] + np.int64(place / np.float64(2 * halves[j] + 1))
        cells[i] = cell


@nb.njit(nogil=True, cache=True, error_model="numpy")
def add_cells(rows: NDArray[np.int32], halves: Ints, sides: Ints, counts: Ints) -> None:
    """Count each row in its cell.

    rows : IN (n, d); halves, sides : IN (d,); counts : IN/OUT (cells,)
    """
    n, d = rows.shape
    for i in range(n):
        cell = np.int64(0)
        for j in range(d):
            place = np.float64((np.int64(rows[i, j]) + halves[j]) * sides[j])
            cell = cell * sides[j] + np.int64(place / np.float64(2 * halves[j] + 1))
        counts[cell] += 1


@nb.njit(nogil=True, cache=True, error_model="numpy")
def add_nested(rows: NDArray[np.int32], halves: Ints, sides: Ints, inner: Ints, starts: Ints, counts: Ints) -> None:
    """Count each row in its cell of the second level.

    rows : IN (n, d); halves, sides : IN (d,); inner : IN (cells,); starts : IN (cells + 1,); counts : IN/OUT (all,)
    """
    n, d = rows.shape
    outer = np.empty(d, dtype=np.int64)
    for i in range(n):
        cell = np.int64(0)
        for j in range(d):
            place = np.float64((np.int64(rows[i, j]) + halves[j]) * sides[j])
            outer[j] = np.int64(place / np.float64(2 * halves[j] + 1))
            cell = cell * sides[j] + outer[j]
        cut = inner[cell]
        within = np.int64(0)
        if cut > 1:
            for j in range(d):
                place = np.float64((np.int64(rows[i, j]) + halves[j]) * sides[j] * cut)
                within = within * cut + np.int64(place / np.float64(2 * halves[j] + 1)) - outer[j] * cut
        counts[starts[cell] + within] += 1


@nb.njit(nogil=True, cache=True, error_model="numpy")
def write_morton(rows: NDArray[np.int32], halves: Ints, bits: int, keys: Ints) -> None:
    """Write each row's Morton key: the binary digits of its intervals (2**bits a column), column by column, highest first.

    rows : IN (n, d); halves : IN (d,); keys : OUT (n,)
    """
    n, d = rows.shape
    for i in range(n):
        key = np.int64(0)
        for j in range(d):
            place = np.float64((np.int64(rows[i, j]) + halves[j]) << bits)
            interval = np.int64(place / np.float64(2 * halves[j] + 1))
            for b in range(bits):
                key |= ((interval >> b) & 1) << (b * d + d - 1 - j)
        keys[i] = key


@nb.njit(nogil=True, cache=True, error_model="numpy")
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
