"""Compare data with its schema, for the holder: cells that a release would silently replace are counted.

Privacy
-------
The counts are exact. They are for the holder's eyes, and no release may depend on them. Values are never shown.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.column_names import nearest_name
from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import are_missing, days, numbers, texts
from cloister.schema.drafts import RowSource
from cloister.schema.kinds import Category, Date, Kind, Number
from cloister.schema.numerals import label_text
from cloister.schema.table import Column, Role, Schema

__all__ = ["STAMP", "CellCounts", "Problem", "Trouble", "check", "count_cells", "find_problems"]

STAMP = "For the holder's eyes only: exact counts, not a private release."
_NEEDED = "Private verbs need it, anonymize and risk do not. Fill in:"
_EPOCH = datetime.date(1970, 1, 1)
_EXAMPLE = datetime.date(2024, 1, 31)


class Trouble(StrEnum):
    """What may be wrong with a column."""

    MISSING = "missing"  # the schema names it, the data does not have it
    BLANK = "blank"  # the schema does not say enough about it for private verbs
    UNBOUNDED = "unbounded"  # it says whose a row is, and the schema not how many rows of a person may count
    NO_FILE = "no file"  # the schema names a file that is not there
    EMPTY = "empty"  # cells without a value, or with a text that stands for none
    UNREADABLE = "unreadable"  # cells that are no number or no date
    OUTSIDE = "outside"  # values beyond the bounds or not in the domain


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one column; `count` of `rows` rows have it, or the whole column has (None)."""

    column: str
    trouble: Trouble
    message: str
    count: int | None = None
    rows: int | None = None

    @property
    def is_fault(self) -> bool:
        """Whether something has to be mended.

        A cell without a value is nothing that a schema does not foresee, and what only private verbs need may stay blank.
        """
        return self.trouble not in (Trouble.EMPTY, Trouble.BLANK)

    def __str__(self) -> str:
        return f"{self.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many cells of a column a release would not take as they are."""

    column: Column
    rows: int
    empty: int  # without a value, or with a text that stands for none
    unreadable: int
    outside: int

    @property
    def made_up(self) -> int:
        """The cells that would become the default; numbers and dates outside their bounds are clipped instead."""
        return self.empty + self.unreadable + (self.outside if isinstance(self.column.kind, Category) else 0)

    @property
    def clipped(self) -> int:
        """The cells that would become the nearest bound."""
        return 0 if isinstance(self.column.kind, Category) else self.outside


def check(schema: Schema, rows: RowSource) -> list[Problem]:
    """Compare data with its schema, strictly.

    Parameters
    ----------
    schema : Schema
    rows : Source

    Returns
    -------
    list of Problem
        Empty when every cell of every column holds a value that can be read and lies within its bounds or domain. Cells
        without one, which are empty or marked as missing, are no fault (`Problem.is_fault`), and neither is a bound or a domain
        that the schema does not state.

    Privacy
    -------
    Nothing is released: the list is for whoever holds the data.
    """
    return find_problems(schema, rows, count_cells(schema, rows))


def count_cells(schema: Schema, rows: RowSource) -> list[CellCounts]:
    """Count, for each column of the schema that the data has, the cells that a release would replace; for the holder."""
    watched = [column for column in schema.columns if column.name in rows.names]
    tallies = {column.name: np.zeros(3, np.int64) for column in watched}
    total = 0
    for batch in rows.batches([column.name for column in watched]):
        total += batch.num_rows
        for column in watched:
            tallies[column.name] += _tally(column, batch.column(column.name))
    return [CellCounts(column, total, *tallies[column.name].tolist()) for column in watched]


def find_problems(schema: Schema, rows: RowSource, counts: list[CellCounts]) -> list[Problem]:
    """What the schema lacks, and what the counts of cells say."""
    problems = [problem for column in schema.columns for problem in _of_schema(column, rows, schema.unit)]
    if schema.unit is not None and schema.max_rows is None:
        message = "it is the unit, and the schema does not say how many rows of one person may count. Fill in: max_rows = 5"
        problems.append(Problem(schema.unit, Trouble.UNBOUNDED, message))
    return problems + [problem for count in counts for problem in _of_cells(count)]


