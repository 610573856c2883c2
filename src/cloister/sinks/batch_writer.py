"""Writers of record batches: Parquet, CSV and Excel, whose own errors quote cells and are retold without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from cloister.errors import CloisterError, DataError, SinkError, raise_alone
from cloister.sinks.excel_writer import ExcelWriter

__all__ = ["ROWS_AT_ONCE", "BatchWriter", "check_storable", "writer_of"]

ROWS_AT_ONCE = 1 << 16  # rows of each group of a Parquet file but the last


class BatchWriter:
    """Writes record batches of one schema; columns of text as they are, nulls as nothing.

    Privacy: rows are written in groups of a fixed number, however they come. Parquet keeps the groups that rows were written
    in, and those of the input would show in which of them rows were removed.
    """

    def __init__(self, format: str, schema: pa.Schema, open_writer: Callable[[Any, pa.Schema], Any], target: Any) -> None:
        self._format, self._open, self._schema = format, open_writer, schema
        self._waiting: list[pa.RecordBatch] = []
        with _retold(self._unwritten):
            self._writer = open_writer(target, schema)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write one batch, once enough rows are there."""
        self._waiting.append(batch)
        while sum(some.num_rows for some in self._waiting) >= ROWS_AT_ONCE:
            rows = pa.Table.from_batches(self._waiting, self._schema)
            self._waiting = rows.slice(ROWS_AT_ONCE).to_batches()
            self._write(rows.slice(0, ROWS_AT_ONCE))

    def _write(self, rows: pa.Table) -> None:
        """Write rows as one group; in one piece, as pages too end where pieces do."""
        with _retold(lambda: self._unwritable(rows)):
            self._writer.write_table(rows.combine_chunks())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            try:
                if error is None and any(batch.num_rows for batch in self._waiting):
                    self._write(pa.Table.from_batches(self._waiting, self._schema))
            finally:
                with _retold(self._unwritten):
                    self._writer.close()
        except (CloisterError, OSError):
            if error is None:  # otherwise the first error is the one to tell
                raise

    def _unwritten(self) -> CloisterError:
        return DataError(f"the output could not be written as {self._format}. Nothing was published; choose another format.")

    def _unwritable(self, rows: pa.Table) -> CloisterError:
        """What is said of rows that cannot be written: which column it is is found by writing each alone."""
        for at, name in enumerate(rows.schema.names):
            alone = rows.select([at])
            try:
                with self._open(pa.BufferOutputStream(), alone.schema) as writer:
                    writer.write_table(alone)
            except (pa.ArrowException, ValueError, TypeError):
                return DataError(
                    f'column "{name}" holds values that {self._format} cannot, though its type ({rows.schema.types[at]}) can. '
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
        except SinkError:  # the writer is not there
            raise
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
    if format == "xlsx":
        return ExcelWriter
    raise SinkError(f'format "{format}" cannot be written. Choose parquet, csv or xlsx.')


@contextmanager
def _retold(retelling: Callable[[], CloisterError]) -> Iterator[None]:
    """Replace what Arrow raises by an error of ours; what the system says of a file (no room, no folder) stays as it is."""
    try:
        yield
    except (OSError, CloisterError):
        raise
    except (pa.ArrowException, ValueError, TypeError):
        raise_alone(retelling())
