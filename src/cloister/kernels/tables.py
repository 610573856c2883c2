"""Tables of counts with their margins and sums, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.counts import ONE_CELL, TWO_CELLS, Histogram
from cloister.kernels.missing import MissingCounts, missing_change
from cloister.schema import Neighbours

__all__ = ["TableCounts", "ValueLevels"]


@dataclass(frozen=True, slots=True)
class ValueLevels:
    """The bins of a number that are counted in each cell of a table, at several levels.

    Attributes
    ----------
    bins
        How many bins the number has; a row's integer is its bin, and what lies beyond counts in the nearest.
    widths
        For each level, how many bins are one there.
    """

    bins: int
    widths: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each level has."""
        return tuple(-(-self.bins // width) for width in self.widths)


@dataclass(frozen=True, slots=True)
class TableCounts:
    """The counts of a table's cells, of some of its margins, sums of bounded numbers and counts of their values by cell.

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
    values
        Numbers whose values are counted in each cell; they are the number columns after those of the cells.

    Privacy: a row is counted in one cell and in one cell of each margin, and adds at most `half` to one sum of each number.
    Replaced inside its cell it moves no count and its sums by twice that; replaced across cells it moves two counts by 1
    wherever they are counted, and two sums by at most `half` each. Counts of made-up values move by at most 1 each in any case.
    At each level of a number's bins a row is counted in one bin of its cell: an added one moves one count by 1, and a replaced
    one moves two, whether it stays in its cell or not.
    """

    cells: Histogram
    margins: tuple[tuple[int, ...], ...] = ()
    halves: tuple[int, ...] = ()
    missing: int = 0
    values: tuple[ValueLevels, ...] = ()

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        shape = self.cells.shape
        margins = {f"margin {i}": tuple(shape[axis] for axis in kept) for i, kept in enumerate(self.margins)}
        missing = {"missing": (self.missing,)} if self.missing else {}
        sums = {f"sum {i}": shape for i in range(len(self.halves))}
        return {
            "cells": shape,
            **margins,
            **sums,
            **{name: (*shape, size) for name, _, _, size in self._levels()},
            **missing,
        }

    def _levels(self) -> Iterator[tuple[str, int, int, int]]:
        """The counted levels: the name of the part, which number it is of, the width of its bins and how many there are."""
        for i, levels in enumerate(self.values):
            for j, (width, size) in enumerate(zip(levels.widths, levels.sizes, strict=True)):
                yield f"values {i} level {j}", i, width, size

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
        for name, i, width, size in self._levels():
            bins = np.clip(rows.numbers[:, len(self.cells.edges) + i].astype(np.int64), 0, self.values[i].bins - 1) // width
            counted = np.bincount(places * size + bins, minlength=prod(shape) * size)
            parts[name] = counted.astype(np.int64).reshape(*shape, size)
        if self.missing:
            flags = rows.codes[:, len(self.cells.sizes) :]
            parts["missing"] = MissingCounts(self.missing).fold(Encoded(rows.numbers, flags))["counts"]
        return Summary(parts)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        counted = ["cells", *(f"margin {i}" for i in range(len(self.margins)))]
        summed = [(f"sum {i}", half) for i, half in enumerate(self.halves)]
        missing = {"missing": missing_change(self.missing)} if self.missing else {}
        levels = [name for name, _, _, _ in self._levels()]
        if neighbours is Neighbours.ADD_REMOVE:
            move = dict.fromkeys([*counted, *levels], ONE_CELL)
            return Sensitivity(({**move, **{name: Change(half, half**2) for name, half in summed}, **missing},))
        either = {**missing, **dict.fromkeys(levels, TWO_CELLS)}
        stays = {**dict.fromkeys(counted, Change(0, 0)), **{name: Change(2 * h, 4 * h**2) for name, h in summed}, **either}
        moves = {**dict.fromkeys(counted, TWO_CELLS), **{name: Change(2 * h, 2 * h**2) for name, h in summed}, **either}
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
