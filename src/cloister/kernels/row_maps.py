"""What a table is rewritten by: data and a pure function of one batch, so that it runs wherever the batch is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pyarrow as pa

__all__ = ["RowMap"]


@runtime_checkable
class RowMap(Protocol):
    """Record batches in, record batches out, row by row.

    ``columns`` are read from the table, in this order; ``schema`` is what every batch that comes out has. A row's new
    values depend on that row and on public or released data alone; rows may be left out.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def schema(self) -> pa.Schema: ...

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...
