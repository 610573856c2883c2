"""Tables of plain Python objects: a list of rows, each a list or a dict, and a dict of columns.

Privacy
-------
The names of the columns come from the call or from the keys of a dict of columns, never from rows: which keys a row has, how
many cells, and whether it is a list or a dict at all, says nothing about other rows.
"""

from __future__ import annotations

import array
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.errors import SourceError, raise_alone
from cloister.sources.class_facts import has_method, is_a
from cloister.sources.in_memory import Objects, array_column, is_too_fine, rows_only
from cloister.sources.pandas_frames import frame_column, is_arrow
from cloister.sources.polars_frames import check_polars_column
from cloister.sources.python_cells import cell_column, named_cells, row_width, text_column, unmasked
from cloister.sources.sound_batches import sound_column
from cloister.sources.source import BATCH_ROWS, check_scales, distinct, nested_names, present, text_names

__all__ = ["ColumnsSource", "RowsSource", "from_columns", "from_rows", "is_rows", "is_unnamed"]

MOST_COLUMNS = 100_000  # of a list of rows
TABLES = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame"), "pyarrow": ("Table", "RecordBatch")}
OBJECTS = (list, tuple, range, array.array)  # columns that do not say what they hold


@dataclass(frozen=True)
class RowsSource:
    """A list of rows. Which columns they have is a public fact, which the list itself cannot tell."""

    rows: Sequence[object]
    names: tuple[str, ...]
    narrow: tuple[str, ...] = ()  # some of the names: of rows that have just as many cells
    in_memory: bool = True
    objects: Objects = text_column

    def keeping_kinds(self) -> RowsSource:
        """The same rows, whose cells keep their kinds."""
        return replace(self, objects=cell_column)

    def ragged_rows(self) -> int:
        """How many rows, but for dicts, have more or fewer cells than the table has columns; for the holder."""
        widths = {len(self.names), len(self.narrow) or len(self.names)}
        most = len(self.names) + 1
        return sum(row_width(row, most) not in widths for row in self.rows if not issubclass(type(row), dict))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, each read by itself: see `python_cells`."""
        wanted = present(self.names, columns)
        return self._batches([self.names.index(name) for name in wanted], wanted)

    def _batches(self, places: list[int], names: list[str]) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self.rows), BATCH_ROWS):
            rows = [named_cells(row, self.names, self.narrow) for row in self.rows[start : start + BATCH_ROWS]]
            if places:
                yield pa.RecordBatch.from_arrays([self.objects(row[place] for row in rows) for place in places], names=names)
            else:
                yield rows_only(len(rows))


@dataclass(frozen=True)
class ColumnsSource:
    """A dict of columns of one length. A column becomes Arrow when it is first asked for."""

    columns: Mapping[str, Any]
    in_memory: bool = True
    objects: Objects = text_column
    _read: dict[str, pa.Array] = field(default_factory=dict, repr=False)

    def keeping_kinds(self) -> ColumnsSource:
        """The same rows, in which the cells of a column of objects keep their kinds."""
        return ColumnsSource(self.columns, objects=cell_column)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type does not say that they hold numbers: lists do not say what they hold."""
        return tuple(name for name, cells in self.columns.items() if name in text_names(pa.schema([(name, _kind(cells))])))

    @property
    def untold(self) -> tuple[str, ...]:
        """The columns that do not say what they hold: lists and arrays of Python objects, and categories of pandas."""
        return tuple(name for name, cells in self.columns.items() if _is_untold(cells))

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists or structs, by their type."""
        return nested_names(pa.schema([(name, _kind(cells)) for name, cells in self.columns.items()]))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; columns of Python objects are read cell by cell."""
        wanted = present(self.names, columns)
        if not wanted:
            return iter([rows_only(len(next(iter(self.columns.values()))))])
        for name in wanted:
            if name not in self._read:
                self._read[name] = _column(self.columns[name], self.objects)
        chosen = pa.table([self._read[name] for name in wanted], names=wanted)
        return iter(chosen.to_batches(max_chunksize=BATCH_ROWS))


def is_rows(data: object) -> bool:
    """Whether this is a list of rows: one of nothing but texts and paths is of files, and one of frames alone is refused.

    Privacy: one frame among rows is a row that cannot be read, as any other object is: a single element decides nothing.
    """
    if not isinstance(data, list | tuple):
        return False
    if data and all(_is_table(item) for item in data):
        raise SourceError(
            "this is a list of frames or tables, and a list holds rows. Join them first: pd.concat([...]), pl.concat([...]), "
            "or pyarrow.concat_tables([...])."
        )
    return not (data and all(_is_path(item) for item in data))


