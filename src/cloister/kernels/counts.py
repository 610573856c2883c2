"""Counting rows: all of them, or by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.schema import Neighbours

__all__ = ["Histogram", "Rows", "ValueCounts"]

ONE_CELL = Change(l1=1, l2_squared=1)
TWO_CELLS = Change(l1=2, l2_squared=2)


def one_cell_a_row(part: str, neighbours: Neighbours) -> Sensitivity:
    """Sensitivity of counts in which every row is counted in exactly one cell.

    Adding a row moves one cell by 1; replacing one takes 1 from a cell and gives it to another (or moves nothing).
    """
    change = ONE_CELL if neighbours is Neighbours.ADD_REMOVE else TWO_CELLS
    return Sensitivity(({part: change},))


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows there are.

    Privacy: a row counts once. Under replace-one the number of rows is public and does not move.
    """

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (1,)}

    def fold(self, rows: Encoded) -> Summary:
        return Summary({"counts": np.array([len(rows)], dtype=np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(({"counts": ONE_CELL},))
        return Sensitivity(({"counts": Change(0, 0)},))


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many rows fall into each cell of a grid over number and category columns.

    Attributes
    ----------
    edges
        Per number column the ascending inner edges in grid units: cell i holds edges[i-1] <= value < edges[i].
    sizes
        Per category column the size of its domain.

    Privacy: a row falls into exactly one cell, so adding one moves one count by 1.
    """

    edges: tuple[tuple[int, ...], ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(edges) + 1 for edges in self.edges) + self.sizes

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": self.shape}

    def fold(self, rows: Encoded) -> Summary:
        cells = np.zeros(len(rows), dtype=np.int64)
        for j, edges in enumerate(self.edges):
            column = np.searchsorted(np.asarray(edges, dtype=np.int64), rows.numbers[:, j], side="right")
            cells = cells * (len(edges) + 1) + column
        for j, size in enumerate(self.sizes):
            cells = cells * size + rows.codes[:, j]
        counts = np.bincount(cells, minlength=int(np.prod(self.shape)))
        return Summary({"counts": counts.astype(np.int64).reshape(self.shape)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_cell_a_row("counts", neighbours)


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """How many rows hold each value, for several category columns at once.

    Attributes
    ----------
    sizes
        The size of each column's domain; the counts of all columns stand one after the other.

    Privacy: a row holds one value of each column, so adding one moves one count of each by 1; replacing one moves two.
    """

    sizes: tuple[int, ...]

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (sum(self.sizes),)}

    def fold(self, rows: Encoded) -> Summary:
        counts = [np.bincount(rows.codes[:, j], minlength=size) for j, size in enumerate(self.sizes)]
        return Summary({"counts": np.concatenate(counts).astype(np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        columns = len(self.sizes) * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
        return Sensitivity(({"counts": Change(columns, columns)},))
