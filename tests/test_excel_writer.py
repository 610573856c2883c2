"""Tables as Excel workbooks: what is written reads back, nothing in them is computed, and too much is refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import DataError, SinkError
from cloister.sinks import excel_writer
from cloister.sinks.batch_writer import check_storable, writer_of
from cloister.sources.opening import open_source

HOSTILE = ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "http://a.b", "007", "{=1}", "a\x01b", "_x0041_", " x "]


def written(path: Path, table: pa.Table) -> list[list[Any]]:
    """The cells of the workbook as another reader has them, with their kinds."""
    with writer_of(str(path), "xlsx", table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    book = openpyxl.load_workbook(path)
    return [[(cell.value, cell.data_type) for cell in row] for row in book.worksheets[0].iter_rows()]


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    """Texts that a spreadsheet could compute are texts, and read back as they were."""
    cells = written(tmp_path / "t.xlsx", pa.table({"=a": HOSTILE, "b": ["x"] * len(HOSTILE)}))
    assert {kind for row in cells for _, kind in row} == {"s"}
    source = open_source(tmp_path / "t.xlsx")
    assert [cell for batch in source.batches(["=a"]) for cell in batch.column(0).to_pylist()] == HOSTILE


def test_plain_numbers_are_numbers(tmp_path: Path) -> None:
    """A sum in a spreadsheet passes over texts; codes with leading zeros, long numbers and labels stay texts."""
    texts = ["31", "-0.50", "1e3", "12345678901234567890", "[20, 30)", "", None]
    cells = written(tmp_path / "t.xlsx", pa.table({"a": texts, "b": pa.array([1, 2**60, None, 3, 4, 5, 6])}))
    assert cells[1:6] == [
        [(31, "n"), (1, "n")],
        [(-0.5, "n"), (str(2**60), "s")],
        [("1e3", "s"), (None, "n")],
        [("12345678901234567890", "s"), (3, "n")],
        [("[20, 30)", "s"), (4, "n")],
    ]


def test_days_and_truth_values_are_written_as_such(tmp_path: Path) -> None:
    """Days before March 1900, which Excel counts otherwise, are texts."""
    days = pa.array([dt.date(2024, 2, 29), dt.date(1900, 1, 1)])
    table = pa.table({"day": days, "yes": [True, False], "x": [0.25, float("inf")]})
    cells = written(tmp_path / "t.xlsx", table)
    assert [kind for _, kind in cells[1]] == ["d", "b", "n"]
    assert cells[2][0] == ("1900-01-01", "s")
    source = open_source(tmp_path / "t.xlsx")
    assert next(source.batches(["day", "yes"])).to_pylist()[0] == {"day": "2024-02-29", "yes": "true"}


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    """A sheet ends, and nothing is cut off silently."""
    monkeypatch.setattr(excel_writer, "MOST_ROWS", 3)
    with pytest.raises(SinkError, match="at most 3 rows"):
        written(tmp_path / "t.xlsx", pa.table({"a": [1, 2, 3, 4]}))


def test_what_no_cell_holds_is_refused(tmp_path: Path) -> None:
    """Types before a row is written; a text that is too long by its column, without its value."""
    with pytest.raises(SinkError, match='column "a" is of type'):
        check_storable(pa.schema([("a", pa.list_(pa.int64()))]), "xlsx")
    with pytest.raises(DataError, match='column "a" holds values') as caught:
        written(tmp_path / "t.xlsx", pa.table({"b": ["x"], "a": ["y" * 40_000]}))
    assert "yyy" not in str(caught.value)


def test_an_anonymized_workbook_is_counted_again_and_certified(tmp_path: Path) -> None:
    """From a workbook to a workbook: the output is read back, and its certificate stands beside it."""
    table = pa.table({"age": [str(20 + place % 8) for place in range(80)], "note": ["=1+1", "b"] * 40})
    written(tmp_path / "people.xlsx", table)
    model = cl.TopDownSpecialization(k=5, quasi=["age"])
    model.publish(str(tmp_path / "people.xlsx"), str(tmp_path / "safe.xlsx"))
    assert (tmp_path / "safe.xlsx.release.json").exists()
    source = open_source(tmp_path / "safe.xlsx")
    cells = [cell for batch in source.batches(["note"]) for cell in batch.column(0).to_pylist()]
    assert sorted(cells) == sorted(table["note"].to_pylist())
