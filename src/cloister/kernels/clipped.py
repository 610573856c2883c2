"""A kernel around released centres: votes, clipped moves and capped squared distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.centers import Clip, check_exact, find_nearest
from cloister.kernels.loops.choose import nearest_loops
from cloister.schema import Neighbours

__all__ = ["ClippedSums", "Euclidean", "Taxicab", "worst_reach"]

# a squared distance is rounded to about a million steps: fine enough, and sums of them stay far from overflow
COST_BITS = 20
FINENESS = (
    16  # where sizes differ the largest is counted as so many times itself: whole multipliers are off by a 16th at most
)


def coarseness(limit: int) -> int:
    """How many bits of a squared distance of at most `limit` are dropped."""
    return max(0, limit.bit_length() - COST_BITS)


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


def even_multipliers(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers that make these sizes about the same, (k,); 1 where they are the same.

    >>> even_multipliers(np.array([1, 3, 10])).tolist(), even_multipliers(np.array([7, 7])).tolist()
    ([160, 53, 16], [1, 1])
    """
    largest = int(sizes.max())
    return np.asarray((1 if int(sizes.min()) == largest else FINENESS) * largest // sizes)


@dataclass(frozen=True, slots=True, eq=False)
class ClippedSums:
    """Votes for each centre, sums of the clipped moves of its voters, and of their capped squared distances, in its own units.

    A wide centre clips farther than a narrow one. Sums and squares of each are multiplied by whole numbers that make what one
    row adds about the same for all, so that one scale of noise serves them: in grid steps a narrow centre has little of it.

    Attributes
    ----------
    centers
        Public or released centres on the grid, (k, d).
    radii
        The length that moves from each centre are clipped to, (k,): L1 where `taxicab`, else L2.
    reaches
        A squared distance from a centre is capped at the square of this, (k,).
    within
        Where every encoded row lies: the encoding has clipped it there.

    Privacy: radii and multipliers are public, or follow from what was released before. A row votes once. Added or removed it
    moves one count by 1, the sums of that centre by a clipped vector times its multiplier, at most `length`, and its squares by
    at most `limit`. Replaced it either stays with its centre, and the sums move by two such vectors and the squares by at most
    `limit`; or each of two centres moves as for one row.
    """

    centers: NDArray[np.int32]  # (k, d)
    radii: NDArray[np.int64]  # (k,)
    taxicab: bool
    reaches: NDArray[np.int64]  # (k,)
    within: Clip

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within)

    @property
    def multipliers(self) -> NDArray[np.int64]:
        """What the sums of each centre are multiplied by, (k,): the numbers of a row then reach about `length`."""
        return even_multipliers(self.radii)

    @property
    def shifts(self) -> NDArray[np.int64]:
        """A square of each centre loses so many bits before it is added, (k,)."""
        return np.array([coarseness(int(reach) ** 2) for reach in self.reaches], dtype=np.int64)

    @property
    def square_multipliers(self) -> NDArray[np.int64]:
        """What the squares of each centre are multiplied by, (k,)."""
        return even_multipliers(self.reaches**2 >> self.shifts)

    @property
    def length(self) -> int:
        """The longest that a clipped move becomes, in the norm that it is clipped in."""
        return int((self.radii * self.multipliers).max())

    @property
    def limit(self) -> int:
        """The most that one row adds to the squares."""
        return int(((self.reaches**2 >> self.shifts) * self.square_multipliers).max())

    @property
    def square_units(self) -> NDArray[np.float64]:
        """What one unit of the squares of each centre is in squared grid steps, (k,)."""
        return np.asarray(2.0**self.shifts / self.square_multipliers)

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
        clipping = (self.radii, self.taxicab, self.reaches**2, self.shifts)
        loops = nearest_loops(rows.numbers.shape[1])
        loops.add_clipped(rows.numbers, self.centers, labels, distances, clipping, counts, sums, squares)
        return Summary(
            {"counts": counts, "sums": sums * self.multipliers[:, None], "squares": squares * self.square_multipliers}
        )

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        clip = Taxicab(self.length) if self.taxicab else Euclidean(self.length)
        l1, square, limit = clip.l1(self.centers.shape[1]), self.length**2, self.limit
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(({"counts": Change(1, 1), "sums": Change(l1, square), "squares": Change(limit, limit**2)},))
        stays = {"counts": Change(0, 0), "sums": Change(2 * l1, 4 * square), "squares": Change(limit, limit**2)}
        changes = {"counts": Change(2, 2), "sums": Change(2 * l1, 2 * square), "squares": Change(2 * limit, 2 * limit**2)}
        return Sensitivity((stays, changes))
