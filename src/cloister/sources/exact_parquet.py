"""Parquet files that Cloister wrote hold what it wrote, and nothing beside: a hash of their cells covers no more than that."""

from __future__ import annotations

from collections.abc import Set
from os import PathLike

import pyarrow as pa

__all__ = ["has_only"]

SCHEMA = b"ARROW:schema"  # what Arrow keeps of the types
FIELD_ID = b"PARQUET:field_id"  # what Arrow says of a column when it reads one


def has_only(path: str | PathLike[str], keys: Set[bytes], types: Set[pa.DataType]) -> bool:
    """Whether a file has these keys of metadata alone, and columns of these types, each under a name of its own.

    What pyarrow.parquet raises for a damaged file is raised.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema, stored = file.schema_arrow, file.metadata.metadata or {}
    return (
        stored.keys() == keys | {SCHEMA}
        and (schema.metadata or {}).keys() == keys
        and len(set(schema.names)) == len(schema.names)
        and all(column.type in types and not (column.metadata or {}).keys() - {FIELD_ID} for column in schema)
    )
