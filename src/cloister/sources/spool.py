"""Rows that come once, or may change between passes, kept in a temporary file: results of queries, generators of batches.

A fit goes through its rows several times, and every pass must see the same rows in the same order: secret samples are drawn
by places. A database promises neither without holding a transaction open for all of that time, and a generator is used up
by the first pass. So the rows are written to a file once, when they are first asked for, and all passes read that.

Privacy
-------
The file has no name in any folder and ends with this process, however that ends; only its owner could open it (0600). The
types of its columns are declared before a row is read; whether the rows fit them is up to whoever declares.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any
from weakref import finalize

import pyarrow as pa

from cloister.errors import CloisterError, DataError, raise_alone
from cloister.sources.sound_batches import plain_batch
from cloister.sources.source import BATCH_ROWS, check_scales, distinct, nested_names, present, retold, text_names

__all__ = ["Spool", "SpooledSource"]

ON_DISK = "/var/tmp"  # where large temporary files belong: /tmp may be memory


@dataclass
class Spool:
    """A temporary file of record batches, written once."""

    schema: pa.Schema
    fill: Callable[[], Iterable[pa.RecordBatch]]  # called once, when the rows are first asked for
    shown: str  # what messages call the rows
    file: IO[bytes] | None = None
    locked: Lock = field(default_factory=Lock)  # held while the file is written, and while its position counts

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns, in the order in which they came."""
        with self.locked:
            file = self.file = self.file or self._filled()
        places = [self.schema.get_field_index(name) for name in names]
        # a pass over no columns still counts rows
        options = pa.ipc.IpcReadOptions(included_fields=places or [0], use_threads=False)
        with closing(pa.PythonFile(_Shared(file, self.locked), "r")) as opened:
            reader = pa.ipc.open_file(opened, options=options)
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).select(list(names))

    def _filled(self) -> IO[bytes]:
        file: IO[bytes] = tempfile.TemporaryFile(dir=spool_folder())  # noqa: SIM115
        try:
            with closing(pa.PythonFile(file, "w")) as opened, ExitStack() as written:
                writer = None
                for batch in map(_decoded, self.fill()):
                    writer = writer or written.enter_context(pa.ipc.new_file(opened, batch.schema))
                    for start in range(0, batch.num_rows, BATCH_ROWS):
                        writer.write_batch(batch.slice(start, BATCH_ROWS))
                if writer is None:
                    written.enter_context(pa.ipc.new_file(opened, self.schema))
                written.close()
                file.flush()
                file = os.fdopen(os.dup(file.fileno()), "rb")  # pyarrow closes the one that it wrote to
                finalize(self, file.close)
            self.fill = tuple  # lets go of the connection or the generator
            return file
        except CloisterError:
            raise
        except OSError:
            raise_alone(
                DataError(
                    f"{self.shown}: its rows are kept in a temporary file, which could not be written. Make room in "
                    f"{spool_folder() or tempfile.gettempdir()}, or set TMPDIR to a folder with room."
                )
            )


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with values in place of codes: a file has one dictionary a column, and later batches may have other words."""
    plain = plain_batch(batch, keep_bytes=True)
    columns = [_values(column) if pa.types.is_dictionary(column.type) else column for column in plain.columns]
    return pa.RecordBatch.from_arrays(columns, names=plain.schema.names)


def _values(column: pa.DictionaryArray) -> pa.Array:
    """What the codes stand for; of texts with offsets of 64 bits, as a long word may be repeated."""
    words = column.dictionary
    large = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(words.type)
    return (words if large is None else words.cast(large, safe=False)).take(column.indices)


class _Shared(io.RawIOBase):
    """One reader of a file that several read: it has a position of its own."""

    def __init__(self, file: IO[bytes], locked: Lock) -> None:
        self._file, self._locked, self._at = file, locked, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (os.fstat(self._file.fileno()).st_size if start is None else start)
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        with self._locked:
            self._file.seek(self._at)
            piece = self._file.read(size)
        self._at += len(piece)
        return piece


def spool_folder() -> str | None:
    """Where large temporary files go; None: where Python puts them."""
    return ON_DISK if "TMPDIR" not in os.environ and os.access(ON_DISK, os.W_OK) else None


class SpooledSource:
    """Rows of declared types that are kept in a temporary file from the first pass on."""

    in_memory = False
    typed = True

    def __init__(self, schema: pa.Schema, fill: Callable[[], Iterable[pa.RecordBatch]], shown: str) -> None:
        self.names = distinct(schema.names, shown)
        check_scales((column.name, column.type) for column in schema)
        self.texts = text_names(schema)
        self.nested = nested_names(schema)
        self.shown = shown
        self._spool = Spool(schema, fill, shown)
        self._keep_bytes = False

    def keeping_kinds(self) -> Any:
        """The same rows, in which texts that are not UTF-8 stay as they are."""
        kept = copy(self)
        kept._keep_bytes = True
        return kept

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order in which they came."""
        return self._batches(present(self.names, columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with retold(self.shown):
            yield from (plain_batch(batch, self._keep_bytes) for batch in self._spool.batches(names))
