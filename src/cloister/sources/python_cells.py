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
import datetime
import uuid
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["cell_column", "row_cells", "text_column", "unmasked"]

_MOST_DIGITS = 76  # of a whole number that keeps all of them
_KINDS = {
    "text": pa.large_string(),  # wide offsets: no batch holds too much text for them
    "float": pa.float64(),
    "float32": pa.float32(),
    "float16": pa.float16(),
    "int": pa.int64(),
    "uint": pa.uint64(),
    "whole": pa.decimal256(_MOST_DIGITS, 0),
    "bool": pa.bool_(),
    "D": pa.date32(),
    **{unit: pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"duration {unit}": pa.duration(unit) for unit in ("s", "ms", "us", "ns")},
}
_CODES = {kind: code for code, kind in enumerate(_KINDS)}
_COUNTED = {kind: pa.int32() if kind == "D" else pa.int64() for kind, type in _KINDS.items() if pa.types.is_temporal(type)}
_EPOCH = datetime.datetime(1970, 1, 1)

Cell = tuple[str, Any]
"""The kind of a cell, a key of `_KINDS`, and its value; None: there is none to read."""
UNREADABLE: Cell = ("text", None)


def cell_column(cells: Iterable[object]) -> pa.Array:
    """Cells as a column in which each keeps its kind."""
    codes, offsets = [], []
    values: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    for cell in cells:
        kind, value = read_cell(cell)
        codes.append(_CODES[kind])
        offsets.append(len(values[kind]))
        values[kind].append(value)
    children = [pa.array(values[kind], _COUNTED.get(kind, type)).cast(type) for kind, type in _KINDS.items()]
    return pa.UnionArray.from_dense(pa.array(codes, pa.int8()), pa.array(offsets, pa.int32()), children, list(_KINDS))


def text_column(cells: Iterable[object]) -> pa.Array:
    """Cells as a column of texts, for a holder who writes them down; null where a cell cannot be read."""
    return pa.array([_text(*read_cell(cell)) for cell in cells], pa.large_string())


def row_cells(row: object, width: int) -> Sequence[object]:
    """The cells of one row of a list, as many as the table has columns. Never raises.

    A row that is too short is filled up with unreadable cells, a longer one is cut, and what is no row at all (a number, a
    text, a mapping, None) is a row of unreadable cells.
    """
    try:
        cells = _cells(row)[:width]
    except Exception:  # a subclass may break what its base class promises
        cells = []
    return [*cells, *[None] * (width - len(cells))]


def read_cell(cell: object) -> Cell:
    """The kind and the value of any Python object. Never raises.

    >>> [read_cell(cell) for cell in (0.5, 3, True, "a", [1], 1j)]
    [('float', 0.5), ('int', 3), ('bool', True), ('text', 'a'), ('text', None), ('text', None)]
    """
    if type(cell) is float:  # the most common cell, without the search for its rule
        return "float", cell
    try:
        return _read(cell)
    except Exception:  # a subclass may break what its base class promises
        return UNREADABLE


def unmasked(cells: NDArray[Any]) -> NDArray[Any]:
    """An array without a mask: a masked cell holds nothing."""
    if not isinstance(cells, np.ma.MaskedArray):
        return np.asarray(cells)
    bare: NDArray[Any] = np.ma.getdata(cells).astype(object)
    bare[np.ma.getmaskarray(cells)] = None
    return bare


def _cells(row: object) -> list[object]:
    for kind, iterate in _ROW_TYPES.items():
        if issubclass(type(row), kind):
            return list(iterate(row))
    return list(row.array) if _pandas_name(row) == "Series" else []  # type: ignore[attr-defined]


def _pandas_name(value: object) -> str | None:
    """The name of a type of pandas, which is not imported here; None for other types."""
    kind = type(value)
    return kind.__name__ if kind.__module__.partition(".")[0] == "pandas" else None


_ROW_TYPES: dict[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    np.ndarray: lambda row: unmasked(row) if row.ndim == 1 else (),
    array.array: lambda row: array.array.__iter__(row),
    range: lambda row: range.__iter__(row),
}


