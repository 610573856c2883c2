"""Counting reports of the local model: contingency tables of perturbed answers, without those that no client sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Sensitivity, Summary
from cloister.kernels.counts import ONE_CELL, TWO_CELLS
from cloister.schema import Neighbours

__all__ = ["REFUSED", "ReportKeys", "ReportTables"]

REFUSED = -1  # the key of a report with an answer that no client sends


@dataclass(frozen=True, slots=True)
class ReportTables:
    """Tables of counts over some of the columns of reports, and how many reports were refused.

    Attributes
    ----------
    sizes
        How many codes each column has; a code beyond them refuses the whole report.
    tables
        Which columns each table crosses.

    Privacy: reports are private already, so counts of them are released as they are. A report is counted in one cell of each
    table, or as refused; one move covers both, so that several reports of a person may be of either kind.
    """

    sizes: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        shapes = {f"table {i}": tuple(self.sizes[column] for column in table) for i, table in enumerate(self.tables)}
        return {**shapes, "refused": (1,)}

    def fold(self, rows: Encoded) -> Summary:
        is_sound = soundness(self.sizes, rows.codes)
        codes = rows.codes if is_sound.all() else rows.codes[is_sound]
        parts = {}
        for i, table in enumerate(self.tables):
            shape = tuple(self.sizes[column] for column in table)
            counts = np.bincount(places(shape, [codes[:, column] for column in table]), minlength=int(np.prod(shape)))
            parts[f"table {i}"] = counts.astype(np.int64).reshape(shape)
        parts["refused"] = np.array([len(rows) - len(codes)], dtype=np.int64)
        return Summary(parts)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        names = [f"table {i}" for i in range(len(self.tables))]
        change = ONE_CELL if neighbours is Neighbours.ADD_REMOVE else TWO_CELLS
        return Sensitivity(({**dict.fromkeys(names, change), "refused": ONE_CELL},))


@dataclass(frozen=True, slots=True)
class ReportKeys:
    """The cell of each report in the table of some of its columns, the last one changing fastest; `REFUSED` for others."""

    sizes: tuple[int, ...]
    table: tuple[int, ...]

    @property
    def width(self) -> int:
        return 1

    def keys(self, rows: Encoded) -> NDArray[np.int64]:
        cells = places(tuple(self.sizes[column] for column in self.table), [rows.codes[:, column] for column in self.table])
        return np.where(soundness(self.sizes, rows.codes), cells, REFUSED)[:, None]


def soundness(sizes: Sequence[int], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows have no code beyond the sizes, (n,)."""
    is_sound = np.ones(len(codes), dtype=np.bool_)
    for column, size in enumerate(sizes):
        is_sound &= codes[:, column] < size
    return is_sound


def places(shape: Sequence[int], columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """The place of each row in a table of this shape, (n,)."""
    cells = np.zeros(len(columns[0]), dtype=np.int64)
    for size, column in zip(shape, columns, strict=True):
        cells *= size
        cells += column
    return cells
