"""Writers of record batches: Parquet and CSV, whose own errors quote cells and are retold without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from cloister.errors import CloisterError, DataError, SinkError, raise_alone

__all__ = ["BatchWriter", "check_storable", "writer_of"]


class BatchWriter:
    """Writes record batches of one schema; columns of text as they are, nulls as nothing."""

    def __init__(self, format: str, schema: pa.Schema, open_writer: Callable[[Any, pa.Schema], Any], target: Any) -> None:
        self._format, self._open = format, open_writer
        with _retold(self._unwritten):
            self._writer = open_writer(target, schema)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write one batch."""
        with _retold(lambda: self._unwritable(batch)):
            self._writer.write_batch(batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with _retold(self._unwritten):
                self._writer.close()
        except (CloisterError, OSError):
            if error is None:  # otherwise the first error is the one to tell
                raise

    def _unwritten(self) -> CloisterError:
        return DataError(f"the output could not be written as {self._format}. Nothing was published; choose another format.")

    def _unwritable(self, batch: pa.RecordBatch) -> CloisterError:
        """What is said of a batch that cannot be written: which column it is is found by writing each alone."""
        for at, name in enumerate(batch.schema.names):
            alone = batch.select([at])
            try:
                with self._open(pa.BufferOutputStream(), alone.schema) as writer:
                    writer.write_batch(alone)
            except (pa.ArrowException, ValueError, TypeError):
                return DataError(
                    f'column "{name}" holds values that {self._format} cannot, though its type ({batch.schema.types[at]}) can. '
                    "Nothing was published; correct the values, or drop the column."
                )
        return self._unwritten()


def writer_of(path: str, format: str, schema: pa.Schema) -> BatchWriter:
    """A writer of record batches. Stage its path."""
    return BatchWriter(format, schema, _opener(format), path)


def check_storable(schema: pa.Schema, format: str) -> None:
    """Refuse columns of a type that files of a format cannot hold, before a row is written.

    Raises
    ------
    SinkError
    """
    open_writer = _opener(format)
    for column in schema:
        try:
            open_writer(pa.BufferOutputStream(), pa.schema([column])).close()
        except (pa.ArrowException, ValueError, TypeError):
            raise_alone(
                SinkError(
                    f'column "{column.name}" is of type {column.type}, which {format} cannot hold. Convert it, or drop it.'
                )
            )


def _opener(format: str) -> Callable[[Any, pa.Schema], Any]:
    if format == "parquet":
        import pyarrow.parquet as pq

        return lambda target, schema: pq.ParquetWriter(target, schema)
    if format == "csv":
        from pyarrow import csv

        return lambda target, schema: csv.CSVWriter(target, schema)
    raise SinkError(f'format "{format}" cannot be written. Choose parquet or csv.')


@contextmanager
def _retold(retelling: Callable[[], CloisterError]) -> Iterator[None]:
    """Replace what Arrow raises by an error of ours; what the system says of a file (no room, no folder) stays as it is."""
    try:
        yield
    except OSError:
        raise
    except (pa.ArrowException, ValueError, TypeError):
        raise_alone(retelling())
