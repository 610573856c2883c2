"""The rows of a table on their way out: quasi-identifiers recoded, identifiers dropped or replaced, the rest untouched."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import SinkError, SourceError, UsageError
from cloister.schema import Schema
from cloister.schema.cell_values import texts
from cloister.schema.plain_arrays import plain_cells, plain_type
from cloister.sinks.batch_writer import check_storable
from cloister.sinks.column_types import check_have_text, has_text
from cloister.sinks.excel_writer import marked_by
from cloister.sinks.output_cells import TEXT_FORMATS, TITLES, fit_cells, format_of, is_text
from cloister.sources.source import nested_names

__all__ = ["Rewriting", "format_of", "make_rewriting", "read_key"]

_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
SHORTEST_KEY = 16  # bytes
_PSEUDONYM_CHARACTERS = 32  # 128 bits: no two people get the same by chance


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A recoding of whole rows: the row map that the engines run.

    Privacy
    -------
    The key of the pseudonyms is in here while it runs. It is not shown and not written.
    """

    recoding: Recoding
    columns: tuple[str, ...]  # read, in the order of the table
    schema: pa.Schema  # written
    pseudonyms: tuple[str, ...] = ()
    key: bytes = field(default=b"", repr=False)

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """One batch."""
        batch = self._rewrite(self._plain(batch))
        columns = []
        for name, kind in zip(self.schema.names, self.schema.types, strict=True):
            cells = batch.column(batch.schema.get_field_index(name))
            if name in self.pseudonyms:
                columns.append(_pseudonyms(cells, self.key))
            elif cells.type == kind:
                columns.append(cells)
            else:
                columns.append(fit_cells(cells, kind, name))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _plain(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch that Arrow can filter: columns that are not recoded in plain layouts."""
        for at, (name, kind) in enumerate(zip(batch.schema.names, batch.schema.types, strict=True)):
            if name not in self.recoding.names and plain_type(kind) != kind:
                batch = batch.set_column(at, name, plain_cells(batch.column(at)))
        return batch

    @cached_property
    def _rewrite(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        return self.recoding.rewriter()

    def __getstate__(self) -> dict[str, Any]:  # the cached rewriter is built again in each process
        return {each.name: getattr(self, each.name) for each in fields(self)}


def make_rewriting(
    recoding: Recoding,
    types: pa.Schema,
    dropped: Sequence[str],
    pseudonyms: Sequence[str],
    key: bytes,
    format: str,
    sensitive: Sequence[str] = (),
    schema: Schema | None = None,
) -> Rewriting:
    """How rows with columns of these types are written; `sensitive` columns are read again by the text of their cells.

    Columns that the `schema` calls categories or text hold texts in a workbook, also codes that look like numbers.
    """
    check_have_text(types, [*recoding.names, *pseudonyms])
    out = []
    for column in types:
        # values are stored one by one: a dictionary of all values would show those of removed rows
        column = column.with_type(plain_type(column.type))
        if column.name in dropped and column.name not in pseudonyms:
            continue
        if column.name in recoding.names or column.name in pseudonyms:
            out.append(pa.field(column.name, pa.string()))
        elif format in TEXT_FORMATS:
            kind = column.type
            if not has_text(kind):
                what = "lists or structs" if nested_names(pa.schema([column])) else str(kind)
                raise SinkError(
                    f'column "{column.name}" holds {what}, which {TITLES[format]} cannot. Write Parquet, or drop it.'
                )
            if (
                column.name in sensitive
                and pa.types.is_timestamp(kind)
                and kind.tz not in (None, "UTC", "Etc/UTC", "+00:00")
            ):
                raise SinkError(
                    f'column "{column.name}" holds moments with a zone, which {TITLES[format]} does not keep: their days, by '
                    "which the guards tell them apart, would be others. Write Parquet, or convert it to dates."
                )
            is_number = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind)
            is_plain = is_text(kind) or (is_number and not (pa.types.is_floating(kind) and column.name in sensitive))
            out.append(pa.field(column.name, kind if is_plain else pa.string()))
        else:
            out.append(pa.field(column.name, column.type))
    written = pa.schema(out)
    check_storable(written, format)
    if format == "xlsx":
        written = marked_by(schema, written)
    read = [column.name for column in types if column.name not in dropped or column.name in pseudonyms]
    return Rewriting(recoding, tuple(read), written, tuple(pseudonyms), key)


def read_key(file: str | os.PathLike[str] | None, variable: str | None) -> bytes:
    """The key of the pseudonyms, from a file or from a variable of the environment; blanks around it do not count."""
    if (file is None) == (variable is None):
        raise UsageError("pseudonyms need a key: give a file that holds it, or the name of an environment variable.")
    if file is not None:
        try:
            key = Path(file).read_bytes().strip()
        except OSError:
            raise SourceError(f"the key file {file} cannot be read. Check the path and your rights.") from None
    else:
        key = os.environ.get(str(variable), "").strip().encode()
        if not key:
            raise UsageError(f"the environment variable {variable} is not set. Put the key of the pseudonyms into it.")
    if len(key) < SHORTEST_KEY:
        raise UsageError(
            f"the key of the pseudonyms has {len(key)} characters, and fewer than {SHORTEST_KEY} can be guessed. "
            "Make one with: openssl rand -hex 32"
        )
    return key


def _pseudonyms(cells: pa.Array, key: bytes) -> pa.Array:
    """A keyed hash of each cell's text; of bytes that are no UTF-8, and have no text, of the bytes. A blank stays a blank."""
    is_bytes = any(is_kind(cells.type) for is_kind in _BYTES)
    encoded = (cells if is_bytes else texts(cells)).dictionary_encode()
    words = texts(encoded.dictionary).to_pylist()
    known = [word.encode() if word else None for word in words]
    if is_bytes:
        raw = encoded.dictionary.to_pylist()
        known = [cell if word and not _is_utf8(cell) else word for cell, word in zip(raw, known, strict=True)]
    hashes = [hmac.new(key, word, hashlib.sha256).hexdigest()[:_PSEUDONYM_CHARACTERS] if word else None for word in known]
    return pa.array(hashes, pa.string()).take(encoded.indices)


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
