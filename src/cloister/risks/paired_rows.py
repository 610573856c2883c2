"""An anonymized table beside its original, row by row: for measures that must know which row became which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cloister.errors import UsageError
from cloister.sources.source import Source

__all__ = ["PairedRows", "PUBLISHED"]

PUBLISHED = "published "
"""Stands before the names of the columns of the anonymized table."""


@dataclass(frozen=True)
class PairedRows:
    """Two tables with the same rows in the same order, as one."""

    original: Source
    published: Source

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the original, then those of the published table."""
        return (*self.original.names, *(PUBLISHED + name for name in self.published.names))

    @property
    def in_memory(self) -> bool:
        """Whether both are in memory."""
        return self.original.in_memory and self.published.in_memory

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of both, side by side."""
        original_names = [name for name in columns if not name.startswith(PUBLISHED)]
        published_names = [name.removeprefix(PUBLISHED) for name in columns if name.startswith(PUBLISHED)]
        left, right = iter(self.original.batches(original_names)), iter(self.published.batches(published_names))
        first, second = next(left, None), next(right, None)
        while first is not None and second is not None:
            n = min(first.num_rows, second.num_rows)
            cells = dict(zip(original_names, first.slice(0, n).columns, strict=True))
            cells |= {PUBLISHED + name: cell for name, cell in zip(published_names, second.slice(0, n).columns, strict=True)}
            if n:
                yield pa.RecordBatch.from_pydict({name: cells[name] for name in columns})
            first = first.slice(n) if n < first.num_rows else next(left, None)
            second = second.slice(n) if n < second.num_rows else next(right, None)
        if first is not None or second is not None:
            raise UsageError("the two tables do not have the same number of rows.")
