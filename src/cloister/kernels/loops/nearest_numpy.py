"""The compiled loops of `nearest` in NumPy: slower, the same integers. For small jobs and for workers without numba.

Squared distances are integers below 2**53 held in float64, so the order of additions does not matter and ties are ties
here and there; they go to the lowest index.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64, Clipping

_CHUNK = 4_096  # rows at a time: a table of distances stays small


def nearest(rows: I32, points: F64, labels: I32, squares: F64) -> None:
    """Write the index of the nearest point of each row and the squared distance to it."""
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK].astype(np.float64)
        distance = np.zeros((len(some), points.shape[1]))
        for j in range(points.shape[0]):
            move = some[:, j, None] - points[None, j]
            distance += move * move
        closest = distance.argmin(axis=1)  # the first of equals
        labels[start : start + _CHUNK] = closest
        squares[start : start + _CHUNK] = distance[np.arange(len(closest)), closest]


def add_sums(rows: I32, labels: I32, counts: I64, sums: I64) -> None:
    """Add each row to the count and the sums of its label."""
    counts += np.bincount(labels, minlength=len(counts))
    np.add.at(sums, labels, rows)


def add_clipped(
    rows: I32, centers: I32, labels: I32, squares: F64, clipping: Clipping, counts: I64, sums: I64, spreads: I64
) -> None:
    """Add each row's clipped move from its centre, and its capped squared distance, to its label."""
    radii, taxicab, caps, shifts = clipping
    radius = radii[labels]  # (n,)
    exact = squares.astype(np.int64)
    counts += np.bincount(labels, minlength=len(counts))
    np.add.at(spreads, labels, np.minimum(exact, caps[labels]) >> shifts[labels])
    moves = rows.astype(np.int64) - centers.astype(np.int64)[labels]  # (n, d)
    if taxicab:
        length = np.abs(moves).sum(axis=1)
    else:
        length = np.sqrt(squares).astype(np.int64)  # off by one at most: corrected in integers
        length -= length * length >= exact
        length -= length * length >= exact
        length += length * length < exact
        length += length * length < exact
        length[exact <= radius * radius] = 0
    length = np.where(length <= radius, radius, length)  # then |v| * radius // length is |v| itself
    np.add.at(sums, labels, np.sign(moves) * (np.abs(moves) * radius[:, None] // length[:, None]))
