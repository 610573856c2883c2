"""The compiled loops of `owned_rows` in NumPy: slower, the same bits. For small jobs and for workers without numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import I32, I64, U8, U64

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def hash_names(letters: U8, ends: I64, mark: int, bare: bool, owners: U64, left: I64) -> int:
    """Leave every name to `hashlib`."""
    left[:] = np.arange(len(left))
    return len(left)


def mix_cells(state: U64, numbers: I32, codes: I32) -> None:
    """Mix the cells of each row into its state."""
    place = _GOLDEN
    with np.errstate(over="ignore"):
        for block in (numbers, codes):
            for j in range(block.shape[1]):
                place = (place + _GOLDEN) % 2**64
                state ^= block[:, j].astype(np.int64).view(np.uint64) + np.uint64(place)
                state ^= state >> np.uint64(30)
                state *= _MIX_1
                state ^= state >> np.uint64(27)
                state *= _MIX_2
                state ^= state >> np.uint64(31)


def smallest_rows(owners: U64, hashes: U64, numbers: I32, codes: I32, max_rows: int) -> NDArray[np.intp]:
    """The rows that count, person by person: of each the `max_rows` with the smallest hashes, ties by the bytes of the rows."""
    keys = [hashes, owners[:, 1], owners[:, 0]]
    order = np.lexsort(keys)
    tied = np.flatnonzero(np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0))
    one, other = order[tied], order[tied + 1]
    if (numbers[one] != numbers[other]).any() or (codes[one] != codes[other]).any():
        cells = np.concatenate([as_bytes(numbers), as_bytes(codes)], axis=1)
        order = np.lexsort([*cells.T[::-1], *keys])
    ranked = owners[order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    kept: NDArray[np.intp] = order[np.arange(len(order)) - starts < max_rows]
    return kept


def as_bytes(array: I32) -> U8:
    """Each row as the bytes that it is moved in, (n, 4 d)."""
    return np.ascontiguousarray(array, dtype="<i4").view(np.uint8).reshape(len(array), 4 * array.shape[1])
