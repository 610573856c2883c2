"""``cloister synopsis``, ``cloister cluster --synopsis`` and ``cloister tabulate``."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq
from typer.testing import CliRunner

from cloister.cli import app
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.datasets import STUDENTS, students
from cloister.privacy.release import Release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Heaps of points, students, and their schema."""
    rows = np.random.default_rng(0).normal([[20, 20]] * 500 + [[80, 80]] * 500, 5)
    csv.write_csv(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), tmp_path / "points.csv")
    csv.write_csv(students(1000), tmp_path / "students.csv")
    (tmp_path / "students.toml").write_text(dataclasses.replace(STUDENTS, table=None).to_toml())
    return tmp_path


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("method", SHAPES)
def test_a_synopsis_is_released_then_asked_then_clustered(folder: Path, method: str) -> None:
    """One release; then a suggestion, a count, made-up rows and clusters from the file alone."""
    made = folder / "s.parquet"
    text = run(
        "synopsis",
        folder / "points.csv",
        "--columns",
        "x,y",
        "--epsilon",
        2,
        "--bounds",
        "0,100",
        "--method",
        method,
        "--out",
        made,
    )
    assert "Guarantee: epsilon 2" in text
    (folder / "points.csv").unlink()
    answer = json.loads(run("synopsis", made, "--suggest-k", "--count", "x=0:50", "--json"))
    assert answer["count"]["value"] == pytest.approx(500, abs=100)
    assert answer["suggest_k"]["k"] >= 2
    run("synopsis", made, "--sample", 50, "--out", folder / "rows.csv")
    assert csv.read_csv(folder / "rows.csv").num_rows == 50
    out = folder / "clusters"
    run("cluster", "--synopsis", made, "--k", 2, "--seeding", "evolution", "--out", out)
    centers = csv.read_csv(out / "centers.csv")
    assert sorted(round(value / 10) for value in centers["x"].to_pylist()) == [2, 8]
    assert "steps add up" in run("verify", out / "release.json")


def test_a_synopsis_of_hardly_anybody_still_answers(folder: Path) -> None:
    """With fewer dense cells than it takes to compare distances a suggestion is printed without them."""
    (folder / "few.csv").write_text("x,y\n1,1\n2,2\n3,3\n")
    made = str(folder / "few.parquet")
    settings = ["--columns", "x,y", "--bounds", "0,10", "--epsilon", "50", "--method", "uniform-grid"]
    run("synopsis", folder / "few.csv", *settings, "--out", made)
    assert "k = " in run("synopsis", made, "--suggest-k")


def test_k_auto_takes_what_the_synopsis_suggests(folder: Path) -> None:
    """--k auto clusters with the suggested number."""
    made = folder / "s.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--epsilon", 2, "--bounds", "0,100", "--out", made)
    data = json.loads(run("cluster", "--synopsis", made, "--k", "auto", "--out", folder / "c", "--json"))
    k = json.loads(run("synopsis", made, "--suggest-k", "--json"))["suggest_k"]["k"]
    assert data["parameters"]["n_clusters"] == k


def test_a_plan_reads_no_rows(folder: Path) -> None:
    """--dry-run prints the steps of a synopsis and of a table."""
    assert "level 1" in run("synopsis", folder / "points.csv", "--epsilon", 1, "--bounds", "0,100", "--dry-run")
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
        (["synopsis", "points.csv", "--epsilon", "1", "--bounds", "0,100"], "where should the synopsis go"),
        (["synopsis", "points.csv", "--suggest-k"], "is not a synopsis"),
        (
            ["synopsis", "points.csv", "--columns", "x", "--epsilon", "1", "--out", "s.parquet"],
            "bounds of the data are not known",
        ),
        (["cluster", "--k", "2", "--epsilon", "1", "--out", "c"], "what should be clustered"),
        (["cluster", "points.csv", "--synopsis", "s", "--k", "2", "--out", "c"], "stands in for DATA"),
        (["cluster", "--synopsis", "missing.parquet", "--k", "2", "--out", "c"], "does not exist"),
        (["cluster", "--synopsis", "s.parquet", "--k", "2", "--epsilon", "1", "--out", "c"], "Drop --epsilon"),
        (["synopsis", "points.csv", "--epsilon", "1", "--bounds", "0,1", "--out", "s.csv"], "ends in .parquet"),
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


