"""JSON Lines: columns are declared, each cell and each line is read by one rule."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister import Files
from cloister.errors import SourceError
from cloister.schema import Schema
from cloister.sources.json_lines import JsonLinesSource
from cloister.sources.opening import open_source
from cloister.sources.places import find
from cloister.sources.ragged_rows import count_ragged
from cloister.sources.stated_names import NOTHING_STATED, StatedNames, names_stated


def cells(tmp_path: Path, *lines: str | bytes) -> list[Any]:
    """The cells of the column a in these lines."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    source = open_source(Files(path, names=["a", "b"]))
    return [cell for batch in source.batches(["a"]) for cell in batch.column(0).to_pylist()]


@pytest.mark.parametrize(
    ("line", "cell"),
    [
        ('{"a": "x", "b": 1}', "x"),
        ('{"a": 31}', "31"),
        ('\ufeff{"a": 31}', "31"),
        ('{"a": 1.50}', "1.50"),
        ('{"a": -1e400}', "-1e400"),
        ('{"a": 123456789012345678901234567890}', "123456789012345678901234567890"),
        ('{"a": true}', "true"),
        ('{"a": null}', None),
        ('{"b": 1}', None),
        ('{"a": [1]}', None),
        ('{"a": {"b": 1}}', None),
        ('{"a": NaN}', None),
        ('{"a": 1, "a": 2}', "2"),
        ('{"a": "\\ud800x"}', "\ufffdx"),
        ('{"a": "\\ud83d\\ude00"}', "\U0001f600"),
        ("not json", None),
        ("[1, 2]", None),
        ("3", None),
        ('{"a": 1} trailing', None),
        ('{"a": 007}', None),
        (b'{"a": "\xe9"}', "é"),
        (b'\t{"a": "x"}\r', "x"),
    ],
)
def test_each_line_has_one_reading(tmp_path: Path, line: str | bytes, cell: str | None) -> None:
    """Whatever stands beside it."""
    assert cells(tmp_path, line) == [cell]
    assert cells(tmp_path, '{"a": "p"}', "", line, '{"a": "q"}') == ["p", cell, "q"]


def test_a_line_longer_than_a_window_is_a_row_of_missing_cells(tmp_path: Path) -> None:
    """Memory is bounded, and the lines around it are read."""
    (tmp_path / "t.jsonl").write_text('{"a": "1"}\n{"a": "' + "x" * 3_000_000 + '"}\n{"a": "2"}')
    source = JsonLinesSource(find(tmp_path / "t.jsonl")[0], ("a",), window=1000)
    assert [cell for batch in source.batches(["a"]) for cell in batch.column(0).to_pylist()] == ["1", None, "2"]
    assert count_ragged(source) == 1


def test_names_are_declared(tmp_path: Path) -> None:
    """By the call, by the schema or by the columns that are used; never by rows, but for a draft."""
    with gzip.open(tmp_path / "t.ndjson.gz", "wb") as file:
        file.write(b'{"age": 31}\n{"sex": "f"}\n')
    path = tmp_path / "t.ndjson.gz"
    with pytest.raises(SourceError, match="do not say which columns"):
        open_source(path)
    assert open_source(path, names_stated(Schema.from_text("numbers = { pay = [0, 9] }"))).names == ("pay",)
    assert open_source(path, StatedNames(columns=("age",))).names == ("age",)
    assert open_source(path, StatedNames(keys_from_rows=True)).names == ("age", "sex")
    assert NOTHING_STATED.of_keys() == ()


def test_the_format_may_be_said(tmp_path: Path) -> None:
    """Of text whose name does not tell; .json is not read without."""
    (tmp_path / "t.json").write_text('{"a": "x"}\n')
    with pytest.raises(SourceError, match="one object a line"):
        open_source(tmp_path / "t.json")
    source = open_source(Files(tmp_path / "t.json", names=["a"], format="jsonl"))
    assert [batch.to_pylist() for batch in source.batches(["a"])] == [[{"a": "x"}]]


def test_private_verbs_read_json_lines(tmp_path: Path) -> None:
    """With the columns that they use."""
    (tmp_path / "t.jsonl").write_text('{"x": 0.5, "y": 0.25, "z": []}\n' * 50 + "broken\n")
    fitted = cl.KMeans(2, 1.0, (0, 1), columns=["x", "y"]).fit(tmp_path / "t.jsonl")
    assert fitted.release_.adds_up()
