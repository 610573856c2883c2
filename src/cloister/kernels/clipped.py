"""Kernels around released centres: clipped moves, and the clipped cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.centers import Clip, Modes, check_exact, find_nearest
from cloister.kernels.loops.choose import nearest_loops
from cloister.schema import Neighbours

__all__ = ["ClippedCost", "ClippedSums", "Euclidean", "Taxicab", "worst_cap", "worst_reach"]

# a squared distance is rounded to about a million steps: fine enough, and sums of them stay far from overflow
COST_BITS = 20


def coarseness(limit: int) -> int:
    """How many bits of a squared distance of at most `limit` are dropped."""
    return max(0, limit.bit_length() - COST_BITS)


def worst_cap(most: int) -> int:
    """The cap of at most `most` under which a row adds the most to a sum of squared distances.

    What is dropped of them makes a larger cap count for less: 2**20 - 1 counts as it is, and 2**20 as half of that.
    """
    return min(most, (1 << COST_BITS) - 1)


def worst_reach(most: int) -> int:
    """A reach under which a row adds at least as much to the squares as under any reach of at most `most`."""
    # 2**30 - 1: the square of it, less its last 40 bits, is the largest number of COST_BITS bits
    return most if most**2 < 1 << COST_BITS else (1 << 30) - 1


@dataclass(frozen=True, slots=True)
class Euclidean:
    """Moves are clipped to this L2 length: for Gaussian noise."""

    radius: int

    def l1(self, columns: int) -> int:
        """The L1 norm is an integer of at most sqrt(columns) times the L2 norm."""
        return isqrt(columns * self.radius**2)


@dataclass(frozen=True, slots=True)
class Taxicab:
    """Moves are clipped to this L1 length, and so in L2: for Laplace noise."""

    radius: int

    def l1(self, columns: int) -> int:
        return self.radius


@dataclass(frozen=True, slots=True, eq=False)
class ClippedSums:
    """How many rows vote for each centre, the sums of their clipped moves from it, and of their capped squared distances.

    Attributes
    ----------
    centers
        Public or released centres on the grid, (k, d).
    clip
        What the move x - centre of a row is clipped to.
    reach
        A squared distance is capped at the square of this.
    within
        Where every encoded row lies: the encoding has clipped it there.

    Privacy: a row votes once. Added or removed it moves one count by 1, the sums of that centre by a clipped vector, and
    the squares by at most `limit`. Replaced it either stays with its centre: no count moves, the sums move by two such
    vectors, the squares by at most `limit` since they lie between 0 and that; or it changes: each of two centres moves as
    for one row.
    """

    centers: NDArray[np.int32]  # (k, d)
    clip: Euclidean | Taxicab
    reach: int
    within: Clip

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within)

    @property
    def shift(self) -> int:
        """Squares are counted in units of 2**shift grid steps squared."""
        return coarseness(self.reach**2)

    @property
    def limit(self) -> int:
        """The most that one row adds to the squares."""
        return self.reach**2 >> self.shift

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        k = len(self.centers)
        return {"counts": (k,), "sums": self.centers.shape, "squares": (k,)}

    def fold(self, rows: Encoded) -> Summary:
        return self.add_up(rows, *find_nearest(rows, self.centers))

    def add_up(self, rows: Encoded, labels: NDArray[np.int32], distances: NDArray[np.float64]) -> Summary:
        """The summary of rows that vote for these centres, at these exact squared distances from them."""
        counts = np.zeros(len(self.centers), dtype=np.int64)
        squares = np.zeros(len(self.centers), dtype=np.int64)
        sums = np.zeros(self.centers.shape, dtype=np.int64)
        clipping = (self.clip.radius, isinstance(self.clip, Taxicab), self.reach**2, self.shift)
        loops = nearest_loops(rows.numbers.shape[1])
        loops.add_clipped(rows.numbers, self.centers, labels, distances, clipping, counts, sums, squares)
        return Summary({"counts": counts, "sums": sums, "squares": squares})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        l1, square, limit = self.clip.l1(self.centers.shape[1]), self.clip.radius**2, self.limit
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(({"counts": Change(1, 1), "sums": Change(l1, square), "squares": Change(limit, limit**2)},))
        stays = {"counts": Change(0, 0), "sums": Change(2 * l1, 4 * square), "squares": Change(limit, limit**2)}
        changes = {"counts": Change(2, 2), "sums": Change(2 * l1, 2 * square), "squares": Change(2 * limit, 2 * limit**2)}
        return Sensitivity((stays, changes))


@dataclass(frozen=True, slots=True, eq=False)
class ClippedCost:
    """The sum over rows of the squared distance to the nearest centre, clipped to a public cap.

    Privacy: a row adds between 0 and `limit`, so adding, removing or replacing one moves the sum by at most that.
    """

    centers: NDArray[np.int32]  # (k, d)
    cap: int  # in grid steps squared
    within: Clip  # where every encoded row lies
    modes: Modes | None = None  # the categories of the centres; None: rows have numbers alone

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    @property
    def shift(self) -> int:
        """The cost is counted in units of 2**shift grid steps squared."""
        return coarseness(self.cap)

    @property
    def limit(self) -> int:
        """The most that one row adds."""
        return self.cap >> self.shift

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"cost": (1,)}

    def fold(self, rows: Encoded) -> Summary:
        squares = find_nearest(rows, self.centers, self.modes)[1].astype(np.int64)
        return Summary({"cost": np.array([(np.minimum(squares, self.cap) >> self.shift).sum()], dtype=np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return Sensitivity(({"cost": Change(self.limit, self.limit**2)},))
