"""No line is wider than the terminal, but for paths, commands and addresses, which are copied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cloister.cli import app

POINTS = ("points.csv", "--schema", "points.toml")
STUDENTS = ("students.csv", "--schema", "students.toml")
SURVEY = ("survey.toml", "--id", "pupils", "--question", "sex=f,m", "--question", "grade=1,2,3,4,5,6", "--epsilon", "1")
RUNS: dict[str, list[Sequence[str]]] = {
    "cluster": [
        ("cluster", *POINTS, "--k", "2", "--epsilon", "1", "--dry-run"),
        ("cluster", *POINTS, "--k", "2", "--epsilon", "1", "--out", "c"),
        ("score", "c", *POINTS),
        ("verify", "c"),
        ("report", "c", "-o", "c.html"),
        ("ledger", "show", "points"),
        ("ledger", "show"),
        ("ledger", "verify"),
    ],
    "synopsis": [
        ("synopsis", *POINTS, "--epsilon", "1", "--dry-run"),
        ("synopsis", *POINTS, "--epsilon", "1", "--out", "s.parquet"),
    ],
    "tabulate": [
        ("tabulate", *STUDENTS, "--by", "level", "--epsilon", "1", "--dry-run"),
        ("tabulate", *STUDENTS, "--by", "level", "--epsilon", "1", "--means", "grade", "--out", "t.csv"),
    ],
    "choose": [
        ("choose", *POINTS, "--column", "x", "--quantile", "0.5", "--epsilon", "1", "--dry-run"),
        ("choose", *POINTS, "--column", "x", "--quantile", "0.5", "--epsilon", "1", "--out", "x.json"),
        ("audit", "choose", *POINTS, "--column", "x", "--quantile", "0.5", "--epsilon", "1", "--tries", "2"),
    ],
    "anonymize": [
        ("anonymize", *STUDENTS, "--k", "10", "--dry-run"),
        ("anonymize", *STUDENTS, "--k", "10", "--out", "a.csv"),
        ("anonymize", *STUDENTS, "--k", "10", "--scope", "global", "--out", "b.csv"),
        ("risk", "a.csv", "--quasi", "age,level", "--against", "students.csv"),
    ],
    "microdata": [
        ("microdata", *STUDENTS, "--epsilon", "1", "--dry-run"),
        ("microdata", *STUDENTS, "--epsilon", "1", "--out", "m.csv"),
        ("microdata", *STUDENTS, "--method", "microaggregation", "--k", "5", "--dry-run"),
        ("microdata", *STUDENTS, "--method", "microaggregation", "--k", "5", "--out", "n.csv"),
    ],
    "risk": [("risk", "students.csv")],
    "schema": [
        ("schema", "students.csv", "-o", "draft.toml"),
        ("schema", *STUDENTS, "--check"),
    ],
    "collect": [
        ("collect", "new", *SURVEY),
        ("collect", "show", "survey.toml"),
        ("collect", "plan", "survey.toml", "--people", "5000"),
        ("collect", "simulate", "survey.toml", "people.csv", "--out", "reports.jsonl"),
        ("collect", "report", "survey.toml", "--answer", "sex=f", "--answer", "grade=2", "--no-memo", "--out", "r.json"),
        ("collect", "estimate", "survey.toml", "reports.jsonl"),
        ("collect", "cluster", "survey.toml", "reports.jsonl", "--k", "2"),
    ],
    "others": [("calibrate", "--epsilon", "1"), ("config",), ("demo",)],
}  # fmt: skip
MISTAKES = {
    "no file": ("risk", "there-is-no-such-file.csv"),
    "no budget": ("cluster", *POINTS, "--k", "2", "--epsilon", "100", "--out", "d"),
    "not a release": ("verify", "points.csv"),
    "no such column": ("tabulate", *STUDENTS, "--by", "shoe_size", "--epsilon", "1", "--out", "t.csv"),
    "warned": (
        "cluster",
        "points.csv",
        "--columns",
        "x,y",
        "--bounds",
        "0,100",
        "--k",
        "200",
        "--epsilon",
        "0.01",
        "--out",
        "d",
    ),
}
COPIED = re.compile(r"[/\\]|://|\.(csv|json|toml|parquet|html|sqlite|png)\b|^[0-9a-f]{32,}[.,:;]?$|^ed25519:")


@pytest.fixture
def narrow(home: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> int:
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("cloister.report.terminal.is_screen", lambda _: True)
    monkeypatch.setenv("CLOISTER_LEDGER", "ledger.sqlite")
    (home / "people.csv").write_text("sex,grade\n" + "f,1\nm,2\nf,3\nm,6\n" * 50)
    return width


def invoked(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(app, list(arguments))


def too_wide(text: str, width: int) -> list[str]:
    """Lines that are wider and could have been broken: all but single words that are copied, and commands that are typed."""
    return [
        line
        for line in text.splitlines()
        if len(line) > width
        and not line.lstrip().startswith(("$ ", "cloister "))
        and not (len(line.split()) == 1 and COPIED.search(line.strip()))
    ]


@pytest.mark.parametrize("verb", RUNS)
@pytest.mark.parametrize("width", [60, 80])
def test_lines_fit(narrow: int, verb: str) -> None:
    """On both streams; a path stands on a line of its own where it is longer than one."""
    for arguments in RUNS[verb]:
        done = invoked(arguments)
        assert done.exit_code == 0, (arguments, done.output)
        wide = too_wide(done.output, narrow)
        assert not wide, "\n".join([" ".join(arguments), *wide])


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("width", [60])
def test_errors_and_warnings_fit(narrow: int, mistake: str) -> None:
    """What goes to standard error is read on the same screen."""
    done = invoked(MISTAKES[mistake])
    assert done.stderr.strip()
    assert (done.exit_code == 0) == (mistake == "warned"), done.output
    wide = too_wide(done.output, narrow)
    assert not wide, "\n".join(wide)


def test_into_a_pipe_lines_go_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that grep finds sentences."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "60")  # which readline sets for whatever is started
    told = invoked(("verify", "there-is-no-such-folder-whatever-one-may-have-typed-here")).stderr
    assert len(told.splitlines()) == 1
    assert len(told) > 80
