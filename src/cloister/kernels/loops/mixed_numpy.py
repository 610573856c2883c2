"""The compiled loops of `mixed` in NumPy: slower, the same integers. For small jobs and for workers without numba."""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64

_CHUNK = 4_096  # rows at a time: a table of distances stays small


def nearest(rows: I32, codes: I32, points: F64, modes: I32, weights: F64, labels: I32, squares: F64) -> None:
    """Write the index of the nearest point of each row and the squared distance to it."""
    for start in range(0, len(rows), _CHUNK):
        some, held = rows[start : start + _CHUNK].astype(np.float64), codes[start : start + _CHUNK]
        distance = np.zeros((len(some), len(weights)))
        for j in range(modes.shape[0]):
            distance += held[:, j, None] != modes[None, j]
        distance *= weights
        for j in range(points.shape[0]):
            move = some[:, j, None] - points[None, j]
            distance += move * move
        closest = distance.argmin(axis=1)  # the first of equals
        labels[start : start + _CHUNK] = closest
        squares[start : start + _CHUNK] = distance[np.arange(len(closest)), closest]


def add_values(codes: I32, labels: I32, offsets: I64, values: I64) -> None:
    """Add each row to the counts of the values that it holds, of its label."""
    width = values.shape[1]
    for j, offset in enumerate(offsets):
        places = labels.astype(np.int64) * width + offset + codes[:, j]
        values += np.bincount(places, minlength=values.size).reshape(values.shape)
