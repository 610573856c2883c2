"""How a Python object in a list, an object array or an object column is read: each cell by itself, by its type.

A cell becomes its text, which `schema.cell_values` reads as it reads any text: a number is written so that reading gives the same
float64 back, to the last bit, infinite ones too. So a number reads alike in a column of numbers and in a column of objects.

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

__all__ = ["cell_text", "row_cells", "text_column", "unmasked"]

_INFINITE = "1e999"  # what the rule of texts reads as infinite; the word "inf" is a text
_LONGEST = 400  # decimal places before or after the point: beyond, a number is infinite or zero as a float64
_LONGEST_BITS = 1100  # of an integer that may still be finite as a float64


def text_column(cells: Iterable[object]) -> pa.Array:
    """The texts of cells as a column; null where a cell cannot be read."""
    # wide offsets: no batch holds too much text for them, so that no cell decides whether a column can be made
    return pa.array([cell_text(cell) for cell in cells], pa.large_string())


def cell_text(cell: object) -> str | None:
    """The text of any Python object; None where it has none. Never raises.

    >>> [cell_text(cell) for cell in (0.1, 3.0, 10**30, True, " a ", b"b", float("inf"), float("nan"), None, [1], 1j)]
    ['0.1', '3', '1000000000000000000000000000000', 'true', ' a ', 'b', '1e999', None, None, None, None]
    """
    if type(cell) is float:  # the most common cell, without the search for its rule
        return _float_text(cell)
    try:
        return _text(cell)
    except Exception:  # a subclass may break what its base class promises
        return None


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


def _cells(row: object) -> list[object]:
    for kind, iterate in _ROW_TYPES.items():
        if issubclass(type(row), kind):
            return list(iterate(row))
    return []


def _array_cells(row: NDArray[Any]) -> Iterable[object]:
    """The cells of an array of one dimension; a masked cell is unreadable, and so is all of an array of another shape."""
    if np.ndarray.ndim.__get__(row) != 1:
        return ()
    return unmasked(row)


def unmasked(cells: NDArray[Any]) -> NDArray[Any]:
    """An array without a mask: a masked cell holds nothing."""
    if isinstance(cells, np.ma.MaskedArray):
        filled: NDArray[Any] = np.ma.filled(cells.astype(object), None)
        return filled
    return np.asarray(cells)


_ROW_TYPES: dict[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    np.ndarray: _array_cells,
    array.array: lambda row: array.array.__iter__(row),
    range: lambda row: range.__iter__(row),
}


@singledispatch
def _text(cell: object) -> str | None:
    """The text of a cell of a type that no rule below names: there is none."""
    return None


@_text.register
def _(cell: str) -> str | None:
    return str.encode(cell, "utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored


@_text.register(bytes)
@_text.register(bytearray)
def _(cell: bytes | bytearray) -> str | None:
    return bytes.decode(bytes(cell), "utf-8", "replace")


@_text.register
def _float_text(cell: float) -> str | None:
    if float.__ne__(cell, cell):
        return None
    if float.__abs__(cell) == float("inf"):
        return _INFINITE if float.__gt__(cell, 0.0) else f"-{_INFINITE}"
    if float.__abs__(cell) < 2**63 and float.is_integer(cell):
        return str(float.__trunc__(cell))
    return float.__repr__(cell)


@_text.register(np.floating)
def _(cell: np.floating[Any]) -> str | None:
    return _float_text(float(cell))  # a narrower float is widened, which changes no value


@_text.register
def _int_text(cell: int) -> str | None:
    if int.bit_length(cell) > _LONGEST_BITS:
        return _INFINITE if int.__gt__(cell, 0) else f"-{_INFINITE}"
    return int.__repr__(cell)


@_text.register(np.integer)
def _(cell: np.integer[Any]) -> str | None:
    return int.__repr__(int(cell))


@_text.register(bool)
@_text.register(np.bool_)
def _(cell: bool | np.bool_) -> str | None:
    return "true" if cell else "false"


@_text.register
def _(cell: Decimal) -> str | None:
    if cell.is_nan():
        return None
    if cell.is_infinite() or (cell and cell.adjusted() > _LONGEST):
        return f"-{_INFINITE}" if cell.is_signed() else _INFINITE
    if not cell or cell.adjusted() < -_LONGEST:
        return "0"
    text = f"{cell:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@_text.register
def _(cell: Fraction) -> str | None:
    try:
        return _float_text(Fraction.__float__(cell))
    except OverflowError:
        return _INFINITE if cell > 0 else f"-{_INFINITE}"


@_text.register(datetime.date)
@_text.register(datetime.time)
def _(cell: datetime.date | datetime.time) -> str | None:
    return None if type(cell).__name__ == "NaTType" else str(cell)  # pandas' NaT is a datetime by inheritance


@_text.register
def _(cell: datetime.timedelta) -> str | None:
    return None if type(cell).__name__ == "NaTType" else _float_text(cell / datetime.timedelta(days=1))


@_text.register(np.datetime64)
def _(cell: np.datetime64) -> str | None:
    return None if np.isnat(cell) else str(cell).replace("T", " ")


@_text.register(np.timedelta64)
def _(cell: np.timedelta64) -> str | None:
    return None if np.isnat(cell) else _float_text(float(cell / np.timedelta64(1, "D")))


@_text.register
def _(cell: uuid.UUID) -> str | None:
    return str(cell)
