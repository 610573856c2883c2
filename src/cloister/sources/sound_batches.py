"""Batches from files that may be damaged: checked before anything follows an offset or an index in them.

Arrow trusts what a file says. An offset beyond a buffer, or an index beyond a dictionary, is followed when a value is read, and
ends the process. What is checked here is the structure. What a cell holds never decides whether a file is read: bytes that
are not UTF-8, which some writers leave in columns of text, are replaced by U+FFFD for a holder who writes them down, and kept for
the private verbs: two people whose names are repaired alike are two people.
"""

from __future__ import annotations

from os import PathLike, fspath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.sources.source import retold

__all__ = ["plain_batch", "read_table", "sound_batch", "sound_column"]

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


def sound_column(cells: pa.Array | pa.ChunkedArray, keep_bytes: bool = False) -> pa.ChunkedArray:
    """A column that came without a table, with the cells that it would have in one."""
    with retold("the column"):
        batches = [sound_batch(batch, keep_bytes) for batch in pa.table([cells], names=["cells"]).to_batches()]
    return pa.chunked_array([batch.column(0) for batch in batches], cells.type)


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
    """Decimals; null where one has more digits than its type, whatever else is in the column.

    Arrow's own check does not do: it takes the least number of so many bits for one without digits.
    """
    width, (_, stored) = column.type.byte_width, column.buffers()
    if stored is None:
        return column
    cells = stored.slice(column.offset * width, len(column) * width)
    beyond = 10**column.type.precision
    fits = _are_below(cells, beyond, width) & ~_are_below(cells, 1 - beyond, width)
    there = pa.Array.from_buffers(pa.bool_(), len(fits), [None, pa.py_buffer(np.packbits(fits, bitorder="little"))])
    if pc.all(pc.or_(there, pc.is_null(column))).as_py() is not False:
        return column
    return pa.Array.from_buffers(column.type, len(column), [pc.and_(there, pc.is_valid(column)).buffers()[1], cells])


def _are_below(cells: pa.Buffer, bound: int, width: int) -> NDArray[np.bool_]:
    """Which integers of so many bytes are below another, compared digit by digit from the last."""
    digit = np.dtype(f"<u{min(width, 8)}")
    top = digit.type(1 << (8 * digit.itemsize - 1))  # the bit of the sign: turned, so that negative numbers come first
    digits = np.frombuffer(cells, digit).reshape(-1, width // digit.itemsize)
    bounds = np.frombuffer(bound.to_bytes(width, "little", signed=True), digit)
    below = np.zeros(len(digits), np.bool_)
    for place in range(len(bounds)):
        turned = top if place == len(bounds) - 1 else digit.type(0)
        here, limit = digits[:, place] ^ turned, bounds[place] ^ turned
        below = (here < limit) | ((here == limit) & below)
    return below
