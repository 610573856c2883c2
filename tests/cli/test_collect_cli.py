"""``cloister collect``: a survey from its file to its estimate, wrong flags, broken files, and what is never shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app

SECRET = "plague-xyz"


def run(*words: object, stdin: str | None = None) -> tuple[int, str]:
    """Run the command: exit code and everything it printed."""
    result = CliRunner().invoke(app, ["collect", *(str(word) for word in words)], input=stdin)
    return result.exit_code, result.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A survey of two questions, and a table of people."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    code, output = run(
        "new", tmp_path / "s.toml", "--id", "s", "--question", "smokes=no,yes", "--question", "year=1,2,3", "--epsilon", "2"
    )
    assert code == 0, output
    assert "epsilon 2 for each answer that differs; 4 for all 2 answers" in output
    rows = [f"{'yes' if i % 4 == 0 else 'no'},{i % 3 + 1}" for i in range(1200)]
    (tmp_path / "people.csv").write_text("smokes,year\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_a_survey_from_end_to_end(folder: Path) -> None:
    """Plan, simulate, pack, estimate, cluster: each has its page and its JSON, and what is written verifies."""
    survey = folder / "s.toml"
    code, output = run("plan", survey, "--people", 10_000, "--error", 0.01)
    assert code == 0
    assert "needs" in output
    planned = json.loads(run("plan", survey, "--people", 10_000, "--error", 0.01, "--json")[1])
    assert planned["people_needed"] > 1000
    code, output = run("simulate", survey, folder / "people.csv", "--out", folder / "r.jsonl")
    assert code == 0, output
    assert "For the holder of the table only" in output
    played = json.loads(run("simulate", survey, folder / "people.csv", "--people", 50_000, "--json")[1])
    assert played["reports"] == 50_000
    assert played["total_variation_of_joint"] < 0.05
    assert run("pack", survey, folder / "r.jsonl", "--out", folder / "r.parquet")[0] == 0
    for name in ("r.jsonl", "r.parquet"):
        code, output = run(
            "estimate", survey, folder / name, "--out", folder / f"{name}.csv", "--rows-out", folder / f"{name}.rows.csv"
        )
        assert code == 0, output
        for written in (f"{name}.csv", f"{name}.rows.csv"):
            assert CliRunner().invoke(app, ["verify", str(folder / written)]).exit_code == 0
    assert (folder / "r.jsonl.csv").read_bytes() == (folder / "r.parquet.csv").read_bytes()
    found = json.loads(
        run("estimate", survey, folder / "r.jsonl", "--marginal", "smokes", "--method", "unbiased", "--json")[1]
    )
    assert found["tables"][0]["questions"] == ["smokes"]
    assert found["guarantee"]["epsilons"] == ["2", "2"]
    code, output = run("cluster", survey, folder / "r.jsonl", "--k", 2, "--seed", 0, "--out", folder / "modes.csv")
    assert code == 0, output
    assert len(json.loads(run("cluster", survey, folder / "r.jsonl", "--k", 2, "--json")[1])["result"]["modes"]) == 2
    assert CliRunner().invoke(app, ["verify", str(folder / "modes.csv")]).exit_code == 0
    assert json.loads(run("show", survey, "--json")[1])["epsilon"] == "4"


def test_a_report_is_made_and_remembered(folder: Path) -> None:
    """From a file, from standard input and from flags; the default memo is the owner's alone, and a repeat costs nothing."""
    survey = folder / "s.toml"
    (folder / "mine.json").write_text('{"smokes": "no", "year": 2}')
    code, output = run("report", survey, "--answers", folder / "mine.json", "--out", folder / "report.json")
    assert code == 0, output
    first = json.loads((folder / "report.json").read_text())
    again = json.loads(run("report", survey, "--answers", "-", "--json", stdin='{"smokes": "no", "year": 2}')[1])
    assert again["report"] == first
    assert again["epsilon"] == "0"
    changed = json.loads(run("report", survey, "--answer", "smokes=yes", "--answer", "year=2", "--json")[1])
    assert changed["epsilon"] == "2"
    assert "has changed" in changed["notes"][0]
    assert os.stat(folder / "home" / "cloister" / "memo.sqlite").st_mode & 0o777 == 0o600
    result = CliRunner().invoke(
        app, ["collect", "report", str(survey), "--answer", "smokes=no", "--answer", "year=3", "--no-memo"]
    )
    assert result.exit_code == 0
    assert json.loads(result.stdout)["collection"] == "s"
    assert "cost their epsilon again" in result.stderr


