"""``cloister tabulate``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import csv
from typer.testing import CliRunner

from cloister.cli import app
from cloister.report.document import Sentence, TextTable
from cloister.tabulation.table_display import describe_rows


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


def test_a_cell_without_a_mean_is_shown_as_such() -> None:
    """Intervals stand in one column, thousands are parted, and a number that is not there has a dash and a sentence."""
    rows = [
        {"by": "a", "count": 1700, "standard_error": 1.41, "low": 1696, "high": 1703, "mean of x": 2.5},
        {"by": "*", "count": 1, "standard_error": 1.41, "low": 0, "high": 4, "mean of x": None},
    ]
    (section,) = describe_rows(["by"], rows).sections
    table, sentence = section.blocks
    assert isinstance(table, TextTable)
    assert table.heads == ("by", "count", "std error", "95% interval", "mean of x")
    assert table.rows == (("a", "1,700", "1.41", "1,696 to 1,703", "2.5"), ("*", "1", "1.41", "0 to 4", "-"))
    assert isinstance(sentence, Sentence)
    assert "too few rows" in sentence.text
