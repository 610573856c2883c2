"""What files with typed columns share: they are read a few batches at a time, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from cloister.sources.places import Place
from cloister.sources.sound_batches import sound_batch
from cloister.sources.source import BATCH_ROWS, distinct, present, retold, text_names

__all__ = ["ColumnarReader", "ColumnarSource", "DatasetSource", "from_dataset", "open_columnar"]


class ColumnarReader(Protocol):
    """How one format is read. A reader has no state: it is handed the opened file each time."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file and their types."""
        ...

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of these columns in the order of the file; `texts` are the columns of the file that hold text."""
        ...


@dataclass(frozen=True)
class ColumnarSource:
    """A file whose columns have names and types."""

    place: Place
    reader: ColumnarReader
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
            for batch in map(sound_batch, self.reader.batches(file, stored, self.texts)):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    rows = batch.slice(start, BATCH_ROWS)
                    for name in names:
                        if name not in self.stored:
                            rows = rows.append_column(name, pa.repeat(pa.scalar(folders[name], pa.string()), len(rows)))
                    yield rows.select(names)


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


def open_columnar(place: Place, reader: ColumnarReader) -> ColumnarSource:
    """A source over a file that `reader` can read; its schema is read."""
    with retold(place.shown), place.open() as file:
        schema = reader.schema(file)
        names = distinct(schema.names, place.shown)  # a damaged name is no text
    return ColumnarSource(place, reader, names, text_names(schema))
