"""Compiled loops of specialization against plain counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.kernels.loops import partition

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
