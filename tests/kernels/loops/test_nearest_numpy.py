"""The NumPy loops give the integers of the compiled ones."""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np
import pytest

from cloister.kernels.loops import nearest, nearest_numpy


def loops(module: ModuleType) -> set[str]:
    """The public functions that a module defines, compiled or not."""
    mine = {name: thing for name, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__}
    found = {name for name, thing in mine.items() if hasattr(thing, "py_func") or inspect.isfunction(thing)}
    return {name for name in found if not name.startswith("_")}


def test_every_compiled_loop_has_a_plain_one() -> None:
    """A loop that is compiled for folds exists in NumPy too, under the same name and with the same arguments."""
    assert loops(nearest) <= loops(nearest_numpy)
    for name in loops(nearest):
        compiled = getattr(nearest, name)
        signature = inspect.signature(getattr(compiled, "py_func", compiled))
        assert list(signature.parameters) == list(inspect.signature(getattr(nearest_numpy, name)).parameters)


@pytest.mark.parametrize("seed", range(40))
def test_plain_loops_give_the_same_integers(seed: int) -> None:
    """Labels, distances, sums and clipped sums agree to the last bit, ties and long moves included."""
    random = np.random.default_rng(seed)
    half = int(random.choice([3, 1000, 2**19]))
    n, d, k = int(random.integers(0, 200)), int(random.integers(1, 6)), int(random.integers(1, 9))
    rows = random.integers(-half, half, (n, d), dtype=np.int32, endpoint=True)
    centers = random.integers(-half, half, (k, d), dtype=np.int32, endpoint=True)
    radii, caps, shifts = (random.integers(least, most, k) for least, most in ((1, 2 * half), (1, 4 * half**2), (0, 8)))
    outcomes = []
    for module in (nearest, nearest_numpy):
        labels, squares = np.empty(n, np.int32), np.empty(n)
        module.nearest(rows, np.ascontiguousarray(centers.T, dtype=np.float64), labels, squares)
        outcome = [labels, squares]
        counts, sums = np.zeros(k, np.int64), np.zeros((k, d), np.int64)
        module.add_sums(rows, labels, counts, sums)
        outcome += [counts, sums]
        for taxicab in (False, True):
            counts, sums, spreads = np.zeros(k, np.int64), np.zeros((k, d), np.int64), np.zeros(k, np.int64)
            module.add_clipped(rows, centers, labels, squares, (radii, taxicab, caps, shifts), counts, sums, spreads)
            outcome += [counts, sums, spreads]
        outcomes.append(outcome)
    for one, other in zip(*outcomes, strict=True):
        assert np.array_equal(one, other)
