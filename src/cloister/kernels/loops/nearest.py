"""The nearest of some points, in exact integer arithmetic: compiled loops.

Grid integers are held in float64, where sums of products of integers are exact below 2**53; every kernel that looks for
nearest points refuses grids on which they would not be (`kernels.centers.check_exact`). Hence a row's nearest point does
not depend on its batch, on the order of the additions or on the machine. Ties go to the lowest index.

The arguments are documented here, also for the twins in `nearest_numpy`.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64, Clipping
from cloister.kernels.loops.compiled import compiled


@compiled()
def nearest(rows: I32, points: F64, labels: I32, squares: F64) -> None:
    """Write the index of the nearest point of each row and the squared distance to it.

    rows : IN (n, d) grid integers; points : IN (d, k) grid integers, transposed; labels : OUT (n,); squares : OUT (n,)
    """
    n, d = rows.shape
    k = points.shape[1]
    distance = np.empty(k, dtype=np.float64)
    for i in range(n):
        value = np.float64(rows[i, 0])
        for c in range(k):
            move = value - points[0, c]
            distance[c] = move * move
        for j in range(1, d):
            value = np.float64(rows[i, j])
            for c in range(k):
                move = value - points[j, c]
                distance[c] += move * move
        best = 0
        least = distance[0]
        for c in range(1, k):
            if distance[c] < least:
                least = distance[c]
                best = c
        labels[i] = best
        squares[i] = least


@compiled()
def add_sums(rows: I32, labels: I32, counts: I64, sums: I64) -> None:
    """Add each row to the count and the sums of its label.

    rows : IN (n, d); labels : IN (n,); counts : IN/OUT (k,); sums : IN/OUT (k, d)
    """
    n, d = rows.shape
    for i in range(n):
        c = labels[i]
        counts[c] += 1
        for j in range(d):
            sums[c, j] += rows[i, j]


@compiled()
def add_clipped(
    rows: I32, centers: I32, labels: I32, squares: F64, clipping: Clipping, counts: I64, sums: I64, spreads: I64
) -> None:
    """Add each row's clipped move from its centre, and its capped squared distance, to its label.

    A move longer than the radius becomes |v| * radius // length, with the length rounded up: integers throughout, so that
    its length is at most the radius. The length is the sum of |v| (taxicab), or the root of the sum of squares.

    rows : IN (n, d); centers : IN (k, d); labels, squares : IN (n,) of `nearest`; clipping : IN (radii (k,),
    taxicab, caps (k,), shifts (k,)); counts : IN/OUT (k,); sums : IN/OUT (k, d); spreads : IN/OUT (k,) in units of 2**shift
    """
    radii, taxicab, caps, shifts = clipping
    n, d = rows.shape
    for i in range(n):
        c = labels[i]
        radius = radii[c]
        square = np.int64(squares[i])
        counts[c] += 1
        capped = square if square < caps[c] else caps[c]
        spreads[c] += capped >> shifts[c]
        length = np.int64(0)
        if taxicab:
            for j in range(d):
                length += abs(np.int64(rows[i, j]) - np.int64(centers[c, j]))
        elif square > radius * radius:
            length = np.int64(np.sqrt(squares[i]))  # off by one at most: corrected in integers
            while length * length >= square:
                length -= 1
            while length * length < square:
                length += 1
        if length <= radius:
            for j in range(d):
                sums[c, j] += rows[i, j] - centers[c, j]
            continue
        for j in range(d):
            move = np.int64(rows[i, j]) - np.int64(centers[c, j])
            clipped = abs(move) * radius // length
            sums[c, j] += clipped if move >= 0 else -clipped