def tabulate_levels(folder: Path, out: Path) -> None:
    """A small private table."""
    schema = folder / "students.toml"
    run("tabulate", folder / "students.csv", "--by", "level", "--epsilon", 1, "--schema", schema, "--out", out)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_table_verifies_until_it_is_changed(folder: Path, suffix: str) -> None:
    """Whatever its format, a table is verified by its own name, and one changed number is seen."""
    out = folder / f"verified{suffix}"
    tabulate_levels(folder, out)
    assert "steps add up" in run("verify", out)
    if suffix == ".parquet":
        table = pq.read_table(out)
        changed = table.set_column(1, "count", pa.array([0.0, *table["count"].to_pylist()[1:]]))
        pq.write_table(changed.replace_schema_metadata(table.schema.metadata), out)
    else:
        count = str(
            next(iter(csv.read_csv(out).to_pylist() if suffix == ".csv" else json.loads(out.read_text())["rows"]))["count"]
        )
        out.write_text(out.read_text().replace(count, "1.5", 1))
    assert "was changed" in run("verify", out, code=1)


def test_a_synopsis_verifies_by_its_own_name(folder: Path) -> None:
    """The certificate inside a synopsis file is checked against its cells."""
    out = folder / "verified.synopsis.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,1", "--epsilon", 1, "--out", out)
    assert "steps add up" in run("verify", out)


def test_what_a_certificate_is_not_about_does_not_verify(folder: Path) -> None:
    """A certificate beside another file, a file more in a folder, a synopsis with another grid, a key that stands twice."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    (folder / "other.csv").write_text("count\n1\n")
    (folder / "other.csv.release.json").write_text((folder / "t.csv.release.json").read_text())
    assert "not one of the files" in run("verify", folder / "other.csv", code=1)

    parts = folder / "parts.parquet"  # as Spark writes one
    parts.mkdir()
    (parts / "part-0").write_text("rows")
    digest = hashlib.sha256(b"rows").hexdigest()
    certificate = Release.from_json((folder / "t.csv.release.json").read_text())
    named = dataclasses.replace(certificate, files={"parts.parquet/part-0": digest}).to_json()
    (folder / "parts.parquet.release.json").write_text(named)
    assert "steps add up" in run("verify", parts)
    (parts / "part-1").write_text("more rows")
    assert "not one of the files" in run("verify", parts, code=1)

    made = folder / "s.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,100", "--epsilon", 1, "--out", made)
    cells = pq.read_table(made)
    facts = cells.schema.metadata[b"cloister.synopsis"].replace(b'"name": "x"', b'"name": "z"')
    pq.write_table(cells.replace_schema_metadata({**cells.schema.metadata, b"cloister.synopsis": facts}), made)
    assert "was changed" in run("verify", made, code=2)

    rows = folder / "t.json"
    tabulate_levels(folder, rows)
    rows.write_text(rows.read_text().replace('"count":', '"count": 9, "count":', 1))
    assert "stands in it twice" in run("verify", rows, code=1)


@pytest.mark.parametrize("content", ["[]", "5", '{"release": {}, "rows": 5}', "[" * 100_000, "", "{"])
def test_foreign_files_are_refused_in_a_sentence(folder: Path, content: str) -> None:
    """Whatever a file holds, verify says what it wants."""
    for name in ("x.json", "release.json", "x.parquet", "x.csv"):
        (folder / name).write_text(content)
        assert "Give" in run("verify", folder / name, code=2)
