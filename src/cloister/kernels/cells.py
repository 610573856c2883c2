"""Counting rows in the cells of a grid, or of a grid whose cells are cut into grids of their own.

Column j runs over the grid integers -half..half, W = 2 half + 1 places. Cut into m intervals of equal width, a value with
place u = value + half falls into interval floor(u m / W). Cut again into m' intervals each, it falls into floor(u m m' / W),
which lies in the same interval as before: floors nest. The division is exact while u m < 2**53, and kernels refuse more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels.base import Sensitivity, Summary
from cloister.kernels.counts import one_cell_a_row
from cloister.kernels.loops.arrays import EXACT
from cloister.kernels.loops.choose import interval_loops
from cloister.schema import Neighbours

__all__ = ["GridCells", "GridKeys", "NestedCells", "check_intervals", "most_intervals"]


def most_intervals(halves: Sequence[int]) -> int:
    """The most intervals a column with which places are divided exactly."""
    return (EXACT - 1) // (2 * max(halves) + 1)


def check_intervals(halves: Sequence[int], sides: Sequence[int]) -> None:
    """Refuse a grid with so many intervals that a place could be put into the wrong one."""
    if any((2 * half + 1) * side >= EXACT for half, side in zip(halves, sides, strict=True)):
        raise UsageError("the grid has too many intervals a column to divide exactly. Use a coarser grid, or fewer cells.")


@dataclass(frozen=True, slots=True)
class GridCells:
    """How many rows fall into each cell of a uniform grid.

    Attributes
    ----------
    halves
        Half-width of each number column in grid steps, public.
    sides
        Into how many intervals each column is cut, public.

    Privacy: a row falls into exactly one cell, so adding one moves one count by 1.
    """

    halves: tuple[int, ...]
    sides: tuple[int, ...]

    def __post_init__(self) -> None:
        check_intervals(self.halves, self.sides)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (prod(self.sides),)}

    def fold(self, rows: Encoded) -> Summary:
        counts = np.zeros(prod(self.sides), dtype=np.int64)
        halves, sides = np.array(self.halves, np.int64), np.array(self.sides, np.int64)
        interval_loops(rows.numbers.shape[1]).add_cells(rows.numbers, halves, sides, counts)
        return Summary({"counts": counts})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_cell_a_row("counts", neighbours)


@dataclass(frozen=True, slots=True)
class GridKeys:
    """The cell of a uniform grid as a row's key, for a grid with too many cells for an array of all.

    Privacy: a row has one key, so adding one moves one count by 1.
    """

    halves: tuple[int, ...]
    sides: tuple[int, ...]
    width: int = 1

    def __post_init__(self) -> None:
        check_intervals(self.halves, self.sides)

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        keys = np.empty((len(rows), 1), dtype=np.int64)
        halves, sides = np.array(self.halves, np.int64), np.array(self.sides, np.int64)
        interval_loops(rows.numbers.shape[1]).write_cells(rows.numbers, halves, sides, keys[:, 0])
        return keys


@dataclass(frozen=True, slots=True, eq=False)
class NestedCells:
    """How many rows fall into each cell of the second level: cell i of a uniform grid is cut into inner[i]^d cells.

    Attributes
    ----------
    halves, sides
        The first level, as in `GridCells`.
    inner
        Into how many intervals a side of each first-level cell is cut, from released counts, (cells,).

    Privacy: given the first level, which was released, the second is one histogram: a row falls into exactly one of all
    its cells.
    """

    halves: tuple[int, ...]
    sides: tuple[int, ...]
    inner: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        finest = int(self.inner.max(initial=1))
        check_intervals(self.halves, [side * finest for side in self.sides])

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the cells of each first-level cell begin, and at the end how many there are, (cells + 1,)."""
        return np.concatenate([[0], np.cumsum(self.inner ** len(self.sides))])

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (int((self.inner ** len(self.sides)).sum()),)}

    def fold(self, rows: Encoded) -> Summary:
        counts = np.zeros(self.parts["counts"], dtype=np.int64)
        halves, sides = np.array(self.halves, np.int64), np.array(self.sides, np.int64)
        interval_loops(rows.numbers.shape[1]).add_nested(rows.numbers, halves, sides, self.inner, self.starts, counts)
        return Summary({"counts": counts})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_cell_a_row("counts", neighbours)
