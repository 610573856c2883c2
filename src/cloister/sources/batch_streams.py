"""Record batches that come once: readers of Arrow, generators of batches, lazy frames of Polars.

They may be larger than memory, so they are kept in a temporary file from the first pass on (`spool`). Nothing is asked of
them before a charge but their types: a generator declares them with its first batch, and every later one must have the
same.

Privacy
-------
What a lazy frame or a generator does to make its rows is the caller's: joins, samples and limits in it are not seen here,
and the certificate says that the guarantee is per row of what came.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any
from weakref import WeakSet

import pyarrow as pa

from cloister.errors import CloisterError, DataError, SourceError, raise_alone
from cloister.sources.class_facts import is_a
from cloister.sources.sound_batches import sound_batch
from cloister.sources.source import BATCH_ROWS, retold
from cloister.sources.spool import SpooledSource

__all__ = ["from_batches", "from_lazy", "from_reader", "is_lazy"]

_READ: WeakSet[pa.RecordBatchReader] = WeakSet()  # whose rows are gone
FRAME_NOTE = (
    "The rows are those of a lazy frame, made by a plan of its owner's: the guarantee is per row of that frame, and "
    "protects a person "
    "as far as stated only if the plan (joins, samples, windows) gives that person no more rows and changes nobody else's."
)
BATCHES_NOTE = (
    "The rows came as batches that a program made: the guarantee is per row of them, and protects a person as far as "
    "stated only if the "
    "program gives that person no more rows and changes nobody else's."
)


class OneShotSource(SpooledSource):
    """Batches that come once."""

    note = ""

    def check_per_row(self) -> tuple[str, ...]:
        """What a certificate says of the rows."""
        return (self.note,) if self.note else ()


def from_reader(reader: pa.RecordBatchReader) -> OneShotSource:
    """A source over a reader of Arrow, which declares its types. No row is read."""
    if reader in _READ:
        raise SourceError(
            "this reader was read already, and its rows come once. Pass a table, as reader.read_all() gives it."
        )

    def fill() -> Iterator[pa.RecordBatch]:
        _READ.add(reader)
        yield from _checked(reader, reader.schema, "the stream")

    return OneShotSource(reader.schema, fill, "the stream")


def from_batches(batches: Iterator[Any]) -> OneShotSource:
    """A source over a generator of record batches; its first one is taken, for the types that it declares."""
    what = "the generator"
    with _told(what):
        first = next(batches, None)
    if first is None:
        raise SourceError(f"{what} gives nothing, so that its columns are not known. Let it give at least one record batch.")
    if not isinstance(first, pa.RecordBatch):
        raise SourceError(
            f"{what} gives {type(first).__name__}, and record batches of pyarrow are needed. Wrap its rows in "
            "pyarrow.RecordBatch, or "
            "pass a list."
        )
    source = OneShotSource(first.schema, lambda: _checked(chain([first], batches), first.schema, what), what)
    source.note = BATCHES_NOTE
    return source


def is_lazy(data: object) -> bool:
    """Whether this is a lazy frame of Polars."""
    polars = sys.modules.get("polars")
    return polars is not None and is_a(data, polars.LazyFrame)


def from_lazy(frame: Any) -> OneShotSource:
    """A source over a lazy frame of Polars: its plan declares names and types, and is run in pieces when rows are asked for."""
    import polars

    what = "the lazy frame"
    with _told(what):
        kinds = frame.collect_schema()
        for name, kind in kinds.items():
            if kind == polars.Object:
                raise SourceError(
                    f'column "{name}" is of the Polars type Object, whose cells leave Polars as addresses and not as '
                    "values. Cast it "
                    "to String or another type of values, or drop it."
                )
        schema = polars.DataFrame(schema=kinds).to_arrow().schema
    source = OneShotSource(schema, lambda: _checked(_lazy_batches(frame), schema, what), what)
    source.note = FRAME_NOTE
    return source


def _lazy_batches(frame: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(frame, "collect_batches"):
        parts = frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
    else:  # older Polars hands out the whole result
        parts = frame.collect().iter_slices(BATCH_ROWS)
    for part in parts:
        yield from part.to_arrow().to_batches(BATCH_ROWS)


_NO_MORE = object()  # what no program yields: None in the middle must not pass for the end


def _checked(batches: Iterable[Any], schema: pa.Schema, what: str) -> Iterator[pa.RecordBatch]:
    """The batches, all of one schema and sound; what a program of the user's raises is retold, as it may quote a value."""
    coming = iter(batches)
    while True:
        with _told(what):
            batch = next(coming, _NO_MORE)
        if batch is _NO_MORE:
            return
        if not isinstance(batch, pa.RecordBatch) or not batch.schema.equals(schema):
            raise DataError(f"{what}: a batch has other columns or types than the first. Give all of them one schema.")
        with retold(what):
            yield sound_batch(batch, keep_bytes=True)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Retell what is raised inside; a Ctrl-C stays one."""
    try:
        yield
    except CloisterError:
        raise
    except Exception:
        raise_alone(DataError(f"{what} breaks while it is read: what makes its batches failed. Look there."))
