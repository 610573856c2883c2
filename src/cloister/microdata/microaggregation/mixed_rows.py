"""The rows that are grouped, in memory: numbers, days and words of the microaggregated columns, and whose each row is.

A column is a number, a date or a category as the schema says; without one by its type, and text by all its cells: numbers if all
are (and none is written like a code, with a zero in front), dates if all are, else categories. The table is the holder's own, so
that its cells may decide that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.errors import DataError, SchemaError
from cloister.kernels.distinct_values import CODE_PATTERN
from cloister.kernels.loops.arrays import F64, I32
from cloister.kernels.loops.choose import counted_owner_loops
from cloister.kernels.per_unit import people
from cloister.microdata.microaggregation.request import MicroaggregationRequest
from cloister.schema import Category, Date, Number
from cloister.schema.arrow_numpy import from_numbers, to_numbers
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import are_missing, days, numbers, texts
from cloister.schema.plain_arrays import plain_type
from cloister.sinks.column_types import has_text
from cloister.vault import Holder

__all__ = ["LARGEST_WHOLE", "CellKind", "MixedRows", "NumberColumn", "WordColumn", "read_rows"]

LARGEST_WHOLE = 2.0**53  # from there on whole numbers are not told apart in float64
_PERSON = ("person, first half", "person, second half")


class CellKind(StrEnum):
    """How the cells of a column are read."""

    NUMBER = "number"
    DAY = "date"
    WORD = "category"


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A column of numbers, or of days since 1970."""

    name: str
    cells: F64  # (n,), NaN where there is none
    is_date: bool
    bounds: tuple[float, float] | None = None  # public
    step: float | None = None  # 1 where all numbers are whole


@dataclass(frozen=True, slots=True, eq=False)
class WordColumn:
    """A column of categories. Codes follow the words by how common they are; a blank is a word like any other."""

    name: str
    codes: I32  # (n,)
    words: pa.Array  # (values,) texts, the most common first


@dataclass(frozen=True, slots=True, eq=False)
class MixedRows:
    """The rows of a table as far as they are grouped.

    Privacy: exact rows, for the holder.
    """

    columns: tuple[NumberColumn | WordColumn, ...]  # in the order of the table
    people: I32  # (n,) whose each row is; empty where rows count
    rows: int

    @property
    def numbers(self) -> tuple[NumberColumn, ...]:
        """The columns of numbers and dates."""
        return tuple(column for column in self.columns if isinstance(column, NumberColumn))

    @property
    def words(self) -> tuple[WordColumn, ...]:
        """The columns of categories."""
        return tuple(column for column in self.columns if isinstance(column, WordColumn))

    @property
    def units(self) -> int:
        """How many there are of what k counts: rows, or people."""
        return int(self.people.max(initial=-1)) + 1 if len(self.people) else self.rows


def read_rows(table: Holder, request: MicroaggregationRequest) -> MixedRows:
    """Gather the microaggregated columns of a table in one pass."""
    read = [*request.columns, *([request.person] if request.person is not None else [])]
    types = table.types(read)
    for name in read:
        if not has_text(types.field(name).type):
            raise SchemaError(
                f'column "{name}" holds lists, structs or times without a text. Give it one number or text a row first, or '
                "leave it out."
            )
    kinds = {name: _stated_kind(request, name, types.field(name).type) for name in request.columns}
    forms = {name: kind.form if (kind := request.kind_of(name)) else PLAIN for name in request.columns}
    reading = _Reading(kinds, forms, request.person)
    gathered = table.gather(reading).value
    if not len(gathered):
        raise DataError("the table has no rows.")
    columns = tuple(_column(request, name, kinds[name], gathered.column(name)) for name in request.columns)
    return MixedRows(columns, _people(gathered) if request.person is not None else np.zeros(0, np.int32), len(gathered))


@dataclass(frozen=True, slots=True)
class _Reading:
    """The row map that reads cells as numbers (infinite: unreadable) or as words; a kind of None is not known yet."""

    kinds: Mapping[str, CellKind | None]
    forms: Mapping[str, CellFormat]
    person: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.kinds, *([self.person] if self.person is not None else [])]))

    @property
    def schema(self) -> pa.Schema:
        words = pa.dictionary(pa.int32(), pa.string())
        read = [
            (name, pa.float64() if kind in (CellKind.NUMBER, CellKind.DAY) else words) for name, kind in self.kinds.items()
        ]
        return pa.schema([*read, *((name, pa.int64()) for name in (_PERSON if self.person is not None else ()))])

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        cells = dict(zip(batch.schema.names, batch.columns, strict=True))
        read = [self._read(cells[name], kind, self.forms[name]) for name, kind in self.kinds.items()]
        if self.person is not None:
            who = people(cells[self.person], counted_owner_loops(len(cells[self.person]))).view(np.int64)
            read += [from_numbers(who[:, 0]), from_numbers(who[:, 1])]
        return pa.RecordBatch.from_arrays(read, schema=self.schema)

    @staticmethod
    def _read(cells: pa.Array, kind: CellKind | None, form: CellFormat) -> pa.Array:
        if kind is CellKind.NUMBER or kind is CellKind.DAY:
            read = numbers if kind is CellKind.NUMBER else days
            values = read(cells, form)
            unreadable = np.isnan(values)
            if unreadable.any():
                values = np.where(unreadable & ~are_missing(cells, form, read), np.inf, values)
            return from_numbers(values)
        return pc.dictionary_encode(texts(cells, form).cast(pa.string()).fill_null(""))


