"""Parquet and Arrow files, a few batches at a time: memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cloister.sources.places import Format, Place
from cloister.sources.source import BATCH_ROWS, distinct, present, retold, text_names

__all__ = ["ColumnarSource", "DatasetSource", "from_dataset", "open_columnar"]

_CODE_BYTES = 4  # of a value: more, and the texts themselves are stored


@dataclass(frozen=True)
class ColumnarSource:
    """A Parquet file, an Arrow file or an Arrow stream in a file."""

    place: Place
    format: Format
    stored: tuple[str, ...]  # the columns that the file itself holds
    texts: tuple[str, ...] = ()  # the columns whose type says that they hold text
    in_memory: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file, then those that the names of its folders hold."""
        return self.stored + tuple(name for name, _ in self.place.partition if name not in self.stored)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the file."""
        return self._batches(present(self.names, columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        folders = dict(self.place.partition)
        stored = [name for name in names if name in self.stored]
        with retold(self.place.shown), self.place.open() as file:
            for batch in self._read(file, stored):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    rows = batch.slice(start, BATCH_ROWS)
                    for name in names:
                        if name not in self.stored:
                            rows = rows.append_column(name, pa.repeat(pa.scalar(folders[name], pa.string()), len(rows)))
                    yield rows.select(names)

    def _read(self, file: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
        if self.format is Format.PARQUET:
            from pyarrow import parquet

            metadata = parquet.read_metadata(file)
            repeated = repeated_texts(metadata, [name for name in names if name in self.texts])
            # unbuffered, whole row groups would be held: pages are read as they are needed instead
            opened = parquet.ParquetFile(
                file, metadata=metadata, read_dictionary=repeated, pre_buffer=False, buffer_size=1 << 16
            )
            yield from opened.iter_batches(batch_size=BATCH_ROWS, columns=names, use_threads=False)
        elif self.format is Format.ARROW_FILE:
            reader = pa.ipc.open_file(file)
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index).select(names)
        else:
            for batch in pa.ipc.open_stream(file):
                yield batch.select(names)


def repeated_texts(metadata: Any, names: list[str]) -> list[str]:
    """The columns of text that a Parquet file stores as few texts and short codes: they are read as they are stored."""
    if not names or not metadata.num_row_groups:
        return []
    found = set(names)
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            few = column.has_dictionary_page and column.total_uncompressed_size < _CODE_BYTES * column.num_values
            if not few:
                found.discard(column.path_in_schema)
    return sorted(found)


@dataclass(frozen=True)
class DatasetSource:
    """A pyarrow dataset, read with little ahead."""

    dataset: Any
    in_memory: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the dataset."""
        return tuple(self.dataset.schema.names)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        return text_names(self.dataset.schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the dataset."""
        return self._batches(present(self.names, columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with retold("the dataset"):
            yield from self.dataset.to_batches(columns=names, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1)


def from_dataset(dataset: Any) -> DatasetSource:
    """A source over a pyarrow dataset."""
    distinct(dataset.schema.names, "the dataset")
    return DatasetSource(dataset)


def open_columnar(place: Place, format: Format) -> ColumnarSource:
    """A source over a Parquet or Arrow file; its schema is read."""
    with retold(place.shown), place.open() as file:
        if format is Format.PARQUET:
            from pyarrow import parquet

            schema = parquet.ParquetFile(file).schema_arrow
        elif format is Format.ARROW_FILE:
            schema = pa.ipc.open_file(file).schema
        else:
            schema = pa.ipc.open_stream(file).schema
    return ColumnarSource(place, format, distinct(schema.names, place.shown), text_names(schema))
