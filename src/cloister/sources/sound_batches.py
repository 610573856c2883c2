"""Batches from files that may be damaged: checked before anything follows an offset or an index in them.

Arrow trusts what a file says. An offset beyond a buffer, or an index beyond a dictionary, is followed when a value is read, and
ends the process. What is checked here is the structure. What a cell holds never decides whether a file is read: bytes that
are not UTF-8, which some writers leave in columns of text, are replaced by U+FFFD.
"""

from __future__ import annotations

from os import PathLike, fspath

import pyarrow as pa

from cloister.sources.source import retold

__all__ = ["read_table", "sound_batch"]


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
    if pa.types.is_dictionary(kind):
        return _sound_dictionary(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _sound_text(column)
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


def _sound_text(column: pa.Array) -> pa.Array:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        plain = pa.binary() if pa.types.is_string(column.type) else pa.large_binary()
        raw = pa.Array.from_buffers(plain, len(column), column.buffers(), offset=column.offset)
        raw.validate(full=True)  # the offsets are in order: only the text is not
        return pa.array([None if cell is None else cell.decode("utf-8", "replace") for cell in raw.to_pylist()], column.type)
    return column
