"""Kernels that look for the nearest of some public centres.

Distances are squared in float64, where integers are exact below 2**53. `check_exact` refuses centres and clips between
which a squared distance could reach that: every kernel here and in `clipped` calls it in its constructor, before any charge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.loops.arrays import EXACT
from cloister.kernels.loops.choose import mixed_loops, nearest_loops
from cloister.schema import Neighbours

__all__ = [
    "BallClip",
    "BoxClip",
    "CenterDistances",
    "CenterSums",
    "Clip",
    "Labels",
    "Modes",
    "NearestVotes",
    "check_exact",
    "find_nearest",
]


@dataclass(frozen=True, slots=True)
class BoxClip:
    """Rows lie in the box of these integer half-widths around the origin."""

    halves: tuple[int, ...]

    @property
    def l1(self) -> int:
        return sum(self.halves)

    @property
    def l2_squared(self) -> int:
        return sum(half * half for half in self.halves)

    def farthest(self, center: Sequence[int]) -> int:
        """The largest squared distance of a row from this centre."""
        return sum((half + abs(place)) ** 2 for half, place in zip(self.halves, center, strict=True))


@dataclass(frozen=True, slots=True)
class BallClip:
    """Rows lie in the ball of this integer radius around the origin."""

    radius: int
    columns: int

    @property
    def l1(self) -> int:
        """The L1 norm is an integer of at most sqrt(columns) times the L2 norm."""
        return isqrt(self.columns * self.radius**2)

    @property
    def l2_squared(self) -> int:
        return self.radius**2

    def farthest(self, center: Sequence[int]) -> int:
        """The largest squared distance of a row from this centre, or a little more: the centre's length is rounded up."""
        return (self.radius + isqrt(sum(place * place for place in center)) + 1) ** 2


Clip = BoxClip | BallClip


@dataclass(frozen=True, slots=True, eq=False)
class Modes:
    """The categories of some centres: a row's distance grows by a centre's weight for each category in which they differ.

    Attributes
    ----------
    codes
        Public or released category codes, (k, c).
    weights
        What a differing category adds to the squared distance from each centre, in squared grid steps, (k,): gamma.
    """

    codes: NDArray[np.int32]  # (k, c)
    weights: NDArray[np.int64]  # (k,)

    def __post_init__(self) -> None:
        if (self.weights < 1).any():
            raise UsageError("a differing category must add at least one squared grid step to a distance.")

    @property
    def farthest(self) -> int:
        """The most that categories add to a squared distance."""
        return int(self.codes.shape[1]) * int(self.weights.max())


def check_exact(centers: NDArray[np.int32], clip: Clip, modes: Modes | None = None) -> None:
    """Refuse centres (k, d) from which a row inside the clip could be so far that float64 would round the square."""
    if not len(centers):
        raise UsageError("there is no centre to be nearest to.")
    corner = np.abs(centers.astype(np.int64)).max(axis=0).tolist()  # no centre is farther out in any column
    if clip.farthest(corner) + (modes.farthest if modes else 0) >= EXACT:
        raise UsageError(
            "the grid is too fine for exact distances: a squared distance could reach 2**53 grid steps. Use a coarser grid, "
            "or fewer columns."
        )


