"""Parquet files that Cloister wrote hold what it wrote, and nothing beside: a hash of their cells covers no more than that."""

from __future__ import annotations

import os
import re
from collections.abc import Set
from os import PathLike
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

__all__ = ["has_only"]

SCHEMA = b"ARROW:schema"  # what Arrow keeps of the types
MAGIC = b"PAR1"  # at both ends of a file
LENGTH = 4  # bytes that say how long the footer is
WRITER = re.compile(
    r"parquet-cpp-arrow version \d[\w.+-]{,40}"
)  # who wrote it: a text of the footer, and pyarrow alone does
FIELD_ID = b"PARQUET:field_id"  # what Arrow says of a column when it reads one


def has_only(path: str | PathLike[str], keys: Set[bytes], types: Set[pa.DataType]) -> bool:
    """Whether a file has these keys of metadata alone, and columns of these types, each under a name of its own, and no more.

    What pyarrow.parquet raises for a damaged file is raised.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema, footer = file.schema_arrow, file.metadata
    return (
        (footer.metadata or {}).keys() == keys | {SCHEMA}
        and (schema.metadata or {}).keys() == keys
        and len(set(schema.names)) == len(schema.names)
        and all(column.type in types and not (column.metadata or {}).keys() - {FIELD_ID} for column in schema)
        and bool(WRITER.fullmatch(footer.created_by or ""))
        and fills_file(footer, os.path.getsize(path))
    )


def fills_file(footer: FileMetaData, size: int) -> bool:
    """Whether the columns follow one another from the start of a file of this size, and its footer follows the last of them.

    A reader goes where the footer points: what lies in between is never seen, and leaves with the file all the same.
    """
    end = len(MAGIC)
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
            if column.total_compressed_size and start != end:
                return False
            end += column.total_compressed_size
    return bool(end + footer.serialized_size + LENGTH + len(MAGIC) == size)
