"""Batches from files that may be damaged: checked before anything follows an offset or an index in them.

Arrow trusts what a file says. An offset beyond a buffer, or an index beyond a dictionary, is followed when a value is read, and
ends the process. What is checked here is the structure. What a cell holds never decides whether a file is read: bytes that
are not UTF-8, which some writers leave in columns of text, are replaced by U+FFFD for a holder who writes them down, and kept for
the private verbs: two people whose names are repaired alike are two people.
"""

from __future__ import annotations

from decimal import Decimal
from os import PathLike, fspath

import pyarrow as pa
import pyarrow.compute as pc

from cloister.sources.source import retold

__all__ = ["plain_batch", "read_table", "sound_batch"]

_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}
"""What texts are, if not all of them are UTF-8."""
_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def read_table(path: str | PathLike[str]) -> pa.Table:
    """A whole Parquet file of this machine, such as a result that Cloister wrote."""
    from pyarrow import parquet

    with retold(fspath(path)), parquet.ParquetFile(path) as file:
        batches = [sound_batch(batch) for batch in file.iter_batches(use_threads=False)]
        return pa.Table.from_batches(batches, file.schema_arrow)


def sound_batch(batch: pa.RecordBatch, keep_bytes: bool = False) -> pa.RecordBatch:
    """The batch, if it can be read without harm; pyarrow.ArrowInvalid if not.

    `keep_bytes`: texts that are not UTF-8 stay as they are, for readers that take any bytes (`schema.cell_values`).
    """
    stored = batch.columns
    columns = [_sound(column, keep_bytes) for column in stored]
    if all(column is old for column, old in zip(columns, stored, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def plain_batch(batch: pa.RecordBatch, keep_bytes: bool = False) -> pa.RecordBatch:
    """A sound batch in which no text is a view and no column is written in runs: many of Arrow's functions know neither.

    What a cell reads as does not change.
    """
    sound = sound_batch(batch, keep_bytes)
    if not any(_is_unusual(field.type) for field in sound.schema):
        return sound
    return pa.RecordBatch.from_arrays([_plain(column) for column in sound.columns], names=sound.schema.names)


def _is_unusual(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _is_unusual(kind.storage_type) or kind.storage_type in _BYTES
    if pa.types.is_dictionary(kind):
        return _is_unusual(kind.value_type)
    return bool(pa.types.is_run_end_encoded(kind)) or kind in _VIEWS


def _plain(column: pa.Array) -> pa.Array:
    kind = column.type
    if not _is_unusual(kind):
        return column
    if isinstance(column, pa.ExtensionArray):
        return _plain(column.storage)
    if pa.types.is_run_end_encoded(kind):
        values = _plain(column.values)  # taken by their places: Arrow cannot write out runs of codes, or of any bytes
        places = pa.RunEndEncodedArray.from_arrays(column.run_ends, pa.array(range(len(values)), pa.int64()))
        return values.take(pc.run_end_decode(places.slice(column.offset, len(column))))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(column.indices, _plain(column.dictionary), ordered=kind.ordered)
    return column.cast(_VIEWS[kind])


def _sound(column: pa.Array, keep_bytes: bool) -> pa.Array:
    column.validate()  # lengths and sizes of buffers, whatever the type
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        stored = column.storage
        values = _sound(stored, keep_bytes)
        return column if values is stored else pa.ExtensionArray.from_storage(kind, values)
    if pa.types.is_dictionary(kind):
        return _sound_dictionary(column, keep_bytes)
    if pa.types.is_run_end_encoded(kind):
        return _sound_runs(column, keep_bytes)
    if kind in _BYTES:
        return _sound_text(column, keep_bytes)
    if pa.types.is_decimal(kind):
        return _sound_decimals(column)
    if not pa.types.is_primitive(kind):  # any number is one: only lengths, offsets and indices can do harm
        column.validate(full=True)
    return column


def _sound_dictionary(column: pa.DictionaryArray, keep_bytes: bool) -> pa.DictionaryArray:
    stored = column.dictionary
    values = _sound(stored, keep_bytes)
    if values is not stored:
        column = pa.DictionaryArray.from_arrays(column.indices, values, ordered=column.type.ordered)
    # the values are sound: what is left to look at is the indices
    pa.DictionaryArray.from_arrays(column.indices, pa.nulls(len(values)), safe=False).validate(full=True)
    return column


def _sound_runs(column: pa.RunEndEncodedArray, keep_bytes: bool) -> pa.RunEndEncodedArray:
    stored = column.values
    values = _sound(stored, keep_bytes)
    if values is not stored:
        whole = pa.RunEndEncodedArray.from_arrays(column.run_ends, values)
        column = whole.slice(column.offset, len(column))
    ends = pa.RunEndEncodedArray.from_arrays(column.run_ends, pa.nulls(len(values)))
    ends.slice(column.offset, len(column)).validate(full=True)
    return column


def _sound_text(column: pa.Array, keep_bytes: bool) -> pa.Array:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raw = pa.Array.from_buffers(_BYTES[column.type], len(column), column.buffers(), offset=column.offset)
        raw.validate(full=True)  # the offsets are in order: only the text is not
        if keep_bytes:
            return column
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
