"""Parquet files whose certificate lies inside: nothing may lie between the pages and the footer."""

from __future__ import annotations

import base64
import itertools
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.errors import NotChecked
from cloister.sources.exact_parquet import has_only

KEYS, TYPES = (b"release",), {pa.string(), pa.float64()}
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


def varint(number: int) -> bytes:
    """A number as Thrift writes lengths."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def with_footer(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the footer of a file, and its length."""
    content = path.read_bytes()
    place = footer_start(content)
    footer = change(content[place:-8])
    path.write_bytes(content[:place] + footer + struct.pack("<I", len(footer)) + content[-4:])


def with_text(footer: bytes, old: bytes, new: bytes) -> bytes:
    """A footer in which one text is another one."""
    assert footer.count(varint(len(old)) + old) == 1
    return footer.replace(varint(len(old)) + old, varint(len(new)) + new)


def test_a_key_that_stands_twice_is_found(tmp_path: Path) -> None:
    """One reader takes the first, another one the last."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    table = pq.read_table(path)
    pairs = [("release", "{}"), ("release", "Greta has measles")]
    pq.write_table(table.replace_schema_metadata(pa.KeyValueMetadata(pairs)), path)
    assert not has_only(path, KEYS, TYPES)


@pytest.mark.parametrize("padding", [0, 1])
def test_nothing_stands_behind_the_types(tmp_path: Path, padding: int) -> None:
    """What Arrow keeps of the types is decoded up to its end, and no further."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    old = pq.ParquetFile(path).metadata.metadata[b"ARROW:schema"]
    more = SMUGGLED + bytes(-len(SMUGGLED) % 8 * padding)
    with_footer(path, lambda footer: with_text(footer, old, base64.b64encode(base64.b64decode(old) + more)))
    assert pq.read_table(path).num_rows == 5
    assert not has_only(path, KEYS, TYPES)


def test_a_field_that_parquet_does_not_have_is_found(tmp_path: Path) -> None:
    """Readers pass over it."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    field = b"\x08" + varint(200) + varint(len(SMUGGLED)) + SMUGGLED  # number 100, a text
    with_footer(path, lambda footer: footer[:-1] + field + b"\0")
    assert pq.read_table(path).num_rows == 5
    assert not has_only(path, KEYS, TYPES)


def test_the_version_of_the_writer_is_a_version(tmp_path: Path) -> None:
    """It has room for a sentence otherwise."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    old = pq.ParquetFile(path).metadata.created_by.encode()
    with_footer(path, lambda footer: with_text(footer, old, b"parquet-cpp-arrow version 25.Greta-has-measles"))
    assert not has_only(path, KEYS, TYPES)


def test_numbers_of_columns_are_not_set(tmp_path: Path) -> None:
    """32 bits for each column, which nobody reads."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    table = pq.read_table(path)
    numbered = [field.with_metadata({"PARQUET:field_id": "123456"}) for field in table.schema]
    pq.write_table(table.cast(pa.schema(numbered, table.schema.metadata)), path)
    assert not has_only(path, KEYS, TYPES)


def test_another_path_of_a_column_is_found(tmp_path: Path) -> None:
    """Arrow goes by the order of columns, and does not look at the name in a row group."""
    path = tmp_path / "table.parquet"
    write(path, 5)

    def renamed(footer: bytes) -> bytes:
        place = footer.rindex(b"\x05group") + 1
        return footer[:place] + b"Greta" + footer[place + 5 :]

    with_footer(path, renamed)
    assert not has_only(path, KEYS, TYPES)


def test_columns_that_must_have_a_value_are_found(tmp_path: Path) -> None:
    """Cloister writes none."""
    path = tmp_path / "table.parquet"
    schema = pa.schema([pa.field("count", pa.float64(), nullable=False)], {"release": "{}"})
    pq.write_table(pa.table({"count": [1.0]}, schema), path)
    assert not has_only(path, KEYS, TYPES)


def test_a_footer_of_another_version_that_differs_was_not_checked(tmp_path: Path) -> None:
    """pyarrow 17 to 26 write the same footer; one that does not is not called a forger."""
    path = tmp_path / "table.parquet"
    write(path, 5)
    metadata = pq.ParquetFile(path).metadata
    writer, types = metadata.created_by.encode(), metadata.metadata[b"ARROW:schema"]
    with_footer(path, lambda footer: with_text(footer, writer, b"parquet-cpp-arrow version 17.0.0-SNAPSHOT"))
    assert has_only(path, KEYS, TYPES)
    with_footer(path, lambda footer: with_text(footer, types, base64.b64encode(base64.b64decode(types) + bytes(8))))
    with pytest.raises(NotChecked, match=r"parquet-cpp-arrow version 17\.0\.0"):
        has_only(path, KEYS, TYPES)


FLIPPED = """
import sys
from pathlib import Path
from cloister.errors import CloisterError
from tests.sources.test_exact_parquet import KEYS, TYPES, footer_start
from cloister.sources.exact_parquet import has_only
import pyarrow as pa
path = Path(sys.argv[1])
content = path.read_bytes()
for place in range(footer_start(content), len(content) - 8):
    for bit in range(0, 8, 2):
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            assert has_only(path, KEYS, TYPES) in (True, False)
        except (CloisterError, pa.ArrowException, OSError, ValueError, KeyError):
            pass
"""


def test_no_bit_of_a_footer_ends_the_process(tmp_path: Path) -> None:
    """Arrow's own look at a damaged column chunk would: every footer with one bit changed is read in a process of its own."""
    write(tmp_path / "t.parquet", 40)
    done = subprocess.run([sys.executable, "-c", FLIPPED, str(tmp_path / "t.parquet")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
