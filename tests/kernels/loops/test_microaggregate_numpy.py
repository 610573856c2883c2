"""The groups that the NumPy loops make are those of the compiled ones."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from cloister.kernels.loops import microaggregate, microaggregate_numpy
from cloister.kernels.loops.arrays import I32


def test_the_twin_takes_the_same_arguments() -> None:
    """A twin has the name and the arguments of its compiled loop."""
    compiled, plain = microaggregate.group_rows, microaggregate_numpy.group_rows
    assert list(inspect.signature(compiled.py_func).parameters) == list(inspect.signature(plain).parameters)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(30))
def test_the_same_groups(seed: int) -> None:
    """Both loops make the same groups, ties included, of rows and of people, by both distances."""
    random = np.random.default_rng(seed)
    n, k = int(random.integers(0, 250)), int(random.integers(2, 7))
    numbers = random.integers(0, 5, (int(random.integers(0, 3)), n)) / 4  # few values: many ties
    sizes = random.integers(1, 4, int(random.integers(0, 3)))
    codes = (random.random((len(sizes), n)) * sizes[:, None]).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    by_person = bool(seed % 2) and n > 0
    people = np.unique(random.integers(0, max(1, n // 3), n), return_inverse=True)[1].astype(np.int32) if by_person else None
    persons = 0 if people is None else int(people.max()) + 1
    whose = np.zeros(0, np.int32) if people is None else people
    pairs_from, is_squared, weight = k * int(random.integers(2, 4)), bool(seed % 3), float(random.integers(1, 3))
    outcomes: list[tuple[int, I32]] = []
    for loops in (microaggregate, microaggregate_numpy):
        groups = np.empty(n, np.int32)
        count = loops.group_rows(
            numbers.copy(), codes.copy(), offsets, whose.copy(), persons, k, pairs_from, is_squared, weight, groups
        )
        outcomes.append((count, groups))
    (count, groups), (plain_count, plain_groups) = outcomes
    assert count == plain_count
    assert np.array_equal(groups, plain_groups)
    for group in range(count):
        assert len(np.unique(whose[groups == group]) if persons else groups[groups == group]) >= k
    assert persons or (groups < 0).sum() < k
