"""Nearest rows by squared distance, as products of matrices: categories are unit vectors, two of which lie 1 apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.papers.icmd_dp.unit_rows import UnitRows

__all__ = ["FoundRows", "link_both_ways", "link_own_rows", "nearest_rows"]

Floats = NDArray[np.float64]
SAME = 1e-9  # squared distances that differ by no more are one
CHUNK = 4_000_000  # distances that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows:
    """The nearest of some records to each of some rows: its squared distance and place, and how many are as near."""

    squares: Floats
    places: NDArray[np.int64]
    tied: NDArray[np.int64]


def nearest_rows(rows: UnitRows, records: UnitRows) -> FoundRows:
    """Of each row the nearest record, the first of those that are as near.

    >>> some = UnitRows(np.array([[0.0], [0.4], [1.0]]), np.array([[0], [1], [1]]), (2,))
    >>> nearest_rows(some.taken(np.array([1])), some.taken(np.array([0, 2]))).squares.round(2).tolist()
    [0.36]
    """
    ones, others = _as_points(rows), _as_points(records)
    lengths = (others**2).sum(axis=1)
    found: list[tuple[Floats, NDArray[np.int64], NDArray[np.int64]]] = []
    for points in np.array_split(ones, max(1, len(ones) * len(others) // CHUNK)):
        squares = (points**2).sum(axis=1)[:, None] + lengths - 2 * points @ others.T
        least = np.maximum(squares.min(axis=1), 0.0)
        is_least = squares <= least[:, None] + SAME
        found.append((least, is_least.argmax(axis=1), is_least.sum(axis=1)))
    least, places, tied = (np.concatenate(each) for each in zip(*found, strict=True))
    return FoundRows(least, places, tied)


def link_both_ways(near: FoundRows, rows: UnitRows, published: UnitRows) -> Floats:
    """The chance that each row's nearest published row is linked back to it; of several that are as near one is guessed."""
    back = nearest_rows(published.taken(near.places), rows)
    is_mutual = near.squares <= back.squares + SAME
    return np.asarray(is_mutual / np.maximum(near.tied, back.tied))


def link_own_rows(published: UnitRows, original: UnitRows, places: NDArray[np.int64]) -> float:
    """The share of records that are nearest to what is published in their place; of several one is guessed (section 3.2.2)."""
    near = nearest_rows(published.taken(places), original)
    own = original.taken(places).squared_errors(published.taken(places))
    return float(((own <= near.squares + SAME) / near.tied).mean())


def _as_points(rows: UnitRows) -> Floats:
    """Numbers, and behind them a vector for each category, of length 1 / sqrt 2, all of which are at right angles."""
    points = [rows.numbers]
    for codes, size in zip(rows.codes.T, rows.sizes, strict=True):
        points.append(np.eye(size + 1)[codes] * np.sqrt(0.5))  # the last one: outside of the domain
    return np.concatenate(points, axis=1)
