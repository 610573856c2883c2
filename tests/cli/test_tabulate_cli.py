"""``cloister tabulate``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import csv
from typer.testing import CliRunner

from cloister.cli import app
from cloister.cli.tabulate import describe
from cloister.report.document import TextTable


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


def test_a_plan_reads_no_rows(folder: Path) -> None:
    """--dry-run prints the step of a table."""
    text = run(
        "tabulate",
        folder / "students.csv",
        "--by",
        "level",
        "--epsilon",
        1,
        "--schema",
        folder / "students.toml",
        "--dry-run",
    )
    assert "nothing was charged" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tabulate", "students.csv", "--by", "level", "--epsilon", "1", "--out", "t.csv"], "nothing is known"),
        (
            ["tabulate", "students.csv", "--by", "age", "--bins", "age=old", "--epsilon", "1", "--out", "t.csv"],
            "--bins takes",
        ),
        (["tabulate", "students.csv", "--by", "level", "--epsilon", "1", "--out", "t.xls"], "written as"),
    ],
)
def test_usage_faults_have_exit_code_2(
    folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told in a line or two."""
    monkeypatch.chdir(folder)
    assert message in " ".join(run(*words, code=2).split())


def test_a_table_is_written_with_margins_and_sums(folder: Path) -> None:
    """Counts by level and bins of age with sums of grades, as CSV with a certificate beside it."""
    out = folder / "t.csv"
    run(
        "tabulate", folder / "students.csv", "--by", "level,age", "--bins", "age=15:20:30:45", "--measures", "grade",
        "--epsilon", 1, "--schema", folder / "students.toml", "--out", out,
    )  # fmt: skip
    rows = csv.read_csv(out).to_pylist()
    assert len(rows) == 9 + 3 + 3 + 1
    assert rows[-1]["count"] == pytest.approx(1000, abs=60)
    assert "steps add up" in run("verify", folder / "t.csv.release.json")


def test_what_rounding_leaves_is_printed_as_0() -> None:
    """1.2e-16 people beside 700 are none, and -0 is 0."""
    rows = [
        {"by": "a", "count": 700.25, "low": -0.0},
        {"by": "b", "count": 1.2e-16, "low": 3e-5},
        {"by": "*", "count": 1205330.0, "low": 0.0},
    ]
    (section,) = describe(rows).sections
    (table,) = section.blocks
    assert isinstance(table, TextTable)
    assert table.rows == (("a", "700.25", "0"), ("b", "0", "3e-05"), ("*", "1205330", "0"))
