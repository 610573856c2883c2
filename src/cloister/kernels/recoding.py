"""What a table is rewritten by: data and a pure function of one batch, so that it runs wherever the batch is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pyarrow as pa

__all__ = ["Recoding", "with_different"]


@runtime_checkable
class Recoding(Protocol):
    """Record batches in, record batches out, row by row.

    ``columns`` are read from the table, in this order; ``schema`` is what every batch that comes out has. A row's new
    values depend on that row and on public or released data alone; rows may be left out.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def schema(self) -> pa.Schema: ...

    def recode(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...


def with_different(found: pa.Table, batch: pa.RecordBatch) -> pa.Table:
    """The rows found so far and those of a batch, each once."""
    both = pa.concat_tables([found, pa.Table.from_batches([batch])])
    return both.group_by(found.column_names, use_threads=False).aggregate([])
