"""Parquet files, a page at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from cloister.sources.columnar import ColumnarSource, open_columnar
from cloister.sources.parquet_footer import read_chunks
from cloister.sources.places import Place
from cloister.sources.source import BATCH_ROWS
from cloister.work_done import counted

__all__ = ["ParquetReader", "open_parquet"]

_FOOTER_FRAME = 8  # bytes behind the footer: its length, and PAR1
_CODE_BYTES = 4  # a column that takes more bytes a value stores the texts themselves, not codes
_INT96_UNIT = "us"  # as Spark reads them: nanoseconds would take the year 9999 for 1816
_TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


class ParquetReader:
    """Reads a Parquet file."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file; a file that lost a part of its rows is refused here, before anything is charged."""
        opened = parquet.ParquetFile(file, coerce_int96_timestamp_unit=_INT96_UNIT)
        check_extents(file, opened.metadata.serialized_size)
        return opened.schema_arrow

    def unsafe(self, file: Any) -> tuple[str, ...]:
        """Decimals in bytes of any number: Arrow stops at a cell that has none, or more than the widest decimal."""
        return tuple(
            column.path
            for column in stored_columns(file)
            if column.physical_type == "BYTE_ARRAY" and "DECIMAL" in (column.converted_type, column.logical_type.type)
        )

    def ambiguous(self, file: Any) -> tuple[str, ...]:
        """The columns with which Arrow would read another one: it finds them by dotted paths, and "a.b" may be a part of a."""
        opened = parquet.ParquetFile(file)
        paths = [opened.schema.column(place).path for place in range(len(opened.schema))]
        starts = Counter(
            ".".join(parts[:end]) for parts in (path.split(".") for path in paths) for end in range(1, len(parts) + 1)
        )
        flat = set(paths).intersection(opened.schema_arrow.names)
        # no row group: only the columns are looked at
        doubtful = [name for name in flat if starts[name] > 1]
        return tuple(name for name in doubtful if opened.read_row_groups([], columns=[name]).column_names != [name])

    def rounded(self, file: Any) -> tuple[str, ...]:
        """Moments in 96 bits, which hold nanoseconds and are read in microseconds."""
        return tuple(column.path for column in stored_columns(file) if column.physical_type == "INT96")

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; texts that repeat are read as the codes that the file holds."""
        metadata = parquet.read_metadata(file)
        repeated = repeated_texts(file, [name for name in columns if name in texts])
        # codes by declaration are read as codes: Arrow would make them anew, and stop at a text that is not UTF-8
        declared = metadata.schema.to_arrow_schema()
        repeated += [name for name in columns if name not in repeated and _is_coded_text(declared.field(name).type)]
        # a small buffer, nothing ahead: otherwise whole row groups would be held
        opened = parquet.ParquetFile(
            file,
            metadata=metadata,
            read_dictionary=repeated,
            pre_buffer=False,
            buffer_size=1 << 16,
            coerce_int96_timestamp_unit=_INT96_UNIT,
        )
        batches = opened.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False)
        yield from counted(batches, metadata.num_rows, lambda batch: batch.num_rows)


def stored_columns(file: Any) -> list[Any]:
    """What the footer says of each column: its path, and how its cells are stored."""
    stored = parquet.ParquetFile(file).schema
    return [stored.column(place) for place in range(len(stored))]


def _is_coded_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind)) and kind.value_type in _TEXTS


def open_parquet(place: Place) -> ColumnarSource:
    """A source over a Parquet file; its schema is read."""
    return open_columnar(place, ParquetReader())


def check_extents(file: Any, footer_size: int) -> None:
    """Refuse a Parquet file whose footer names bytes that the file does not have: no row is looked at."""
    end = file.size() - footer_size - _FOOTER_FRAME
    if any(not 0 <= chunk.start <= chunk.end <= end for chunk in read_chunks(file) or ()):
        raise pa.ArrowInvalid("a column chunk lies outside of the file")


def repeated_texts(file: Any, names: list[str]) -> list[str]:
    """The columns of text that a Parquet file stores as few texts and short codes: they are read as they are stored."""
    chunks = read_chunks(file) if names else None
    if not chunks:
        return []
    plain = {chunk.path for chunk in chunks if not (chunk.has_dictionary and chunk.size < _CODE_BYTES * chunk.values)}
    return sorted({chunk.path for chunk in chunks}.intersection(names) - plain)
