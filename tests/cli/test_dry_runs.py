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


CHOOSE = ("choose", "students.csv", "--epsilon", "1", "--schema", "students.toml")
ROWS = ("microdata", "students.csv", "--epsilon", "1", "--schema", "students.toml")
AVERAGES = ("microdata", "students.csv", "--method", "microaggregation", "--k", "5", "--schema", "students.toml")


@pytest.mark.parametrize(
    ("words", "flags", "told"),
    [
        (CHOOSE, ("--column", "town", "--out", "c.json"), 'column "town"'),
        (CHOOSE, ("--column", "level", "--out", "c.txt"), "is written as .json"),
        (CHOOSE, ("--column", "level", "--out", "taken.json"), "exists already"),
        (ROWS, ("--columns", "town", "--out", "r.csv"), 'column "town"'),
        (ROWS, ("--out", "r.xyz"), "rows are written as"),
        (ROWS, ("--out", "taken.csv"), "exists already"),
        (ROWS, ("--out", "r.csv", "--dialect", "input"), "private rows are written with commas"),
        (ROWS, ("--out", "r.csv", "--clusters", "100000"), "clusters"),
        (AVERAGES, ("--columns", "town", "--out", "r.csv"), 'column "town"'),
        (AVERAGES, ("--columns", "grade", "--out", "taken.csv"), "exists already"),
        (CHOOSE, ("--column", "level", "--out", "c.json", "--report", "c.txt"), "ends in .html"),
        (ROWS, ("--out", "r.csv", "--report", "taken.html"), "exists already"),
        (ROWS, ("--out", "r.csv", "--plot", "r.gif"), ".png"),
        (
            (*CLUSTER[:1], "points.csv", *CLUSTER[1:]),
            ("--columns", "x", "--out", "c", "--plot", "c/x.png"),
            "lie in its folder",
        ),
        ((*SYNOPSIS[:1], "points.csv", *SYNOPSIS[1:]), ("--columns", "x", "--out", "s.csv"), "is a Parquet file"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], flags: tuple[str, ...], told: str
) -> None:
    """Columns, names of outputs, reports and pictures, and how many clusters there may be; the sentence is the same."""
    monkeypatch.chdir(folder)
    for taken in ("taken.csv", "taken.json", "taken.html"):
        Path(taken).write_text("a\n1\n")
    planned = run(*words, *flags, "--dry-run")
    assert planned == run(*words, *flags)
    assert planned[0] != 0
    assert told in planned[1]


@pytest.mark.parametrize("verb", [("choose", "--column", "x"), ("microdata", "--columns", "x")])
def test_types_that_no_cell_has_are_refused_in_a_dry_run_of_choices_and_rows(tmp_path: Path, verb: tuple[str, ...]) -> None:
    """A Parquet file says what its columns hold."""
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": [[1, 2]]}), path)
    schema = tmp_path / "s.toml"
    schema.write_text('[columns.x]\nkind = "number"\nbounds = [0, 9]\nstep = 1\n')
    words = (verb[0], path, *verb[1:], "--epsilon", "1", "--schema", schema)
    planned = run(*words, "--dry-run")
    assert planned == run(*words, "--out", tmp_path / ("t.json" if verb[0] == "choose" else "t.csv"))
    assert planned[0] != 0


def test_a_dry_run_says_that_it_writes_no_report_and_no_picture(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --out or without it; their names are free afterwards."""
    monkeypatch.chdir(folder)
    for out in ((), ("--out", "r.csv")):
        code, said = run(*ROWS, *out, "--report", "r.html", "--plot", "r.png", "--dry-run")
        assert code == 0, said
        assert "A dry run writes no file: the name in --report and in --plot was checked" in said
        assert not [*folder.glob("r.*")]
