"""Rows for a form as printed: through the holder's door, never through `measure`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.vault import Unprotected, Vault

__all__ = ["holder_numbers", "holder_rows"]

PURPOSE = "an algorithm of a paper, as printed"


@dataclass(frozen=True, slots=True)
class _SameCells:
    """Some columns as they are."""

    schema: pa.Schema

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch


def holder_rows(data: Any, columns: Sequence[str] | None = None) -> Unprotected[pa.Table]:
    """Some columns of a table in memory, as its holder has them; unledgered, since nothing that comes of them is a release."""
    holder = Vault.holding(data, purpose=PURPOSE)
    names = list(holder.names if columns is None else columns)
    return holder.gather(_SameCells(holder.types(names)))


def holder_numbers(data: Any, columns: Sequence[str] | None = None) -> Unprotected[NDArray[np.float64]]:
    """The same as an array of numbers, (n, d).

    >>> holder_numbers({"x": [1, 2]}).value.tolist()
    [[1.0], [2.0]]
    """
    found = holder_rows(data, columns)
    columns_read = [np.asarray(column.to_numpy(zero_copy_only=False), float) for column in found.value.columns]
    return Unprotected(np.column_stack(columns_read), found.purpose)
