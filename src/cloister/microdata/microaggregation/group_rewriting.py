"""The rows of a table on their way out: microaggregated columns as their group's centroid, named others as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cloister.errors import SinkError
from cloister.microdata.microaggregation.centroids import PublishedColumn
from cloister.schema import Schema
from cloister.schema.plain_arrays import plain_type
from cloister.sinks.batch_writer import check_storable
from cloister.sinks.column_types import has_text
from cloister.sinks.excel_writer import marked_by
from cloister.sinks.output_cells import TEXT_FORMATS, TITLES, fit_cells, is_text

__all__ = ["GroupRewriting", "group_column", "make_group_rewriting"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupRewriting:
    """The row map that writes groups: every row of one reads the same in the microaggregated columns."""

    columns: tuple[str, ...]  # read: those that are published as they are, and the number of the group
    group: str  # the column of that number
    centroids: Mapping[str, pa.Array]  # (groups,) by column
    schema: pa.Schema  # written

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """One batch."""
        cells = dict(zip(batch.schema.names, batch.columns, strict=True))
        groups = cells[self.group]
        written = []
        for name, kind in zip(self.schema.names, self.schema.types, strict=True):
            if name in self.centroids:
                written.append(self.centroids[name].take(groups))
            else:
                written.append(cells[name] if cells[name].type == kind else fit_cells(cells[name], kind, name))
        return pa.RecordBatch.from_arrays(written, schema=self.schema)


def group_column(names: Sequence[str]) -> str:
    """A name for the number of the group that no column of the table has."""
    name = "group"
    while name in names:
        name += "_"
    return name


def make_group_rewriting(
    published: Sequence[PublishedColumn],
    riding: pa.Schema,
    names: Sequence[str],
    group: str,
    format: str,
    described: Schema | None = None,
) -> GroupRewriting:
    """How the rows of a table with these columns are written; `riding` are the types of those that stay as they are."""
    centroids = {column.name: column.values for column in published}
    written = {name: pa.field(name, cells.type) for name, cells in centroids.items()}
    written |= {column.name: _written_field(column, format) for column in riding}
    schema = pa.schema([written[name] for name in names if name in written])
    check_storable(schema, format)
    if format == "xlsx":
        schema = marked_by(described, schema)
    return GroupRewriting((*riding.names, group), group, centroids, schema)


def _written_field(column: pa.Field, format: str) -> pa.Field:
    # values are stored one by one: a dictionary would keep the order in which they came
    kind = plain_type(column.type)
    if format not in TEXT_FORMATS:
        return pa.field(column.name, kind)
    if not has_text(kind):
        raise SinkError(
            f'column "{column.name}" holds {kind}, which {TITLES[format]} cannot. Write Parquet, or leave it out.'
        )
    is_plain = is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind)
    return pa.field(column.name, kind if is_plain else pa.string())
