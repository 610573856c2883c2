"""Cells of any type as texts that are equal where the cells are: as the schema reads them, otherwise as they are written.

A number or a date of a column that the schema describes is written plainly, so that ``1.242,50`` and ``1242.5`` are one value
where a comma is the decimal mark. What the column's kind does not read, such as the label ``[20, 30)``, stays as it is, and
what stands for a missing value is null.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.errors import SchemaError
from cloister.schema import Date, Kind, Number
from cloister.schema.arrow_numpy import from_numbers
from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import are_missing, days, numbers, shared_values, texts

__all__ = ["ListedCells", "list_cells", "plain_words"]

_EXACT = 2.0**53  # whole numbers from here on are not told apart by a float
_DAYS = (-719_162, 2_932_896)  # that a calendar of four digits has


@dataclass(frozen=True, slots=True, eq=False)
class ListedCells:
    """The different cells of a column, as they are typed, and which of them each row holds."""

    different: pa.Array
    places: NDArray[np.int64]  # (n,) the number behind the last for a null
    kind: Kind | None

    @property
    def words(self) -> pa.Array:
        """The text of each different cell."""
        return plain_words(self.different, self.kind)

    @property
    def published(self) -> pa.Array:
        """The text of each different cell as it is written, words for a missing value too."""
        return _texts(self.different, None)

    def quantities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each different cell as a number and as a day, as `value_codes.code_values` takes them."""
        nothing = np.full(len(self.different), np.nan)
        if isinstance(self.kind, Number):
            return numbers(self.different, self.kind.form), nothing
        if isinstance(self.kind, Date):
            return nothing, days(self.different, self.kind.form)
        words = self.words
        kind = self.different.type  # the text of a moment does not say its zone
        is_calendar = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        return numbers(words), days(self.different if is_calendar else words)


def list_cells(cells: pa.Array, name: str, kind: Kind | None = None) -> ListedCells:
    """The different cells of a column: those few are read, not all of them."""
    if shared := shared_values(cells):
        return ListedCells(*shared, kind)
    if pa.types.is_nested(cells.type):
        raise SchemaError(
            f'column "{name}" holds lists or records. Risk is measured on columns of single values: unfold it.'
        )
    try:
        encoded = cells.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        encoded = plain_words(cells, kind).dictionary_encode()
    listed = shared_values(encoded)
    assert listed is not None
    return ListedCells(*listed, kind)


def plain_words(cells: pa.Array, kind: Kind | None = None) -> pa.Array:
    """Each cell as text, what the kind reads written plainly; null for what stands for none.

    >>> german = Number(decimal=",", thousands=".", missing=("?",))
    >>> plain_words(pa.array(["1.242,50", "1242,5", "[0, 10)", "?"]), german).to_pylist()
    ['1242.5', '1242.5', '[0, 10)', None]
    """
    if not isinstance(kind, Number | Date):
        return _texts(cells, kind)
    read = days if isinstance(kind, Date) else numbers
    values = read(cells, kind.form)
    if isinstance(kind, Date):
        is_read = (values >= _DAYS[0]) & (values <= _DAYS[1])
        plain = texts(from_numbers(np.where(is_read, values, 0).astype(np.int64)).cast(pa.int32()).cast(pa.date32()))
    else:
        is_read = np.abs(values) < _EXACT
        plain = texts(pa.array(np.where(is_read, values, 0.0)))
    words = pc.if_else(pa.array(is_read), plain.cast(pa.large_string()), _texts(cells, kind).cast(pa.large_string()))
    return pc.if_else(pa.array(are_missing(cells, kind.form, read)), pa.scalar(None, pa.large_string()), words)


def _texts(cells: pa.Array, kind: Kind | None) -> pa.Array:
    """Each cell as text; bytes and durations, which no column of a schema holds, as Python writes them."""
    typed = cells.type
    if isinstance(cells, pa.ExtensionArray):
        return _texts(cells.storage, kind)
    is_bytes = pa.types.is_binary(typed) or pa.types.is_large_binary(typed) or pa.types.is_fixed_size_binary(typed)
    if pa.types.is_duration(typed):
        return cells.cast(pa.int64()).cast(pa.string())
    if is_bytes or pa.types.is_interval(typed):
        return pa.array([None if cell is None else repr(cell) for cell in cells.to_pylist()], pa.string())
    return texts(cells, PLAIN if kind is None else kind.form)
