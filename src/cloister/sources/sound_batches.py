"""Batches from files that may be damaged: checked before anything follows an offset or an index in them.

Arrow trusts what a file says. An offset beyond a buffer, or an index beyond a dictionary, is followed when a value is read, and
ends the process. What is checked here is the structure. What a cell holds never decides whether a file is read: bytes that
are not UTF-8, which some writers leave in columns of text, are replaced by U+FFFD.
"""

from __future__ import annotations

from decimal import Decimal
from os import PathLike, fspath

import pyarrow as pa

from cloister.sources.source import retold

__all__ = ["read_table", "sound_batch"]

_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}
"""What texts are, if not all of them are UTF-8."""


def read_table(path: str | PathLike[str]) -> pa.Table:
    """A whole Parquet file of this machine, such as a result that Cloister wrote."""
    from pyarrow import parquet

    with retold(fspath(path)), parquet.ParquetFile(path) as file:
        batches = [sound_batch(batch) for batch in file.iter_batches(use_threads=False)]
        return pa.Table.from_batches(batches, file.schema_arrow)


def sound_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if it can be read without harm; pyarrow.ArrowInvalid if not."""
    stored = batch.columns
    columns = [_sound(column) for column in stored]
    if all(column is old for column, old in zip(columns, stored, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _sound(column: pa.Array) -> pa.Array:
    column.validate()  # lengths and sizes of buffers, whatever the type
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        stored = column.storage
        values = _sound(stored)
        return column if values is stored else pa.ExtensionArray.from_storage(kind, values)
    if pa.types.is_dictionary(kind):
        return _sound_dictionary(column)
    if pa.types.is_run_end_encoded(kind):
        return _sound_runs(column)
    if kind in _BYTES:
        return _sound_text(column)
    if pa.types.is_decimal(kind):
        return _sound_decimals(column)
    if not pa.types.is_primitive(kind):  # any number is one: only lengths, offsets and indices can do harm
        column.validate(full=True)
    return column


def _sound_dictionary(column: pa.DictionaryArray) -> pa.DictionaryArray:
    stored = column.dictionary
    values = _sound(stored)
    if values is not stored:
        column = pa.DictionaryArray.from_arrays(column.indices, values, ordered=column.type.ordered)
    column.validate(full=True)
    return column


def _sound_runs(column: pa.RunEndEncodedArray) -> pa.RunEndEncodedArray:
    stored = column.values
    values = _sound(stored)
    if values is not stored:
        whole = pa.RunEndEncodedArray.from_arrays(column.run_ends, values)
        column = whole.slice(column.offset, len(column))
    column.validate(full=True)
    return column


def _sound_text(column: pa.Array) -> pa.Array:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raw = pa.Array.from_buffers(_BYTES[column.type], len(column), column.buffers(), offset=column.offset)
        raw.validate(full=True)  # the offsets are in order: only the text is not
        return pa.array([None if cell is None else cell.decode("utf-8", "replace") for cell in raw.to_pylist()], column.type)
    return column


def _sound_decimals(column: pa.Array) -> pa.Array:
    """Decimals; null where one has more digits than its type."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        kind, raw = column.type, column.buffers()[1].to_pybytes()
        starts = range(column.offset * kind.byte_width, (column.offset + len(column)) * kind.byte_width, kind.byte_width)
        digits = [int.from_bytes(raw[start : start + kind.byte_width], "little", signed=True) for start in starts]
        cells = [
            _decimal(number, kind.scale) if there and abs(number) < 10**kind.precision else None
            for number, there in zip(digits, column.is_valid().to_pylist(), strict=True)
        ]
        return pa.array(cells, kind)
    return column


def _decimal(number: int, scale: int) -> Decimal:
    """A whole number with its point moved; built of its digits, since arithmetic would follow the thread's own context."""
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -scale))
