"""What a command prints may not arrive: a full disk behind standard output is told in a line, with what was written before."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cloister.cli import output
from cloister.cli.output import print_json
from cloister.errors import UnwrittenRelease
from cloister.privacy import kept_releases
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.report.terminal import print_document

COMMANDS = {
    "schema": ["schema", "{home}/points.csv"],
    "help": ["--help"],
    "ledger": ["ledger", "show", "--ledger", "{home}/none.sqlite"],
    "json": ["calibrate", "--epsilon", "1", "--json"],
    "cluster": [
        "cluster",
        "{home}/points.csv",
        "--columns",
        "x,y",
        "--bounds",
        "0,100",
        "--k",
        "2",
        "--epsilon",
        "1",
        "--out",
    ],
}


def after_notes(text: str) -> list[str]:
    """The lines but for what a fit of a text file says before its charge."""
    return [line for line in text.splitlines() if not line.startswith("Columns are read as numbers")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_behind_standard_output(folder: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a bug, no traceback, exit code 1; a result that was written stays, and the error says so."""
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    argv = [word.format(home=folder) for word in COMMANDS[command]]
    if command == "cluster":
        argv.append(str(folder / "clusters"))
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cloister", *argv], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    lines = after_notes(done.stderr)
    spent = " Rows may have been read: count epsilon 1 as spent, which no ledger keeps." if command == "cluster" else ""
    assert lines[0] == f"SinkError: the answer cannot be printed: No space left on device.{spent}"
    assert lines[1:] == ([f"{folder / 'clusters'} was written before that, and is whole."] if command == "cluster" else [])
    assert (folder / "clusters" / "release.json").exists() == (command == "cluster")


@pytest.mark.parametrize("command", ["cluster", "schema"])
def test_nobody_reads_on(folder: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind ``| true``: no fault, and no word, unless something was paid for."""
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    argv = [word.format(home=folder) for word in COMMANDS[command]]
    if command == "cluster":
        argv.append(str(folder / "clusters"))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "cloister", *argv], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.returncode == 1
    spent = "Rows may have been read: count epsilon 1 as spent, which no ledger keeps."
    written = f"{folder / 'clusters'} was written before that, and is whole."
    assert after_notes(done.stderr) == ([spent, written] if command == "cluster" else [])


def test_what_others_wrote_prints_as_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Documents and JSON: no control character of a name or a note reaches the terminal, and JSON stays the same JSON."""
    evil = "a\nVerified\x1b[8m\x9b2J\u202eb"
    print_document(
        Document((Section((Fact(evil, evil), Sentence(evil), TextTable.of([evil], [[evil]], title=evil)), heading=evil),))
    )
    print_json({evil: [evil]})
    printed = capsys.readouterr().out
    assert not set(printed) & {"\x1b", "\x9b", "\u202e"}
    assert not any(line.startswith("Verified") for line in printed.splitlines())
    assert json.loads(printed[printed.index("{") :]) == {evil: [evil]}


def test_a_result_that_can_be_neither_written_nor_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was charged is said all the same, before the error of the terminal."""

    def full(*_: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    def unwritten(*_: object) -> None:
        raise UnwrittenRelease("no room. What was charged stays charged: epsilon 1.", is_kept=False)

    said: list[str] = []
    monkeypatch.setattr(output, "print_json", full)
    monkeypatch.setattr(output.typer, "echo", lambda text, err: said.append(text))
    monkeypatch.setattr(kept_releases, "write_release", unwritten)
    with pytest.raises(OSError, match="no space"):
        output.write_release(None, None, tmp_path / "t.csv", write=str, as_data=dict)  # type: ignore[arg-type]
    assert said == ["UnwrittenRelease: no room. What was charged stays charged: epsilon 1."]
