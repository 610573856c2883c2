"""The different values of some columns, batch by batch: what a holder needs to know before values can be generalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.errors import SchemaError
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers, texts

__all__ = ["DistinctValues"]

_FORM = pa.schema(
    [
        ("column", pa.int32()),  # its place among the columns that were asked for
        ("text", pa.string()),
        ("number", pa.float64()),
        ("day", pa.float64()),
        ("is_date", pa.bool_()),  # whether the column is typed as dates or times
        ("is_many", pa.bool_()),  # whether its batch had too many values to list
    ]
)


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """The different values of some columns, blanks aside; of a batch with too many the smallest and the largest.

    Privacy: exact values of the table, for its holder. There is no sensitivity, so no mechanism can release them.
    """

    columns: tuple[str, ...]
    limits: tuple[int, ...]  # how many values of each column one batch may list
    forms: tuple[CellFormat, ...] | None = None  # how the cells of each are written; None: plainly

    @property
    def schema(self) -> pa.Schema:
        """One line a value: its column, its text, and what it is as a number and as a day (NaN: it is none)."""
        return _FORM

    def empty(self) -> pa.Table:
        """The values of no rows."""
        return _FORM.empty_table()

    def collect(self, batch: pa.RecordBatch) -> pa.Table:
        """The values of one batch, whose columns are those that were asked for, in their order."""
        return pa.Table.from_batches([self._collect_column(j, batch.column(j)) for j in range(len(self.columns))], _FORM)

    def merge(self, one: pa.Table, other: pa.Table) -> pa.Table:
        """The values of both, each once."""
        return pa.concat_tables([one, other]).group_by(_FORM.names, use_threads=False).aggregate([])

    def _collect_column(self, j: int, values: pa.Array) -> pa.RecordBatch:
        if pa.types.is_nested(values.type):
            raise SchemaError(f'column "{self.columns[j]}" holds lists or structs. Give it one value a row first.')
        different = pc.unique(values)
        if pa.types.is_dictionary(different.type):
            different = different.cast(different.type.value_type)
        form = PLAIN if self.forms is None else self.forms[j]
        words = texts(different, form)
        is_filled = pc.fill_null(pc.not_equal(words, ""), False)
        words, different = words.filter(is_filled), different.filter(is_filled)
        as_numbers, as_days = numbers(different, form), days(different, form)
        is_date = pa.types.is_temporal(different.type)
        if is_many := len(words) > self.limits[j]:
            as_numbers, as_days = (np.array([each.min(), each.max()]) for each in (as_numbers, as_days))  # NaN stays
            words = pa.nulls(2, pa.string())
        count = len(words)
        columns = [
            pa.array(np.full(count, j), pa.int32()),
            words.cast(pa.string()),
            pa.array(as_numbers),
            pa.array(as_days),
            pa.array(np.full(count, is_date)),
            pa.array(np.full(count, is_many)),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=_FORM)
