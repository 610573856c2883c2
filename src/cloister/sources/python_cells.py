"""How a Python object in a list, an object array or an object column is read: each cell by itself, by its type.

A cell keeps its type: a column of objects is an Arrow union, whose numbers, texts and dates `schema.cell_values` reads as it
reads columns of nothing but those. So a number reads alike, to the last bit, in a column of numbers and in a column of objects,
whatever stands beside it.

Privacy
-------
One cell, one rule: what a cell becomes depends on the cell alone, never on other cells of its row, column or table. Only
types that are listed here are asked for anything; any other object is an unreadable cell, and none of its methods is called.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.silent_reading import silently
from cloister.sources.class_facts import is_one_of, own_dict
from cloister.sources.known_zones import forget_zones
from cloister.sources.object_rules import KINDS, MOST_DIGITS, TIMES, read_cell
from cloister.sources.series_rows import series_cells

__all__ = [
    "beside_days",
    "cell_column",
    "named_cells",
    "raw_text_column",
    "row_cells",
    "row_width",
    "text_column",
    "unmasked",
]

_CODES = {kind: code for code, kind in enumerate(KINDS)}
_NAMED = {
    "named": "float",
    "named text": "text",
    **{f"zoned {unit}": unit for unit in ("s", "ms", "us", "ns")},
}  # what the cells with a name beside them read as


@contextmanager
def _reading() -> Iterator[None]:
    """How a column of objects is read, from its first cell to its last."""
    forget_zones()
    with silently():
        yield


@_reading()
def cell_column(cells: Iterable[object]) -> pa.Array:
    """Cells as a column in which each keeps its kind."""
    codes, offsets = [], []
    values: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for cell in cells:
        kind, value = read_cell(cell)
        codes.append(_CODES[kind])
        offsets.append(len(values[kind]))
        values[kind].append(value)
    children = [_child(values[kind], kind) for kind in KINDS]
    return pa.UnionArray.from_dense(pa.array(codes, pa.int8()), pa.array(offsets, pa.int32()), children, list(KINDS))


def beside_days(days: pa.Array, far: NDArray[np.bool_], counts: NDArray[np.int64]) -> pa.Array:
    """Days, and beside them those that Arrow has no room for, which are unreadable but told apart, as `cell_column` has them."""
    kind, type = "named", KINDS["named"]
    named = pa.array([read_cell(np.datetime64(int(count), "D"))[1] for count in counts[far]], pa.struct(list(type)))
    offsets = np.where(far, np.cumsum(far) - 1, np.arange(len(days))).astype(np.int32)
    return pa.UnionArray.from_dense(pa.array(far.astype(np.int8)), pa.array(offsets), [days, named], ["D", kind])


@_reading()
def text_column(cells: Iterable[object]) -> pa.Array:
    """Cells as a column of texts, for a holder who writes them down; null where a cell cannot be read."""
    return pa.array([_text(*read_cell(cell)) for cell in cells], pa.large_string())


@_reading()
def raw_text_column(cells: Iterable[object], type: pa.DataType) -> pa.Array:
    """Cells as a column of texts of this type; a text that UTF-8 lacks keeps its bytes, a cell that is no text is null."""
    read = [read_cell(cell) for cell in cells]
    raw = [value if kind == "text" else _text(kind, value) for kind, value in read]
    return _of_raw(raw, type)


def row_cells(row: object, width: int) -> Sequence[object]:
    """The cells of one row of a list, as many as the table has columns; no more of them are looked at. Never raises.

    A row that is too short is filled up with unreadable cells, a longer one is cut, and what is no row at all (a number, a
    text, None) is a row of unreadable cells.
    """
    try:
        cells = _cells(row, width)
    except KeyboardInterrupt:
        raise
    except BaseException:  # as of a cell: a row may be any object
        cells = []
    return [*cells, *[None] * (width - len(cells))]


def row_width(row: object, most: int) -> int:
    """How many cells a row that is a list has, `most` or more of them counted as `most`; 0 for any other. Never raises."""
    try:
        return len(_cells(row, most))
    except Exception:
        return 0


def named_cells(row: Any, names: Sequence[str], narrow: Sequence[str] = ()) -> Sequence[object]:
    """The cells of one row of a table with these columns: those of a dict by its keys, any other row's by their order.

    A row of just as many cells as `narrow`, some of the names, has those columns.
    """
    if not issubclass(type(row), dict):
        if not narrow or row_width(row, len(names)) != len(narrow):
            return row_cells(row, len(names))
        row = dict(zip(narrow, row_cells(row, len(narrow)), strict=True))
    # a key that is no text may be any object, and is not asked whether it equals a name
    by_name = {str.__str__(key): value for key, value in dict.items(row) if is_one_of(type(key), (str, np.str_))}
    return [by_name.get(name) for name in names]


def unmasked(cells: NDArray[Any]) -> NDArray[Any]:
    """An array without a mask: a masked cell holds nothing."""
    if not isinstance(cells, np.ma.MaskedArray):
        return np.asarray(cells)
    stored = np.asarray(np.ma.getdata(cells))
    # each cell as NumPy's own scalar: .astype(object) makes plain integers of nanoseconds, and wider numbers of narrow ones
    bare: NDArray[Any] = np.fromiter(stored.flat, dtype=object, count=stored.size).reshape(stored.shape)
    bare[np.ma.getmaskarray(cells)] = None
    return bare


def _child(values: list[Any], kind: str) -> pa.Array:
    """The cells of one kind."""
    type = KINDS[kind]
    return _of_raw(values, type) if kind == "text" else pa.array(values, TIMES.get(kind, type)).cast(type)


def _of_raw(texts: list[Any], type: pa.DataType) -> pa.Array:
    """Texts as an array of this type, which Arrow does not look into: some may be bytes that are not UTF-8."""
    wide = pa.types.is_large_string(type)
    return pa.array(texts, pa.large_binary() if wide else pa.binary()).view(type)


def _cells(row: object, width: int) -> list[object]:
    for kind, first in _ROW_TYPES.items():
        if issubclass(type(row), kind):
            return list(islice(first(row, width), width))
    return series_cells(row, width)


def _array_cells(row: NDArray[Any], width: int) -> Iterable[object]:
    if issubclass(type(row), np.ma.MaskedArray):  # by its real class, not by what it says of itself
        return _masked_cells(row, width) if type(row) is np.ma.MaskedArray else ()
    bare = np.asarray(row)  # of a subclass, too, without its methods
    return bare[:width] if bare.ndim == 1 else ()


def _masked_cells(row: Any, width: int) -> Iterable[object]:
    """The cells of a masked array, by what it stores: its own methods call those of the class that it was made of."""
    mask = own_dict(row).get("_mask", np.ma.nomask)
    is_masked = issubclass(type(mask), np.ndarray)
    stored, hidden = np.asarray(row), np.asarray(mask) if is_masked else np.zeros((), np.bool_)
    if (
        stored.ndim != 1
        or (hidden.shape != stored.shape if is_masked else mask is not np.ma.nomask)
        or hidden.dtype != np.bool_
    ):
        return ()
    covered = np.broadcast_to(hidden, stored.shape)
    return [None if cover else cell for cell, cover in zip(stored[:width], covered[:width], strict=True)]


_ROW_TYPES: dict[type, Callable[[Any, int], Iterable[object]]] = {
    list: lambda row, width: list.__iter__(row),
    tuple: lambda row, width: tuple.__iter__(row),
    np.ndarray: _array_cells,
    array.array: lambda row, width: array.array.__iter__(row),
    range: lambda row, width: range.__iter__(row),
}


def _text(kind: str, value: Any) -> str | None:
    """The text that `schema.cell_values` gives the same value in a column of its own kind."""
    if value is None:
        return None
    if kind in ("text", "bytes"):
        return str(value) if isinstance(value, str) else value.decode("utf-8", "replace")
    if kind in _NAMED:
        return _text(_NAMED[kind], value[0])
    if kind in TIMES:
        return _time_text(kind, value)
    if kind == "bool":
        return "true" if value else "false"
    if kind in ("int", "uint", "whole"):
        return str(value)
    if np.isnan(value):
        return None
    if abs(value) < 10**MOST_DIGITS and value == int(value):
        return str(int(value))
    return str(np.float64(value) if kind == "float" else value)  # the shortest text of its own width


def _time_text(kind: str, count: int) -> str | None:
    """A day, a moment or a time of day; a duration has no text."""
    if kind.startswith("duration"):
        return None
    unit = "us" if kind == "time" else kind
    written = str(np.array([count]).view(f"datetime64[{unit}]")[0]).replace("T", " ")
    short = written.rstrip("0").rstrip(".") if "." in written else written
    return short[len("1970-01-01 ") :] if kind == "time" else short
