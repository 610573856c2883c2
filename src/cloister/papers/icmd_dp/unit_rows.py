"""Rows as paper 004 compares them: numbers on a scale from 0 to 1, categories as codes, and the distances between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.papers.holder_rows import holder_rows
from cloister.schema import Category, Number, Schema
from cloister.schema.column import Column
from cloister.vault import Unprotected

__all__ = ["UnitRows", "read_unit_rows", "unit_schema", "unit_table"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class UnitRows:
    """Rows of numbers and categories.

    Attributes
    ----------
    numbers : (n, d), 0 the lower bound of a column and 1 the upper one
    codes : (n, c), places in the domain of a column; a value outside of it has the place after the last
    sizes : how many values each domain has
    """

    numbers: Floats
    codes: Codes
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def columns(self) -> int:
        """How many columns there are, of either kind."""
        return int(self.numbers.shape[1] + self.codes.shape[1])

    def distances(self, number: Floats, code: Codes) -> Floats:
        """Of every row to one: absolute differences, and 1 for a category that differs (definitions 3 to 5)."""
        differing: Codes = (self.codes != code).sum(axis=1)
        return np.asarray(np.abs(self.numbers - number).sum(axis=1) + differing)

    def squared_errors(self, other: UnitRows) -> Floats:
        """The squared distance of each row to the row of the same place in another table (section 3.2.1), (n,)."""
        differing: Codes = (self.codes != other.codes).sum(axis=1)
        return np.asarray(((self.numbers - other.numbers) ** 2).sum(axis=1) + differing)

    def inside_bounds(self) -> UnitRows:
        """The same rows with numbers clipped into their bounds, as whoever reads a release may do it."""
        return replace(self, numbers=np.clip(self.numbers, 0.0, 1.0))

    def taken(self, places: NDArray[np.int64]) -> UnitRows:
        """Some of the rows."""
        return replace(self, numbers=self.numbers[places], codes=self.codes[places])


def read_unit_rows(data: Any, schema: Schema) -> Unprotected[UnitRows]:
    """The columns of a schema, through the holder's door.

    The paper scales numbers by the smallest and the largest cell of the table. Bounds of the schema are used in their place: that
    is kinder to it, since two cells of the table less decide on what is published, and errors can be compared between forms.
    """
    held = holder_rows(data, schema.names)
    numbers, codes, sizes = [], [], []
    for column in schema.columns:
        cells = held.value[column.name]
        if isinstance(column.kind, Category):
            domain = column.kind.domain or ()
            codes.append(pc.fill_null(pc.index_in(cells, pa.array(domain)), len(domain)).to_numpy())
            sizes.append(len(domain))
        else:
            assert isinstance(column.kind, Number)
            assert column.kind.bounds is not None
            low, high = column.kind.bounds
            numbers.append((cells.to_numpy().astype(np.float64) - low) / (high - low))
    rows = held.value.num_rows
    return Unprotected(
        UnitRows(_stacked(numbers, rows).astype(np.float64), _stacked(codes, rows).astype(np.int64), tuple(sizes)),
        held.purpose,
    )


def _stacked(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[Any]:
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0))


def unit_schema(columns: int) -> Schema:
    """Public facts of a made-up table: so many numbers between 0 and 1, called x1, x2, ..."""
    return Schema(tuple(Column(f"x{j + 1}", Number(bounds=(0.0, 1.0))) for j in range(columns)))


def unit_table(cells: Floats) -> pa.Table:
    """A made-up table of numbers between 0 and 1, (n, d).

    >>> unit_table(np.array([[0.0, 1.0]])).to_pylist()
    [{'x1': 0.0, 'x2': 1.0}]
    """
    return pa.table({f"x{j + 1}": column for j, column in enumerate(cells.T)})
