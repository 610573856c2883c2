"""From the bytes of a data set's file to typed columns, as its schema describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from cloister.datasets.dataset import CLASS, DatasetRows
from cloister.schema import Number, Schema

__all__ = ["joined", "read_cells", "separated", "typed"]

Words = Mapping[str, Mapping[str, str]]  # by column: the word for each code


def separated(
    names: Sequence[str], *, delimiter: str = ",", header: bool = False, words: Words | None = None
) -> Callable[[tuple[bytes, ...], Schema], DatasetRows]:
    """A reader of one file of cells: `names` are its columns in order, of which "class" is the target."""

    def read(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
        return typed(read_cells(files[0], names, delimiter, header), schema, words or {})

    return read


def read_cells(raw: bytes, names: Sequence[str], delimiter: str = ",", header: bool = False) -> pa.Table:
    """The cells of a file as texts; ? and empty cells are null, and blanks around a cell do not count.

    A blank as the delimiter stands for any number of blanks and tabs.
    """
    if delimiter == " ":
        raw, delimiter = re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", raw)), "\t"
    texts = csv.ConvertOptions(
        column_types={name: pa.string() for name in names}, null_values=["?", ""], strings_can_be_null=True
    )
    table = csv.read_csv(
        pa.BufferReader(re.sub(rb", +", b",", raw)),
        csv.ReadOptions(column_names=list(names), skip_rows=int(header), use_threads=False),
        csv.ParseOptions(delimiter=delimiter),
        texts,
    )
    return table.combine_chunks()


def typed(cells: pa.Table, schema: Schema, words: Words | None = None) -> DatasetRows:
    """Numbers as numbers (whole ones where the schema's step is whole), categories as texts or the words for their codes."""
    columns = {}
    for column in schema.columns:
        values = joined(cells[column.name])
        if isinstance(column.kind, Number):
            values = pc.cast(values, pa.float64())
            step, bounds = column.kind.step, column.kind.bounds
            if step is not None and bounds is not None and step.is_integer() and bounds[0].is_integer():
                values = pc.cast(values, pa.int64())
        columns[column.name] = in_words(values, (words or {}).get(column.name))
    target = in_words(joined(cells[CLASS]), (words or {}).get(CLASS)) if CLASS in cells.column_names else None
    return DatasetRows(pa.table(columns), target)


def in_words(values: pa.Array, words: Mapping[str, str] | None) -> pa.Array:
    """Codes as the words that a set's documentation has for them."""
    if words is None:
        return values
    codes = pa.array(list(words), pa.string())
    return pa.array(list(words.values()), pa.string()).take(pc.index_in(values, value_set=codes))


def joined(values: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
