"""Tables that commands are tried on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from cloister.datasets import STUDENTS, students
from cloister.privacy.ledger import Ledger


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A made-up table of two kinds of people, with a text column."""
    random = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    ages = np.concatenate([random.normal(30, 3, 500), random.normal(70, 3, 500)])
    lines = ["name;age;income"] + [f"p{i};{age:.1f};{age * 100:.0f}" for i, age in enumerate(ages)]
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "people.toml").write_text(
        '[columns.name]\nkind = "text"\nrole = "identifier"\n'
        '[columns.age]\nkind = "number"\nbounds = [0, 100]\nstep = 0.01\n'
        '[columns.income]\nkind = "number"\nbounds = [0, 10000]\n'
    )
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Heaps of points, students, and their schema."""
    rows = np.random.default_rng(0).normal([[20, 20]] * 500 + [[80, 80]] * 500, 5)
    csv.write_csv(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), tmp_path / "points.csv")
    csv.write_csv(students(1000), tmp_path / "students.csv")
    (tmp_path / "students.toml").write_text(dataclasses.replace(STUDENTS, table=None).to_toml())
    return tmp_path


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of points, its schema, its ledger, and a data folder of the user."""
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    column = '[columns.{}]\nkind = "number"\nbounds = [0, 100]\n'
    (folder / "points.toml").write_text('table = "points"\n' + column.format("x") + column.format("y"))
    Ledger(folder / "ledger.sqlite").create("points", "add-remove", 10)
    return folder
