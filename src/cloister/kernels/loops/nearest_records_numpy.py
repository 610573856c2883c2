"""The compiled loop of `nearest_records` in NumPy: slower. For small jobs and where numba cannot be used."""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64

_CELLS = 2_000_000  # distances at a time
_TIE = 1e-12  # as in `nearest_records`


def nearest_records(
    numbers: F64, codes: I32, records: F64, record_codes: I32, copies: I64, squares: F64, ties: I64, tied: I64
) -> None:
    """Write the smallest squared distances of each row, which records are nearest, and how many rows these stand for."""
    kept = min(squares.shape[1], len(records))
    squares[:] = np.inf
    ties[:] = -1
    step = max(1, _CELLS // max(1, len(records)))
    for start in range(0, len(numbers), step):
        part = slice(start, start + step)
        square = np.zeros((len(numbers[part]), len(records)))
        for j in range(codes.shape[1]):
            square += codes[part, j, None] != record_codes[None, :, j]
        for j in range(numbers.shape[1]):
            move = numbers[part, j, None] - records[None, :, j]
            both_blank = np.isnan(numbers[part, j, None]) & np.isnan(records[None, :, j])
            square += np.where(np.isnan(move), np.where(both_blank, 0.0, 1.0), move * move)
        squares[part, :kept] = np.sort(np.partition(square, kept - 1, axis=1)[:, :kept], axis=1)
        is_nearest = square <= square.min(axis=1, keepdims=True) + _TIE
        tied[part] = is_nearest @ copies
        for i, nearest in enumerate(is_nearest, start):
            first = np.flatnonzero(nearest)[: ties.shape[1]]
            ties[i, : len(first)] = first
