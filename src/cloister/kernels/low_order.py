"""Low-order marginals: the counts of a few columns at a time, and how far they lie from tables that were released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Sensitivity, Summary
from cloister.kernels.counts import ONE_CELL, TWO_CELLS, Histogram
from cloister.schema import Neighbours

__all__ = ["LowOrderMarginals", "MarginalDistances", "part_name"]

FARTHEST_DISTANCE = 2**61  # rows: more than any table has, and twice it is a number of 64 bits


def part_name(place: int) -> str:
    """The name of a marginal in a summary, by its place in the kernel."""
    return f"marginal {place}"


@dataclass(frozen=True, slots=True)
class LowOrderMarginals:
    """How many rows fall into each cell of some tables of a few columns each.

    Attributes
    ----------
    cells
        The axes: number columns with their edges, then category columns.
    kept
        Which axes each table keeps, in rising order.

    Privacy: a row is in one cell of each table, so adding one moves one count of each by 1. Replacing one moves two counts of a
    table by 1 each, or none.
    """

    cells: Histogram
    kept: tuple[tuple[int, ...], ...]

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        shape = self.cells.shape
        return {part_name(i): tuple(shape[axis] for axis in axes) for i, axes in enumerate(self.kept)}

    def fold(self, rows: Encoded) -> Summary:
        used = {axis for axes in self.kept for axis in axes}
        places = {axis: self._places(rows, axis) for axis in sorted(used)}
        counts = {}
        for (name, shape), axes in zip(self.parts.items(), self.kept, strict=True):
            cells = np.zeros(len(rows), dtype=np.int64)
            for axis, size in zip(axes, shape, strict=True):
                cells = cells * size + places[axis]
            size = int(np.prod(shape, dtype=np.int64))
            counts[name] = np.bincount(cells, minlength=size).astype(np.int64).reshape(shape)
        return Summary(counts)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        change = ONE_CELL if neighbours is Neighbours.ADD_REMOVE else TWO_CELLS
        return Sensitivity((dict.fromkeys(self.parts, change),))

    def _places(self, rows: Encoded, axis: int) -> NDArray[np.int64]:
        """The place of each row along an axis, (n,)."""
        numbers = len(self.cells.edges)
        if axis >= numbers:
            return rows.codes[:, axis - numbers].astype(np.int64)
        edges = np.asarray(self.cells.edges[axis], dtype=np.int64)
        return np.searchsorted(edges, rows.numbers[:, axis], side="right").astype(np.int64)


@dataclass(frozen=True, eq=False)
class MarginalDistances:
    """How many rows each marginal is away from a released table of its shape, less a public handicap: a score to choose by.

    Attributes
    ----------
    kernel
        The marginals; candidate i is the i-th of them.
    references
        Whole numbers that were released, or follow from what was: one table a marginal.
    handicaps
        What is taken off each distance, public.

    Privacy: adding a row moves one count of a marginal by 1, hence the sum of its distances from a fixed table by at most 1, up
    or down. One candidate may move up and another down: two scores move apart by at most 2, the reach. Replacing a row moves two
    counts of each marginal, so every score by at most 2 and two of them by at most 4 apart. A person of g rows moves them by g
    times that. A distance that is cut off at `FARTHEST_DISTANCE` moves by no more than it would.
    """

    kernel: LowOrderMarginals
    references: tuple[NDArray[np.int64], ...]
    handicaps: tuple[int, ...]

    def __post_init__(self) -> None:
        shapes = tuple(self.kernel.parts.values())
        if tuple(table.shape for table in self.references) != shapes or len(self.handicaps) != len(shapes):
            raise ValueError("every marginal needs a reference of its shape and a handicap")

    @property
    def candidates(self) -> int:
        """How many there are to choose from."""
        return len(self.references)

    @cached_property
    def facts(self) -> tuple[object, ...]:
        """All that it was made of, to compare two of them by."""
        return (self.kernel, tuple(table.tobytes() for table in self.references), self.handicaps)

    def scores(self, exact: Summary) -> NDArray[np.int64]:
        """The score of every marginal; larger is farther away."""
        far = [np.abs(exact[part_name(i)] - table).sum(dtype=np.int64) for i, table in enumerate(self.references)]
        distances = np.minimum(np.array(far, dtype=np.int64), FARTHEST_DISTANCE)
        return np.asarray(distances - np.minimum(np.array(self.handicaps, dtype=np.int64), FARTHEST_DISTANCE))

    def reach(self, neighbours: Neighbours) -> int:
        """The farthest that one row moves two scores apart."""
        return 2 if neighbours is Neighbours.ADD_REMOVE else 4
