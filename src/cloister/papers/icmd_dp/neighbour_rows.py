"""Made-up neighbouring tables that are hard on ICMD-DP: they differ in one replaced record. Numbers between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.papers.icmd_dp.unit_rows import UnitRows, read_unit_rows, unit_schema, unit_table
from cloister.schema import Schema
from cloister.vault import Unprotected

__all__ = ["NeighbourRows", "alternating_rows", "joined_rows", "one_group", "turned_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourRows:
    """Two tables of as many rows that differ in one, and the size of the groups that they are made for."""

    one: Floats  # (n, d)
    two: Floats
    k: int

    def __post_init__(self) -> None:
        if (self.one != self.two).any(axis=1).sum() != 1:
            raise ValueError("neighbours differ in one row")

    @property
    def schema(self) -> Schema:
        """The public bounds."""
        return unit_schema(self.one.shape[1])

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Both as tables."""
        return unit_table(self.one), unit_table(self.two)

    @property
    def held(self) -> tuple[Unprotected[UnitRows], Unprotected[UnitRows]]:
        """Both as the printed forms take them."""
        first, second = (read_unit_rows(table, self.schema) for table in self.tables)
        return first, second


def one_group(rows: int) -> NeighbourRows:
    """All rows in one group, at the lower bounds; one of them goes to the upper bounds. No order has a say."""
    one = np.zeros((rows, 2))
    two = one.copy()
    two[0] = 1.0
    return NeighbourRows(one, two, rows)


def alternating_rows(groups: int, k: int) -> NeighbourRows:
    """Two kinds of rows that alternate along the order; a row that goes from its end to its start moves every group between.

    Rows lie near (0, 1) and near (1, 0), their sums rising little by little: that is the public order, and the printed one too,
    whose ends are the two records at the corners (0, 0) and (1, 1). With an odd k a group that had one row of the first kind
    more has one of the second kind more.
    """
    if k % 2 == 0:
        raise ValueError("an even k keeps the means as they are")
    inner = groups * k - 2
    rising = np.linspace(0.001, 0.05, inner + 1)  # one more: where the replaced row goes
    is_first = np.arange(inner + 1) % 2 == 0
    low, high = rising, np.full(inner + 1, 0.94)
    points = np.column_stack([np.where(is_first, low, high), np.where(is_first, high, low)])
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    one = np.concatenate([corners, points[:inner]])
    two = one.copy()
    two[2] = points[inner]
    return NeighbourRows(one, two, k)


def turned_rows(k: int) -> NeighbourRows:
    """A cloud of rows, and a record at a corner: by far the farthest, it says along which diagonal the rows are ordered."""
    cloud = np.random.default_rng(0).uniform(0.1, 0.9, (2 * k - 1, 2))
    one, two = (np.concatenate([[corner], cloud]) for corner in ([0.0, 0.0], [1.0, 0.0]))
    return NeighbourRows(one, two, k)


def joined_rows(k: int) -> NeighbourRows:
    """Two numbers that rise together: who is low in the one is low in the other, but for the replaced row."""
    rising = np.linspace(0.0, 0.99, 2 * k)
    one = np.column_stack([rising, rising])
    two = one.copy()
    two[0, 1] = 1.0
    return NeighbourRows(one, two, k)