WRONG = [
    ("new", "x.toml", "--id", "X Y", "--question", "a=b,c", "--epsilon", "1"),
    ("new", "x.toml", "--id", "x", "--epsilon", "1"),
    ("new", "x.toml", "--id", "x", "--question", "a", "--epsilon", "1"),
    ("new", "x.toml", "--id", "x", "--question", "a=b", "--epsilon", "1"),
    ("new", "x.toml", "--id", "x", "--question", "a=b,c", "--question", "a=b,c", "--epsilon", "1"),
    ("new", "x.toml", "--id", "x", "--question", "a=b,c", "--epsilon", "-1"),
    ("new", "x.txt", "--id", "x", "--question", "a=b,c", "--epsilon", "1"),
    ("new", "s.toml", "--id", "x", "--question", "a=b,c", "--epsilon", "1"),
    ("plan", "s.toml", "--people", "0"),
    ("plan", "s.toml", "--people", "10", "--error", "5"),
    ("plan", "none.toml", "--people", "10"),
    ("plan", "people.csv", "--people", "10"),
    ("report", "s.toml", "--answer", "smokes"),
    ("report", "s.toml", "--answer", f"smokes={SECRET}", "--answer", "year=1"),
    ("report", "s.toml", "--answer", "smokes=no"),
    ("report", "s.toml", "--answers", "none.json"),
    ("report", "s.toml", "--answers", "people.csv"),
    ("report", "s.toml"),
    ("report", "s.toml", "--answer", "smokes=no", "--answer", "year=1", "--out", "x.txt"),
    ("estimate", "s.toml", "people.csv", "--out", "leak.csv"),
    ("plan", "s.toml"),
    ("report", "s.toml", "--answer", "smokes=no", "--answer", "year=1", "--memo", "m", "--no-memo"),
    ("simulate", "s.toml", "none.csv"),
    ("simulate", "s.toml", "people.csv", "--out", "x.txt"),
    ("simulate", "s.toml", "people.csv", "--people", "0"),
    ("estimate", "s.toml", "none.jsonl"),
    ("estimate", "s.toml", "people.csv", "--out", "x.txt"),
    ("estimate", "s.toml", "people.csv", "--marginal", "wrong"),
    ("estimate", "s.toml", "people.csv", "--rows", "5"),
    ("estimate", "s.toml", "people.csv", "--out", "a.csv", "--rows-out", "./a.csv"),
    ("estimate", "s.toml", "x" * 300 + ".jsonl"),
    ("plan", "s.toml", "--people", "10", "--error", "1e-200"),
    ("cluster", "s.toml", "people.csv", "--k", "0"),
    ("cluster", "s.toml", "people.csv", "--k", "2", "--out", "x.txt"),
    ("pack", "s.toml", "people.csv", "--out", "x.parquet"),
    ("pack", "s.toml", "none.jsonl", "--out", "x.parquet"),
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words)[:60])
def test_wrong_flags_and_files(folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """Exit code 2, one sentence, no answer in it, and nothing is written."""
    monkeypatch.chdir(folder)
    before = set(os.listdir(folder))
    code, output = run(*words)
    assert code == 2, output
    assert "Traceback" not in output
    assert "Unexpected" not in output
    assert SECRET not in output
    assert set(os.listdir(folder)) - before <= {"home"}


def test_outputs_are_checked_before_reports_are_read(folder: Path) -> None:
    """A name that is taken is refused, and stays as it was."""
    (folder / "out.csv").write_text("mine")
    code, output = run("estimate", folder / "s.toml", folder / "people.csv", "--out", folder / "out.csv")
    assert code == 2
    assert "out.csv" in output
    assert (folder / "out.csv").read_text() == "mine"


def test_values_with_commas_and_a_plan_without_people(folder: Path) -> None:
    """Quotes keep a comma; the people that an error needs need not be guessed."""
    out = folder / "rent.json"
    assert run("new", out, "--id", "r", "--question", 'rent="less than 1,000","1,000 or more"', "--epsilon", "1")[0] == 0
    assert json.loads(out.read_text())["questions"]["rent"]["domain"] == ["less than 1,000", "1,000 or more"]
    planned = json.loads(run("plan", out, "--error", "0.02", "--json")[1])
    assert planned["people"] == planned["people_needed"]


def test_no_reports_is_an_error(folder: Path) -> None:
    """Reports of another collection alone: exit code 1, with the reason."""
    run("simulate", folder / "s.toml", folder / "people.csv", "--out", folder / "r.jsonl")
    run("new", folder / "t.toml", "--id", "t", "--question", "smokes=no,yes", "--epsilon", "1")
    code, output = run("estimate", folder / "t.toml", folder / "r.jsonl")
    assert code == 1
    assert "1,200 refused: a report of another collection." in output


def test_reports_that_are_refused_are_told(folder: Path) -> None:
    """How many, and why, on the page and in the certificate; what they held is not shown."""
    run("simulate", folder / "s.toml", folder / "people.csv", "--out", folder / "r.jsonl")
    with (folder / "r.jsonl").open("a") as lines:
        lines.write(json.dumps({"version": 1, "name": SECRET}) + "\n" + SECRET + "\n")
    code, output = run("estimate", folder / "s.toml", folder / "r.jsonl")
    assert code == 0
    assert "1: text that is no JSON." in output
    assert SECRET not in output
    assert json.loads(run("estimate", folder / "s.toml", folder / "r.jsonl", "--json")[1])["result"]["refused"] == 2
