"""Rows in a few public directions: exact integers that stay within their bounds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels import BallClip, BoxClip, Clip, ClippedSums, LiftedSums, Projection, Summary

HALF = 2**19
DIRECTIONS, COLUMNS = 8, 64
CHANCE = np.random.default_rng(5)
SIGNS = (CHANCE.integers(0, 2, (DIRECTIONS, COLUMNS)) * 2 - 1).astype(np.int8)


def encoded(numbers: np.ndarray) -> Encoded:
    return Encoded(np.ascontiguousarray(numbers, dtype=np.int32), np.empty((len(numbers), 0), np.int32))


def extreme_rows(clip: Clip) -> np.ndarray:
    """Rows at the edge of the domain along every direction, along the one that is stretched the most, and in corners."""
    stretched = np.linalg.svd(SIGNS.astype(np.float64))[2][0]  # (d,)
    along = np.concatenate([SIGNS, -SIGNS, [stretched, -stretched], CHANCE.normal(size=(200, COLUMNS))]).astype(np.float64)
    if isinstance(clip, BoxClip):
        return np.concatenate([HALF * np.sign(along), np.rint(HALF * along / np.abs(along).max(axis=1, keepdims=True))])
    return np.trunc(HALF * along / np.linalg.norm(along, axis=1, keepdims=True))


@pytest.mark.parametrize("clip", [BoxClip((HALF,) * COLUMNS), BallClip(HALF, COLUMNS)], ids=["box", "ball"])
@pytest.mark.parametrize("shift", [0, 4, 9])
def test_projected_rows_lie_in_their_clip(clip: Clip, shift: int) -> None:
    """No row of the domain, not the one that the directions stretch the most, leaves the ball that noise is calibrated to."""
    projection = Projection(SIGNS, clip, shift)
    places = projection.project(encoded(extreme_rows(clip))).numbers.astype(object)
    lengths = (places**2).sum(axis=1)
    assert max(lengths) <= projection.clip.l2_squared
    assert max(lengths) > projection.clip.l2_squared / 4  # and the ball is not far too wide


def test_projected_places_are_exact_integers() -> None:
    """Places are those of Python's own integers, rounded down, in any batch."""
    rows = CHANCE.integers(-HALF, HALF + 1, (50, COLUMNS))
    projection = Projection(SIGNS, BoxClip((HALF,) * COLUMNS), 3)
    whole = projection.project(encoded(rows)).numbers
    exact = [[sum(int(s) * int(x) for s, x in zip(way, row, strict=True)) >> 3 for way in SIGNS] for row in rows]
    assert whole.tolist() == exact
    assert all((projection.project(encoded(rows[i : i + 1])).numbers == whole[i]).all() for i in range(len(rows)))


def test_lifted_rows_vote_by_their_projection() -> None:
    """A row adds its move from the centre that its projection is nearest to, though another centre is nearer in all columns."""
    projection = Projection(np.array([[1, 0]], np.int8), BoxClip((100, 100)))
    centers = np.array([[0, 90], [50, 0]], np.int32)
    far = np.full(len(centers), 1000)
    kernel = LiftedSums(ClippedSums(centers, far, False, far, projection.within), projection, centers[:, :1])
    summary: Summary = pickle.loads(pickle.dumps(kernel)).fold(encoded(np.array([[10, -40]])))
    assert summary["counts"].tolist() == [1, 0]
    assert summary["sums"].tolist() == [[10, -130], [0, 0]]
    assert summary["squares"].tolist() == [10**2 + 130**2, 0]


def test_what_cannot_be_exact_is_refused() -> None:
    """Places beyond 32 bits, distances beyond 53 and places without a centre are refused before anything is charged."""
    wide = BoxClip((2**30,) * COLUMNS)
    with pytest.raises(UsageError, match="too fine for exact projections"):
        Projection(SIGNS, wide)
    small = Projection(SIGNS, BoxClip((100,) * COLUMNS))
    ones = np.ones(2, np.int64)
    sums = ClippedSums(np.zeros((2, COLUMNS), np.int32), ones, False, ones, small.within)
    with pytest.raises(UsageError, match="needs a centre"):
        LiftedSums(sums, small, np.zeros((1, DIRECTIONS), np.int32))
    with pytest.raises(UsageError, match="too fine for exact distances"):
        LiftedSums(sums, small, np.full((2, DIRECTIONS), 2**30, np.int32))
