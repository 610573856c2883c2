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

from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.drafts import RowSource
from cloister.schema.kinds import Category, Date, Number
from cloister.schema.table import Column, Schema, nearest

__all__ = ["STAMP", "Problem", "Trouble", "check"]

STAMP = "For the holder's eyes only: exact counts, not a private release."
_EPOCH = datetime.date(1970, 1, 1)


class Trouble(StrEnum):
    """What may be wrong with a column."""

    MISSING = "missing"  # the schema names it, the data does not have it
    BLANK = "blank"  # the schema does not say enough about it
    EMPTY = "empty"  # cells without a value
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

    def __str__(self) -> str:
        return f"{self.column}: {self.message}"


def check(schema: Schema, rows: RowSource) -> list[Problem]:
    """Compare data with its schema, strictly.

    Parameters
    ----------
    schema : Schema
    rows : Source

    Returns
    -------
    list of Problem
        Empty when every cell of every column can be read and lies within its bounds or domain.

    Privacy
    -------
    Nothing is released: the list is for whoever holds the data.
    """
    problems = [problem for column in schema.columns for problem in _of_schema(column, rows)]
    watched = [column for column in schema.columns if column.name in rows.names]
    tallies = {column.name: np.zeros(3, np.int64) for column in watched}
    total = 0
    for batch in rows.batches([column.name for column in watched]):
        total += batch.num_rows
        for column in watched:
            tallies[column.name] += _tally(column, batch.column(column.name))
    for column in watched:
        problems += _of_cells(column, tallies[column.name], total)
    return problems


def _of_schema(column: Column, rows: RowSource) -> Iterator[Problem]:
    """What the schema lacks for a column, before any row is read."""
    name, kind = column.name, column.kind
    if name not in rows.names:
        hint = nearest(name, rows.names)
        yield Problem(name, Trouble.MISSING, f"the data has no such column.{hint}")
    if isinstance(kind, (Number, Date)) and kind.bounds is None:
        yield Problem(name, Trouble.BLANK, "the schema gives no bounds. Fill in: bounds = [low, high]")
    if isinstance(kind, Category):
        if kind.hierarchy is not None and not Path(kind.hierarchy).is_file():
            yield Problem(name, Trouble.BLANK, "the file of its hierarchy is not there. Check the path in the schema.")
        elif kind.hierarchy is None and kind.domain is None:
            yield Problem(name, Trouble.BLANK, 'the schema gives no domain. Fill in: domain = ["...", "..."]')


def _tally(column: Column, cells: pa.Array) -> NDArray[np.int64]:
    """How many cells are empty, cannot be read, lie outside; as encoding reads them."""
    kind = column.kind
    written = texts(cells).fill_null("")
    filled = pc.not_equal(written, "").to_numpy(zero_copy_only=False)
    if isinstance(kind, Category):
        known = pa.array([value.strip() for value in kind.domain or ()], written.type)
        inside = pc.is_in(written, value_set=known).to_numpy(zero_copy_only=False) | (kind.domain is None)
        # a domain may list the empty text: then an empty cell is a value like any other
        return np.array([(~filled & ~inside).sum() if kind.domain else (~filled).sum(), 0, (filled & ~inside).sum()])
    if isinstance(kind, (Number, Date)):
        values = numbers(cells) if isinstance(kind, Number) else days(cells)
        readable = ~np.isnan(values)
        outside = np.zeros(len(values), np.bool_)
        if kind.bounds is not None:
            lo, hi = (end if isinstance(end, float) else (end - _EPOCH).days for end in kind.bounds)
            outside = (values < lo) | (values > hi)
        return np.array([(~filled).sum(), (filled & ~readable).sum(), outside.sum()])
    return np.array([(~filled).sum(), 0, 0])


def _of_cells(column: Column, tally: NDArray[np.int64], rows: int) -> Iterator[Problem]:
    """A problem for each count of `_tally` that is above 0."""
    fallback = getattr(column.kind, "fallback", None)
    becomes = "" if fallback is None else " In a release they count as the default."
    what = "a date such as 2024-01-31" if isinstance(column.kind, Date) else "a number"
    beyond = (
        "not in the domain." + becomes if isinstance(column.kind, Category) else "outside the bounds. A release clips them."
    )
    words = {
        Trouble.EMPTY: f"empty.{becomes}",
        Trouble.UNREADABLE: f"not {what}.{becomes}",
        Trouble.OUTSIDE: beyond,
    }
    for (trouble, message), count in zip(words.items(), tally.tolist(), strict=True):
        if count:
            yield Problem(column.name, trouble, f"{count:,} of {rows:,} cells are {message}", count, rows)
