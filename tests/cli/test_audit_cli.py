"""``cloister audit``."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from cloister.cli import app
from cloister.cli.audit import describe_rows
from cloister.kernels import CenterSums
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.testing import audited_verbs
from cloister.testing.data_audit import AuditedRow

runner = CliRunner()


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the verbs: all of them are audited elsewhere."""
    names = ("cluster lloyd", "tabulate")
    true = audited_verbs.audit_verbs
    monkeypatch.setattr(audited_verbs, "audit_verbs", lambda pairs: true(pairs, names))
    monkeypatch.setattr(audited_verbs, "VERBS", {name: audited_verbs.VERBS[name] for name in names})


@pytest.mark.usefixtures("few")
def test_the_verbs_of_this_installation_are_audited() -> None:
    """A row a verb, with the largest loss as a part of what is claimed."""
    code, text = run("audit", "--quick")
    assert code == 0
    assert "cluster lloyd" in text
    assert "Nothing was found." in text
    code, text = run("audit", "--runs", 1, "--json")
    found = json.loads(text)
    assert found["audits"] == 38
    assert found["findings"] == []
    assert all(0.5 < row["add-remove, per row"] <= 1 + 1e-6 for row in found["verbs"])


@pytest.mark.usefixtures("few")
def test_a_finding_ends_with_exit_code_5(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: under replace-one the sums of a centre state the sensitivity of add-remove."""
    true = CenterSums.sensitivity
    monkeypatch.setattr(CenterSums, "sensitivity", lambda self, _: true(self, Neighbours.ADD_REMOVE))
    code, text = run("audit", "--runs", 3)
    assert code == 5
    assert "its event pays for" in text


def test_a_release_of_ones_own_data_is_audited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By row; for the holder only; no value of a row is shown and no ledger is made."""
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    words = ["audit", "cluster", folder / "points.csv", "--k", 2, "--epsilon", 1, "--columns", "x,y", "--bounds", "0,100"]
    code, text = run(*words, "--row", 1, "--row", 1000)
    assert code == 0, text
    assert "For the holder only" in text
    assert "Nothing was found." in text
    code, text = run(*words, "--tries", 2, "--delta", "1e-6", "--json")
    rows = json.loads(text)["rows"]
    assert [row["row"] for row in rows] == [1, 1000]
    assert all(0 < row["largest_loss"] <= 1 + 1e-6 for row in rows)
    assert not (folder / "data").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["synopsis", "points.csv", "--columns", "x,y", "--bounds", "0,100", "--neighbours", "replace-one"],
        ["tabulate", "students.csv", "--by", "level", "--schema", "students.toml"],
        [
            "tabulate",
            "students.csv",
            "--by",
            "level,age",
            "--schema",
            "students.toml",
            "--bins",
            "age=18:30",
            "--margins",
            "--count-missing",
        ],
    ],
)
def test_synopses_and_tables_are_audited(words: list[str], folder: Path) -> None:
    """The other verbs."""
    words = [str(folder / word) if "." in word else word for word in words]
    code, text = run("audit", *words, "--epsilon", 1, "--tries", 2, "--json")
    assert code == 0, text
    assert all(0 < row["largest_loss"] <= 1 + 1e-9 for row in json.loads(text)["rows"])


def test_a_row_that_is_not_there_is_a_usage_error(folder: Path) -> None:
    """With the number of rows, for the holder."""
    code, text = run(
        "audit", "synopsis", folder / "points.csv", "--epsilon", 1, "--columns", "x", "--bounds", "0,100", "--row", 0
    )
    assert code == 2
    assert "rows 1 to 1,000" in text


def test_people_that_are_left_out_are_called_people() -> None:
    """With a unit in the schema all rows of a person are left out, and the table spoke of a row."""
    audited = [AuditedRow(3, SimpleNamespace(epsilon=1.0, delta=0.0, largest_loss=0.5, log_likelihood_ratio=0.1))]  # type: ignore[arg-type]
    heads = {unit: str(describe_rows(audited, [], unit)) for unit in (None, Unit("who", 2))}
    assert "row left out" in heads[None]
    assert "person left out" in heads[Unit("who", 2)]
    assert "one without the person?" in heads[Unit("who", 2)]


def test_the_audit_of_a_table_takes_what_makes_a_table() -> None:
    """Flags that change what is released change what is to be audited."""
    root: Any = get_command(app)
    verbs = (root.commands["tabulate"], root.commands["audit"].commands["tabulate"])
    made, audited = ({option for parameter in verb.params for option in parameter.opts} for verb in verbs)
    about_the_place = {"--out", "--dry-run", "--table", "--ledger", "--engine", "--master", "--remote", "--spark-conf"}
    pages = {"--report", "--plot"}
    how_files_are_read = {
        "--names",
        "--skip",
        "--delimiter",
        "--format",
        "--sheet",
        "--sql-table",
        "--query",
    }  # by the schema
    assert made - audited == about_the_place | pages | how_files_are_read
