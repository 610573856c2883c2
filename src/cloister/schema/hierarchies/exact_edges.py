"""Cells whose float is an edge, but whose digits may say that they lie beside it: from 2^53 on floats round whole numbers."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.schema.cell_format import CellFormat
from cloister.schema.cell_values import is_named_number, texts
from cloister.schema.numerals import WHOLE_NUMBERS
from cloister.schema.plain_arrays import plain_type

__all__ = ["rows_on_edges", "shifts_by_digits"]


def rows_on_edges(values: pa.Array, cells: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows whose float is an edge of 2^53 or more, and whose number may be another."""
    is_large = np.isfinite(edges) & (np.abs(edges) >= WHOLE_NUMBERS)
    if pa.types.is_floating(plain_type(values.type)) or not is_large.any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(cells, edges[is_large]))


def shifts_by_digits(values: pa.Array, floats: NDArray[np.float64], form: CellFormat) -> NDArray[np.float64]:
    """Whether the digits of each cell are below (-1), above (1) or at (0) its float; NaN: there are none to read."""
    if is_named_number(values.type):
        return np.full(len(values), np.nan)
    words = texts(values, form).to_pylist()
    return np.array([_shift(text, number, form) for text, number in zip(words, floats.tolist(), strict=True)], np.float64)


def _shift(text: str, number: float, form: CellFormat) -> float:
    digits = text if form.thousands is None else text.replace(form.thousands, "")
    try:
        exact, rounded = Decimal(digits.replace(form.decimal, ".")), Decimal(number)
    except InvalidOperation:
        return np.nan
    return float(exact > rounded) - float(exact < rounded)
