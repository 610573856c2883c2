"""Tables of counts with their margins and sums, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.counts import ONE_CELL, TWO_CELLS, Histogram
from cloister.kernels.missing import MissingCounts, missing_change
from cloister.schema import Neighbours

__all__ = ["TableCounts"]


@dataclass(frozen=True, slots=True)
class TableCounts:
    """The counts of a table's cells, of some of its margins, and sums of bounded numbers by cell.

    Attributes
    ----------
    cells
        The cells; its number columns are the first number columns of the rows.
    margins
        Which axes each extra margin keeps.
    halves
        For each number that is summed, its half-width in grid steps; they are the last number columns of the rows.
    missing
        For how many columns made-up values are counted; the codes after those of the cells say where they are.

    Privacy: a row is counted in one cell and in one cell of each margin, and adds at most `half` to one sum of each number.
    Replaced inside its cell it moves no count and its sums by twice that; replaced across cells it moves two counts by 1
    wherever they are counted, and two sums by at most `half` each. Counts of made-up values move by at most 1 each in any case.
    """

    cells: Histogram
    margins: tuple[tuple[int, ...], ...] = ()
    halves: tuple[int, ...] = ()
    missing: int = 0

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        shape = self.cells.shape
        margins = {f"margin {i}": tuple(shape[axis] for axis in kept) for i, kept in enumerate(self.margins)}
        missing = {"missing": (self.missing,)} if self.missing else {}
        return {"cells": shape, **margins, **{f"sum {i}": shape for i in range(len(self.halves))}, **missing}

    def fold(self, rows: Encoded) -> Summary:
        shape = self.cells.shape
        places = self._places(rows)
        counts = np.bincount(places, minlength=prod(shape)).astype(np.int64).reshape(shape)
        parts = {"cells": counts}
        for i, kept in enumerate(self.margins):
            others = tuple(axis for axis in range(len(shape)) if axis not in kept)
            parts[f"margin {i}"] = counts.sum(axis=others, dtype=np.int64)
        first = rows.numbers.shape[1] - len(self.halves)
        for i in range(len(self.halves)):
            sums = np.zeros(prod(shape), dtype=np.int64)
            np.add.at(sums, places, rows.numbers[:, first + i].astype(np.int64))
            parts[f"sum {i}"] = sums.reshape(shape)
        if self.missing:
            flags = rows.codes[:, len(self.cells.sizes) :]
            parts["missing"] = MissingCounts(self.missing).fold(Encoded(rows.numbers, flags))["counts"]
        return Summary(parts)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        counted = ["cells", *(f"margin {i}" for i in range(len(self.margins)))]
        summed = [(f"sum {i}", half) for i, half in enumerate(self.halves)]
        missing = {"missing": missing_change(self.missing)} if self.missing else {}
        if neighbours is Neighbours.ADD_REMOVE:
            move = dict.fromkeys(counted, ONE_CELL)
            return Sensitivity(({**move, **{name: Change(half, half**2) for name, half in summed}, **missing},))
        stays = {**dict.fromkeys(counted, Change(0, 0)), **{name: Change(2 * h, 4 * h**2) for name, h in summed}, **missing}
        moves = {**dict.fromkeys(counted, TWO_CELLS), **{name: Change(2 * h, 2 * h**2) for name, h in summed}, **missing}
        return Sensitivity((stays, moves))

    def _places(self, rows: Encoded) -> NDArray[np.int64]:
        """The cell of each row, the last axis changing fastest, (n,)."""
        places = np.zeros(len(rows), dtype=np.int64)
        for j, edges in enumerate(self.cells.edges):
            column = np.searchsorted(np.asarray(edges, dtype=np.int64), rows.numbers[:, j], side="right")
            places = places * (len(edges) + 1) + column
        for j, size in enumerate(self.cells.sizes):
            places = places * size + rows.codes[:, j]
        return places