def find_nearest(
    rows: Encoded, centers: NDArray[np.int32], modes: Modes | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The index of each row's nearest centre and its squared distance, both exact; ties go to the lowest index.

    With `modes` a squared distance has a weight more for each differing category: of k-prototypes, and without numbers of
    k-modes.
    """
    labels = np.empty(len(rows), dtype=np.int32)
    squares = np.empty(len(rows), dtype=np.float64)
    if modes is not None:
        points, places = (np.ascontiguousarray(some.T) for some in (centers.astype(np.float64), modes.codes))
        mixed = mixed_loops(centers.size + modes.codes.size)
        mixed.nearest(rows.numbers, rows.codes, points, places, modes.weights.astype(np.float64), labels, squares)
        return labels, squares
    loops = nearest_loops(centers.size)
    loops.nearest(rows.numbers, np.ascontiguousarray(centers.T, dtype=np.float64), labels, squares)
    return labels, squares


@dataclass(frozen=True, slots=True, eq=False)
class NearestVotes:
    """How many rows are nearest to each centre.

    Privacy: a row votes once. Added or removed it moves one count by 1; replaced it moves two.
    """

    centers: NDArray[np.int32]  # (k, d)
    within: Clip  # where every encoded row lies

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (len(self.centers),)}

    def fold(self, rows: Encoded) -> Summary:
        labels, _ = find_nearest(rows, self.centers)
        return Summary({"counts": np.bincount(labels, minlength=len(self.centers)).astype(np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(({"counts": Change(moved, moved)},))


@dataclass(frozen=True, slots=True, eq=False)
class CenterSums:
    """How many rows are nearest to each centre, and the sums of their coordinates.

    Attributes
    ----------
    centers
        Public centres on the grid, (k, d).
    clip
        Where every encoded row lies: the encoding has clipped it there.

    Privacy: a row enters one count and one row of sums, whichever its centre. Added or removed, it moves one count by 1
    and the sums by itself, which the clip bounds. Replaced inside its cluster it moves the sums by twice that and no count;
    replaced across clusters it moves the sums of each by at most the clip and both counts by 1.
    """

    centers: NDArray[np.int32]  # (k, d)
    clip: Clip

    def __post_init__(self) -> None:
        check_exact(self.centers, self.clip)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (len(self.centers),), "sums": self.centers.shape}

    def fold(self, rows: Encoded) -> Summary:
        counts = np.zeros(len(self.centers), dtype=np.int64)
        sums = np.zeros(self.centers.shape, dtype=np.int64)
        labels, _ = find_nearest(rows, self.centers)
        nearest_loops(rows.numbers.shape[1]).add_sums(rows.numbers, labels, counts, sums)
        return Summary({"counts": counts, "sums": sums})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_sum_a_row(self.clip.l1, self.clip.l2_squared, neighbours)


def one_sum_a_row(l1: int, l2_squared: int, neighbours: Neighbours) -> Sensitivity:
    """Sensitivity of counts and sums by cluster when a row adds a vector of these norms to one cluster."""
    if neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(({"counts": Change(1, 1), "sums": Change(l1, l2_squared)},))
    stays = {"counts": Change(0, 0), "sums": Change(2 * l1, 4 * l2_squared)}
    moves = {"counts": Change(2, 2), "sums": Change(2 * l1, 2 * l2_squared)}
    return Sensitivity((stays, moves))


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The nearest centre of each row: for the holder's eyes, not a summary."""

    centers: NDArray[np.int32]  # (k, d)
    within: Clip  # where every encoded row lies
    modes: Modes | None = None  # the categories of the centres; None: rows have numbers alone

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    def apply(self, rows: Encoded) -> NDArray[np.int32]:
        return find_nearest(rows, self.centers, self.modes)[0]


@dataclass(frozen=True, slots=True, eq=False)
class CenterDistances:
    """The squared distance of each row from every centre, in squared grid steps: for the holder's eyes, not a summary."""

    centers: NDArray[np.int32]  # (k, d)
    within: Clip  # where every encoded row lies
    modes: Modes | None = None  # the categories of the centres; None: rows have numbers alone

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    def apply(self, rows: Encoded) -> NDArray[np.float64]:
        """Exact, (n, k): whole numbers below 2**53."""
        squares = np.empty((len(rows), len(self.centers)))
        numbers = rows.numbers.astype(np.float64)
        for place, center in enumerate(self.centers):
            squares[:, place] = ((numbers - center) ** 2).sum(axis=1)
        if self.modes is not None:
            for place, (codes, weight) in enumerate(zip(self.modes.codes, self.modes.weights, strict=True)):
                squares[:, place] += weight * (rows.codes[:, : len(codes)] != codes).sum(axis=1)
        return squares
