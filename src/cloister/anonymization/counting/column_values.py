"""The different cells of columns that no hierarchy and no schema describes, fetched in one pass.

Privacy
-------
The cells are for the holder. They show in the output only where at least k rows share them; intervals end at points of a
public grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.kernels.distinct_values import DistinctValues
from cloister.schema import Schema
from cloister.schema.cell_format import PLAIN
from cloister.vault import Holder

__all__ = ["MOST_CODES", "MOST_VALUES", "ColumnValues", "fetch_values"]

MOST_CODES = 4_096  # different values of a quasi-identifier without a hierarchy; more numbers are first cut into intervals
MOST_VALUES = 65_536  # different values of a sensitive column or a target


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """The different cells of one column."""

    name: str
    words: list[str]
    word_days: NDArray[np.float64]  # the day of each word, as the column is typed; NaN where it is no date
    numbers: NDArray[np.float64]  # NaN where a cell is no number
    days: NDArray[np.float64]  # since 1970, NaN where a cell is no date
    is_date: bool  # whether the column's type is that of dates or times
    is_typed: bool  # whether the column's type is that of numbers, truth values, dates or times
    is_many: bool  # more than the limit: the words are incomplete, of numbers and days at least the extremes are there
    is_code: bool  # whether some cells are written like codes, with zeros in front
    is_float: bool  # whether the column's type is that of floating-point numbers
    is_whole: bool  # whether all cells are whole numbers, and the column's type has no decimals

    @property
    def is_numeric(self) -> bool:
        """Whether these are quantities: by their type, else if all are numbers, none written like a code with zeros in front."""
        if self.is_typed:
            return not self.is_date
        return len(self.numbers) > 0 and bool(np.isfinite(self.numbers).all()) and not self.is_code

    @property
    def is_boolean(self) -> bool:
        """Whether these are true and false, which are read as 1 and 0."""
        return not self.is_many and all(word.lower() in ("true", "false") for word in self.words)

    @property
    def is_calendar(self) -> bool:
        """Whether these are days: by their type, else if all are, and not all are numbers."""
        if self.is_typed:
            return self.is_date
        return len(self.days) > 0 and bool(np.isfinite(self.days).all()) and not self.is_numeric


def fetch_values(
    wanted: Sequence[tuple[Holder, Mapping[str, int]]], schema: Schema | None = None, compared: Sequence[str] = ()
) -> dict[str, ColumnValues]:
    """The different cells of some columns, over one table or several; each table is gone through once.

    Parameters
    ----------
    wanted : sequence of a table and a mapping of its columns to limits
        Which columns are fetched from which table, and above how many different cells a column has too many.
    schema : Schema, optional
        How the cells are written, and what stands for a missing value.
    compared : sequence of str
        Columns whose words for a missing value are fetched like others, since they are published.
    """
    limits = {name: limit for _, columns in wanted for name, limit in columns.items()}
    parts: dict[str, list[pa.Table]] = {name: [] for name in limits}
    for table, columns in wanted:
        if columns:
            forms = [schema[name].kind.form if schema and name in schema else PLAIN for name in columns]
            forms = [
                replace(form, missing=()) if name in compared else form for name, form in zip(columns, forms, strict=True)
            ]
            cells = table.distinct(DistinctValues(tuple(columns), tuple(columns.values()), tuple(forms))).value
            for j, name in enumerate(columns):
                parts[name].append(cells.filter(pc.equal(cells["column"], j)))
    return {name: _joined(name, pa.concat_tables(parts[name]), limit) for name, limit in limits.items()}


def _joined(name: str, cells: pa.Table, limit: int) -> ColumnValues:
    words = sorted({word for word in cells["text"].to_pylist() if word is not None})
    is_many = bool(pc.any(cells["is_many"]).as_py()) or len(words) > limit
    as_numbers, as_days = (cells[key].to_numpy() for key in ("number", "day"))
    is_date, is_code = (bool(pc.any(cells[key]).as_py()) for key in ("is_date", "is_code"))
    is_typed, is_float, is_whole = (bool(pc.all(cells[key]).as_py()) for key in ("is_typed", "is_float", "is_whole"))
    day_of = dict(zip(cells["text"].to_pylist(), as_days.tolist(), strict=True))
    word_days = np.array([day_of[word] for word in words], np.float64)
    return ColumnValues(name, words, word_days, as_numbers, as_days, is_date, is_typed, is_many, is_code, is_float, is_whole)
