"""Columns that ride along: values of removed rows do not ride in dictionaries, at whatever depth."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.writing import rewriting

CODES = pa.array([0, 1] * 10 + [2], pa.int8())
SECRET = "onlyremoved"


def listed(kind: pa.DataType) -> pa.Array:
    """Cells stored as codes of a dictionary, whose last value only the last row holds."""
    return pa.DictionaryArray.from_arrays(CODES, pa.array(["x", "y", SECRET]).cast(kind))


COLUMNS = {
    "text": listed(pa.string()),
    "bytes": listed(pa.binary()),
    "view": listed(pa.string_view()),
    "struct": pa.StructArray.from_arrays([listed(pa.string())], ["inner"]),
    "list": pa.ListArray.from_arrays(pa.array(range(22), pa.int32()), listed(pa.binary())),
    "map": pa.MapArray.from_arrays(pa.array(range(22), pa.int32()), pa.array(["key"] * 21), listed(pa.string())),
}


def written(column: pa.Array, path: Path) -> bytes:
    """The file that a table with this column is published as; its last row is removed."""
    table = pa.table({"letter": ["a"] * 10 + ["b"] * 10 + ["c"], "other": column})
    cl.TopDownSpecialization(k=5, quasi=["letter"], suppression=0.1, keep_unique=["other"]).publish(table, path)
    assert pq.read_table(path).num_rows == 20
    return path.read_bytes()


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_removed_rows_do_not_ride_along(name: str, tmp_path: Path) -> None:
    """A value that only a removed row holds is not in the file, and the other values are."""
    path = tmp_path / "out.parquet"
    assert SECRET.encode() not in written(COLUMNS[name], path)
    assert str(pq.read_table(path)["other"].to_pylist()) == str(COLUMNS[name].slice(0, 20).to_pylist())


def test_a_kept_dictionary_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: where dictionaries are written as they are, the removed value does show."""
    monkeypatch.setattr(rewriting, "plain_type", lambda kind: kind)
    assert SECRET.encode() in written(COLUMNS["text"], tmp_path / "out.parquet")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(1), pa.string()])
def test_bytes_that_are_no_text_have_pseudonyms_of_their_own(
    kind: pa.DataType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty different ids are forty pseudonyms, whatever their bytes; ids that are text have that of the text."""
    monkeypatch.setenv("PSEUDONYM_KEY", "0123456789abcdef0123456789abcdef")
    cells = [bytes([byte]) for byte in (range(65, 85) if kind == pa.string() else [*range(65, 85), *range(0x80, 0x94)])]
    ids = pa.array([cell.decode() for cell in cells] if kind == pa.string() else cells, kind)
    table = pa.table({"id": ids, "sex": ["F", "M"] * (len(cells) // 2)})
    made = cl.TopDownSpecialization(
        k=5, quasi=["sex"], identifiers=["id"], pseudonyms=["id"], key_variable="PSEUDONYM_KEY", schema=None
    )
    made.publish(table, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")["id"].to_pylist()
    assert len(set(found)) == len(cells)
    expected = hmac.new(b"0123456789abcdef0123456789abcdef", b"A", hashlib.sha256).hexdigest()[:32]
    assert found[0] == expected


def test_metadata_inside_a_kept_column_is_not_written(tmp_path: Path) -> None:
    """What programs note at the fields of structs, lists and maps may name people or places: it stays behind."""
    noted = pa.field("x", pa.int64(), metadata={"note": SECRET})
    kinds = [
        pa.struct([noted]),
        pa.list_(noted),
        pa.struct([pa.field("y", pa.list_(pa.struct([noted])), metadata={"note": SECRET})]),
        pa.map_(pa.string(), noted.with_name("value")),
    ]
    cells: list[list[object]] = [[{"x": 1}], [[1]], [{"y": [{"x": 1}]}], [[("a", 1)]]]
    for at, (kind, cell) in enumerate(zip(kinds, cells, strict=True)):
        table = pa.table({"sex": ["F", "M"] * 10, "kept": pa.array(cell * 20, kind)})
        out = tmp_path / f"{at}.parquet"
        cl.TopDownSpecialization(k=5, quasi=["sex"], identifiers=[], keep_unique=["kept"]).publish(table, out)
        assert pq.read_table(out)["kept"].to_pylist() == cell * 20
        assert SECRET.encode() not in footer_texts(out)


def footer_texts(path: Path) -> bytes:
    """All that the footer of a Parquet file says, the Arrow schema in it decoded."""
    held = pq.read_metadata(path).metadata or {}
    return b"".join([path.read_bytes(), *(base64.b64decode(text) for key, text in held.items() if key == b"ARROW:schema")])
