"""Classes of quasi-identifier tuples, split and weighed: compiled loops for specialization.

The tuples lie class by class: class g is rows[starts[g]:starts[g + 1]]. The codes of all columns share one range (`flat`
adds each column's offset), so that a cut is one array from code to block. Everything counted is an integer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.kernels.loops.compiled import compiled

NONE = np.iinfo(np.int64).max  # the smallest class size where there is no class


@compiled()
def _times_log(count: int) -> float:
    return count * math.log2(count) if count > 1 else 0.0


@compiled()
def weigh(
    flat: I32,
    counts: I64,
    rows: I64,
    starts: I64,
    block: I32,
    slot: I32,
    first: I64,
    first_candidate: I64,
    is_tree: NDArray[np.bool_],
    before: F64,
    after: F64,
    left: F64,
    right: F64,
    k: int,
    wants_spread: bool,
    lost: I64,
    relief: F64,
    spread: F64,
    low: I64,
    floor: I64,
) -> None:
    """Weigh every candidate of a cut in one pass over the tuples.

    flat : IN (t, q) codes; counts : IN (t,); rows, starts : IN the classes; block, slot : IN (codes,) the block of the cut
    that holds a code, and its place among the children of all blocks; first : IN (blocks + 1,) the slots of a block;
    first_candidate : IN (blocks + 1,): a block of a tree is one candidate, a block of s ordered codes is s - 1 (cut before
    its second code, its third ...); before : IN (blocks,) cost of a row now; after : IN (slots,) cost in a child of a tree;
    left, right : IN (candidates,) costs on the two sides of a threshold; lost : OUT (candidates,) rows in classes below k;
    relief : OUT fall of the total cost, a lost row costing 1 a column; spread : OUT fall of the sum of c log2 c over kept
    classes, if wanted; low : OUT smallest kept class that the candidate makes; floor : OUT (blocks,) smallest class now.
    """
    q = flat.shape[1]
    table = np.zeros(first[-1], np.int64)
    here = np.empty(q, np.int64)
    for g in range(starts.shape[0] - 1):
        cost = 0.0
        for j in range(q):
            here[j] = block[flat[rows[starts[g]], j]]
            cost += before[here[j]]
        size = 0
        for at in range(starts[g], starts[g + 1]):
            row = rows[at]
            size += counts[row]
            for j in range(q):
                if first[here[j]] < first[here[j] + 1]:
                    table[slot[flat[row, j]]] += counts[row]
        whole = _times_log(size) if wants_spread else 0.0
        for j in range(q):
            b = here[j]
            floor[b] = min(floor[b], size)
            if first[b] == first[b + 1]:
                continue
            c = first_candidate[b]
            if is_tree[b]:
                spread[c] += whole
                for s in range(first[b], first[b + 1]):
                    part = table[s]
                    table[s] = 0
                    if part == 0:  # most parts are empty
                        continue
                    if part >= k:
                        relief[c] += part * (before[b] - after[s])
                        if wants_spread:
                            spread[c] -= _times_log(part)
                        low[c] = min(low[c], part)
                    else:
                        relief[c] -= part * (q - cost)
                        lost[c] += part
                continue
            under = 0
            for s in range(first[b], first[b + 1] - 1):
                under += table[s]
                table[s] = 0
                spread[c] += whole
                for side in range(2):
                    part = under if side == 0 else size - under
                    if part == 0:
                        continue
                    if part >= k:
                        relief[c] += part * (before[b] - (left[c] if side == 0 else right[c]))
                        if wants_spread:
                            spread[c] -= _times_log(part)
                        low[c] = min(low[c], part)
                    else:
                        relief[c] -= part * (q - cost)
                        lost[c] += part
                c += 1
            table[first[b + 1] - 1] = 0


@compiled()
def split(
    flat: I32,
    counts: I64,
    rows: I64,
    starts: I64,
    column: int,
    child: I32,
    children: int,
    new_rows: I64,
    new_starts: I64,
    sizes: I64,
) -> int:
    """Split every class by the child that holds a tuple's code in one column; how many classes there are then.

    child : IN (codes,) the child of a code, -1 for codes outside the block; new_rows : OUT (t,) tuples class by class, in
    their old order inside a class; new_starts : OUT (at most t + 1,); sizes : OUT (at most t,) counts of the new classes.
    """
    classes = 0
    new_starts[0] = 0
    end = np.zeros(children + 1, np.int64)
    total = np.zeros(children, np.int64)
    for g in range(starts.shape[0] - 1):
        a, b = starts[g], starts[g + 1]
        if child[flat[rows[a], column]] < 0:  # the class lies outside the block: it stays as it is
            size = 0
            for at in range(a, b):
                new_rows[at] = rows[at]
                size += counts[rows[at]]
            sizes[classes] = size
            classes += 1
            new_starts[classes] = b
            continue
        end[:] = 0
        total[:] = 0
        for at in range(a, b):
            c = child[flat[rows[at], column]]
            end[c + 1] += 1
            total[c] += counts[rows[at]]
        for c in range(children):
            if end[c + 1] > 0:
                sizes[classes] = total[c]
                classes += 1
                new_starts[classes] = new_starts[classes - 1] + end[c + 1]
            end[c + 1] += end[c]
        for at in range(a, b):
            c = child[flat[rows[at], column]]
            new_rows[a + end[c]] = rows[at]
            end[c] += 1
    return classes


@compiled()
def tally(flat: I32, counts: I64, rows: I64, target: I32, totals: F64) -> None:
    """Count rows by code and class.

    flat : IN (t, q); counts : IN (t,); rows : IN tuples to count; target : IN (t,) classes; totals : OUT (codes, classes)
    """
    for row in rows:
        for j in range(flat.shape[1]):
            totals[flat[row, j], target[row]] += counts[row]


@compiled()
def floor_of_others(floor: I64, column: I64, columns: int, least: I64) -> None:
    """For each block the smallest floor among the other blocks of its column.

    floor, column : IN (blocks,); least : OUT (blocks,)
    """
    two = np.full((columns, 2), NONE)
    for b in range(len(floor)):
        lowest, next_lowest = two[column[b]]
        if floor[b] < lowest:
            two[column[b], 0] = floor[b]
            two[column[b], 1] = lowest
        elif floor[b] < next_lowest:
            two[column[b], 1] = floor[b]
    for b in range(len(floor)):
        # of two equal floors one remains when the other is left out, and both entries hold it
        least[b] = two[column[b], 1] if floor[b] == two[column[b], 0] else two[column[b], 0]
