"""Rounds of local recoding: the next recoding under which rows enough lie in classes of at least k, on tuples alone.

Tuples are first counted in buckets by the low bits of their keys, under many recodings at once: a class is never larger than
its bucket, so a recoding whose buckets do not hold rows enough finishes too few. Only the others are looked at key by key.
What buckets hold never grows while tuples are finished, so it is kept for when the recoding is reached. In NumPy this takes as
long as a compiled loop over the tuples, without loading a compiler.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["RoundSearch", "mixed"]

I16: TypeAlias = NDArray[np.int16]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]

_AT_ONCE = 1 << 15  # buckets that are filled at once
_MOST_AT_ONCE = 24  # recodings
_KEPT_NUMBERS = 1 << 22  # of sums that are kept for the next recodings
_LIVE = 0.7  # share of the tuples from which on they are gathered anew
_ROOM = 16  # buckets for each k rows, at least one for each tuple


class RoundSearch:
    """A search along recodings, from fine to coarse, while the tuples that are left become fewer.

    Sums of random numbers stand for tuples of nodes: two tuples in 2^64 share one, and would share a class, which its
    members' common ancestors then describe correctly.

    Parameters
    ----------
    codes : array of int32, (t, q)
        Leaves.
    counts : array of int64, (t,)
        Rows of each tuple.
    keys : array of uint64
        At offsets[j] + level * widths[j] + leaf a random number for the node of the leaf at the level (`mixed`).
    offsets, widths : array of int64, (q + 1,) and (q,)
    vectors : array of int16, (v, q)
        The level of each column under each recoding.
    k : int
    """

    def __init__(self, codes: I32, counts: I64, keys: U64, offsets: I64, widths: I64, vectors: I16, k: int) -> None:
        self._codes, self._counts, self._keys, self._k = codes, counts, keys, k
        self._places = offsets[:-1] + vectors.astype(np.int64) * widths  # (v, q) where the keys of each level begin
        self._most = np.full(len(vectors), np.iinfo(np.int64).max)  # (v,) rows that each recoding finishes at most
        halves = _halves(vectors)
        self._half_of = [numbers for _, _, numbers in halves]  # which levels a recoding has in each half
        self._half_places = [(columns, self._places[first][:, columns]) for columns, first, _ in halves]
        self._sums: dict[tuple[int, int], I64] = {}
        self._gather(np.arange(len(counts)))

    def advance(self, left: I64, start: int, wanted: int, labels: I64) -> tuple[int, int]:
        """Go on to the next recoding, from `start`, under which `wanted` rows that are left lie in classes of at least k.

        Parameters
        ----------
        left : array of int64, (m,)
            Tuples in rising order, none that was not left in the call before.
        start, wanted : int
        labels : array of int64, (m,)
            Filled with the class of each tuple, numbered as they come; -1 in a class below k.

        Returns
        -------
        recoding, classes : int
            Its number (v: none finishes as many), and how many classes it makes.
        """
        wanted = max(wanted, 1)
        if len(left) < _LIVE * len(self._tuples):
            self._gather(left)
        is_left = np.zeros(len(self._counts), bool)
        is_left[left] = True
        is_left = is_left[self._tuples]
        weights = np.where(is_left, self._counts[self._tuples], 0).astype(np.float64)
        at_once = 1
        while start < len(self._most):
            tried = start + np.flatnonzero(self._most[start:] >= wanted)[:at_once]
            if not len(tried):
                break
            buckets, totals = self._fill(tried, weights)
            for i in np.flatnonzero(self._most[tried] >= wanted).tolist():
                near = np.flatnonzero((totals[buckets[i]] >= self._k) & is_left)
                class_of, sizes = self._classes(int(tried[i]), near)
                is_kept = sizes >= self._k
                finished = int(sizes[is_kept].sum())
                self._most[tried[i]] = finished
                if finished >= wanted:
                    numbers = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
                    of_tuples = np.full(len(self._tuples), -1, np.int64)
                    of_tuples[near] = numbers[class_of]
                    labels[:] = of_tuples[is_left]
                    return int(tried[i]), int(is_kept.sum())
            start = int(tried[-1]) + 1
            at_once = max(1, min(2 * at_once, _MOST_AT_ONCE, _AT_ONCE // self._size))  # where few finish, more are tried
        return len(self._most), 0

    def _gather(self, tuples: I64) -> None:
        """Go on with these tuples alone."""
        self._tuples = tuples
        self._columns = np.ascontiguousarray(self._codes[tuples].T)  # (q, m)
        self._size = 1 << max(4, int(max(len(tuples), _ROOM * len(tuples) // self._k) - 1).bit_length())
        self._low = (self._keys & np.uint64(self._size - 1)).astype(np.int64)
        self._sums.clear()

    def _fill(self, tried: I64, weights: NDArray[np.float64]) -> tuple[I64, NDArray[np.float64]]:
        """The bucket of each tuple under some recodings, (tried, m), and the rows in each bucket; what they finish is noted."""
        buckets = np.empty((len(tried), len(self._tuples)), np.int64)
        first, second = (numbers[tried].tolist() for numbers in self._half_of)
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            np.add(self._sum(0, a), self._sum(1, b), out=buckets[i])
        buckets &= self._size - 1
        buckets += np.arange(0, len(tried) * self._size, self._size)[:, None]
        totals = np.bincount(buckets.ravel(), np.tile(weights, len(tried)), len(tried) * self._size).astype(
            float, copy=False
        )
        full = np.flatnonzero(totals >= self._k)
        self._most[tried] = np.bincount(full // self._size, totals[full], len(tried)).astype(np.int64)
        return buckets, totals

    def _sum(self, half: int, number: int) -> I64:
        """The low bits of the keys of one half of the columns, added up."""  # (m,)
        found = self._sums.get((half, number))
        if found is None:
            columns, places = self._half_places[half]
            found = np.zeros(len(self._tuples), np.int64)
            for j, place in zip(columns, places[number].tolist(), strict=True):
                found += self._low[place:].take(self._columns[j])
            if len(self._sums) * len(found) > _KEPT_NUMBERS:
                self._sums.clear()
            self._sums[half, number] = found
        return found

    def _classes(self, vector: int, near: I64) -> tuple[I64, I64]:
        """The class of some tuples under a recoding, numbered as they come, and the rows of each class."""
        key = np.zeros(len(near), np.uint64)
        for j, place in enumerate(self._places[vector].tolist()):
            key += self._keys[place:].take(self._columns[j, near])
        _, first, class_of = np.unique(key, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        class_of = rank[class_of]
        sizes = np.bincount(class_of, self._counts[self._tuples[near]], len(first)).astype(np.int64)
        return class_of, sizes


def mixed(numbers: I64) -> U64:
    """Sixty-four well-mixed bits of each number (the finalizer of splitmix64, Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _halves(vectors: I16) -> list[tuple[range, I64, I64]]:
    """The columns in two parts with few different levels: which columns, where each of their levels comes first, whose it is."""
    q = vectors.shape[1]
    before, after = _numbered(vectors), _numbered(vectors[:, ::-1])[::-1]
    cut = min(range(q + 1), key=lambda cut: len(before[cut][0]) + len(after[cut][0]))
    return [(range(cut), *before[cut]), (range(cut, q), *after[cut])]


def _numbered(vectors: I16) -> list[tuple[I64, I64]]:
    """For none, one, two ... of the columns: where each of their different levels comes first, and which a recoding has."""
    numbers = np.zeros(len(vectors), np.int64)
    steps = [(np.zeros(1, np.int64), numbers)]
    for levels in vectors.T.astype(np.int64):
        _, first, numbers = np.unique(numbers * (int(levels.max()) + 1) + levels, return_index=True, return_inverse=True)
        steps.append((first, numbers))
    return steps
