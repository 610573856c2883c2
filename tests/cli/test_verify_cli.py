"""``cloister verify``: what commands wrote verifies until it is changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.release import Release


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


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
    assert "is there twice" in run("verify", rows, code=2)


@pytest.mark.parametrize("content", ["[]", "5", '{"release": {}, "rows": 5}', "[" * 100_000, "", "{"])
def test_foreign_files_are_refused_in_a_sentence(folder: Path, content: str) -> None:
    """Whatever a file holds, verify says what it wants."""
    for name in ("x.json", "release.json", "x.parquet", "x.csv"):
        (folder / name).write_text(content)
        assert "Give" in run("verify", folder / name, code=2)


def test_the_folder_where_somebody_stands_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.` is a folder that a command wrote, one with its certificate beside it, or none of them; the root has no name."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    certificate = Release.from_json((folder / "t.csv.release.json").read_text())
    for where, names in ((folder / "written", ["release.json"]), (folder / "beside", [])):
        where.mkdir()
        for name in names:
            (where / name).write_text(dataclasses.replace(certificate, files={}).to_json())
    (folder / "beside" / "part-0").write_text("rows")
    files = {"beside/part-0": hashlib.sha256(b"rows").hexdigest()}
    (folder / "beside.release.json").write_text(dataclasses.replace(certificate, files=files).to_json())
    for name in ("written", "beside"):
        monkeypatch.chdir(folder / name)
        assert "steps add up" in run("verify", ".")
    for nothing in ("..", "/"):
        assert "cannot be read as a release. Give" in " ".join(run("verify", nothing, code=2).split())
