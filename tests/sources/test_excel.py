"""Excel workbooks: cells by one rule, sheets by name, and files that would ask for all memory refused before they are read."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

import cloister as cl
from cloister.errors import SourceError
from cloister.file_options import FileOptions, Files
from cloister.sources import excel_parts
from cloister.sources.opening import open_source


def written(path: Path, rows: list[list[Any]], title: str = "people", **more: list[list[Any]]) -> Path:
    """A workbook as openpyxl writes it; further sheets by name."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    for name, others in more.items():
        other = book.create_sheet(name)
        for row in others:
            other.append(row)
    book.save(path)
    return path


def cells_of(data: Any) -> list[dict[str, Any]]:
    """All rows, as texts."""
    source = open_source(data)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def test_every_kind_of_cell_becomes_the_text_that_csv_would_have(tmp_path: Path) -> None:
    """Numbers, dates, times, truth values, formulas, errors and rich text, each by itself."""
    book = xlsxwriter.Workbook(str(tmp_path / "kinds.xlsx"))
    sheet = book.add_worksheet()
    day, moment, clock = (book.add_format({"num_format": form}) for form in ("yyyy-mm-dd", "dd/mm/yyyy hh:mm", "[h]:mm"))
    sheet.write(0, 0, "c")
    sheet.write_number(1, 0, 31)
    sheet.write_number(2, 0, 0.1)
    sheet.write_number(3, 0, 1e300)
    sheet.write_boolean(4, 0, True)
    sheet.write_datetime(5, 0, dt.datetime(2024, 2, 29), day)
    sheet.write_datetime(6, 0, dt.datetime(2024, 2, 29, 13, 45), moment)
    sheet.write_datetime(7, 0, dt.timedelta(hours=30), clock)
    sheet.write_formula(8, 0, "=1+1", None, 2)
    sheet.write_formula(9, 0, '="a"&"b"', None, "ab")
    sheet.write_string(10, 0, "007")
    sheet.write_string(11, 0, "=1+1")
    sheet.write_rich_string(12, 0, "a", book.add_format({"bold": True}), "b", "c")
    sheet.write_number(13, 0, 0.5, book.add_format({"num_format": "0%"}))
    book.close()
    assert [row["c"] for row in cells_of(tmp_path / "kinds.xlsx")] == [
        "31", "0.1", "1e+300", "true", "2024-02-29", "2024-02-29 13:45:00", "30:00:00", "2", "ab", "007", "=1+1", "abc", "0.5",
    ]  # fmt: skip


def test_errors_empty_cells_and_covered_cells_hold_nothing(tmp_path: Path) -> None:
    """An error of a formula is a missing value; a merged value stands in its first cell alone."""
    book = xlsxwriter.Workbook(str(tmp_path / "gaps.xlsx"))
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["a", "b"])
    sheet.write_formula(1, 0, "=1/0", None, "#DIV/0!")
    sheet.write(1, 1, 1)
    sheet.merge_range(2, 0, 3, 0, "both")
    sheet.write(3, 1, 2)
    book.close()
    assert cells_of(tmp_path / "gaps.xlsx") == [{"a": "", "b": "1"}, {"a": "both", "b": ""}, {"a": "", "b": "2"}]


def test_a_workbook_of_openpyxl_is_read(tmp_path: Path) -> None:
    """Text written in place, rich text and dates, by another writer."""
    rows = [["a", "b"], [CellRichText("x", TextBlock(InlineFont(b=True), "y")), dt.date(2024, 1, 31)]]
    assert cells_of(written(tmp_path / "own.xlsx", rows)) == [{"a": "xy", "b": "2024-01-31"}]


def test_dates_count_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    """Workbooks of old Macs have another calendar."""
    book = xlsxwriter.Workbook(str(tmp_path / "mac.xlsx"), {"date_1904": True})
    sheet = book.add_worksheet()
    sheet.write(0, 0, "day")
    sheet.write_datetime(1, 0, dt.datetime(2024, 2, 29), book.add_format({"num_format": "d.m.yy"}))
    book.close()
    assert cells_of(tmp_path / "mac.xlsx") == [{"day": "2024-02-29"}]


def test_blank_rows_and_what_stands_beside_the_table_are_no_part_of_it(tmp_path: Path) -> None:
    """Blank rows above, between and below, formats without values, and cells right of the header."""
    rows = [[None, None], [None, "a", "b"], [None, 1, 2, "remark"], [], [None, 3, None], [None, None, None, "only a remark"]]
    path = written(tmp_path / "loose.xlsx", rows)
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["B40"].number_format = "0.00"
    book.save(path)
    assert cells_of(path) == [{"a": "1", "b": "2"}, {"a": "3", "b": ""}]


def test_titles_are_skipped_and_names_can_be_said(tmp_path: Path) -> None:
    """--skip counts the rows of the sheet; with names there is no header."""
    path = written(tmp_path / "titled.xlsx", [["People of 2024", "draft"], [], ["age", "sex"], [31, "f"]])
    assert cells_of(Files(path, skip=1)) == [{"age": "31", "sex": "f"}]
    assert cells_of(Files(path, skip=3, names=["x", "y"])) == [{"x": "31", "y": "f"}]


