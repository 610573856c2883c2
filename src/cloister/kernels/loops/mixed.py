"""The nearest of some points of numbers and categories, and the values that rows hold around them: compiled loops.

As in `nearest`: grid integers are held in float64, where sums of products of integers are exact below 2**53, and so is the
weight of a differing category. Ties go to the lowest index. The arguments are documented here, also for the twins in
`mixed_numpy`.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.kernels.loops.compiled import compiled


@compiled()
def nearest(rows: I32, codes: I32, points: F64, modes: I32, weights: F64, labels: I32, squares: F64) -> None:
    """Write the index of the nearest point of each row and the squared distance to it.

    rows : IN (n, d) grid integers; codes : IN (n, c); points : IN (d, k) grid integers, transposed; modes : IN (c, k), transposed
    weights : IN (k,) what a differing category adds; labels : OUT (n,); squares : OUT (n,)
    """
    n, d = rows.shape
    c, k = modes.shape
    distance = np.empty(k, dtype=np.float64)
    differing = np.empty(k, dtype=np.int32)
    for i in range(n):
        for p in range(k):
            distance[p] = 0.0
            differing[p] = 0
        for j in range(d):
            value = np.float64(rows[i, j])
            for p in range(k):
                move = value - points[j, p]
                distance[p] += move * move
        for j in range(c):
            code = codes[i, j]
            for p in range(k):
                differing[p] += np.int32(modes[j, p] != code)
        best = 0
        least = np.inf
        for p in range(k):
            total = distance[p] + np.float64(differing[p]) * weights[p]
            if total < least:
                least = total
                best = p
        labels[i] = best
        squares[i] = least


@compiled()
def add_values(codes: I32, labels: I32, offsets: I64, values: I64) -> None:
    """Add each row to the counts of the values that it holds, of its label.

    codes : IN (n, c); labels : IN (n,); offsets : IN (c,) where the values of each column begin; values : IN/OUT (k, all values)
    """
    n, c = codes.shape
    for i in range(n):
        p = labels[i]
        for j in range(c):
            values[p, offsets[j] + codes[i, j]] += 1
