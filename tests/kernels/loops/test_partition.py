"""Compiled loops of specialization and local recoding against plain counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.kernels.loops import partition, rounds

TUPLES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(TUPLES, st.integers(0, 2**32 - 1))
def test_split(tuples: list[tuple[int, int]], seed: int) -> None:
    """Splitting by one column and then by the other gives the classes of equal tuples, each tuple once."""
    random = np.random.default_rng(seed)
    flat = np.array(tuples, np.int32) + np.array([0, 4], np.int32)
    counts = random.integers(1, 5, len(flat))
    rows, starts = np.arange(len(flat)), np.array([0, len(flat)])
    for column, codes in ((0, range(4)), (1, range(4, 7))):
        child = np.full(7, -1, np.int32)
        child[list(codes)] = np.arange(len(codes))
        made_rows, made_starts, sizes = np.empty_like(rows), np.empty(len(rows) + 1, np.int64), np.empty_like(rows)
        made = partition.split(flat, counts, rows, starts, column, child, len(codes), made_rows, made_starts, sizes)
        rows, starts, sizes = made_rows, made_starts[: made + 1], sizes[:made]
    expected = Counter[tuple[int, int]]()
    for one, count in zip(tuples, counts.tolist(), strict=True):
        expected[one] += count
    found = {tuples[rows[start]]: size for start, size in zip(starts[:-1].tolist(), sizes.tolist(), strict=True)}
    assert found == expected
    assert sorted(rows.tolist()) == list(range(len(flat)))


@settings(max_examples=60, deadline=None)
@given(TUPLES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_advance(tuples: list[tuple[int, int]], k: int, seed: int) -> None:
    """The first recoding with enough rows in classes of at least k is found, and so are its classes."""
    random = np.random.default_rng(seed)
    codes = np.array(tuples, np.int32)
    counts = random.integers(1, 4, len(codes))
    # two levels a column: the value, or everything
    keys = np.empty(14, np.uint64)
    rounds.mix_all(np.array([0, 1, 2, 3, 9, 9, 9, 9, 4, 5, 6, 8, 8, 8]), keys)
    vectors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int16)
    labels = np.empty(len(codes), np.int64)
    wanted = int(random.integers(0, counts.sum() + 1))
    at, classes = rounds.advance(
        codes, counts, np.arange(len(codes)), keys, np.array([0, 8]), np.array([4, 3]), vectors, 0, k, wanted, labels
    )
    for tried, vector in enumerate(vectors.tolist()):
        names = [tuple(-1 if level else code for code, level in zip(row, vector, strict=True)) for row in tuples]
        size = Counter[tuple[int, ...]]()
        for name, count in zip(names, counts.tolist(), strict=True):
            size[name] += count
        done = sum(count for name, count in zip(names, counts.tolist(), strict=True) if size[name] >= k)
        if done and done >= wanted:
            assert at == tried
            assert classes == sum(total >= k for total in size.values())
            assert [label >= 0 for label in labels] == [size[name] >= k for name in names]
            assert len(set(zip(names, labels.tolist(), strict=True))) == len(size)
            return
    assert (at, classes) == (len(vectors), 0)