def _of_schema(column: Column, rows: RowSource, unit: str | None) -> Iterator[Problem]:
    """What the schema lacks for a column, before any row is read."""
    name, kind = column.name, column.kind
    if name not in rows.names:
        hint = nearest_name(name, rows.names)
        yield Problem(name, Trouble.MISSING, f"the data has no such column.{hint}")
    if column.role is Role.IDENTIFIER or name == unit:
        return  # no release reads it as a quantity or by its domain
    if isinstance(kind, (Number, Date)) and kind.bounds is None:
        yield Problem(name, Trouble.BLANK, f"the schema gives no bounds. {_NEEDED} bounds = [low, high]")
    if isinstance(kind, Category):
        if kind.hierarchy is not None and not Path(kind.hierarchy).is_file():
            yield Problem(name, Trouble.NO_FILE, "the file of its hierarchy is not there. Check the path in the schema.")
        elif kind.hierarchy is None and kind.domain is None:
            yield Problem(name, Trouble.BLANK, f'the schema gives no domain. {_NEEDED} domain = ["...", "..."]')


def _tally(column: Column, cells: pa.Array) -> NDArray[np.int64]:
    """How many cells are empty, cannot be read, lie outside; as encoding reads them."""
    kind = column.kind
    written = texts(cells, kind.form).fill_null("")
    filled = pc.not_equal(written, "").to_numpy(zero_copy_only=False)
    if isinstance(kind, Category):
        known = pa.array([value.strip() for value in kind.domain or ()], written.type)
        inside = pc.is_in(written, value_set=known).to_numpy(zero_copy_only=False) | (kind.domain is None)
        # a domain may list the empty text: then an empty cell is a value like any other
        return np.array([(~filled & ~inside).sum() if kind.domain else (~filled).sum(), 0, (filled & ~inside).sum()])
    if isinstance(kind, (Number, Date)):
        read = numbers if isinstance(kind, Number) else days
        values = read(cells, kind.form)
        readable, filled = ~np.isnan(values), ~are_missing(cells, kind.form, read)
        outside = np.zeros(len(values), np.bool_)
        if kind.bounds is not None:
            lo, hi = (end if isinstance(end, float) else (end - _EPOCH).days for end in kind.bounds)
            outside = (values < lo) | (values > hi)
        return np.array([(~filled).sum(), (filled & ~readable).sum(), outside.sum()])
    return np.array([(~filled).sum(), 0, 0])


def _of_cells(counts: CellCounts) -> Iterator[Problem]:
    """A problem for each count that is above 0."""
    column, kind = counts.column, counts.column.kind
    default = _default_text(column)
    becomes = "" if default is None else f" In a release they count as {default}, the default."
    what = f"a date{_such_as(kind)}" if isinstance(kind, Date) else f"a number{_such_as(kind)}"
    beyond = "not in the domain." + becomes if isinstance(kind, Category) else "outside the bounds. A release clips them."
    marked = " or marked as missing" if kind.form.missing else ""
    for trouble, count, message in (
        (Trouble.EMPTY, counts.empty, f"empty{marked}.{becomes}"),
        (Trouble.UNREADABLE, counts.unreadable, f"not {what}.{becomes}"),
        (Trouble.OUTSIDE, counts.outside, beyond),
    ):
        if count:
            yield Problem(column.name, trouble, f"{count:,} of {counts.rows:,} cells are {message}", count, counts.rows)


def _default_text(column: Column) -> str | None:
    """What stands for a value that is not there, a public fact of the schema, as a certificate writes it."""
    fallback = getattr(column.kind, "fallback", None)
    if isinstance(fallback, str):
        return f'"{fallback}"'
    return label_text(fallback) if isinstance(fallback, float) else None if fallback is None else str(fallback)


def _such_as(kind: Kind) -> str:
    """A made-up example of how a value has to be written."""
    if isinstance(kind, Date):
        return f" such as {_EXAMPLE.strftime(kind.format or '%Y-%m-%d')}"
    if isinstance(kind, Number) and kind.form != PLAIN:
        return f" such as 12{kind.thousands or ''}345{kind.decimal}5"
    return ""
