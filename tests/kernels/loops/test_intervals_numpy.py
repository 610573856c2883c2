"""The NumPy loops over cells, keys and leaves give the integers of the compiled ones."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from cloister.encode import Encoded
from cloister.kernels.loops import intervals, intervals_numpy
from cloister.kernels.morton import UNIT, MortonKeys, leaf_boxes

LOOPS = {name for name, thing in vars(intervals).items() if hasattr(thing, "py_func") and name[0] != "_"}


def test_every_compiled_loop_has_a_plain_one() -> None:
    """A loop that is compiled for folds exists in NumPy too, with the same arguments."""
    assert len(LOOPS) == 5
    for name in LOOPS:
        compiled = inspect.signature(getattr(intervals, name).py_func)
        assert list(compiled.parameters) == list(inspect.signature(getattr(intervals_numpy, name)).parameters)


@pytest.mark.parametrize("seed", range(40))
def test_plain_loops_give_the_same_integers(seed: int) -> None:
    """Cells, nested cells, keys and leaves agree to the last bit, borders included."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(0, 300)), int(random.integers(1, 5))
    halves = random.choice([0, 1, 7, 1000, 2**19], d).astype(np.int64)
    rows = random.integers(-halves, halves + 1, (n, d)).astype(np.int32)
    sides = random.integers(1, 6, d)
    inner = random.integers(1, 4, int(sides.prod()))
    starts = np.concatenate([[0], np.cumsum(inner**d)])
    bits = int(random.integers(1, 1 + min(10, 62 // d)))
    order = MortonKeys(tuple(int(half) for half in halves), bits)
    depth = int(random.integers(0, min(6, order.levels) + 1))
    firsts = np.arange(2**depth, dtype=np.int64) << (order.levels - depth)
    low, high = leaf_boxes(firsts, np.full(len(firsts), depth), order)
    outcomes = []
    for module in (intervals, intervals_numpy):
        cells, keys = np.empty(n, np.int64), np.empty(n, np.int64)
        counts, nested = np.zeros(int(sides.prod()), np.int64), np.zeros(int(starts[-1]), np.int64)
        module.write_cells(rows, halves, sides, cells)
        module.add_cells(rows, halves, sides, counts)
        module.add_nested(rows, halves, sides, inner, starts, nested)
        module.write_morton(rows, halves, bits, keys)
        leaves = np.searchsorted(firsts, keys, side="right") - 1
        tally, sums = np.zeros(len(firsts), np.int64), np.zeros((len(firsts), d), np.int64)
        module.add_leaves(rows, halves, bits, leaves, low, high, UNIT, tally, sums)
        outcomes.append([cells, keys, counts, nested, tally, sums])
    for one, other in zip(*outcomes, strict=True):
        assert np.array_equal(one, other)


def test_a_leafs_box_holds_its_rows() -> None:
    """Every row's intervals lie in the box of the leaf that its key falls into."""
    random = np.random.default_rng(0)
    order = MortonKeys((1000, 50, 7), 5)
    rows = random.integers(-np.array(order.halves), np.array(order.halves) + 1, (2000, 3)).astype(np.int32)
    depths = np.array([1, 2, 4, 4, 3])  # of a tree: 0, 10, 1100, 1101, 111
    firsts = np.array([0b0, 0b10 << 13, 0b1100 << 11, 0b1101 << 11, 0b111 << 12], dtype=np.int64)
    keys = order.keys(Encoded(rows, np.empty((len(rows), 0), np.int32)))[:, 0]
    leaves = np.searchsorted(firsts, keys, side="right") - 1
    low, high = leaf_boxes(firsts, depths, order)
    found = intervals_numpy.intervals(rows, np.array(order.halves), np.full(3, 32))
    assert ((found >= low[leaves]) & (found < high[leaves])).all()
    assert np.bincount(leaves, minlength=5).all()
