"""Where a tuple of codes stands among known tuples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["TupleRanks"]

_DENSE = 1 << 22  # tuples of a table that is looked up directly


class TupleRanks:
    """The place of a tuple among known tuples.

    A tuple is one number where that fits 63 bits; it is looked up in a table of all numbers where that is small, else
    searched. Where it does not fit, columns are paired one after the other.
    """

    def __init__(self, keys: NDArray[np.int32]) -> None:
        self._count = len(keys)
        self._sizes = keys.max(axis=0, initial=0).astype(np.int64) + 1  # (q,)
        possible = 1
        for size in self._sizes.tolist():
            possible *= size
        self._table: NDArray[np.int64] | None = None
        self._stages: list[NDArray[np.int64]] = []
        if possible <= _DENSE:
            self._table = np.full(possible + 1, len(keys))  # the last is for what is not known
            self._table[self._numbers(keys)] = np.arange(len(keys))
            return
        self._fits = possible < 2**63
        rank = self._numbers(keys) if self._fits else np.zeros(len(keys), np.int64)
        for column in [None] if self._fits else keys.T:
            stage, rank = np.unique(rank if column is None else _paired(rank, column), return_inverse=True)
            self._stages.append(stage)
        self._place = np.full(len(keys) + 1, len(keys))
        self._place[rank] = np.arange(len(keys))

    def find(self, tuples: NDArray[np.int32]) -> NDArray[np.int64]:
        """The index of each tuple; the number of known tuples for one that is not known."""
        if self._table is not None:
            return self._table[self._numbers(tuples)]
        if not self._count:
            return np.zeros(len(tuples), np.int64)
        if self._fits:
            number = self._numbers(tuples)
            at = np.minimum(np.searchsorted(self._stages[0], number), self._count - 1)
            return np.where(self._stages[0][at] == number, self._place[at], self._count)
        rank = np.zeros(len(tuples), np.int64)
        for stage, column in zip(self._stages, tuples.T, strict=True):
            pair = _paired(rank, column)
            at = np.minimum(np.searchsorted(stage, pair), len(stage) - 1)
            rank = np.where((rank >= 0) & (column >= 0) & (stage[at] == pair), at, -1)
        return self._place[np.where(rank >= 0, rank, self._count)]

    def _numbers(self, tuples: NDArray[np.int32]) -> NDArray[np.int64]:
        """Each tuple as one number; -1 for one outside the range of the known ones."""
        number = np.zeros(len(tuples), np.int64)
        is_outside = np.zeros(len(tuples), bool)
        for column, size in zip(tuples.T, self._sizes.tolist(), strict=True):
            number = number * size + column
            is_outside |= (column < 0) | (column >= size)
        number[is_outside] = -1
        return number


def _paired(rank: NDArray[np.int64], column: NDArray[np.int32]) -> NDArray[np.int64]:
    return (rank << 31) | column.astype(np.int64)
