"""Rows in Morton order: every node of a midpoint tree over the columns is a range of keys.

The tree cuts the columns in turn, each in the middle of what is left of it. A node at depth t is the rows whose keys share
their first t binary digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Sensitivity, Summary
from cloister.kernels.cells import check_intervals
from cloister.kernels.centers import one_sum_a_row
from cloister.kernels.loops.choose import interval_loops
from cloister.schema import Neighbours

__all__ = ["LeafSums", "MortonKeys", "leaf_boxes"]

UNIT = 2**12  # half a leaf's width, in the integers that its sums are made of


@dataclass(frozen=True, slots=True)
class MortonKeys:
    """The Morton key of each row, from `bits` binary digits a column.

    Privacy: a row has one key, so adding one moves one count by 1, and with it the nodes of one path from the root.
    """

    halves: tuple[int, ...]
    bits: int
    width: int = 1

    def __post_init__(self) -> None:
        check_intervals(self.halves, [2 ** (self.bits + 1)] * len(self.halves))  # `LeafSums` looks at halves of intervals

    @property
    def levels(self) -> int:
        """How many times the tree can be cut."""
        return self.bits * len(self.halves)

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        keys = np.empty((len(rows), 1), dtype=np.int64)
        loops = interval_loops(rows.numbers.shape[1] * self.bits)
        loops.write_morton(rows.numbers, np.array(self.halves, np.int64), self.bits, keys[:, 0])
        return keys


@dataclass(frozen=True, slots=True, eq=False)
class LeafSums:
    """How many rows fall into each leaf of a released tree, and the sums of where in the leaf they lie.

    A row lies between -UNIT and UNIT in each column: the leaf's lower and upper edge. So the sums of a small leaf say more
    about a place than those of a large one, for the same noise.

    Attributes
    ----------
    order
        Halves and bits of the keys, public.
    starts
        The first key of each leaf, in rising order, (leaves,); the first is 0.
    depths
        How deep each leaf lies, (leaves,).

    Privacy: a row enters one count and one row of sums; in each column it adds at most UNIT.
    """

    order: MortonKeys
    starts: NDArray[np.int64]  # (leaves,)
    depths: NDArray[np.int64]  # (leaves,)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (len(self.starts),), "sums": (len(self.starts), len(self.order.halves))}

    def fold(self, rows: Encoded) -> Summary:
        leaves = np.searchsorted(self.starts, self.order.keys(rows)[:, 0], side="right") - 1
        counts = np.zeros(len(self.starts), dtype=np.int64)
        sums = np.zeros(self.parts["sums"], dtype=np.int64)
        low, high = leaf_boxes(self.starts, self.depths, self.order)
        halves = np.array(self.order.halves, np.int64)
        loops = interval_loops(rows.numbers.shape[1])
        loops.add_leaves(rows.numbers, halves, self.order.bits, leaves, low, high, UNIT, counts, sums)
        return Summary({"counts": counts, "sums": sums})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        columns = len(self.order.halves)
        return one_sum_a_row(columns * UNIT, columns * UNIT**2, neighbours)


def leaf_boxes(
    starts: NDArray[np.int64], depths: NDArray[np.int64], order: MortonKeys
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The intervals of each column that a leaf covers, half-open, in units of 2**-bits of the width; (leaves, d) each."""
    columns = len(order.halves)
    low = np.zeros((len(starts), columns), dtype=np.int64)
    for j in range(columns):
        for b in range(order.bits):
            low[:, j] |= ((starts >> (b * columns + columns - 1 - j)) & 1) << b
    cuts = (depths[:, None] + columns - 1 - np.arange(columns)) // columns  # (leaves, d) times that each column was cut
    return low, low + (np.int64(1) << (order.bits - cuts))
