"""Rows that are in memory already: NumPy arrays, pandas frames, Arrow tables and whatever has the Arrow C stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import SourceError, raise_alone
from cloister.sources.source import BATCH_ROWS, distinct, present, text_names

__all__ = ["ArraySource", "FrameSource", "TableSource", "from_array", "from_frame", "from_stream", "from_table"]

_ARROW_READY = "?bhilqBHILQefd"  # NumPy type characters whose memory is an Arrow column as it lies (but for booleans)


@dataclass(frozen=True)
class TableSource:
    """An Arrow table."""

    table: pa.Table
    in_memory: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.column_names)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        return text_names(self.table.schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, without a copy."""
        chosen = self.table.select(present(self.names, columns))
        return iter(chosen.to_batches(max_chunksize=BATCH_ROWS))


@dataclass(frozen=True)
class ArraySource:
    """A two-dimensional NumPy array."""

    array: NDArray[Any]  # (n, d)
    names: tuple[str, ...]
    in_memory: bool = True

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; no more than a batch of them is copied at a time, and none where columns lie in one piece."""
        wanted = present(self.names, columns)
        return self._batches([self.names.index(name) for name in wanted], wanted)

    def _batches(self, places: list[int], names: list[str]) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self.array), BATCH_ROWS):
            rows = self.array[start : start + BATCH_ROWS]  # (n, d)
            if not places:
                yield _rows_only(len(rows))
                continue
            transposed = rows.T  # (d, n)
            if transposed.strides[1] != transposed.itemsize:
                # transposed once for all columns: gathering them one by one would walk the same memory d times
                transposed = np.ascontiguousarray(transposed)
            yield pa.RecordBatch.from_arrays([_column(transposed[j]) for j in places], names=names)


@dataclass(frozen=True)
class FrameSource:
    """A pandas frame. A column becomes Arrow when it is first asked for."""

    frame: Any
    names: tuple[str, ...]
    in_memory: bool = True
    _columns: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        kinds = [str(kind) for kind in self.frame.dtypes]
        return tuple(name for name, kind in zip(self.names, kinds, strict=True) if kind in ("str", "string", "object"))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; columns of mixed Python objects are read as text."""
        for name in present(self.names, columns):
            if name not in self._columns:
                cells = self.frame.iloc[:, self.names.index(name)]
                self._columns[name] = _column(cells.to_numpy()) if _is_plain(cells.dtype) else _from_objects(cells)
        if not columns:
            return iter([_rows_only(len(self.frame))])
        chosen = pa.table([self._columns[name] for name in columns], names=list(columns))
        return iter(chosen.to_batches(max_chunksize=BATCH_ROWS))


def from_array(array: NDArray[Any], names: Sequence[str] | None = None) -> ArraySource:
    """A source over a NumPy array, whose columns are called x0, x1, ... unless names are given."""
    if array.ndim != 2:
        raise SourceError(
            f"Expected a 2D array, one row a record, and got {array.ndim}D."
            " Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    if array.shape[1] == 0:
        raise SourceError("the array has 0 columns, and at least 1 is needed.")
    if array.dtype.kind in "cV":
        raise SourceError(f"the array holds {array.dtype}, which is neither numbers, dates nor text. Convert it first.")
    if names is None:
        names = [f"x{j}" for j in range(array.shape[1])]
    elif len(names) != array.shape[1]:
        raise SourceError(f"the array has {array.shape[1]} columns, and {len(names)} names were given.")
    return ArraySource(array, distinct(names, "the array"))


def from_frame(frame: Any) -> ArraySource | FrameSource:
    """A source over a pandas frame."""
    names = distinct([str(name) for name in frame.columns], "the data frame")
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and _is_plain(kinds.pop()):
        return ArraySource(frame.to_numpy(), names)  # pandas keeps such a frame as one array: no copy
    return FrameSource(frame, names)


def from_table(table: pa.Table) -> TableSource:
    """A source over an Arrow table."""
    distinct(table.column_names, "the table")
    return TableSource(table)


def from_stream(stream: Any) -> TableSource:
    """A source over anything with the Arrow C stream, which is read once, whole: it may not come a second time."""
    try:
        table = pa.RecordBatchReader.from_stream(stream).read_all()
    except (pa.ArrowException, TypeError, ValueError):
        raise_alone(
            SourceError(
                f"{type(stream).__name__} is not a table of columns. Pass a table or a data frame of two dimensions."
            )
        )
    return from_table(table)


def _rows_only(count: int) -> pa.RecordBatch:
    """Rows without columns, which still can be counted."""
    return pa.RecordBatch.from_arrays([pa.nulls(count)], names=["rows"]).select([])


def _is_plain(kind: object) -> bool:
    return isinstance(kind, np.dtype) and kind.char in _ARROW_READY


def _column(cells: NDArray[Any]) -> pa.Array:
    if _is_plain(cells.dtype):
        return pa.array(cells if cells.dtype.isnative else cells.astype(cells.dtype.newbyteorder("=")))
    if cells.dtype.kind == "f":  # wider than 64 bits
        return pa.array(cells.astype(np.float64))
    if cells.dtype.kind == "S":
        return pa.array([bytes(cell) for cell in cells], pa.binary())
    return _from_objects(cells)


def _from_objects(cells: Any) -> pa.Array | pa.ChunkedArray:
    """Arrow's own conversion for typed columns and for text; the text of each cell for columns of Python objects.

    What Arrow makes of objects depends on all of them together, and one odd cell makes it give up. The text of a cell
    depends on that cell alone.
    """
    try:
        converted = pa.array(cells, from_pandas=True)
        if cells.dtype != object or pa.types.is_string(converted.type):
            return converted
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    return pa.array([_readable(cell) for cell in cells], pa.string())


def _readable(cell: object) -> str | None:
    """The text of a cell; None for one that cannot tell it, whatever it raises."""
    try:
        return _text(cell)
    except Exception:  # a cell may be any Python object
        return None


def _text(cell: object) -> str | None:
    """The text that `schema.cell_values` gives the same value in a typed column."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (float, np.floating)):
        return None if np.isnan(cell) else str(int(cell)) if np.isfinite(cell) and cell == int(cell) else str(cell)
    if isinstance(cell, (bytes, bytearray)):
        return bytes(cell).decode("utf-8", "replace")
    return str(cell).encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored
