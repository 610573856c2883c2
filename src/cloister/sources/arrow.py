"""Arrow files (Feather) and Arrow streams in files, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from cloister.sources.columnar import ColumnarSource, open_columnar
from cloister.sources.places import Place

__all__ = ["ArrowFileReader", "ArrowStreamReader", "open_arrow_file", "open_arrow_stream"]


class ArrowFileReader:
    """Reads an Arrow file, whose batches can be read in any order."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file."""
        return pa.ipc.open_file(file).schema

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The batches as they were written."""
        reader = pa.ipc.open_file(file)
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index).select(columns)


class ArrowStreamReader:
    """Reads an Arrow stream, whose batches come one after the other."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the stream."""
        return pa.ipc.open_stream(file).schema

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The batches as they were written."""
        for batch in pa.ipc.open_stream(file):
            yield batch.select(columns)


def open_arrow_file(place: Place) -> ColumnarSource:
    """A source over an Arrow file; its schema is read."""
    return open_columnar(place, ArrowFileReader())


def open_arrow_stream(place: Place) -> ColumnarSource:
    """A source over an Arrow stream in a file; its schema is read."""
    return open_columnar(place, ArrowStreamReader())
