"""Kernels on rows that are projected into a few public directions, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels.base import Kernel, Sensitivity, Summary
from cloister.kernels.centers import BallClip, Clip, check_exact, find_nearest
from cloister.kernels.clipped import ClippedSums
from cloister.kernels.loops.arrays import EXACT
from cloister.schema import Neighbours

__all__ = ["LiftedSums", "Projected", "Projection"]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Public directions of -1, 0 and 1: a row's place in them is a few integers, whatever the rows beside it.

    Attributes
    ----------
    signs
        The directions, (p, d).
    within
        Where every encoded row lies: the encoding has clipped it there.
    shift
        Places are counted in units of 2**shift grid steps, rounded down.
    """

    signs: NDArray[np.int8]  # (p, d)
    within: Clip
    shift: int = 0

    def __post_init__(self) -> None:
        if self.within.l1 >= EXACT or self.clip.radius > np.iinfo(np.int32).max:
            raise UsageError("the grid is too fine for exact projections. Use a coarser grid, or fewer columns.")

    @property
    def reach_squared(self) -> int:
        """No projected row is longer than the root of this before it is shifted.

        |S x|^2 <= |S S^T| |x|^2, and a symmetric matrix's norm is at most its largest row sum of absolute values.
        """
        signs = self.signs.astype(np.int64)
        return int(np.abs(signs @ signs.T).sum(axis=1).max()) * self.within.l2_squared

    @property
    def clip(self) -> BallClip:
        """Where every projected row lies: rounding down moves each of its places by less than 1."""
        columns = len(self.signs)
        return BallClip((isqrt(self.reach_squared) + 1 >> self.shift) + isqrt(columns) + 2, columns)

    def project(self, rows: Encoded) -> Encoded:
        """The rows in these directions, (n, p): float64 adds such integers exactly, in any order."""
        places = rows.numbers.astype(np.float64) @ np.ascontiguousarray(self.signs.T, dtype=np.float64)
        return Encoded(np.ascontiguousarray(np.floor(places / 2.0**self.shift), dtype=np.int32), rows.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """Another kernel, on projected rows.

    Privacy: each row is projected by itself, so neighbouring tables stay neighbouring tables. The other kernel must take its
    rows to lie in `Projection.clip`; then what it says of its sensitivity holds.
    """

    kernel: Kernel
    projection: Projection

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return self.kernel.parts

    def fold(self, rows: Encoded) -> Summary:
        return self.kernel.fold(self.projection.project(rows))

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return self.kernel.sensitivity(neighbours)


@dataclass(frozen=True, slots=True, eq=False)
class LiftedSums:
    """Votes, clipped moves and capped squares in all columns, of rows that vote by their projection.

    Attributes
    ----------
    sums
        What is added up of a row once its vote is known.
    projection
        The directions in which rows vote.
    places
        Public or released centres in these directions, (k, p); the i-th stands for the i-th centre of `sums`.

    Privacy: a row votes once, for one centre, and adds what it would add to `ClippedSums` there. That sensitivity does not
    depend on how a vote is found, only on there being one for each row by itself.
    """

    sums: ClippedSums
    projection: Projection
    places: NDArray[np.int32]  # (k, p)

    def __post_init__(self) -> None:
        if len(self.places) != len(self.sums.centers):
            raise UsageError("every place in the projection needs a centre in all columns.")
        check_exact(self.places, self.projection.clip)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return self.sums.parts

    def fold(self, rows: Encoded) -> Summary:
        labels, _ = find_nearest(self.projection.project(rows), self.places)
        moves = rows.numbers.astype(np.float64) - self.sums.centers.astype(np.float64)[labels]
        squares = np.einsum("ij,ij->i", moves, moves)  # exact: `ClippedSums` has checked that none reaches 2**53
        return self.sums.add_up(rows, labels, squares)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return self.sums.sensitivity(neighbours)
