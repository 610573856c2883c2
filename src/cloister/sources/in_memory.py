"""Rows that are in memory already: arrays, Arrow tables and whatever has the Arrow C stream.

Privacy
-------
What a column is comes from declared types alone (a dtype, an Arrow type): a public fact. Where Python objects are declared, each
cell is read by itself (`python_cells`). No path is chosen by what a row holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import CloisterError, DataError, SourceError, raise_alone
from cloister.sources.polars_frames import check_polars_frame
from cloister.sources.python_cells import beside_days, cell_column, text_column, unmasked
from cloister.sources.sound_batches import plain_batch
from cloister.sources.source import BATCH_ROWS, check_scales, distinct, nested_names, present, retold, text_names

__all__ = [
    "ArraySource",
    "Objects",
    "StreamSource",
    "TableSource",
    "array_column",
    "from_array",
    "from_stream",
    "from_table",
    "is_plain",
    "is_too_fine",
    "rows_only",
]

_ARROW_READY = "?bhilqBHILQefd"  # NumPy type characters whose memory is an Arrow column as it lies (but for booleans)
_ARROW_UNITS = [(unit, 1) for unit in ("D", "s", "ms", "us", "ns")]  # of dates and times that Arrow has too
_MOST_DAYS = 2**31 - 1

_SINGLE_COLUMNS = ("Series", "Array", "ArrayStream", "ChunkedArray", "StructArray")  # which may be streams of structs
_GUESSING_READERS = ("CSVStreamingReader", "JSONStreamingReader")

Objects = Callable[[Iterable[object]], pa.Array]
"""How Python objects become a column: as texts, for a holder who writes them down, or each in its own kind."""


@dataclass(frozen=True)
class TableSource:
    """An Arrow table."""

    table: pa.Table
    in_memory: bool = True
    keep_bytes: bool = False  # whether texts that are not UTF-8 are handed out as they are

    def keeping_kinds(self) -> TableSource:
        """The same rows, in which texts that are not UTF-8 stay as they are."""
        return replace(self, keep_bytes=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.column_names)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        return text_names(self.table.schema)

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists or structs."""
        return nested_names(self.table.schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, without a copy."""
        return _plain_batches(self.table.select(present(self.names, columns)), "the table", self.keep_bytes)


@dataclass(frozen=True)
class ArraySource:
    """A two-dimensional NumPy array."""

    array: NDArray[Any]  # (n, d)
    names: tuple[str, ...]
    in_memory: bool = True
    objects: Objects = text_column

    def keeping_kinds(self) -> ArraySource:
        """The same rows, in which the cells of a column of objects keep their kinds."""
        return replace(self, objects=cell_column)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; no more than a batch of them is copied at a time, and none where columns lie in one piece."""
        wanted = present(self.names, columns)
        return self._batches([self.names.index(name) for name in wanted], wanted)

    def _batches(self, places: list[int], names: list[str]) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self.array), BATCH_ROWS):
            rows = self.array[start : start + BATCH_ROWS]  # (n, d)
            if not places:
                yield rows_only(len(rows))
                continue
            transposed = rows.T  # (d, n)
            if transposed.strides[1] != transposed.itemsize:
                # transposed once for all columns: gathering them one by one would walk the same memory d times
                transposed = np.ascontiguousarray(transposed)
            yield pa.RecordBatch.from_arrays([array_column(transposed[j], self.objects) for j in places], names=names)


class StreamSource:
    """Rows that come as an Arrow stream, read when they are first asked for, once and whole: they may not come a second time."""

    in_memory = True

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._tables: list[pa.Table] = []  # the rows, once they were read
        self._reading = Lock()
        self._keep_bytes = False
        self.names = distinct(reader.schema.names, "the table")
        self.texts = text_names(reader.schema)
        self.nested = nested_names(reader.schema)

    def keeping_kinds(self) -> StreamSource:
        """The same rows, read once for both, in which texts that are not UTF-8 stay as they are."""
        kept = copy(self)
        kept._keep_bytes = True
        return kept

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, without a copy."""
        wanted = present(self.names, columns)
        return self._batches(wanted)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with self._reading:
            if not self._tables:
                self._tables.append(self._read())
        yield from _plain_batches(self._tables[0].select(names), "the stream", self._keep_bytes)

    def _read(self) -> pa.Table:
        """All rows. What a generator of the user's raises is retold, as it may quote a value; a Ctrl-C in it stays one."""
        try:
            with retold("the stream"):
                return self._reader.read_all()
        except CloisterError:
            raise
        except Exception:
            raise_alone(DataError("the stream breaks while it is read: what makes its batches failed. Look there."))


