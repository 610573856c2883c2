"""cloister cluster on tables with categories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app

FACTS = 'numbers = { age = [0, 100] }\ncategories = { sex = ["f", "m"], job = ["cook", "smith"] }\n'
runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 9},f,cook" for i in range(200)] + [f"{70 + i % 9},m,smith" for i in range(199)] + ["?,x,"]
    (tmp_path / "people.csv").write_text("age,sex,job\n" + "\n".join(rows) + "\n")
    (tmp_path / "people.toml").write_text(FACTS)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = runner.invoke(app, ["cluster", "people.csv", "--schema", "people.toml", "--k", "2", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("flags", "kind", "columns"),
    [
        ([], "kprototypes", ["age", "sex", "job"]),
        (["--columns", "age"], "kmeans", ["age"]),
        (["--columns", "job,sex"], "kmodes", ["job", "sex"]),
        (["--columns", "sex,age"], "kprototypes", ["sex", "age"]),
        (["--model", "kmeans"], "kmeans", ["age"]),
        (["--model", "kmodes"], "kmodes", ["sex", "job"]),
        (["--method", "uniform-grid", "--model", "kmeans"], "kmeans", ["age"]),
        (["--gamma", "0.3", "--method", "lloyd", "--schedule", "halving"], "kprototypes", ["age", "sex", "job"]),
    ],
)
def test_the_columns_pick_the_model(folder: Path, flags: list[str], kind: str, columns: list[str]) -> None:
    """By the kinds of the columns that are clustered; --model overrides, and the certificate names it."""
    code, words = run("--epsilon", "20", "--out", "out", "--json", *flags)
    assert code == 0, words
    written = json.loads((folder / "out" / "release.json").read_text())
    assert written["kind"] == kind
    assert written["parameters"]["columns"] == columns
    assert runner.invoke(app, ["verify", "out/release.json"]).exit_code == 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--model", "kmedoids"], "model"),
        (["--model", "kmeans", "--gamma", "0.2"], "--gamma"),
        (["--model", "kmeans", "--columns", "sex"], "--model kprototypes"),
        (["--gamma", "lots"], "--gamma takes"),
        (["--gamma", "0"], "above 0"),
        (["--model", "kmodes", "--gamma", "0.5"], "no numbers"),
        (["--model", "kprototypes", "--method", "tree"], "method"),
        (["--model", "kprototypes", "--seeding", "canopy"], "seeding"),
    ],
)
def test_refusals_say_what_to_do(folder: Path, flags: list[str], words: str) -> None:
    """In one sentence; nothing is written."""
    code, said = run("--epsilon", "1", "--out", "out", *flags)
    assert code != 0
    assert words in " ".join(said.split())
    assert not (folder / "out").exists()


def test_a_dry_run_says_which_model(folder: Path) -> None:
    """The plan names it, without a row."""
    code, words = run("--epsilon", "1", "--dry-run", "--rows", "5000")
    assert code == 0
    assert "model: k-prototypes" in words
    assert "rows 5000, numbers 1, categories 2" in words


def test_expected_rows_refuse_before_the_charge(folder: Path) -> None:
    """With --rows a column that such a table cannot carry is refused, and nothing is charged or written."""
    values = ", ".join(f'"v{i}"' for i in range(500))
    (folder / "people.toml").write_text(f"numbers = {{ age = [0, 100] }}\ncategories = {{ job = [{values}] }}\n")
    code, words = run("--epsilon", "0.1", "--rows", "400", "--out", "out")
    assert code != 0
    assert "501 categories" in words
    assert "charged" not in words
    code, words = run("--epsilon", "0.1", "--out", "out")
    assert code != 0
    assert "as spent" in words
    assert not (folder / "out").exists()
