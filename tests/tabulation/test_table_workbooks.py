"""Private tables as Excel workbooks: numbers that are numbers, read back as they were, and refused where no sheet holds them."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.datasets import STUDENTS, students
from cloister.errors import DataError, SinkError
from cloister.privacy.ledger import Ledger
from cloister.sinks import certificate_path, file_hashes
from cloister.tabulation import table_workbooks
from cloister.tabulation.request import TabulationRequest
from tests.cli.test_tabulate_cli import run

LABELS = ["007", "12", "=1+1", "a\nb", " left", "", "*x", "_x0041_", "true", "#N/A"]
ROWS = pa.table({"code": LABELS * 50, "x": [0.1, 0.2, 0.3, 0.4, 0.7] * 100})


def made(**more: Any) -> cl.PrivateTable:
    """A table whose labels look like other things, with points that no float holds exactly."""
    return cl.tabulate(ROWS, ["code"], 50, domains={"code": LABELS}, bounds={"x": (0.1, 0.7)}, **more)


def test_every_label_is_a_text_and_every_number_a_number(tmp_path: Path) -> None:
    """A program that opens the workbook can add counts up, and computes nothing by itself."""
    python_calamine = pytest.importorskip("python_calamine")
    table = made(means=["x"])
    table.save(tmp_path / "t.xlsx")
    head, *rows = python_calamine.CalamineWorkbook.from_path(str(tmp_path / "t.xlsx")).get_sheet_by_name("table").to_python()
    assert head == list(table.heads)
    assert [row[0] for row in rows] == [*LABELS, "*"]
    assert all(isinstance(cell, float) for row in rows for cell in row[1:])
    assert sum(row[1] for row in rows[:-1]) == rows[-1][1] == table.total


@pytest.mark.parametrize("quantiles", [[0.5], [0.1, 0.9]])
def test_all_digits_come_back(quantiles: list[float], tmp_path: Path) -> None:
    """A workbook keeps 15 of them, and a table has no more: points of a grid are 0.3, not 0.30000000000000004."""
    table = made(means=["x"], measures=["x"], quantiles={"x": quantiles})
    release = table.save(tmp_path / "t.xlsx")
    read = cl.PrivateTable.load(tmp_path / "t.xlsx")
    assert list(read.rows()) == list(table.rows())
    assert read.release_ == release
    numbers = [cell for row in table.rows() for cell in row.values() if isinstance(cell, float)]
    assert all(float(f"{number:.15g}") == number for number in numbers)


def test_a_changed_workbook_is_refused(tmp_path: Path) -> None:
    """By its hash; and where its certificate was written anew by the numbers that it holds."""
    path = tmp_path / "t.xlsx"
    release = made().save(path)
    assert release is not None
    rows = cl.PrivateTable.load(path).to_arrow()
    wrongs = {
        "count": rows.set_column(1, "count", pa.array([1] * len(rows), pa.int64())),
        "column": rows.append_column("note", pa.array(["x"] * len(rows))),
        "label": rows.set_column(0, "code", pa.array([*LABELS[::-1], "*"])),
        "empty": rows.slice(0, 0),
        "name": rows.rename_columns(["code", "count", "standard_error", "low", "low"]),
    }
    for name, wrong in wrongs.items():
        path.unlink()
        table_workbooks.write_workbook(wrong, ["code"], path)
        certificate_path(path).write_text(release.to_json(), newline="\n")
        with pytest.raises(DataError, match="changed after it was written"):
            cl.PrivateTable.load(path)
        signed = dataclasses.replace(release, files=file_hashes(path), signature=None)
        certificate_path(path).write_text(signed.to_json(), newline="\n")
        with pytest.raises(DataError):
            cl.PrivateTable.load(path)
        if name != "label":  # no certificate lists the labels of a domain
            run("verify", path, code=5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Students with a ledger, where the process is."""
    from pyarrow import csv

    csv.write_csv(students(500), tmp_path / "students.csv")
    (tmp_path / "students.toml").write_text(STUDENTS.to_toml())
    Ledger(tmp_path / "ledger.sqlite").create("students", "add-remove", 10)
    monkeypatch.chdir(tmp_path)
    return tmp_path


TABULATE = ["tabulate", "students.csv", "--schema", "students.toml", "--ledger", "ledger.sqlite", "--epsilon", "1"]


def spent(folder: Path) -> float:
    return float(Ledger(folder / "ledger.sqlite").account("students").epsilon_spent)


def test_the_command_writes_verifies_and_reports_a_workbook(folder: Path) -> None:
    """With its certificate beside it, also under another name; its report shows its numbers."""
    said = run(*TABULATE, "--by", "level,age", "--bins", "age=15:20:30:45", "--means", "grade", "--out", "t.xlsx",
               "--report", "t.html")  # fmt: skip
    assert "t.xlsx, t.xlsx.release.json" in said
    page = (folder / "t.html").read_text()
    assert "The released numbers, which are noisy" in page
    assert "mean of grade" in page
    assert "is this release" in run("verify", "t.xlsx", "--ledger", "ledger.sqlite")
    (folder / "t.xlsx").rename(folder / "numbers.bin")
    (folder / "t.xlsx.release.json").rename(folder / "proof.json")
    assert "t.xlsx" in run("verify", "numbers.bin", "--certificate", "proof.json")
    run("report", "proof.json", "-o", "again.html")


def test_a_table_that_no_sheet_holds_is_refused_before_the_charge(folder: Path) -> None:
    """Its size and its labels are public. Other files hold it."""
    wide = {f"c{place}": [str(value) for value in range(5 - place // 6)] for place in range(8)}
    request = TabulationRequest(by=list(wide), budget=1, domains=wide)
    data = {name: values[:1] for name, values in wide.items()}
    with pytest.raises(SinkError, match=r"1,[0-9,]+ rows with its margins.*Write \.csv or \.parquet"):
        request.dry_run(data, written_as=".xlsx")
    request.dry_run(data, written_as=".csv")
    for label in ("y" * 40_000, "\ufffe"):
        odd = TabulationRequest(by=["c"], budget=1, domains={"c": ["a", label]})
        with pytest.raises(SinkError, match="longer than a cell") as caught:
            odd.run({"c": ["a"]}, written_as=".xlsx")
        assert label[:5] not in str(caught.value)


@pytest.mark.parametrize("verb", [[*TABULATE, "--by", "level"], ["microdata", *TABULATE[1:]]], ids=["tabulate", "microdata"])
def test_a_workbook_without_its_writer_is_refused_before_the_charge(
    verb: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever lacks the extra is told so while nothing is spent."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    assert "cloister[excel]" in " ".join(run(*verb, "--out", "t.xlsx", code=2).split())
    assert spent(folder) == 0


def test_made_up_rows_are_written_as_a_workbook(folder: Path) -> None:
    """By the command, and they verify."""
    run("microdata", *TABULATE[1:], "--out", "made.xlsx")
    assert len(cl.PrivateRows.load("made.xlsx")) > 0
    run("verify", "made.xlsx")
    run("report", "made.xlsx")
