"""Weighted k-prototypes and k-modes on tuples, against the plain algorithm by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.clustering.seeding.points_prototypes import (
    WeightedTuples,
    best_prototypes,
    lloyd_prototypes,
    seed_prototypes,
)
from cloister.encode import Encoded
from cloister.kernels import Modes


def made_up(seed: int, numbers: int = 2) -> WeightedTuples:
    """Tuples of numbers and three categories."""
    random = np.random.default_rng(seed)
    sizes = (2, 3, 5)
    codes = np.stack([random.integers(0, size, 80) for size in sizes], axis=1).astype(np.int32)
    rows = Encoded(random.integers(-40, 41, (80, numbers)).astype(np.int32), codes)
    return WeightedTuples(rows, random.integers(1, 6, 80).astype(float), sizes)


def loss_by_hand(tuples: WeightedTuples, centers: np.ndarray, codes: np.ndarray, gamma: int) -> float:
    total = 0.0
    for row, held, weight in zip(tuples.rows.numbers, tuples.rows.codes, tuples.weights, strict=True):
        total += weight * min(
            sum((int(a) - int(b)) ** 2 for a, b in zip(row, center, strict=True)) + gamma * int((held != mode).sum())
            for center, mode in zip(centers, codes, strict=True)
        )
    return total


@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("seed", range(8))
def test_the_loss_is_that_of_a_plain_sum(seed: int, numbers: int) -> None:
    """Weights times squared moves plus gamma a differing category, without numbers too."""
    tuples = made_up(seed, numbers)
    found = best_prototypes(tuples, 3, 90, np.random.default_rng(seed), restarts=2)
    assert found.loss == loss_by_hand(tuples, found.centers, found.modes.codes, 90)
    assert found.sizes.sum() == tuples.weights.sum()


@pytest.mark.parametrize("seed", range(8))
def test_a_weight_is_so_many_equal_tuples(seed: int) -> None:
    """From one start the weighted run and the run over repeated tuples end alike."""
    tuples = made_up(seed)
    times = tuples.weights.astype(np.int64)
    rows = Encoded(np.repeat(tuples.rows.numbers, times, axis=0), np.repeat(tuples.rows.codes, times, axis=0))
    repeated = WeightedTuples(rows, np.ones(len(rows)), tuples.sizes)
    start = seed_prototypes(tuples, 4, 60, np.random.default_rng(seed))
    one, other = lloyd_prototypes(tuples, *start), lloyd_prototypes(repeated, *start)
    assert one.loss == other.loss
    assert np.array_equal(one.modes.codes, other.modes.codes)
    assert np.array_equal(one.centers, other.centers)


@pytest.mark.parametrize("seed", range(8))
def test_rounds_never_make_it_worse(seed: int) -> None:
    """k-modes loses no ground in any iteration."""
    tuples = made_up(seed, numbers=0)
    start = seed_prototypes(tuples, 4, 1, np.random.default_rng(seed))
    losses = [lloyd_prototypes(tuples, *start, iterations=i).loss for i in range(1, 8)]
    assert losses == sorted(losses, reverse=True)


def test_more_prototypes_than_tuples_are_no_error() -> None:
    """One tuple and three clusters: two of them are empty and stay where they are."""
    tuples = WeightedTuples(Encoded(np.zeros((1, 0), np.int32), np.array([[1]], np.int32)), np.ones(1), (2,))
    found = best_prototypes(tuples, 3, 1, np.random.default_rng(0), restarts=1)
    assert found.loss == 0
    assert found.sizes.sum() == 1


def test_a_mode_without_tuples_stays() -> None:
    """A prototype that is nearest to nothing keeps its categories."""
    tuples = WeightedTuples(Encoded(np.zeros((4, 0), np.int32), np.zeros((4, 2), np.int32)), np.ones(4), (3, 3))
    modes = Modes(np.array([[0, 0], [2, 1]], np.int32), np.ones(2, np.int64))
    found = lloyd_prototypes(tuples, np.zeros((2, 0), np.int32), modes)
    assert found.modes.codes.tolist() == [[0, 0], [2, 1]]
