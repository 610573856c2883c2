"""The different values of some columns, batch by batch: what a holder needs to know before values can be generalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.errors import SchemaError
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.plain_arrays import different_cells, plain_type
from cloister.sources.source import nested_names

__all__ = ["CODE_PATTERN", "DistinctValues"]

CODE_PATTERN = "^[+-]*0[0-9]"
"""A text that is written like a code, with a zero in front: a column of such is no quantity."""

_FORM = pa.schema(
    [
        ("column", pa.int32()),  # its place among the columns that were asked for
        ("text", pa.string()),
        ("number", pa.float64()),
        ("day", pa.float64()),
        ("is_date", pa.bool_()),  # whether the column is typed as dates or times
        ("is_typed", pa.bool_()),  # whether the column is typed as numbers, truth values, dates or times
        ("is_many", pa.bool_()),  # whether there were too many values to list, and these are the ends of all
        ("is_code", pa.bool_()),  # whether it is written like a code, with a zero in front; of many: whether any is
        ("is_float", pa.bool_()),  # whether the column is typed as floating-point numbers
        (
            "is_whole",
            pa.bool_(),
        ),  # whether it is a whole number, in a column of a type without decimals; of many: whether all are
    ]
)


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """The different values of some columns, blanks aside; of a column with too many the smallest and the largest.

    What comes out does not depend on how the rows are cut into batches.

    Privacy: exact values of the table, for its holder. There is no sensitivity, so no mechanism can release them.
    """

    columns: tuple[str, ...]
    limits: tuple[int, ...]  # how many values of each column may be listed
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
        return pa.concat_tables([self._collect_column(j, batch.column(j)) for j in range(len(self.columns))])

    def merge(self, one: pa.Table, other: pa.Table) -> pa.Table:
        """The values of both, each once."""
        values = pa.concat_tables([one, other]).group_by(_FORM.names, use_threads=False).aggregate([])
        of_columns = [values.filter(pc.equal(values["column"], j)) for j in range(len(self.columns))]
        return pa.concat_tables([_within(limit, some) for limit, some in zip(self.limits, of_columns, strict=True)])

    def _collect_column(self, j: int, values: pa.Array) -> pa.Table:
        if nested_names(pa.schema([("", values.type)])):
            raise SchemaError(f'column "{self.columns[j]}" holds lists or structs. Give it one value a row first.')
        different = different_cells(values)
        form = PLAIN if self.forms is None else self.forms[j]
        words = texts(different, form)
        is_filled = pc.fill_null(pc.not_equal(words, ""), False)
        words, different = words.filter(is_filled), different.filter(is_filled)
        count, is_time = len(words), pa.types.is_time(different.type)
        is_date = pa.types.is_temporal(different.type) and not is_time
        # a time of day is a word: as a number it would be a share of a day, which nobody reads as one
        as_numbers, as_days = (np.full(count, np.nan) if is_time else read(different, form) for read in (numbers, days))
        kind = plain_type(different.type)
        has_decimals = pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale > 0)
        columns = [
            pa.array(np.full(count, j), pa.int32()),
            words.cast(pa.string()),
            pa.array(as_numbers),
            pa.array(as_days),
            pa.array(np.full(count, is_date)),
            pa.array(np.full(count, is_date or _is_number(kind))),
            pa.array(np.full(count, False)),
            pc.match_substring_regex(words, CODE_PATTERN),
            pa.array(np.full(count, pa.types.is_floating(kind))),
            pa.array(np.full(count, not has_decimals) & (np.floor(as_numbers) == as_numbers)),  # NaN is not whole
        ]
        return _within(self.limits[j], pa.Table.from_arrays(columns, schema=_FORM))


def _is_number(kind: pa.DataType) -> bool:
    """Whether a type has numbers or truth values for its cells."""
    if isinstance(kind, pa.BaseExtensionType):
        return _is_number(plain_type(kind.storage_type))
    return pa.types.is_decimal(kind) or (pa.types.is_primitive(kind) and not pa.types.is_temporal(kind))


def _within(limit: int, values: pa.Table) -> pa.Table:
    """The values of one column; only their ends, if there are or were more than the limit."""
    if len(values) <= limit and not pc.any(values["is_many"]).as_py():
        return values
    numbers, days = (values[name].to_numpy() for name in ("number", "day"))
    ends = {
        "column": values["column"].to_pylist()[:1] * 2,
        "text": [None, None],
        "number": [numbers.min(), numbers.max()],  # NaN stays
        "day": [days.min(), days.max()],
        "is_date": values["is_date"].to_pylist()[:1] * 2,
        "is_typed": values["is_typed"].to_pylist()[:1] * 2,
        "is_many": [True, True],
        "is_code": [pc.any(values["is_code"]).as_py()] * 2,
        "is_float": [pc.all(values["is_float"]).as_py()] * 2,
        "is_whole": [pc.all(values["is_whole"]).as_py()] * 2,
    }
    return pa.Table.from_pydict(ends, _FORM)
