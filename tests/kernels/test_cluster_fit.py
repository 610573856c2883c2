"""How well rows fit centres: exact squares by column, and distances to ten digits."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.encode import Encoded
from cloister.kernels import BallClip, BoxClip, FitSums
from cloister.kernels.base import Summary

CENTERS = np.array([[-500_000, 3], [400_000, -7]], dtype=np.int32)
CLIP = BoxClip((2**19, 10))


def rows_of(numbers: list[list[int]], classes: list[int]) -> Encoded:
    return Encoded(np.array(numbers, dtype=np.int32), np.array(classes, dtype=np.int32)[:, None])


def test_by_hand() -> None:
    """Rows by class and centre, squares split into two words and put together again, distances in own units."""
    kernel = FitSums(CENTERS, CLIP, np.array([1e-3, 2.0]), classes=3)
    summary = kernel.fold(rows_of([[-500_000, 3], [399_000, -7], [400_000, -10], [2**19, 10]], [0, 2, 2, 1]))
    assert summary["rows"].tolist() == [[1, 0], [0, 1], [0, 2]]
    far = 2**19 - 400_000
    assert kernel.column_squares(summary) == [1000**2 + far**2, 9 + 17**2]
    expected = 1.0 + 6.0 + np.hypot(far * 1e-3, 34.0)
    assert summary["distances"][0] * kernel.unit == pytest.approx(expected, rel=1e-8)


def test_words_that_are_added_stay_exact() -> None:
    """A sum of squares beyond 64 bits: the two words of many rows, put together as Python integers."""
    kernel = FitSums(CENTERS[:1], CLIP, np.ones(2))
    one = kernel.fold(rows_of([[2**19, 10]], [0]))
    many = Summary({name: part * 10**9 for name, part in one.parts.items()})
    assert kernel.column_squares(many) == [10**9 * (2**19 + 500_000) ** 2, 10**9 * 49]


@pytest.mark.parametrize("clip", [CLIP, BallClip(2**19, 2)])
def test_no_row_is_farther_than_the_unit_allows(clip: BoxClip | BallClip) -> None:
    """The farthest row stays within the stated limit of a distance."""
    kernel = FitSums(CENTERS, clip, np.array([1.0, 1e3]))
    corner = kernel.fold(rows_of([[2**19, 10], [-(2**19), -10]], [0, 0]))
    assert corner["distances"][0] <= 2 * (2**31 + 1)
    assert np.prod(corner["rows"].shape) == 2
