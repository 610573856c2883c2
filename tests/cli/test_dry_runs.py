"""``--dry-run``: it says no more than a run of what may be data, and refuses what a run refuses before its charge."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cloister.cli import app

runner = CliRunner()
CLUSTER = ("cluster", "--k", "2", "--epsilon", "1")
SYNOPSIS = ("synopsis", "--epsilon", "1", "--bounds", "0,1")


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed, in one line."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def headless(tmp_path: Path) -> Path:
    """A file without a header: its first line is somebody's data."""
    path = tmp_path / "names.csv"
    path.write_text("Smith,John,Boston\nDoe,Jane,Paris\n")
    return path


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(
    "words",
    [
        (*CLUSTER, "--columns", "x"),
        (*CLUSTER, "--columns", "x", "--bounds", "0,1"),
        (*CLUSTER, "--columns", "x", "--rho", "0.5"),
        (*CLUSTER, "--bounds", "0,1"),
        (*SYNOPSIS, "--columns", "x"),
        SYNOPSIS,
        ("tabulate", "--by", "x", "--epsilon", "1"),
        ("choose", "--column", "x", "--epsilon", "1"),
        ("microdata", "--columns", "x", "--epsilon", "1"),
        ("microdata", "--columns", "x", "--k", "3", "--method", "microaggregation"),
    ],
)
def test_a_first_line_that_may_be_data_is_not_shown(headless: Path, words: tuple[str, ...], files: int) -> None:
    """No dry run names the columns of a file of text that has none of those that were asked for."""
    other = headless.with_name("others.csv")
    other.write_text(headless.read_text())
    code, text = run(words[0], *[headless, other][:files], *words[1:], "--dry-run")
    assert code == 2, text
    assert not any(name in text for name in ("Smith", "John", "Boston"))


@pytest.mark.parametrize("words", [CLUSTER, SYNOPSIS])
def test_a_file_of_text_is_refused_in_a_dry_run_as_in_a_run(people: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Without columns or a schema nothing says which of its columns are numbers; the sentence is the same."""
    planned = run(words[0], people, *words[1:], "--dry-run")
    assert planned == run(words[0], people, *words[1:], "--out", tmp_path / "out.parquet")
    assert planned[0] == 2
    assert "does not say which of its columns are numbers" in planned[1]


@pytest.mark.parametrize(
    ("columns", "flags", "told"),
    [
        ({"x": [1.0], "town": ["Rome"]}, (), "holds text"),
        ({"x": [1.0], "town": ["Rome"]}, ("--columns", "town"), "holds text by its type"),
        ({"x": [1.0], "parts": [[1.0, 2.0]]}, ("--columns", "parts"), "text by its type|lists or structs"),
    ],
)
@pytest.mark.parametrize("words", [CLUSTER, SYNOPSIS])
def test_types_that_a_run_refuses_are_refused_in_a_dry_run(
    tmp_path: Path, words: tuple[str, ...], columns: dict[str, list[object]], flags: tuple[str, ...], told: str
) -> None:
    """A Parquet file says what its columns hold, and that is known before a row is read."""
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns), path)
    planned = run(words[0], path, *words[1:], *flags, "--dry-run")
    assert planned == run(words[0], path, *words[1:], *flags, "--out", tmp_path / "out.parquet")
    assert planned[0] == 2
    assert any(part in planned[1] for part in told.split("|")), planned[1]


def test_a_file_in_utf16_is_refused_in_a_dry_run_as_in_a_run(tmp_path: Path) -> None:
    """Private verbs take no UTF-16, which the first bytes of a file say."""
    path = tmp_path / "wide.csv"
    path.write_text("x,y\n1,2\n", encoding="utf-16")
    words = (path, "--k", 2, "--epsilon", 1, "--columns", "x,y", "--bounds", "0,1")
    planned = run("cluster", *words, "--dry-run")
    assert planned == run("cluster", *words, "--out", tmp_path / "out")
    assert "UTF-16" in planned[1]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--by", "town"), 'column "town"'),
        (("--by", "level", "--out", "t.xyz"), "is written as"),
        (("--by", "level", "--out", "taken.csv"), "exists already"),
        (("--by", "level", "--out", "no/such/t.csv"), "no/such"),
        (("--by", "level", "--measures", "level"), "number with public bounds"),
        (("--by", "level,grade", "--bins", "grade=300000"), "at most 262,144"),
    ],
)
def test_a_dry_run_of_a_table_refuses_what_a_run_refuses(
    folder: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], told: str
) -> None:
    """Names of outputs, columns and sizes; the sentence is the same."""
    monkeypatch.chdir(folder)
    Path("taken.csv").write_text("a\n1\n")
    words = ("tabulate", "students.csv", *flags, "--epsilon", "1", "--schema", "students.toml")
    planned = run(*words, "--dry-run")
    assert planned == run(*words, *(() if "--out" in flags else ("--out", "t.csv")))
    assert planned[0] != 0
    assert told in planned[1]


def test_types_that_no_cell_has_are_refused_in_a_dry_run_of_a_table(tmp_path: Path) -> None:
    """A column of lists is no column of categories, as the file itself says."""
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": [[1, 2]]}), path)
    schema = tmp_path / "s.toml"
    schema.write_text('[columns.x]\nkind = "category"\ndomain = ["a"]\n')
    words = ("tabulate", path, "--by", "x", "--epsilon", "1", "--schema", schema)
    planned = run(*words, "--dry-run")
    assert planned == run(*words, "--out", tmp_path / "t.csv")
    assert planned[0] != 0
