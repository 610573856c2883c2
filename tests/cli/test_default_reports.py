"""``--report`` without a file: a page beside the output, wherever the flag stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cloister.cli.default_reports import name_reports
from tests.cli.test_tabulate_cli import run
from tests.handouts.published import VERBS

TABULATE = ["tabulate", "students.csv", "--by", "level", "--epsilon", "1", "--schema", "students.toml"]


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(
    "words",
    [
        [*TABULATE, "--out", "t.csv", "--report"],
        [*TABULATE, "--report", "--out", "t.csv"],
        ["tabulate", "--report", *TABULATE[2:], "--out", "t.csv", "students.csv"],
        [*TABULATE, "--report", "--quiet", "--out", "t.csv"],
    ],
    ids=["last", "before", "first", "before a switch"],
)
def test_the_page_stands_beside_the_output(words: list[str]) -> None:
    """Under the name of the output, as `cloister report` names it."""
    run(*words)
    assert "<html" in Path("t.csv.report.html").read_text()
    run("verify", "t.csv")


def test_the_page_of_a_folder_stands_beside_it() -> None:
    """Inside it would be a file that the certificate does not list."""
    words = [
        "cluster",
        "points.csv",
        "--columns",
        "x,y",
        "--k",
        "2",
        "--epsilon",
        "2",
        "--bounds",
        "0,100",
        "--out",
        "two/",
        "--report",
        "--json",
    ]
    assert json.loads(run(*words))["report"] == "two.report.html"
    assert Path("two.report.html").is_file()
    run("verify", "two")


def test_a_file_after_it_is_its_page_as_before() -> None:
    """Also with an equals sign, and with a name that looks like the default one."""
    assert "Report: own.html" in run(*TABULATE, "--report", "own.html", "--out", "t.csv")
    assert "Report: other.html" in run(*TABULATE, "--report=other.html", "--out", "u.csv")
    assert not Path("t.csv.report.html").exists()


def test_a_word_after_it_is_never_taken_for_data() -> None:
    """`--report students.csv` is refused in a sentence, which says where the flag may stand alone."""
    words = ["tabulate", "--report", "students.csv", *TABULATE[2:], "--out", "t.csv", "students.csv"]
    said = " ".join(run(*words, code=2).split())
    assert "a name that ends in .html" in said
    assert "stands last or before another flag" in said
    assert not Path("t.csv").exists()


def test_without_an_output_there_is_no_page_beside_it() -> None:
    """Neither in a run nor in a dry run."""
    for more in ([], ["--dry-run"]):
        assert "give --out too" in " ".join(run(*TABULATE, "--report", *more, code=2).split())


def test_a_dry_run_checks_the_name_that_a_run_would_take() -> None:
    """A page that is there already is refused before anything is charged."""
    assert "the name in --report was checked" in " ".join(run(*TABULATE, "--dry-run", "--out", "t.csv", "--report").split())
    Path("t.csv.report.html").write_text("mine")
    for more in ([], ["--dry-run"]):
        assert "exists already" in " ".join(run(*TABULATE, "--out", "t.csv", "--report", *more, code=2).split())
    assert not Path("t.csv").exists()


def test_every_verb_that_publishes_says_so() -> None:
    """In its help."""
    for words in {tuple(verb.split()[: 2 if verb.startswith("collect") else 1]) for verb in VERBS.values()}:
        assert "OUT.report.html" in "".join(run(*words, "--help").split()).replace("│", "")


def test_words_after_two_hyphens_are_no_flags() -> None:
    """They are names of files; and standard input is no flag either."""
    assert name_reports(["verify", "--", "--report"]) == ["verify", "--", "--report"]
    assert name_reports(["tabulate", "--report", "-"]) == ["tabulate", "--report", "-"]
    assert name_reports(["tabulate", "--report", "--", "x.csv"])[1].startswith("--report=")
