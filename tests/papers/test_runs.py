"""Runs of papers: what is finished is not run again, and what a killed run left is taken up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cloister.errors import UsageError
from cloister.papers import reproduce as running
from cloister.papers.paper_items import Paper, RunEffort
from cloister.papers.reproduce import Reproduced, read_numbers, reproduce
from tests.papers.toy_paper import toy_paper

QUICK = RunEffort(is_quick=True)


def run(paper: Paper, out: Path, monkeypatch: pytest.MonkeyPatch, effort: RunEffort = QUICK) -> Reproduced:
    """The paper in place of 003."""
    monkeypatch.setattr(running, "load_paper", lambda number: paper)
    return reproduce(["003"], out, effort, version="1")[0]


def test_a_run_writes_rows_pages_and_a_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are in the tidy table, each with its source."""
    done = run(toy_paper(), tmp_path / "out", monkeypatch)
    names = {path.name for path in (tmp_path / "out" / "003").iterdir()}
    assert names == {"rows.csv", "page.html", "page.md", "f-over-epsilon.svg", "release.json"}
    with open(done.folder / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, done.rows.values())) == 11
    assert all(row["paper"] == "003" and row["source"] for row in rows)


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished tasks are kept, the one that was running is run again, and the rows are those of a run that was not stopped."""
    ran: list[str] = []

    def stop_at_third(name: str) -> None:
        ran.append(name)
        if len(ran) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(toy_paper(stop_at_third), tmp_path / "out", monkeypatch)
    assert not (tmp_path / "out" / "003").exists()
    again: list[str] = []
    done = run(toy_paper(again.append), tmp_path / "out", monkeypatch)
    assert again == [ran[2], "epsilon 2, 1"]
    assert done.rows == run(toy_paper(), tmp_path / "other", monkeypatch).rows
    again.clear()
    assert run(toy_paper(again.append), tmp_path / "out", monkeypatch).rows == done.rows
    assert not again


def test_half_a_line_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed while it writes leaves a part of a line: its task runs again."""
    whole = run(toy_paper(), tmp_path / "out", monkeypatch)
    journal = tmp_path / "out" / "journal" / "003.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    again: list[str] = []
    assert run(toy_paper(again.append), tmp_path / "out", monkeypatch).rows == whole.rows
    assert again == ["epsilon 1, 1", "epsilon 2, 0", "epsilon 2, 1"]


def test_another_run_in_the_same_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick run and a whole one are not mixed, and a file that is no journal is left alone."""
    run(toy_paper(), tmp_path / "out", monkeypatch)
    with pytest.raises(UsageError, match="another run"):
        run(toy_paper(), tmp_path / "out", monkeypatch, RunEffort())
    journal = tmp_path / "out" / "journal" / "003.jsonl"
    journal.write_text(json.dumps({"paper": 3}) + "\n[]\n")
    with pytest.raises(UsageError, match="not what a reproduction writes"):
        run(toy_paper(), tmp_path / "out", monkeypatch)


def test_a_second_process_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one runs: both would append to one journal."""

    def start_another(name: str) -> None:
        with pytest.raises(UsageError, match="another process"):
            run(toy_paper(), tmp_path / "out", monkeypatch)

    run(toy_paper(start_another), tmp_path / "out", monkeypatch)


def test_papers_are_named_by_their_numbers() -> None:
    """In their order, once each; another name is told what there is."""
    assert read_numbers(["002", "000", "002"]) == ("000", "002")
    with pytest.raises(UsageError, match=r"000, 001, 002, 003, 004, or all"):
        read_numbers(["5"])
