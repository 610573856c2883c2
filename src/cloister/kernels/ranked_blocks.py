"""Rows in a public total order, cut into blocks: sums and value counts by block, for averages that one row hardly moves.

A public order of rows does not depend on which others there are, and only equal rows tie in it. Cut into blocks of k along it,
the last of which takes the rest, two tables that differ in one replaced row give blocks that differ in at most one row each: the
rows between the old and the new place move on by one. Groups that are found by looking at the rows, as in MDAV, may all change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import PlanError
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.keyed import Keyed
from cloister.schema import Neighbours

__all__ = ["BlockSums", "CornerOrder", "RankedBlocks"]


@dataclass(frozen=True, slots=True)
class CornerOrder:
    """How much farther a row is from the low corner of the domain than from the high one.

    The low corner has every number at its lower bound and the first value of every category, the high one the upper bound and
    the last value. Distances are sums over the columns: of grid steps, and of `differs` for a category that is another.
    """

    differs: int  # grid steps that a differing category counts: the width of a number column
    last: tuple[int, ...]  # the last code of each category column
    width: int = 1

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        numbers = 2 * rows.numbers.astype(np.int64).sum(axis=1)
        codes = rows.codes
        corners = (codes == np.array(self.last, dtype=np.int64)).sum(axis=1) - (codes == 0).sum(axis=1)
        return np.asarray(numbers + self.differs * corners.astype(np.int64))[:, None]


@dataclass(frozen=True, slots=True)
class RankedBlocks:
    """A public number of rows, cut into blocks of `size` along a public order; the rest joins the last block."""

    order: CornerOrder
    rows: int
    size: int
    columns: int  # number columns of an encoded row
    sizes: tuple[int, ...]  # the size of each category column's domain

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return max(1, self.rows // self.size)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows each block has, (blocks,)."""
        lengths = np.full(self.blocks, self.size, dtype=np.int64)
        lengths[-1] = self.rows - self.size * (self.blocks - 1)
        return lengths

    def assign(self, ranked: Keyed) -> tuple[Encoded, NDArray[np.int64]]:
        """Every row in its order, and the block of each: equal rows that lie on both sides of a cut are parted."""
        rows = np.repeat(ranked.keys[:, self.order.width :], ranked.counts, axis=0)
        numbers = np.ascontiguousarray(rows[:, : self.columns], dtype=np.int32)
        codes = np.ascontiguousarray(rows[:, self.columns :], dtype=np.int32)
        return Encoded(numbers, codes), np.minimum(np.arange(len(rows)) // self.size, self.blocks - 1)

    def value_counts(self, ranked: Keyed) -> list[NDArray[np.int64]]:
        """How many rows of each block hold each value, an array (blocks, values) for each category column.

        Privacy: replacing a row changes at most one row of each block: one count of a column goes down by 1 and one goes up.
        """
        rows, block = self.assign(ranked)
        counts = []
        for j, size in enumerate(self.sizes):
            cells = np.bincount(block * size + rows.codes[:, j], minlength=self.blocks * size)
            counts.append(cells.astype(np.int64).reshape(self.blocks, size))
        return counts


@dataclass(frozen=True, slots=True)
class BlockSums:
    """The sums of the numbers of each block.

    Attributes
    ----------
    blocks
        The blocks.
    halves
        The half-width of each number column, in grid steps.

    Privacy: under replace-one at most one row of each block changes, so every sum of column j moves by at most its width, 2 h_j.
    All blocks can change at once: over g blocks the L1 norm is at most g times the sum of the widths, and the squared L2 norm g
    times the sum of their squares. A table of two kinds of rows that alternate along the order nearly attains it. Nothing is
    known under add-remove: a row more moves every row after it by one place, and the number of rows decides where blocks end.
    """

    blocks: RankedBlocks
    halves: tuple[int, ...]

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"sums": (self.blocks.blocks, len(self.halves))}

    def summary(self, ranked: Keyed) -> Summary:
        """The sums, from all rows in their order."""
        rows, block = self.blocks.assign(ranked)
        sums = np.zeros((self.blocks.blocks, len(self.halves)), dtype=np.int64)
        np.add.at(sums, block, rows.numbers.astype(np.int64))
        return Summary({"sums": sums})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one row moves them."""
        if neighbours is not Neighbours.REPLACE_ONE:
            raise PlanError("blocks of ranked rows are stable under replace-one alone. This is a bug: please report it.")
        widths = [2 * half for half in self.halves]
        blocks = self.blocks.blocks
        return Sensitivity(({"sums": Change(blocks * sum(widths), blocks * sum(width**2 for width in widths))},))
