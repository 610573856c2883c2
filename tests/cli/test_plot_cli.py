"""``--plot`` of the verbs: drawn after the release is written, refused before anything is charged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.report import plot

SCHEMA = ["--schema", "points.toml", "--ledger", "ledger.sqlite"]
STUDENTS = ["students.csv", "--schema", "students.toml"]


def run(*words: str, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands are run where their files are."""
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["cluster", "points.csv", "--k", "2", "--epsilon", "1", *SCHEMA, "--out", "c"], "2 private clusters"),
        (["synopsis", "points.csv", "--epsilon", "1", *SCHEMA, "--out", "s.parquet"], "Rows by x and y"),
        (["tabulate", *STUDENTS, "--by", "level", "--epsilon", "1", "--out", "t.csv"], "Rows by level"),
        (["microdata", *STUDENTS, "--epsilon", "1", "--out", "m.csv"], "private rows, column by column"),
        (
            ["microdata", "points.csv", "--method", "microaggregation", "--k", "5", "--columns", "x,y", "--out", "m.csv"],
            "What each column lost (for the holder only)",
        ),
        (
            ["anonymize", *STUDENTS, "--k", "5", "--quasi", "age,level", "--out", "a.csv"],
            "What each column lost (for the holder only)",
        ),
        (["risk", *STUDENTS, "--quasi", "age,level"], "Risk of 1,000 rows (for the holder only)"),
        (["choose", *STUDENTS, "--column", "level", "--epsilon", "1", "--out", "l.json"], "Private choice of level"),
    ],
)
def test_verbs_draw_their_result(here: Path, words: list[str], shown: str) -> None:
    """The picture has the title of its result, and the command says where it is."""
    assert "Drawn: p.svg" in run(*words, "--plot", "p.svg")
    assert shown in (here / "p.svg").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", "points.csv", "--k", "2", "--epsilon", "1", *SCHEMA, "--out", "c"],
        ["synopsis", "points.csv", "--epsilon", "1", *SCHEMA, "--out", "s.parquet"],
        ["tabulate", *STUDENTS, "--by", "level", "--epsilon", "1", "--out", "t.csv"],
        ["microdata", *STUDENTS, "--epsilon", "1", "--out", "m.csv"],
        ["anonymize", *STUDENTS, "--k", "5", "--quasi", "level", "--out", "a.csv"],
        ["choose", *STUDENTS, "--column", "age", "--quantile", "0.5", "--epsilon", "1", "--out", "m.json"],
    ],
)
def test_json_names_the_report_and_the_picture(here: Path, words: list[str]) -> None:
    """A program that reads the result knows which files there are."""
    told = json.loads(CliRunner().invoke(app, [*words, "--plot", "p.svg", "--report", "r.html", "--json"]).stdout)
    assert (told["picture"], told["report"]) == ("p.svg", "r.html")
    assert (here / "p.svg").is_file()
    assert (here / "r.html").is_file()


def test_scores_are_drawn_for_the_holder(here: Path) -> None:
    """Beside those of one cluster, in a file that its owner alone may read, and not in the folder of the clusters."""
    run("cluster", "points.csv", "--k", "2", "--epsilon", "1", *SCHEMA, "--out", "c")
    words = ["score", "c", "points.csv", *SCHEMA]
    assert "Drawn: s.svg" in run(*words, "--plot", "s.svg")
    assert "2 clusters on 1,000 rows (for the holder only)" in (here / "s.svg").read_text()
    assert (here / "s.svg").stat().st_mode & 0o077 == 0
    assert json.loads(CliRunner().invoke(app, [*words, "--plot", "t.svg", "--json"]).stdout)["picture"] == "t.svg"
    assert "lie in its folder" in " ".join(run(*words, "--plot", "c/s.svg", code=2).split())
    run("verify", "c")


def test_estimates_are_drawn(here: Path) -> None:
    """Answers with their errors, and groups of people."""
    run(
        "collect",
        "new",
        "s.toml",
        "--id",
        "s",
        "--question",
        "level=bachelor,master,phd",
        "--question",
        "b=1,2",
        "--epsilon",
        "2",
    )
    (here / "people.csv").write_text("level,b\n" + "bachelor,1\nphd,2\n" * 50)
    run("collect", "simulate", "s.toml", "people.csv", "--out", "r.jsonl")
    run("collect", "estimate", "s.toml", "r.jsonl", "--plot", "p.svg")
    assert "Answers of 100 reports" in (here / "p.svg").read_text()
    run("collect", "cluster", "s.toml", "r.jsonl", "--k", "2", "--plot", "g.svg")
    assert "What each group answers" in (here / "g.svg").read_text()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("p.gif", "drawn as .png, .svg or .pdf"),
        ("c/p.svg", "lie in its folder"),
        ("there.svg", "exists"),
        ("nowhere/p.svg", "does not exist"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_the_charge(here: Path, name: str, why: str) -> None:
    """Another format, a name that is taken, a place that is not there or is the release's: nothing is spent or written."""
    (here / "there.svg").write_text("mine")
    words = ["cluster", "points.csv", "--k", "2", "--epsilon", "1", *SCHEMA, "--out", "c", "--plot", name]
    assert why in " ".join(run(*words, code=2).split())
    assert Ledger(here / "ledger.sqlite").account("points").epsilon_left == 10
    assert not (here / "c").exists()
    assert (here / "there.svg").read_text() == "mine"


def test_a_picture_that_fails_does_not_lose_the_release(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is written and verifies, and the warning says so; no half of a picture is left."""

    def fail(pictures: Sequence[Any], path: Path) -> None:
        raise RuntimeError("secret-4711")

    monkeypatch.setattr(plot, "save", fail)
    words = ["cluster", "points.csv", "--k", "2", "--epsilon", "1", *SCHEMA, "--out", "c", "--plot", "p.svg", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert "p.svg could not be drawn (RuntimeError). Everything else is written." in " ".join(done.stderr.split())
    assert "secret-4711" not in done.output
    assert json.loads(done.stdout)["out"] == "c"
    assert not (here / "p.svg").exists()
    run("verify", "c")
