"""Parquet files that Cloister wrote hold what it wrote, and nothing beside: a hash of their cells covers no more than that.

The footer is compared with the one that pyarrow writes of the same columns and keys, byte for byte but for its row groups:
those have no other fields than pyarrow gives them, and no texts but the names of columns and the statistics.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence, Set
from os import PathLike
from typing import Any

import pyarrow as pa

from cloister.errors import NotChecked
from cloister.sources.parquet_footer import Footer, chunks_of, read_footer

__all__ = ["has_only"]

MAGIC = b"PAR1"  # at both ends of a file
LENGTH = 4  # bytes that say how long the footer is
WRITER = re.compile(r"parquet-cpp-arrow version \d{1,3}\.\d{1,3}\.\d{1,3}(-SNAPSHOT|\.dev\d{1,4})?")  # pyarrow alone writes
ROWS, GROUPS, CREATED_BY = 3, 4, 6  # fields of a footer that differ from file to file
# Fields of a row group, of a column in it and of what that says, by their numbers in Parquet's own definition
GROUP, CHUNK, COLUMN = {1, 2, 3, 5, 6, 7}, {2, 3}, {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16}
STATISTICS, ENCODINGS, SIZES = set(range(1, 9)), {1, 2, 3}, {1, 2, 3}


def has_only(path: str | PathLike[str], keys: Sequence[bytes], types: Set[pa.DataType]) -> bool:
    """Whether a file has these keys of metadata alone, and columns of these types, each under a name of its own, and no more.

    What pyarrow.parquet raises for a damaged file is raised.

    Raises
    ------
    NotChecked
        Its footer is another one, and another version of pyarrow wrote it, which may write another one.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema, footer = file.schema_arrow, file.metadata
    if not (
        (schema.metadata or {}).keys() == {*keys}
        and len(set(schema.names)) == len(schema.names)
        and all(column.type in types for column in schema)
        and WRITER.fullmatch(footer.created_by or "")
    ):
        return False
    with open(path, "rb") as opened:
        found = read_footer(opened)
    expected, writer = written_footer(schema, keys)
    if not has_plain_groups(found, schema.names) or not fills_file(found, footer.serialized_size, os.path.getsize(path)):
        return False
    if {**found.raw, **dict.fromkeys((ROWS, GROUPS, CREATED_BY))} == expected:
        return True
    if footer.created_by != writer:
        raise NotChecked(
            f"{os.path.basename(path)} was written by {footer.created_by}, whose files may hold more than {writer} can compare. "
            "Check it with the pyarrow of that version."
        )
    return False


def written_footer(schema: pa.Schema, keys: Sequence[bytes]) -> tuple[dict[int, bytes | None], str]:
    """The footer that pyarrow writes of these columns, but for the fields that differ from file to file, and whom it names."""
    from pyarrow import parquet

    plain = pa.schema([(column.name, column.type) for column in schema], {key: schema.metadata[key] for key in keys})
    buffer = io.BytesIO()
    parquet.write_table(plain.empty_table(), buffer)
    footer = read_footer(buffer)
    return {**footer.raw, **dict.fromkeys((ROWS, GROUPS, CREATED_BY))}, footer.fields[CREATED_BY].decode()


def has_plain_groups(footer: Footer, names: Sequence[str]) -> bool:
    """Whether the row groups have no fields but those that pyarrow writes, and the columns of the file in their order."""
    try:
        return footer.fields[ROWS] == sum(group[3] for group in footer.fields[GROUPS]) and all(
            group.keys() <= GROUP
            and all(chunk.keys() <= CHUNK and is_plain_column(chunk[3]) for chunk in group[1])
            and [chunk[3][3] for chunk in group[1]] == [[name.encode()] for name in names]
            for group in footer.fields[GROUPS]
        )
    except (KeyError, TypeError, AttributeError):
        return False


def is_plain_column(column: dict[int, Any]) -> bool:
    """The same of one column in a row group."""
    return (
        column.keys() <= COLUMN
        and column.get(12, {}).keys() <= STATISTICS
        and all(encoding.keys() <= ENCODINGS for encoding in column.get(13, []))
        and column.get(16, {}).keys() <= SIZES
    )


def fills_file(footer: Footer, length: int, size: int) -> bool:
    """Whether the columns follow one another from the start of a file of this size, and its footer follows the last of them.

    A reader goes where the footer points: what lies in between is never seen, and leaves with the file all the same.
    """
    end = len(MAGIC)
    try:
        for chunk in chunks_of(footer.fields):
            if chunk.end != chunk.start and chunk.start != end:
                return False
            end += chunk.end - chunk.start
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return end + length + LENGTH + len(MAGIC) == size
