"""The loops of `partition` in NumPy, for small tables. Their arguments are documented there.

They keep the rows of every class by code (`count_codes`), so that weighing goes over classes in place of tuples, and a split
counts all children but the largest, which is what is left of its class (`split_counts`). They give the same integers, and
the same floating-point numbers to the last bit: terms are added one by one in the order of the classes, as the compiled
loops add them. Entropy is not among them, since logarithms may differ in their last bit.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
F64: TypeAlias = NDArray[np.float64]
NONE = np.iinfo(np.int64).max  # the smallest class size where there is no class


def count_codes(flat: I32, counts: I64, rows: I64, starts: I64, codes: int) -> F64:
    """Rows of each class by code, (classes, codes): whole numbers, so exact in any order."""
    classes, q = len(starts) - 1, flat.shape[1]
    begin = np.repeat(np.arange(classes) * codes, np.diff(starts))
    keys = flat[rows] + begin[:, None]
    weights = np.repeat(counts[rows].astype(np.float64), q)
    return np.bincount(keys.ravel(), weights, classes * codes).reshape(classes, codes).astype(np.float64, copy=False)


def split_counts(by_code: F64, flat: I32, counts: I64, old_starts: I64, rows: I64, starts: I64) -> F64:
    """The rows of each new class by code, from those of the old classes: only children beside the largest are counted."""
    parent = np.searchsorted(old_starts, starts[:-1], side="right") - 1  # a class is split in its place
    widths = np.diff(starts)
    order = np.lexsort([-widths, parent])
    largest = order[np.flatnonzero(np.diff(parent[order], prepend=-1))]  # (old classes,)
    is_counted = np.ones(len(parent), bool)
    is_counted[largest] = False
    after = by_code[parent]
    if is_counted.any():
        chosen = rows[np.repeat(is_counted, widths)]
        part = count_codes(flat, counts, chosen, np.append(0, np.cumsum(widths[is_counted])), by_code.shape[1])
        after[is_counted] = part
        siblings = parent[is_counted]
        firsts = np.flatnonzero(np.diff(siblings, prepend=-1))
        after[largest[siblings[firsts]]] -= np.add.reduceat(part, firsts, axis=0)
    return after


def weigh(
    by_code: F64, flat: I32, counts: I64, rows: I64, starts: I64, block: I32, slot: I32, first: I64, first_candidate: I64,
    is_tree: NDArray[np.bool_], before: F64, after: F64, left: F64, right: F64, k: int,
    lost: I64, relief: F64, low: I64, floor: I64,
) -> None:  # fmt: skip
    """Weigh every candidate of a cut. by_code : IN (classes, codes); the rest as in the compiled loop, without spread."""
    q, classes, slots = flat.shape[1], len(starts) - 1, int(first[-1])
    blocks_of_class = block[flat[rows[starts[:-1]]]]  # (classes, q): the blocks of a class
    sizes = np.add.reduceat(counts[rows], starts[:-1])
    np.minimum.at(floor, blocks_of_class.ravel(), np.repeat(sizes, q))
    cost = np.zeros(classes)
    for j in range(q):
        cost += before[blocks_of_class[:, j]]
    rest = q - cost  # what a row still has to lose when it is suppressed
    if not slots:
        return
    codes = np.flatnonzero(first[block] < first[block + 1])  # of blocks that can be specialized
    codes = codes[np.argsort(slot[codes], kind="stable")]
    table = np.add.reduceat(by_code[:, codes], np.searchsorted(slot[codes], np.arange(slots)), axis=1)  # (classes, slots)
    of_slot = np.repeat(np.arange(len(is_tree)), np.diff(first))  # (slots,)
    of_class, at = np.nonzero(table * is_tree[of_slot])
    parts, blocks = table[of_class, at], of_slot[at]
    candidates = first_candidate[blocks]
    is_kept = parts >= k
    gains = np.where(is_kept, parts * (before[blocks] - after[at]), -(parts * rest[of_class]))
    relief += np.bincount(candidates, gains, len(relief))
    lost += np.bincount(candidates[~is_kept], parts[~is_kept], len(lost)).astype(np.int64)
    np.minimum.at(low, candidates[is_kept], parts[is_kept].astype(np.int64))
    column = np.zeros(len(is_tree), np.int64)
    column[blocks_of_class] = np.arange(q)
    for b in np.flatnonzero(~is_tree & (np.diff(first) > 1)):
        own_classes = np.flatnonzero(blocks_of_class[:, column[b]] == b)
        ways = slice(first_candidate[b], first_candidate[b + 1])
        under = np.cumsum(table[own_classes, first[b] : first[b + 1] - 1], axis=1).astype(np.int64)
        sides = np.stack([under, sizes[own_classes, None] - under], axis=1)  # (classes, 2, ways)
        is_kept = sides >= k
        gains = sides * (before[b] - np.stack([left[ways], right[ways]]))
        gains = np.where(is_kept, gains, -(sides * rest[own_classes, None, None]))
        if len(own_classes):
            relief[ways] += np.add.accumulate(gains.reshape(-1, gains.shape[2]))[-1]
            lost[ways] += np.where(is_kept, 0, sides).sum(axis=(0, 1))
            low[ways] = np.minimum(low[ways], np.where(is_kept, sides, NONE).min(axis=(0, 1)))


def split(
    flat: I32, counts: I64, rows: I64, starts: I64, column: int, child: I32, children: int,
    new_rows: I64, new_starts: I64, sizes: I64,
) -> int:  # fmt: skip
    """Split every class by the child that holds a tuple's code in one column; how many classes there are then."""
    keys = np.repeat(np.arange(len(starts) - 1) * (children + 1), np.diff(starts))
    keys += child[flat[rows, column]] + 1
    order = np.argsort(keys, kind="stable")
    new_rows[:] = rows[order]
    keys = keys[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    classes = len(begins)
    new_starts[:classes] = begins
    new_starts[classes] = len(rows)
    sizes[:classes] = np.add.reduceat(counts[new_rows], begins)
    return classes


def tally(flat: I32, counts: I64, rows: I64, target: I32, totals: F64) -> None:
    """Count rows by code and class."""
    keys = flat[rows].astype(np.int64) * totals.shape[1] + target[rows][:, None]
    weights = np.repeat(counts[rows], flat.shape[1])
    totals += np.bincount(keys.ravel(), weights, totals.size).reshape(totals.shape)


def floor_of_others(floor: I64, column: I64, columns: int, least: I64) -> None:
    """For each block the smallest floor among the other blocks of its column."""
    order = np.lexsort([floor, column])
    is_first = np.diff(column[order], prepend=-1) != 0
    lowest, second = np.full(columns, NONE), np.full(columns, NONE)
    lowest[column[order[is_first]]] = floor[order[is_first]]
    is_second = np.append(False, is_first[:-1]) & ~is_first
    second[column[order[is_second]]] = floor[order[is_second]]
    least[:] = np.where(floor == lowest[column], second[column], lowest[column])