def _stated_kind(request: MicroaggregationRequest, name: str, kind: pa.DataType) -> CellKind | None:
    """How a column is read, as far as that is known before its cells are."""
    stated = request.kind_of(name)
    if stated is not None:
        by_kind = {Number: CellKind.NUMBER, Date: CellKind.DAY, Category: CellKind.WORD}
        return by_kind[type(stated)]
    if name in request.with_named_tree:
        return CellKind.WORD
    kind = plain_type(kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return CellKind.NUMBER
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return CellKind.DAY
    if pa.types.is_boolean(kind) or pa.types.is_time(kind):
        return CellKind.WORD
    return None


def _column(
    request: MicroaggregationRequest, name: str, kind: CellKind | None, cells: pa.ChunkedArray
) -> NumberColumn | WordColumn:
    if kind is CellKind.NUMBER or kind is CellKind.DAY:
        return _number_column(request, name, cells.to_numpy(), is_date=kind is CellKind.DAY)
    coded = _joined(cells)
    words, codes = coded.dictionary, to_numbers(coded.indices)
    if kind is None:
        filled = pc.not_equal(words, "")
        for read, is_date in ((numbers, False), (days, True)):
            values = read(words)
            is_quantity = bool(np.isfinite(values[to_numbers(filled.cast(pa.int8())) == 1]).all())
            is_quantity &= is_date or not pc.any(pc.match_substring_regex(words, CODE_PATTERN)).as_py()
            if is_quantity and pc.any(filled).as_py() and not _are_truth_values(words):
                return _number_column(request, name, values[codes], is_date=is_date)
    counts = np.bincount(codes, minlength=len(words))
    order = np.lexsort([_ranks(words), -counts])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return WordColumn(name, place[codes], words.take(from_numbers(order)))


def _joined(cells: pa.ChunkedArray) -> pa.DictionaryArray:
    unified = pa.table({"cells": cells}).unify_dictionaries().column(0).combine_chunks()
    return unified.chunk(0) if isinstance(unified, pa.ChunkedArray) else unified


def _ranks(words: pa.Array) -> NDArray[np.int64]:
    """The place of each word in the order of letters."""
    ranks = np.empty(len(words), np.int64)
    ranks[to_numbers(pc.array_sort_indices(words))] = np.arange(len(words))
    return ranks


def _are_truth_values(words: pa.Array) -> bool:
    """Whether all are true or false: read as numbers they would be averaged."""
    return all(word.lower() in ("true", "false", "") for word in words.slice(0, 4).to_pylist()) and len(words) <= 4


def _number_column(request: MicroaggregationRequest, name: str, cells: F64, *, is_date: bool) -> NumberColumn:
    kind = request.kind_of(name)
    what = "dates" if is_date else "numbers"
    if np.isinf(cells).any():
        raise DataError(
            f'column "{name}": some cells are infinite, or cannot be read as {what}. Correct them, or its kind in a schema.'
        )
    known = cells[~np.isnan(cells)]
    bounds = _bounds(kind)
    if bounds is not None and len(known) and not bounds[0] <= known.min() <= known.max() <= bounds[1]:
        raise DataError(f'column "{name}" holds {what} outside the bounds of the schema. Correct them, or the bounds.')
    step = kind.step if isinstance(kind, Number) else None
    is_whole = bool((np.floor(known) == known).all()) and np.abs(known).max(initial=0) < LARGEST_WHOLE
    if step is None and (is_date or is_whole):
        step = 1.0
    return NumberColumn(name, cells, is_date, bounds, step)


def _bounds(kind: Number | Category | Date | None) -> tuple[float, float] | None:
    if isinstance(kind, Number):
        return kind.bounds
    if isinstance(kind, Date) and kind.bounds is not None:
        first, last = (float(np.datetime64(day, "D").astype(np.int64)) for day in kind.bounds)
        return first, last
    return None


def _people(gathered: pa.Table) -> I32:
    """A number for each person, by the two halves of their hash."""
    first, second = (gathered.column(name).to_numpy() for name in _PERSON)
    order = np.lexsort([second, first])
    begins = np.append(False, (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0))
    of = np.empty(len(order), np.int32)
    of[order] = np.cumsum(begins)
    return of