def _is_table(item: object) -> bool:
    """Whether this is a frame or a table, by its bases alone; libraries that nobody loaded have made none."""
    return any(
        is_a(item, kind)
        for library, names in TABLES.items()
        for name in names
        if isinstance(kind := getattr(sys.modules.get(library), name, None), type)
    )


def _is_path(item: object) -> bool:
    """Whether this is a text or a path, by its bases alone: an item may be a row, and no code of its class is run."""
    return is_a(item, str) or has_method(item, "__fspath__")


def is_unnamed(data: object) -> bool:
    """Whether this is data that does not name its columns: a list of rows, or an array."""
    return isinstance(data, np.ndarray) or is_rows(data)


def from_rows(rows: Sequence[object], names: Sequence[str], narrow: tuple[str, ...] = ()) -> RowsSource:
    """A source over a list of rows with these columns: rows that are lists have them in this order, dicts by name.

    A list with just as many cells as `narrow` has those columns. What a row lacks is missing, cells too many are left out.
    """
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise SourceError(f"a list of rows may have 1 to {MOST_COLUMNS:,} columns.")
    return RowsSource(rows, distinct(names, "the list of rows"), narrow)


def from_columns(columns: Mapping[Any, Any]) -> ColumnsSource:
    """A source over a dict of columns: lists, NumPy arrays, Series or Arrow arrays of one length."""
    if not columns:
        raise SourceError('a dict of columns must have at least one, such as {"age": [31, 40], "sex": ["f", "m"]}.')
    for name, cells in columns.items():
        if type(name) is not str:
            raise SourceError('the keys of a dict of columns must be their names, such as {"age": [31, 40]}.')
        if not _is_column(cells):
            raise SourceError(
                f'column "{name}" is neither a list, a NumPy array of one dimension, a Series nor an Arrow array. Convert it '
                "with list(...)."
            )
        check_polars_column(name, cells)
        if isinstance(cells, pa.Array | pa.ChunkedArray):
            check_scales([(name, cells.type)])
        elif _library(cells) == "pandas" and is_arrow(cells.dtype):
            check_scales([(name, cells.dtype.pyarrow_dtype)])
    if len({len(cells) for cells in columns.values()}) > 1:
        raise SourceError("the columns differ in length. Give every column one value a row, None where there is none.")
    return ColumnsSource(dict(columns))


def _is_column(cells: Any) -> bool:
    if isinstance(cells, np.ndarray):
        return cells.ndim == 1 and cells.dtype.kind not in "cV" and not is_too_fine(cells.dtype)
    return isinstance(cells, (*OBJECTS, pa.Array, pa.ChunkedArray)) or _library(cells) in ("pandas", "polars")


def _library(cells: Any) -> str | None:
    """The library whose Series this is."""
    kind = type(cells)
    return kind.__module__.partition(".")[0] if kind.__name__ == "Series" else None


def _is_untold(cells: Any) -> bool:
    """Whether a column holds objects of any kind, as far as it says."""
    return isinstance(cells, OBJECTS) or str(getattr(cells, "dtype", "")) in ("object", "category")


def _kind(cells: Any) -> pa.DataType:
    """What a column says that it holds, without a row; text where it says nothing."""
    if isinstance(cells, OBJECTS):
        return pa.large_string()
    # by place: a Series of pandas with an index of floats would be cut by its labels
    return _column(cells.iloc[:0] if _library(cells) == "pandas" else cells[:0], text_column).type


def _column(cells: Any, objects: Objects) -> pa.Array | pa.ChunkedArray:
    """A column, by its declared type alone; `objects` reads one of Python objects."""
    keep_bytes = objects is cell_column
    if isinstance(cells, OBJECTS):
        return objects(cells)
    if isinstance(cells, np.ndarray):
        return array_column(unmasked(cells), objects)
    if _library(cells) == "pandas":
        return frame_column(cells, objects)
    if isinstance(cells, pa.Array | pa.ChunkedArray):
        return sound_column(cells, keep_bytes)
    try:
        # as a frame: a Series of Polars hands itself over as an Arrow stream too, but older ones fail at dates and categories
        return sound_column(pa.table(cells.to_frame()).column(0), keep_bytes)
    except (pa.ArrowException, OSError, TypeError, ValueError):
        raise_alone(SourceError("a column cannot be read as an Arrow array. Convert it with list(...)."))