@singledispatch
def _read(cell: object) -> Cell:
    """What no rule names cannot be read."""
    return ("text", str(cell)) if _pandas_name(cell) in ("Period", "Interval") else UNREADABLE


@_read.register
def _(cell: str) -> Cell:
    return "text", str.encode(cell, "utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored


@_read.register(bytes)
@_read.register(bytearray)
def _(cell: bytes | bytearray) -> Cell:
    return "text", bytes.decode(bytes(cell), "utf-8", "replace")


@_read.register
def _(cell: uuid.UUID) -> Cell:
    return "text", str(cell)


@_read.register(bool)
@_read.register(np.bool_)
def _(cell: bool | np.bool_) -> Cell:
    return "bool", bool(cell)


@_read.register
def _(cell: float) -> Cell:
    return "float", float.__float__(cell)


@_read.register(np.floating)
def _(cell: np.floating[Any]) -> Cell:
    if cell.itemsize <= 4:
        return ("float32" if cell.itemsize == 4 else "float16"), cell
    return "float", float(cell)  # a wider one is rounded, as a column of them is


@_read.register
def _(cell: int) -> Cell:
    whole = int.__int__(cell)
    if -(2**63) <= whole < 2**63:
        return "int", whole
    if 0 < whole < 2**64:
        return "uint", whole
    if abs(whole) < 10**_MOST_DIGITS:
        return "whole", Decimal(whole)
    try:
        return "float", float(whole)
    except OverflowError:
        return "float", float("inf") if whole > 0 else float("-inf")


@_read.register(np.integer)
def _(cell: np.integer[Any]) -> Cell:
    return _read(int(cell))


@_read.register
def _(cell: Decimal) -> Cell:
    return "float", float(cell)  # infinite beyond the largest


@_read.register
def _(cell: Fraction) -> Cell:
    try:
        return "float", Fraction.__float__(cell)
    except OverflowError:
        return "float", float("inf") if cell > 0 else float("-inf")


@_read.register
def _(cell: datetime.date) -> Cell:
    return "D", datetime.date.toordinal(cell) - _EPOCH.toordinal()


@_read.register
def _(cell: datetime.datetime) -> Cell:
    if hasattr(cell, "asm8"):  # of pandas, with a unit of its own; that of NaT is no number
        return _read(cell.asm8)
    naive = cell if cell.tzinfo is None else cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return "us", (naive - _EPOCH) // datetime.timedelta(microseconds=1)


@_read.register
def _(cell: datetime.time) -> Cell:
    return "text", datetime.time.isoformat(cell)


@_read.register
def _(cell: datetime.timedelta) -> Cell:
    if hasattr(cell, "asm8"):  # of pandas, with a unit of its own
        return _read(cell.asm8)
    return _counted("duration us", cell // datetime.timedelta(microseconds=1))


@_read.register(np.datetime64)
def _(cell: np.datetime64) -> Cell:
    unit, step = np.datetime_data(cell.dtype)
    return UNREADABLE if np.isnat(cell) or step != 1 else _counted(unit, int(cell.view(np.int64)))


@_read.register(np.timedelta64)
def _(cell: np.timedelta64) -> Cell:
    unit, step = np.datetime_data(cell.dtype)
    return UNREADABLE if np.isnat(cell) or step != 1 else _counted(f"duration {unit}", int(cell.view(np.int64)))


def _counted(kind: str, count: int) -> Cell:
    """A time as a count of units, if there is such a kind and it has room for the count."""
    return (kind, count) if kind in _COUNTED and abs(count) < 2 ** (31 if kind == "D" else 63) else UNREADABLE


def _text(kind: str, value: Any) -> str | None:
    """The text that `schema.cell_values` gives the same value in a column of its own kind."""
    if value is None or kind == "text":
        return value if value is None else str(value)
    if kind.startswith("duration"):
        return None
    if kind in _COUNTED:
        return str(np.array([value]).view(f"datetime64[{kind}]")[0]).replace("T", " ")
    if kind == "bool":
        return "true" if value else "false"
    if kind in ("int", "uint", "whole"):
        return str(value)
    if np.isnan(value):
        return None
    if abs(value) < 2**63 and value == int(value):
        return str(int(value))
    return str(np.float64(value) if kind == "float" else value)  # the shortest text of its own width
