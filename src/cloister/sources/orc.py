"""ORC files, a stripe at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from cloister.sources.columnar import ColumnarSource, open_columnar, parts_by_name
from cloister.sources.places import Place

__all__ = ["OrcReader", "open_orc"]


class OrcReader:
    """Reads an ORC file; memory holds one stripe of the columns that are asked for, as its writer cut them (64 MB is usual)."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file."""
        return _opened(file).schema

    def unsafe(self, file: Any) -> tuple[str, ...]:
        """Moments: Arrow reads them in nanoseconds, and stops at one after 2262."""
        return tuple(field.name for field in self.schema(file) if pa.types.is_timestamp(field.type))

    def ambiguous(self, file: Any) -> tuple[str, ...]:
        """The columns that Arrow takes for parts of others, by the dots in their names."""
        return tuple(parts_by_name({field.name: field.type for field in self.schema(file)}))

    def rounded(self, file: Any) -> tuple[str, ...]:
        """None: what is stored is what is read."""
        return ()

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, stripe by stripe."""
        opened = _opened(file)
        wanted = columns or opened.schema.names[:1]  # a pass over no columns still counts rows
        for stripe in range(opened.nstripes):
            yield opened.read_stripe(stripe, columns=wanted).select(columns)


def _opened(file: Any) -> Any:
    from pyarrow import orc

    return orc.ORCFile(file)


def open_orc(place: Place) -> ColumnarSource:
    """A source over an ORC file; its schema is read."""
    return open_columnar(place, OrcReader())
