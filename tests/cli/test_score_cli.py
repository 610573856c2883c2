"""``cloister score``: a page, JSON, the ledger, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger

SECRET = "Havana-Vieja"


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Released clusters of a table of two kinds of people, in a ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    random = np.random.default_rng(0)
    ages = [*random.normal(30, 3, 300), *random.normal(70, 3, 200)]
    lines = [f"{age:.1f};{age * 100:.0f};{SECRET if i < 300 else 'Lima'}" for i, age in enumerate(ages)]
    (tmp_path / "people.csv").write_text("age;income;town\n" + "\n".join(lines) + "\n")
    (tmp_path / "people.toml").write_text(
        'table = "people"\n[columns.age]\nkind = "number"\nbounds = [0, 100]\n'
        '[columns.income]\nkind = "number"\nbounds = [0, 10000]\n[columns.town]\nkind = "category"\nmissing = ["Lima"]\n'
    )
    Ledger(tmp_path / "ledger.sqlite").create("people", "add-remove", 100)
    words = "cluster people.csv --schema people.toml --columns age,income --k 2 --epsilon 50 --ledger ledger.sqlite --out"
    assert run(*words.split(), "clusters")[0] == 0
    return tmp_path / "clusters"


def run(*words: object) -> tuple[int, str]:
    """Run the command: exit code and everything it printed."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def test_a_page_for_the_holder(clusters: Path) -> None:
    """Every score beside that of one cluster, with the stamp; no class is named; the ledger notes it and charges nothing."""
    code, output = run("score", clusters, "people.csv", "--truth", "town", "--ledger", "ledger.sqlite")
    assert code == 0, output
    for word in (
        "F-measure, best match",
        "one cluster",
        "NICV",
        "sum of distances",
        "for the holder only",
        "500 rows, 2 classes",
    ):
        assert word in output
    assert SECRET not in output
    ledger = Ledger(Path("ledger.sqlite"))
    assert [(entry.kind, entry.purpose) for entry in ledger.entries("people")][1:] == [("holder", "scores of clusters")]
    assert ledger.account("people").epsilon_spent == 50


def test_json_for_programs(clusters: Path) -> None:
    """One document with numbers, floors, formulas and the stamp."""
    code, output = run("score", clusters, "people.csv", "--truth", "town", "--ledger", "ledger.sqlite", "--json")
    document = json.loads(output)
    assert code == 0
    assert document["stamp"].startswith("for the holder only")
    assert document["scores"]["f_best_match"]["value"] > 0.95
    assert document["scores"]["f_best_match"]["one_cluster"] == pytest.approx(0.6 * 0.75 + 0.4 * 4 / 7)
    assert document["formulas"]["nicv"]


def test_a_schema_says_how_cells_are_written(clusters: Path) -> None:
    """Words that stand for no value are no class; without --truth there are distances alone."""
    words = ("score", clusters, "people.csv", "--ledger", "ledger.sqlite", "--schema", "people.toml")
    assert "200 rows have no class" in run(*words, "--truth", "town")[1]
    code, output = run(*words)
    assert code == 0
    assert "F-measure" not in output


def test_another_table_of_the_ledger(clusters: Path) -> None:
    """--table records the scores of rows that were not clustered under their own name."""
    Ledger(Path("ledger.sqlite")).create("others", "add-remove", 1)
    assert run("score", clusters, "people.csv", "--ledger", "ledger.sqlite", "--table", "others")[0] == 0
    assert len(Ledger(Path("ledger.sqlite")).entries("others")) == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere", "people.csv"], 2, "holds no release.json. Give the folder"),
        (["clusters", "people.csv", "--truth", "twon"], 2, 'no column "twon"'),
        (["clusters", "nobody.csv"], 2, "no such file"),
        (["clusters"], 2, "Missing argument"),
    ],
)
def test_what_makes_no_sense_is_refused(clusters: Path, words: list[str], code: int, message: str) -> None:
    """In one sentence, and nothing is recorded."""
    got, output = run("score", *words, *(["--ledger", "ledger.sqlite"] if len(words) > 1 else []))
    assert got == code
    assert message in output
    assert len(Ledger(Path("ledger.sqlite")).entries("people")) == 1


def test_a_changed_folder_is_refused(clusters: Path) -> None:
    """Centres that are not those of the certificate are not scored."""
    (clusters / "centers.csv").write_text((clusters / "centers.csv").read_text().replace("0,", "1,", 1))
    code, output = run("score", clusters, "people.csv", "--ledger", "ledger.sqlite")
    assert code == 5
    assert "was changed after it was written" in output