def _plain_batches(table: pa.Table, shown: str, keep_bytes: bool) -> Iterator[pa.RecordBatch]:
    with retold(shown):
        yield from (plain_batch(batch, keep_bytes) for batch in table.to_batches(max_chunksize=BATCH_ROWS))


def from_array(array: NDArray[Any], names: Sequence[str] | None = None) -> ArraySource:
    """A source over a NumPy array, whose columns are called x0, x1, ... unless names are given."""
    if array.ndim != 2:
        raise SourceError(
            f"Expected a 2D array, one row a record, and got {array.ndim}D."
            " Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    if array.shape[1] == 0:
        raise SourceError("the array has 0 columns, and at least 1 is needed.")
    if array.dtype.kind in "cV" or is_too_fine(array.dtype):
        raise SourceError(f"the array holds {array.dtype}, which is neither numbers, dates nor text. Convert it first.")
    if names is None:
        names = [f"x{j}" for j in range(array.shape[1])]
    elif len(names) != array.shape[1]:
        raise SourceError(f"the array has {array.shape[1]} columns, and {len(names)} names were given.")
    return ArraySource(unmasked(array), distinct(names, "the array"))


def from_table(table: pa.Table) -> TableSource:
    """A source over an Arrow table."""
    distinct(table.column_names, "the table")
    check_scales((field.name, field.type) for field in table.schema)
    return TableSource(table)


def from_stream(stream: Any) -> StreamSource:
    """A source over anything with the Arrow C stream. Names and types are looked at, no row is read."""
    _check_stream(stream)
    check_polars_frame(stream)
    try:
        reader = pa.RecordBatchReader.from_stream(stream)
    except (pa.ArrowException, TypeError, ValueError):
        raise_alone(
            SourceError(
                f"{type(stream).__name__} is not a table of columns that can be read. Pass a table or a data frame of two "
                "dimensions, and cast columns of a type that Arrow does not have, such as Int128."
            )
        )
    check_scales((field.name, field.type) for field in reader.schema)
    return StreamSource(reader)


def _check_stream(stream: Any) -> None:
    """Refuse streams whose rows decide whether they can be read."""
    names = [base.__name__ for base in type(stream).__mro__]
    if any(name in _SINGLE_COLUMNS for name in names):
        raise SourceError(
            f"{names[0]} is one column, which may have missing rows, and not a table. Pass a table: a data frame, or a dict such "
            'as {"name": column}.'
        )
    if any(name in _GUESSING_READERS for name in names):
        raise SourceError(
            f"{names[0]} takes the types of columns from the first rows, and breaks at a later row that differs. Pass the path "
            "of a CSV file, or a table whose types are stated."
        )


def rows_only(count: int) -> pa.RecordBatch:
    """Rows without columns, which still can be counted."""
    return pa.RecordBatch.from_arrays([pa.nulls(count)], names=["rows"]).select([])


def is_plain(kind: object) -> bool:
    """Whether a dtype is a kind of numbers that Arrow has too."""
    return isinstance(kind, np.dtype) and kind.char in _ARROW_READY


def is_too_fine(kind: np.dtype[Any]) -> bool:
    """Whether a dtype counts dates or durations in units below a nanosecond, which nothing here reads."""
    return kind.kind in "mM" and np.datetime_data(kind)[0] in ("ps", "fs", "as")


def array_column(cells: NDArray[Any], objects: Objects) -> pa.Array:
    """A column of an array, by its dtype alone; `objects` reads one of Python objects."""
    kind = cells.dtype
    if is_plain(kind):
        return pa.array(cells if kind.isnative else cells.astype(kind.newbyteorder("=")))
    if kind.kind == "f" and objects is not cell_column:  # wider than 64 bits; as names of people they are not rounded
        with np.errstate(over="ignore"):
            return pa.array(cells.astype(np.float64))
    if kind.kind == "M" and np.datetime_data(kind) in _ARROW_UNITS:
        return _moments(cells, objects)
    return objects(cells)


def _moments(cells: NDArray[Any], objects: Objects) -> pa.Array:
    """Dates and times; what lies beyond the days that Arrow counts is unreadable."""
    unit, _ = np.datetime_data(cells.dtype)
    ticks = np.ascontiguousarray(cells.astype(cells.dtype.newbyteorder("="))).view(np.int64)
    missing = np.isnat(cells)
    if unit != "D":
        return pa.array(ticks, pa.int64(), mask=missing).cast(pa.timestamp(unit))
    far = ~missing & (np.abs(ticks) > _MOST_DAYS)
    hidden = missing | far
    days = pa.array(np.where(hidden, 0, ticks).astype(np.int32), pa.int32(), mask=hidden).cast(pa.date32())
    return beside_days(days, far, ticks) if objects is cell_column else days
