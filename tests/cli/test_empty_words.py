"""An empty word is no path: neither as DATA nor as the value of a flag, wherever it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.errors import SourceError


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in that holds data."""
    monkeypatch.chdir(home)
    return home


def run(*words: object) -> Any:
    """A command that ran."""
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    "words",
    [
        ("risk", ""),
        ("cluster", "points.csv", "--k", "2", "--epsilon", "1", "--out", ""),
        ("tabulate", "points.csv", "--out="),
        ("risk", "points.csv", "--schema", ""),
        ("ledger", "show", "--ledger", ""),
        ("verify", ""),
        ("risk", "points.csv", "--against", ""),
        ("risk", "points.csv", ""),
        ("risk", "--quasi", "age", "--", ""),
        ("risk", "--quasi", "age", "--quiet", ""),
        ("tabulate", "--by", "sex", "--epsilon", "0.1", "--out", "t.csv", "--quiet", ""),
        ("anonymize", "--k", "2", "--out", "t.csv", "--json", "--quiet", ""),
        ("cluster", "--k", "2", "--epsilon", "1", "--dry-run", ""),
        ("schema", "--quiet", ""),
        ("schema", "points.csv", "-o", ""),
        ("verify", "--quiet", ""),
        ("report", "--quiet", ""),
        ("report", "points.csv", "--key", ""),
        ("collect", "show", "--quiet", ""),
        ("collect", "serve", "c.toml", "--store="),
        ("audit", "tabulate", "--by", "sex", "--json", "--quiet", "--", ""),
        ("anonymize", "points.csv", "--k", "2", "--apply", ""),
        ("anonymize", "points.csv", "--k", "2", "--save-recoding="),
    ],
)
def test_an_empty_path_is_not_the_current_folder(words: tuple[str, ...]) -> None:
    """As a shell makes one of a variable that is not set; whatever flag without a value stands before it."""
    done = run(*words)
    assert (done.exit_code, "is empty. Give a path" in done.output) == (2, True), done.output


def test_an_empty_word_may_be_the_value_of_a_flag_that_takes_no_path(here: Path) -> None:
    """The flag says what it makes of it."""
    assert "--sheet must be a text" in run("risk", "points.csv", "--sheet", "").stderr


@pytest.mark.parametrize("data", ["", [""], ["points.csv", ""]])
def test_an_empty_path_is_no_data_in_python_either(here: Path, data: object) -> None:
    """The system would take it for the current folder."""
    with pytest.raises(SourceError, match="path is empty"):
        cl.risk(data, quasi=["x"])
    with pytest.raises(SourceError, match="path is empty"):
        cl.tabulate(data, by=["x"], budget=1, domains={"x": ["a"]})
    with pytest.raises(SourceError, match="path is empty"):
        cl.risk(cl.Files(data), quasi=["x"])
