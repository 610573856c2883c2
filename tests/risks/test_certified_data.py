"""A release beside its original: the [file] part of a schema is about the original alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cloister.datasets import STUDENTS, students
from tests.handouts.published import run


@pytest.fixture
def original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table without a header, under a title, and a schema that says so."""
    monkeypatch.chdir(tmp_path)
    table = students(300)
    rows = "".join(",".join(map(str, row.values())) + "\n" for row in table.to_pylist())
    Path("students.csv").write_text("All students\n" + rows)
    names = ", ".join(f'"{name}"' for name in table.column_names)
    Path("students.toml").write_text(f"{replace(STUDENTS, table=None).to_toml()}\n[file]\nskip = 1\nnames = [{names}]\n")
    return Path("students.csv")


@pytest.mark.parametrize(
    "verb", [("anonymize", "--k", 5), ("microdata", "--method", "microaggregation", "--k", 5, "--columns", "age,level")]
)
def test_a_release_is_read_as_it_was_written(original: Path, verb: tuple[object, ...]) -> None:
    """By `risk` and by `report --against`, whatever lines the original has above its rows."""
    name, *words = verb
    run(name, original, "--schema", "students.toml", *words, "--out", "safe.csv")
    run("risk", "safe.csv", "--schema", "students.toml", "--quasi", "age,level")
    run("risk", "safe.csv", "--schema", "students.toml", "--quasi", "age,level", "--against", original)
    run("report", "safe.csv", "--against", original, "--schema", "students.toml", "-o", "page.html")
    assert Path("page.holder.html").exists()


def test_data_without_a_certificate_is_read_as_the_schema_says(original: Path) -> None:
    """Its title and its missing header are known."""
    run("risk", original, "--schema", "students.toml", "--quasi", "age,level")