def test_a_sheet_is_named_where_there_are_several(tmp_path: Path) -> None:
    """The only visible one is read without a word; otherwise the sheets are listed."""
    path = written(tmp_path / "book.xlsx", [["a"], [1]], "first", second=[["b"], [2]])
    assert cells_of(Files(path, sheet="second")) == [{"b": "2"}]
    with pytest.raises(SourceError, match=r'2 sheets.*"first", "second"'):
        open_source(path)
    with pytest.raises(SourceError, match=r'no sheet "third".*"first"'):
        open_source(Files(path, sheet="third"))
    book = openpyxl.load_workbook(path)
    book["second"].sheet_state = "hidden"
    book.save(path)
    assert cells_of(path) == [{"a": "1"}]
    assert cells_of(Files(path, sheet="second")) == [{"b": "2"}]


def changed(path: Path, old: bytes, new: bytes) -> Path:
    """The workbook with other bytes in its sheet."""
    target = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            raw = source.read(name)
            out.writestr(name, raw.replace(old, new) if "sheet1" in name else raw)
    return target


def test_a_cell_in_the_last_corner_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    """The reader would take memory for every cell before it."""
    path = changed(written(tmp_path / "p.xlsx", [["a"], [1]]), b'r="A2"', b'r="XFD1048576"')
    with pytest.raises(SourceError, match=r"1,048,576 rows by 16,384 columns"):
        open_source(path)


def test_parts_that_unpack_to_too_much_are_refused_by_the_directory(tmp_path: Path, monkeypatch: Any) -> None:
    """A few bytes of an archive may be gigabytes."""
    monkeypatch.setattr(excel_parts, "MOST_BYTES", 10_000)
    path = written(tmp_path / "p.xlsx", [["a"], ["x" * 20_000]])
    with pytest.raises(SourceError, match="unpacks to"):
        open_source(path)


@pytest.mark.parametrize(("old", "new"), [(b'r="A2"', b""), (b"</worksheet>", b"<"), (b"12345", b"12345<v>")])
def test_odd_sheets_get_a_sentence(tmp_path: Path, old: bytes, new: bytes) -> None:
    """What is broken is said without a value, and ends no process."""
    path = changed(written(tmp_path / "p.xlsx", [["a"], [12345]]), old, new)
    with pytest.raises(SourceError, match=r"anew") as caught:
        open_source(path)
    assert "12345" not in str(caught.value)


def damaged(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-200])
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: written(folder / "p.xlsx", []), "empty"),
        (lambda folder: written(folder / "p.xlsx", [["a", None, "b"], [1, 2, 3]]), "column 2 has no name"),
        (lambda folder: written(folder / "p.xlsx", [["a", "a"], [1, 2]]), "same name"),
        (lambda folder: written(folder / "p.xlsx", [[1.5, 2.5], [1, 2]]), "looks like data"),
        (lambda folder: damaged(written(folder / "p.xlsx", [["a"], [1]])), "damaged"),
    ],
    ids=["empty", "no name", "twice", "no header", "cut"],
)
def test_wrong_workbooks_get_a_sentence(tmp_path: Path, make: Callable[[Path], Path], said: str) -> None:
    """What is wrong with a workbook is said in one sentence."""
    with pytest.raises(SourceError, match=said):
        open_source(make(tmp_path))


def test_a_password_is_asked_away(tmp_path: Path) -> None:
    """A protected workbook is an OLE file with an encrypted package."""
    path = tmp_path / "locked.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4096))
    with pytest.raises(SourceError, match=r"password|cannot be read"):
        open_source(path)


def test_an_option_that_means_nothing_is_refused(tmp_path: Path) -> None:
    """A delimiter parts no cells of a workbook, and a CSV file has no sheets."""
    path = written(tmp_path / "p.xlsx", [["a"], [1]])
    with pytest.raises(SourceError, match="delimiter means nothing"):
        open_source(Files(path, delimiter=";"))
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="sheet means nothing"):
        open_source(Files(tmp_path / "p.csv", sheet="x"))
    assert FileOptions(sheet="x").stated() == {"sheet": "x"}


def test_old_workbooks_are_read(tmp_path: Path) -> None:
    """.xls files, by the same rule."""
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    sheet = book.add_sheet("people")
    for row, cells in enumerate([["a", "b"], [31, "x"], [0.5, True]]):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    book.save(str(tmp_path / "old.xls"))
    assert cells_of(tmp_path / "old.xls") == [{"a": "31", "b": "x"}, {"a": "0.5", "b": "true"}]


def test_a_fit_reads_a_workbook(tmp_path: Path) -> None:
    """A private verb takes numbers from the texts, as from CSV."""
    path = written(tmp_path / "p.xlsx", [["x", "s"], *([0.25, "f"] for _ in range(30)), ["none", "m"]])
    assert cl.KMeans(1, 1.0, (0, 1), columns=["x"]).fit(path).release_.adds_up()
    assert cl.tabulate(path, ["s"], 100, domains={"s": ["f", "m"]}).release.adds_up()
