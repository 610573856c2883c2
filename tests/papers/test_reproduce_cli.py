"""``cloister reproduce``: what it takes, what it says, and what it refuses before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.papers import reproduce as running
from tests.papers.toy_paper import toy_paper


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, ["reproduce", *(str(word) for word in words)])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A paper that takes no time, in a folder of its own, without a data directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(running, "load_paper", lambda number: toy_paper())


def test_it_says_where_the_pages_are_and_makes_no_ledger(tmp_path: Path) -> None:
    """For people and for programs; nothing is charged anywhere."""
    assert "page.html" in run("003", "--quick", "--out", "out")
    facts = json.loads(run("003", "--quick", "--out", "out", "--json"))
    assert facts == {"papers": [{"paper": "003", "folder": "out/003", "rows": 11}]}
    assert run("003", "--quick", "--out", "out", "--quiet") == ""
    assert not list(tmp_path.rglob("ledger*"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["005", "--out", "out"], "none of the papers"),
        (["003"], "--out"),
        (["--out", "out"], "NUMBER"),
        (["003", "--out", ""], "empty"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(words: list[str], told: str) -> None:
    """With the code of a wrong call, and nothing is left behind."""
    assert told in run(*words, code=2)
    assert not Path("out").exists()


def test_a_missing_data_set_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The names of files that are not there, and no journal."""
    from dataclasses import replace

    monkeypatch.setattr(running, "load_paper", lambda number: replace(toy_paper(), datasets=("tarragona",)))
    assert "casc-tarragona.csv is not here" in run("003", "--out", "out", "--data", tmp_path, code=2)
    assert not Path("out").exists()
