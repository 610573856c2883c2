"""Counting by key: how many rows share each tuple of integers, when there are too many tuples for an array of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.kernels.loops.choose import counted_owner_loops
from cloister.kernels.per_unit import people

__all__ = ["InOrder", "Keyed", "KeyedKernel", "RowKeys", "distinct", "keys_of_people", "no_keys"]


@runtime_checkable
class KeyedKernel(Protocol):
    """Public parameters and a pure function from rows to their keys.

    A row's key depends on that row alone. ``width`` is how many integers a key has, at least 1.
    """

    @property
    def width(self) -> int: ...

    def keys(self, rows: Encoded) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """Each key that occurs, in rising order, with its count. Two of them add with ``+``.

    >>> one = distinct(np.array([[1, 2], [0, 5], [1, 2]]))
    >>> (one + one).keys.tolist(), (one + one).counts.tolist()
    ([[0, 5], [1, 2]], [2, 4])
    """

    keys: NDArray[np.int64]  # (m, w), distinct, in lexicographic order
    counts: NDArray[np.int64]  # (m,)

    def __add__(self, other: Keyed) -> Keyed:
        return distinct(np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts]))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def places(self) -> NDArray[np.int64]:
        """How many rows come before the first one of each key, (m,): the ranks of rows, for private microdata.

        >>> distinct(np.array([[7], [3], [7], [9]])).places.tolist()
        [0, 1, 3]
        """
        return np.cumsum(self.counts) - self.counts


@dataclass(frozen=True, slots=True)
class RowKeys:
    """The encoded row itself as its key: grid integers first, then codes."""

    width: int

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        return np.concatenate([rows.numbers, rows.codes], axis=1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class InOrder:
    """Keys of a public order, and behind them the row itself: a total order of rows, in which only equal rows tie.

    For the engines' `rank`, along which private rows are averaged (`kernels.ranked_blocks`).
    """

    order: KeyedKernel
    columns: int  # of an encoded row

    @property
    def width(self) -> int:
        return self.order.width + self.columns

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        return np.concatenate([self.order.keys(rows), RowKeys(self.columns).keys(rows)], axis=1)


def keys_of_people(kernel: KeyedKernel, encoding: Encoding, person: str, batch: pa.RecordBatch) -> NDArray[np.int64]:
    """Keys with two more integers that stand for the person, (n, w + 2)."""
    cells = batch.column(batch.schema.get_field_index(person))
    who = people(cells, counted_owner_loops(len(cells))).view(np.int64)
    return np.concatenate([kernel.keys(encoding.encode(batch)), who], axis=1)


def no_keys(width: int) -> Keyed:
    """The counts of no rows."""
    return Keyed(np.empty((0, width), dtype=np.int64), np.empty(0, dtype=np.int64))


def distinct(keys: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Keyed:
    """The distinct keys in rising order, their counts added up; without counts each key counts 1."""
    if not len(keys):
        return no_keys(keys.shape[1])
    packed = _packed(keys)
    if packed is None:
        return _distinct_wide(keys, counts)
    order = np.argsort(packed)  # equal keys in any order: they are added up
    ranked = packed[order]
    begins = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    return _add_runs(keys, counts, order, begins)


def _add_runs(
    keys: NDArray[np.int64], counts: NDArray[np.int64] | None, order: NDArray[np.intp], begins: NDArray[np.bool_]
) -> Keyed:
    """One entry for each run of equal keys, in this order of the keys."""
    starts = np.flatnonzero(begins)
    added = np.diff(np.append(starts, len(keys))) if counts is None else np.add.reduceat(counts[order], starts)
    return Keyed(np.ascontiguousarray(keys[order[starts]]), added.astype(np.int64))


def _distinct_wide(keys: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Keyed:
    """Keys too wide for one integer: equal ones are merged by a hash first, so that fewer are left to sort by every column."""
    hashes = np.zeros(len(keys), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in keys.T:
            hashes = (hashes ^ (hashes >> np.uint64(29)) ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    order = np.argsort(hashes)
    same = hashes[order][1:] == hashes[order][:-1]
    ranked = keys[order]
    differs = (ranked[1:] != ranked[:-1]).any(axis=1)
    is_collision = same & differs  # different keys with one hash: then the hashes are of no use
    if not is_collision.any():
        merged = _add_runs(keys, counts, order, np.append(True, ~same))
        keys, counts = merged.keys, merged.counts
    order = _lexicographic_order(keys)
    ranked = keys[order]
    begins = np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1))
    return _add_runs(keys, counts, order, begins)


def _lexicographic_order(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """The lexicographic order of keys: by the first column, and where that is equal by all."""
    order = np.argsort(keys[:, 0])
    first = keys[order, 0]
    same = first[1:] == first[:-1]
    tied = np.flatnonzero(np.append(False, same) | np.append(same, False))
    ties = order[tied]
    order[tied] = ties[np.lexsort(keys[ties].T[::-1])]
    return order


def _packed(keys: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Keys as single integers in the same order, when their ranges are small enough: one sort in place of several."""
    low = keys.min(axis=0)
    sizes = [int(high) - int(least) + 1 for high, least in zip(keys.max(axis=0), low, strict=True)]
    total = 1
    for size in sizes:
        total *= size
    if total >= 2**63:
        return None
    packed = np.zeros(len(keys), dtype=np.int64)
    for j, size in enumerate(sizes):
        packed = packed * size + (keys[:, j] - low[j])
    return packed
