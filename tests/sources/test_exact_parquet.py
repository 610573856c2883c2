"""Parquet files whose certificate lies inside: nothing may lie between the pages and the footer."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.sources.exact_parquet import has_only

KEYS, TYPES = {b"release"}, {pa.string(), pa.float64()}
SMUGGLED = b"name,illness;" * 50


def write(path: Path, rows: int, **options: object) -> bytes:
    """A table with a certificate inside."""
    columns = {
        "group": pa.array([str(row % 7) for row in range(rows)]),
        "count": pa.array([float(row) for row in range(rows)]),
    }
    schema = pa.schema([("group", pa.string()), ("count", pa.float64())])
    pq.write_table(pa.table(columns, schema).replace_schema_metadata({"release": "{}"}), path, **options)
    return path.read_bytes()


def footer_start(content: bytes) -> int:
    """Where the footer begins."""
    length: int = struct.unpack("<I", content[-8:-4])[0]
    return len(content) - 8 - length


@pytest.mark.parametrize(
    ("rows", "compression", "use_dictionary", "row_group_size"),
    list(itertools.product([0, 1, 5000], ["snappy", "zstd", "none"], [True, False], [None, 1000])),
)
def test_what_a_writer_writes_fills_its_file(
    tmp_path: Path, rows: int, compression: str, use_dictionary: bool, row_group_size: int | None
) -> None:
    """Empty tables, several row groups, pages of values with and without a dictionary."""
    path = tmp_path / "table.parquet"
    write(path, rows, compression=compression, use_dictionary=use_dictionary, row_group_size=row_group_size)
    assert has_only(path, KEYS, TYPES)


@pytest.mark.parametrize("rows", [0, 5000])
@pytest.mark.parametrize("where", ["before the footer", "at the end of the footer"])
def test_bytes_that_no_reader_sees_are_found(tmp_path: Path, rows: int, where: str) -> None:
    """They would leave the building under the signature of the table."""
    path = tmp_path / "table.parquet"
    content = write(path, rows)
    place = footer_start(content)
    if where == "before the footer":
        changed = content[:place] + SMUGGLED + content[place:]
    else:
        length = struct.pack("<I", len(content) - 8 - place + len(SMUGGLED))
        changed = content[:-8] + SMUGGLED + length + content[-4:]
    path.write_bytes(changed)
    assert pq.read_table(path).num_rows == rows
    assert not has_only(path, KEYS, TYPES)


def test_the_name_of_the_writer_holds_nothing_else(tmp_path: Path) -> None:
    """It is a text of the footer that no certificate covers."""
    path = tmp_path / "table.parquet"
    content = write(path, 5)
    assert content.count(b"parquet-cpp-arrow") == 1
    path.write_bytes(content.replace(b"parquet-cpp-arrow", b"Greta has measles"))
    assert not has_only(path, KEYS, TYPES)
