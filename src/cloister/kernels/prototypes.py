"""Kernels of mixed tables: the marginals of all columns, votes for prototypes, and sums with value counts around them.

A prototype has a place among the numbers and a category of every category column (`centers.Modes`). Without number columns it
is a mode, and everything here is a kernel of k-modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Move, Sensitivity, Summary
from cloister.kernels.centers import Clip, Modes, check_exact, find_nearest
from cloister.kernels.clipped import Euclidean, Taxicab
from cloister.kernels.counts import ValueCounts, one_cell_a_row
from cloister.kernels.loops.choose import mixed_loops, nearest_loops
from cloister.kernels.moments import Moments
from cloister.schema import Neighbours

__all__ = ["Marginals", "PrototypeSums", "PrototypeVotes"]


@dataclass(frozen=True, slots=True)
class Marginals:
    """Each column by itself: the sum and the sum of squares of a number, the value counts of a category.

    Attributes
    ----------
    clip
        Where every encoded row lies: the encoding has clipped it there.
    columns
        How many number columns there are.
    sizes
        The size of each category column's domain; the counts of all columns stand one after the other.

    Privacy: a row moves the numbers' part as in `Moments`, and one count of each category column by 1 (replaced: two).
    """

    clip: Clip
    columns: int
    sizes: tuple[int, ...]

    @property
    def shift(self) -> int:
        """Squares are counted in units of 2**shift grid steps squared."""
        return Moments(self.clip, self.columns).shift if self.columns else 0

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        numbers = {"sums": (self.columns,), "squares": (self.columns,)} if self.columns else {}
        return {**numbers, "values": (sum(self.sizes),)}

    def fold(self, rows: Encoded) -> Summary:
        numbers = Moments(self.clip, self.columns).fold(rows).parts if self.columns else {}
        return Summary({**numbers, "values": ValueCounts(self.sizes).fold(rows)["counts"]})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        numbers: Move = Moments(self.clip, self.columns).sensitivity(neighbours).moves[0] if self.columns else {}
        values = ValueCounts(self.sizes).sensitivity(neighbours).moves[0]["counts"]
        return Sensitivity(({**numbers, "values": values},))


@dataclass(frozen=True, slots=True, eq=False)
class PrototypeVotes:
    """How many rows are nearest to each of some public or released prototypes.

    Privacy: a row votes once, whatever the number of prototypes and columns. Adding one moves one count by 1; replacing one takes
    1 from a count and gives it to another.
    """

    centers: NDArray[np.int32]  # (k, d)
    modes: Modes  # (k, c)
    within: Clip  # where every encoded row lies

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (len(self.centers),)}

    def fold(self, rows: Encoded) -> Summary:
        labels, _ = find_nearest(rows, self.centers, self.modes)
        return Summary({"counts": np.bincount(labels, minlength=len(self.centers)).astype(np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_cell_a_row("counts", neighbours)


@dataclass(frozen=True, slots=True, eq=False)
class PrototypeSums:
    """How many rows are nearest to each prototype, the sums of their numbers, and how many of them hold each value.

    Attributes
    ----------
    centers, modes
        Public or released prototypes, (k, d) and (k, c).
    sizes
        The size of each category column's domain; the counts of all columns stand one after the other.
    clip
        What the move x - centre of a row's numbers is clipped to; None: the numbers themselves are added, which `within` bounds.
    within
        Where every encoded row lies: the encoding has clipped it there.

    Privacy: a row is counted at one prototype, adds one bounded vector to its sums, and 1 to one of its counts of each of the c
    category columns. Added or removed it moves the values by c in L1 and in squared L2. Replaced it either stays with its
    prototype: no count moves, the sums move by two such vectors, the values of each column lose one and gain one; or it changes:
    each of two prototypes moves as for one row. The values move by 2 c in both cases.
    """

    centers: NDArray[np.int32]  # (k, d)
    modes: Modes  # (k, c)
    sizes: tuple[int, ...]
    clip: Euclidean | Taxicab | None
    within: Clip

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        k, d = self.centers.shape
        return {"counts": (k,), **({"sums": (k, d)} if d else {}), "values": (k, sum(self.sizes))}

    def fold(self, rows: Encoded) -> Summary:
        (k, d), c = self.centers.shape, len(self.sizes)
        labels, _ = find_nearest(rows, self.centers, self.modes)
        values = np.zeros((k, sum(self.sizes)), dtype=np.int64)
        offsets = np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)
        mixed_loops(c).add_values(rows.codes, labels, offsets, values)
        if not d:
            return Summary({"counts": np.bincount(labels, minlength=k).astype(np.int64), "values": values})
        counts, sums = np.zeros(k, dtype=np.int64), np.zeros((k, d), dtype=np.int64)
        if self.clip is None:
            nearest_loops(d).add_sums(rows.numbers, labels, counts, sums)
        else:
            moves = rows.numbers - self.centers[labels]  # (n, d)
            squares = np.einsum("ij,ij->i", moves, moves, dtype=np.float64)  # of the numbers alone: integers below 2**53
            none = np.zeros(k, dtype=np.int64)
            clipping = (np.full(k, self.clip.radius), isinstance(self.clip, Taxicab), none, none)
            loops = nearest_loops(d)
            loops.add_clipped(rows.numbers, self.centers, labels, squares, clipping, counts, sums, np.zeros_like(counts))
        return Summary({"counts": counts, "sums": sums, "values": values})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        (l1, square), c = self._norms(), len(self.sizes)
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity((self._move(Change(1, 1), Change(l1, square), Change(c, c)),))
        values = Change(2 * c, 2 * c)
        stays = self._move(Change(0, 0), Change(2 * l1, 4 * square), values)
        changes = self._move(Change(2, 2), Change(2 * l1, 2 * square), values)
        return Sensitivity((stays, changes))

    def _norms(self) -> tuple[int, int]:
        """L1 and squared L2 of the vector that a row adds to the sums."""
        if self.clip is None:
            return self.within.l1, self.within.l2_squared
        return self.clip.l1(self.centers.shape[1]), self.clip.radius**2

    def _move(self, counts: Change, sums: Change, values: Change) -> Move:
        return {"counts": counts, **({"sums": sums} if self.centers.shape[1] else {}), "values": values}
