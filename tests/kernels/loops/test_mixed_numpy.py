"""The NumPy loops over mixed rows give the integers of the compiled ones."""

from __future__ import annotations

import inspect
from itertools import product

import numpy as np
import pytest

from cloister.kernels.loops import mixed, mixed_numpy


def test_every_compiled_loop_has_a_plain_twin() -> None:
    """A twin has the name and the arguments of its compiled loop."""
    for name in ("nearest", "add_values"):
        compiled, plain = getattr(mixed, name), getattr(mixed_numpy, name)
        assert list(inspect.signature(compiled.py_func).parameters) == list(inspect.signature(plain).parameters)


@pytest.mark.parametrize("seed", range(30))
def test_plain_loops_give_the_same_integers(seed: int) -> None:
    """Labels, distances and value counts agree to the last bit, ties included, without numbers too."""
    random = np.random.default_rng(seed)
    n, k, d = int(random.integers(0, 9_000)), int(random.integers(1, 12)), int(random.integers(0, 4))
    half = int(10 ** random.integers(1, 6))  # small grids have many ties
    sizes = random.integers(1, 5, size=int(random.integers(1, 5)))
    rows = random.integers(-half, half, (n, d), endpoint=True).astype(np.int32)
    codes = (random.random((n, len(sizes))) * sizes).astype(np.int32)
    points = random.integers(-half, half, (d, k), endpoint=True).astype(np.float64)
    modes = (random.random((len(sizes), k)) * sizes[:, None]).astype(np.int32)
    weights = random.integers(1, half * half, k, endpoint=True).astype(np.float64)
    offsets = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    outcomes = []
    for loops in (mixed, mixed_numpy):
        labels, squares = np.empty(n, np.int32), np.empty(n)
        values = np.zeros((k, int(sizes.sum())), np.int64)
        loops.nearest(rows, codes, points, modes, weights, labels, squares)
        loops.add_values(codes, labels, offsets, values)
        outcomes.append((labels, squares, values))
    for one, other in zip(*outcomes, strict=True):
        assert np.array_equal(one, other)


def test_the_nearest_is_that_of_a_plain_count() -> None:
    """Squared moves plus gamma times the differing categories, by hand."""
    rows = np.array(list(product([-3, 0, 2], [-1, 4])), np.int32)
    codes = np.array([[i % 2, i % 3] for i in range(len(rows))], np.int32)
    points, modes = np.array([[0, 2], [0, 1]]), np.array([[0, 1], [2, 1]])  # (d, k), (c, k)
    weights = np.array([5.0, 7.0])
    labels, squares = np.empty(len(rows), np.int32), np.empty(len(rows))
    mixed_numpy.nearest(rows, codes, points.astype(float), modes.astype(np.int32), weights, labels, squares)
    for i, row in enumerate(rows):
        by_hand = [
            sum((int(row[j]) - int(points[j, p])) ** 2 for j in range(2)) + weights[p] * sum(codes[i] != modes[:, p])
            for p in range(2)
        ]
        assert squares[i] == min(by_hand)
        assert labels[i] == by_hand.index(min(by_hand))
