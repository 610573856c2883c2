"""The compiled loops of `nearest` in plain NumPy: slower, the same integers. For workers that have no compiler.

Squared distances are integers below 2**53 held in float64, so the order of additions does not matter and ties are ties
here and there; they go to the lowest index.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

_CHUNK = 4_096  # rows at a time: a table of distances stays small

EXACT = 2**53


def fits(half: int, columns: int) -> bool:
    """Whether squared distances between points of [-half, half]^columns stay exact in float64."""
    return columns * (2 * half) ** 2 < EXACT


def nearest(
    rows: NDArray[np.int32],
    points: NDArray[np.float64],
    labels: NDArray[np.int32],
    squares: NDArray[np.float64],
) -> None:
    """Write the index of the nearest point of each row and the squared distance to it.

    rows : IN (n, d) grid integers; points : IN (d, k) grid integers, transposed; labels : OUT (n,); squares : OUT (n,)
    """
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK].astype(np.float64)
        distance = np.zeros((len(some), points.shape[1]))
        for j in range(points.shape[0]):
            move = some[:, j, None] - points[None, j]
            distance += move * move
        found = distance.argmin(axis=1)  # the first of equals
        labels[start : start + _CHUNK] = found
        squares[start : start + _CHUNK] = distance[np.arange(len(found)), found]


def add_sums(rows: NDArray[np.int32], labels: NDArray[np.int32], counts: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    """Add each row to the count and the sums of its label.

    rows : IN (n, d); labels : IN (n,); counts : IN/OUT (k,); sums : IN/OUT (k, d)
    """
    counts += np.bincount(labels, minlength=len(counts))
    np.add.at(sums, labels, rows)


def add_clipped(
    rows: NDArray[np.int32],
    centers: NDArray[np.int32],
    labels: NDArray[np.int32],
    squares: NDArray[np.float64],
    radius: int,
    taxicab: bool,
    cap: int,
    shift: int,
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
    spreads: NDArray[np.int64],
) -> None:
    """Add each row's clipped move from its centre, and its capped squared distance, to its label.

    rows : IN (n, d); centers : IN (k, d); labels, squares : IN (n,) of `nearest`
    counts : IN/OUT (k,); sums : IN/OUT (k, d); spreads : IN/OUT (k,) in units of 2**shift
    """
    exact = squares.astype(np.int64)
    counts += np.bincount(labels, minlength=len(counts))
    np.add.at(spreads, labels, np.minimum(exact, cap) >> shift)
    moves = rows.astype(np.int64) - centers.astype(np.int64)[labels]  # (n, d)
    if taxicab:
        length = np.abs(moves).sum(axis=1)
    else:
        length = np.sqrt(squares).astype(np.int64)  # off by one at most: mended in integers
        length -= length * length >= exact
        length -= length * length >= exact
        length += length * length < exact
        length += length * length < exact
        length[exact <= radius * radius] = 0
    length = np.where(length <= radius, radius, length)  # then |v| * radius // length is |v| itself
    np.add.at(sums, labels, np.sign(moves) * (np.abs(moves) * radius // length[:, None]))


def replace_compiled() -> None:
    """Put the plain loops in the place of the compiled ones, in this process."""
    from cloister.kernels.loops import places_numpy

    sys.modules["cloister.kernels.loops.nearest"] = sys.modules[__name__]
    sys.modules["cloister.kernels.loops.places"] = places_numpy
