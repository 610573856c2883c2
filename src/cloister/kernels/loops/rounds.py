"""Classes of tuples under one recoding after the other: compiled loops for local recoding."""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import I16, I32, I64, U64
from cloister.kernels.loops.compiled import compiled


@compiled()
def mix(number: int) -> np.uint64:
    """Sixty-four well-mixed bits of a number (the finalizer of splitmix64, Steele et al. 2014)."""
    z = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled()
def mix_all(numbers: I64, mixed: U64) -> None:
    """Mix each number.

    numbers : IN (n,); mixed : OUT (n,)
    """
    for i in range(len(numbers)):
        mixed[i] = mix(numbers[i])


@compiled()
def advance(
    codes: I32,
    counts: I64,
    left: I64,
    keys: U64,
    offsets: I64,
    widths: I64,
    vectors: I16,
    start: int,
    k: int,
    wanted: int,
    labels: I64,
) -> tuple[int, int]:
    """Go on to the next recoding under which at least `wanted` of the rows that are left lie in classes of at least k.

    codes : IN (t, q) leaves; counts : IN (t,); left : IN (m,) tuples that are left; keys : IN, at offsets[j] + level *
    widths[j] + leaf a random number for the node of the leaf at the level; vectors : IN (v, q) the level of each column
    under each recoding; start : IN the first recoding to try; labels : OUT (m,) the class of each tuple, -1 in a class
    below k. Gives the recoding (v: none) and the number of classes. Sums of random numbers stand for tuples of nodes: two
    tuples in 2^64 share one, and would share a class, which its members' common ancestors then describe correctly.
    """
    q = codes.shape[1]
    size = 16
    while size < 2 * len(left):
        size *= 2
    mask = np.uint64(size - 1)
    key_at = np.empty(size, np.uint64)
    count_at = np.empty(size, np.int64)
    class_at = np.empty(size, np.int64)
    filled_at = np.full(size, -1, np.int64)
    place = np.empty(len(left), np.int64)
    for v in range(start, len(vectors)):
        for i in range(len(left)):
            row = left[i]
            key = np.uint64(0)
            for j in range(q):
                key += keys[offsets[j] + vectors[v, j] * widths[j] + codes[row, j]]
            at = np.int64((key ^ (key >> np.uint64(32))) & mask)
            while filled_at[at] == v and key_at[at] != key:
                at = (at + 1) & (size - 1)
            if filled_at[at] != v:
                filled_at[at] = v
                key_at[at] = key
                count_at[at] = 0
                class_at[at] = -1
            count_at[at] += counts[row]
            place[i] = at
        done = 0
        for i in range(len(left)):
            if count_at[place[i]] >= k:
                done += counts[left[i]]
        if done == 0 or done < wanted:
            continue
        classes = 0
        for i in range(len(left)):
            at = place[i]
            if count_at[at] < k:
                labels[i] = -1
                continue
            if class_at[at] < 0:
                class_at[at] = classes
                classes += 1
            labels[i] = class_at[at]
        return v, classes
    return len(vectors), 0
