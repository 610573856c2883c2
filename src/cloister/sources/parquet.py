"""Parquet files, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from cloister.sources.columnar import ColumnarSource, open_columnar
from cloister.sources.places import Place
from cloister.sources.source import BATCH_ROWS

__all__ = ["ParquetReader", "open_parquet"]

_FOOTER_FRAME = 8  # bytes behind the footer: its length, and PAR1
_CODE_BYTES = 4  # a column that takes more bytes a value stores the texts themselves, not codes


class ParquetReader:
    """Reads a Parquet file."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file; a file that lost a part of its rows is refused here, before anything is charged."""
        opened = parquet.ParquetFile(file)
        check_extents(opened.metadata, file.size())
        return opened.schema_arrow

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; texts that repeat are read as the codes that the file holds."""
        metadata = parquet.read_metadata(file)
        repeated = repeated_texts(metadata, [name for name in columns if name in texts])
        # a small buffer, nothing ahead: otherwise whole row groups would be held
        opened = parquet.ParquetFile(
            file, metadata=metadata, read_dictionary=repeated, pre_buffer=False, buffer_size=1 << 16
        )
        yield from opened.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False)


def open_parquet(place: Place) -> ColumnarSource:
    """A source over a Parquet file; its schema is read."""
    return open_columnar(place, ParquetReader())


def check_extents(metadata: Any, size: int) -> None:
    """Refuse a Parquet file whose footer names bytes that the file does not have: no row is looked at."""
    end = size - metadata.serialized_size - _FOOTER_FRAME
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            start = column.dictionary_page_offset or column.data_page_offset
            if not 0 <= start <= start + column.total_compressed_size <= end:
                raise pa.ArrowInvalid("a column chunk lies outside of the file")


def repeated_texts(metadata: Any, names: list[str]) -> list[str]:
    """The columns of text that a Parquet file stores as few texts and short codes: they are read as they are stored."""
    if not names or not metadata.num_row_groups:
        return []
    stored = range(metadata.num_columns)
    # the parts of a nested column are stored under longer paths: it is no column of texts
    repeated = set(names) & {metadata.schema.column(place).path for place in stored}
    for group in range(metadata.num_row_groups):
        for place in stored:
            column = metadata.row_group(group).column(place)
            few = column.has_dictionary_page and column.total_uncompressed_size < _CODE_BYTES * column.num_values
            if not few:
                repeated.discard(column.path_in_schema)
    return sorted(repeated)
