"""``cloister choose``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.choosing.named_scores import SCORES
from cloister.cli import app
from cloister.cli.choosing import SCORE_NAMES
from tests.privacy.forgery import forge


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


def median(folder: Path, *more: object, code: int = 0) -> str:
    """The median age of the students."""
    where = folder / "students.csv", "--schema", folder / "students.toml"
    return run("choose", *where, "--column", "age", "--quantile", "0.5", "--epsilon", 1, *more, code=code)


def test_a_plan_reads_no_rows(folder: Path) -> None:
    """--dry-run prints the step and how near the choice will be."""
    text = " ".join(median(folder, "--dry-run").split())
    assert "With probability 95% its rank is within" in text
    assert "nothing was charged" in text
    plan = json.loads(median(folder, "--dry-run", "--json", "--count-rows"))
    assert [step["kind"] for step in plan["steps"]] == ["laplace", "exponential"]


def test_a_choice_is_written_and_verified(folder: Path) -> None:
    """The value, its nearness and the guarantee are told; the file verifies by its own name."""
    out = folder / "median.json"
    text = " ".join(median(folder, "--out", out).split())
    written = json.loads(out.read_text())
    assert f"chosen: {written['result']['value']}" in text or str(written["result"]["value"]) in text
    assert "With probability 95%" in text
    assert "steps add up" in run("verify", out)


def test_json_is_the_release(folder: Path) -> None:
    """For programs."""
    data = json.loads(median(folder, "--out", folder / "median.json", "--json"))
    assert data["kind"] == "choice"
    assert data["result"]["confidence"] == 0.95
    assert data["version"] == 3


def test_options_are_read_as_what_the_column_holds(folder: Path) -> None:
    """Numbers as numbers, categories as texts."""
    where = folder / "students.csv", "--schema", folder / "students.toml", "--epsilon", 50
    run("choose", *where, "--column", "age", "--options", "15, 22,44", "--out", folder / "a.json")
    assert json.loads((folder / "a.json").read_text())["parameters"]["options"] == [15, 22, 44]
    run("choose", *where, "--column", "level", "--out", folder / "b.json")
    assert isinstance(json.loads((folder / "b.json").read_text())["result"]["value"], str)
    run(
        "choose",
        folder / "points.csv",
        "--column",
        "x",
        "--bounds",
        "0,100",
        "--step",
        1,
        "--epsilon",
        1,
        "--out",
        folder / "c.json",
    )
    assert 0 <= json.loads((folder / "c.json").read_text())["result"]["value"] <= 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "where should the choice go"),
        (["--out", "m.csv"], "written as .json"),
        (["--out", "release.json"], "another one"),
        (["--out", "m.json", "--score", "beauty"], "is not known"),
        (["--out", "m.json", "--clip", "3"], "--score distance"),
        (["--out", "m.json", "--rho", "0.1"], "--rho stands alone"),
    ],
)
def test_usage_faults_have_exit_code_2(
    folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told in a line or two, and nothing is written."""
    monkeypatch.chdir(folder)
    assert message in " ".join(median(folder, *words, code=2).split())
    assert not (folder / "m.json").exists()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"value": -1}, "not the value of its candidate"),
        ({"candidate": 10**6}, "not one of its candidates"),
        ({"gap": 1}, "how near it is"),
        ({"within": 0.5}, "how near it is"),
        ({"nearness": "With probability 95% its rank is exact."}, "how near it is"),
    ],
    ids=["value", "candidate", "gap", "within", "nearness"],
)
def test_a_forged_choice_is_seen(folder: Path, change: dict[str, object], finding: str) -> None:
    """What can be computed again is."""
    out = folder / "median.json"
    median(folder, "--out", out)
    text = out.read_text()
    result = {**json.loads(text)["result"], **change}
    out.write_text(forge(text, {"result": result}))
    told = run("verify", out, code=5)
    assert finding in told


def test_a_choice_that_cost_more_than_it_says_is_seen(folder: Path) -> None:
    """The reach over the scale is what the step must have cost."""
    out = folder / "median.json"
    median(folder, "--out", out)
    parameters = {**json.loads(out.read_text())["parameters"], "scale": "1/2"}
    out.write_text(forge(out.read_text(), {"parameters": parameters}))
    assert "contradicts itself" in run("verify", out, code=5)


def test_blanks_in_a_choice_are_seen(folder: Path) -> None:
    """They are covered by no signature."""
    out = folder / "median.json"
    median(folder, "--out", out)
    out.write_text(out.read_text() + "\n")
    assert "changed after it was written" in run("verify", out, code=5)


def test_another_certificate_under_a_name_of_its_own_covers_its_file(folder: Path) -> None:
    """Only a choice is all of its file: of another certificate the file beside it is checked."""
    table = folder / "t.csv"
    run(
        "tabulate",
        folder / "students.csv",
        "--by",
        "level",
        "--epsilon",
        1,
        "--schema",
        folder / "students.toml",
        "--out",
        table,
    )
    (folder / "other.json").write_bytes((folder / "t.csv.release.json").read_bytes())
    assert "Checked: t.csv, with other.json." in run("verify", folder / "other.json")
    table.write_text("count\n1\n")
    assert "t.csv was changed" in run("verify", folder / "other.json", code=5)


def test_the_audit_replays_a_choice(folder: Path) -> None:
    """With and without single rows of the holder's data."""
    words = "audit", "choose", folder / "students.csv", "--schema", folder / "students.toml", "--column", "age"
    found = json.loads(run(*words, "--quantile", "0.5", "--epsilon", 1, "--tries", 2, "--json"))
    assert not found["findings"]
    assert all(row["largest_loss"] <= 1 for row in found["rows"])


def test_the_help_names_every_score() -> None:
    """The names are written down twice, so that help loads nothing."""
    assert tuple(SCORES) == SCORE_NAMES


def test_bounds_of_a_date_are_days(tmp_path: Path) -> None:
    """`--bounds FIRST,LAST` describes a date without a schema."""
    data, out = tmp_path / "born.csv", tmp_path / "median.json"
    data.write_text("born\n" + "1970-05-17\n" * 200)
    days = "--bounds", "1930-01-01,2020-12-31"
    run("choose", data, "--column", "born", "--quantile", "0.5", "--epsilon", 2, *days, "--out", out)
    assert "1930-01-01" <= json.loads(out.read_text())["result"]["value"] <= "2020-12-31"
