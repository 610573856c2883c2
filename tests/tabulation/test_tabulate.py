"""Private tables, end to end."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import cloister as cl
from cloister.datasets import STUDENTS, students
from cloister.errors import CloisterError, SchemaError, SinkError, UsageError
from cloister.privacy.release import Release
from cloister.tabulation.saved_tables import read_certificate
from cloister.testing import seeded_noise

SCHEMA = dataclasses.replace(STUDENTS, table=None, neighbours=None)
LEVELS = ["bachelor", "master", "doctor"]
AGES = [15, 20, 30, 45]


def exact_counts(table: pa.Table) -> np.ndarray:
    """Rows by level and by [15, 20), [20, 30), [30, 45]."""
    level = np.array([LEVELS.index(value) for value in table["level"].to_pylist()])
    age = np.minimum(np.searchsorted([20, 30], table["age"].to_numpy(), side="right"), 2)
    counts = np.zeros((3, 3))
    np.add.at(counts, (level, age), 1)
    return counts


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_table_becomes_exact_as_epsilon_grows(neighbours: str) -> None:
    """At a huge epsilon counts, margins and sums are the exact ones, in the order of the columns that was asked for."""
    table = students(3000)
    made = cl.tabulate(
        table, ["level", "age"], 1e7, measures=["grade"], bins={"age": AGES}, schema=SCHEMA, neighbours=neighbours
    )
    exact = exact_counts(table)
    assert np.allclose(made.counts, exact, atol=1e-3)
    assert np.allclose(made.margin("age"), exact.sum(axis=0), atol=1e-3)
    turned = cl.tabulate(table, ["age", "level"], 1e7, bins={"age": AGES}, schema=SCHEMA, neighbours=neighbours)
    assert np.allclose(turned.counts, exact.T, atol=1e-3)
    level = np.array(table["level"].to_pylist())
    sums = [table["grade"].to_numpy()[level == name].sum() for name in LEVELS]
    assert np.allclose(made.sums["grade"].sum(axis=1), sums, rtol=1e-4)


@pytest.mark.parametrize(
    "budget", [1.0, cl.ApproxDP(1, 1e-6), cl.Identifiability(rho=0.5, worlds=20)], ids=["pure", "approximate", "rho"]
)
@pytest.mark.parametrize("margins", [None, True, False])
def test_margins_agree_with_cells_under_every_budget(budget: object, margins: bool | None) -> None:
    """Every margin and the total are sums of the cells, nothing is negative, and the certificate adds up."""
    made = cl.tabulate(students(2000), ["level", "age"], budget, schema=SCHEMA, margins=margins)
    rows = made.frame().to_pylist()
    cells = [row for row in rows if "*" not in (row["level"], row["age"])]
    assert len(cells) == 3 * 31
    assert min(row["count"] for row in rows) >= 0
    for level in LEVELS:
        margin = next(row["count"] for row in rows if row["level"] == level and row["age"] == "*")
        assert margin == pytest.approx(sum(row["count"] for row in cells if row["level"] == level), abs=0.1)
    assert rows[-1]["level"] == rows[-1]["age"] == "*"
    assert rows[-1]["count"] == pytest.approx(sum(row["count"] for row in cells), abs=0.1)
    assert made.release is not None
    assert made.release.adds_up()


def test_a_public_number_of_rows_is_kept() -> None:
    """Under replace-one the total is the number of rows itself, without an error."""
    made = cl.tabulate(students(2000), ["level", "age"], 0.5, schema=SCHEMA, neighbours="replace-one")
    assert made.total == pytest.approx(2000, abs=1e-9)
    assert list(made.rows())[-1]["standard_error"] == 0
    few = cl.tabulate({"c": ["1"] * 3}, ["c"], 0.01, domains={"c": ["1", "2"]}, neighbours="replace-one")
    assert few.total == pytest.approx(3, abs=1e-9)


def coverage(budget: object, width: float) -> float:
    """How often, over 60 releases of 16 numbers, an interval of this part of its width holds the exact count."""
    table = students(1500)
    exact = exact_counts(table)
    hits = []
    for _ in range(60):
        made = cl.tabulate(table, ["level", "age"], budget, bins={"age": AGES}, schema=SCHEMA, margins=True)
        for row in made.rows():
            where = tuple(
                slice(None) if row[name] == "*" else labels.index(row[name])
                for name, labels in zip(made.by, made.labels, strict=True)
            )
            middle, reach = (row["low"] + row["high"]) / 2, (row["high"] - row["low"]) / 2 * width
            hits.append(middle - reach <= exact[where].sum() <= middle + reach)
    return float(np.mean(hits))


@pytest.mark.parametrize("budget", [cl.PureDP(1), cl.PureDP(3), cl.ApproxDP(1, 1e-6)], ids=["1", "3", "gaussian"])
def test_intervals_hold_95_of_100(budget: object) -> None:
    """The intervals hold the exact count; at 95% or more a rate below 90% has a chance of less than a millionth."""
    assert coverage(budget, 1.0) > 0.9


def test_intervals_that_are_too_narrow_are_caught() -> None:
    """Planted bug: intervals of half the width fail the same check."""
    assert coverage(cl.PureDP(1), 0.5) < 0.9


def test_bought_margins_are_better_than_sums_of_cells() -> None:
    """Where a margin adds up many cells, buying it makes its error smaller."""
    wide = {"a": [str(i) for i in range(100)], "b": ["x", "y"]}
    table = pa.table({"a": ["1"] * 50, "b": ["x"] * 50})
    bought = cl.tabulate(table, ["a", "b"], 1.0, domains=wide)
    plain = cl.tabulate(table, ["a", "b"], 1.0, domains=wide, margins=False)
    assert bought.release is not None
    assert bought.release.parameters["bought_margins"] == [["b"]]
    assert bought.errors[(1,)] < 0.5 * plain.errors[(1,)]


def test_least_squares_beats_the_cells_own_noise() -> None:
    """With bought margins the error of a cell is below the noise that was drawn for it."""
    made = cl.tabulate(students(500), ["level", "age"], 1.0, schema=SCHEMA, margins=True)
    drawn = 4 * 2**0.5  # two parts of four of epsilon 1: scale 2, deviation about 2 sqrt 2
    assert made.errors[(0, 1)] < drawn


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_files_hold_the_table_and_its_certificate(ending: str, tmp_path: Path) -> None:
    """Every format carries all rows; the certificate is inside, or beside a CSV."""
    made = cl.tabulate(students(500), ["level"], 1.0, schema=SCHEMA)
    path = tmp_path / f"table.{ending}"
    made.save(path)
    if ending == "csv":
        rows = csv.read_csv(path).to_pylist()
        text = (tmp_path / "table.csv.release.json").read_text()
    elif ending == "parquet":
        rows = pq.read_table(path).to_pylist()
        text = pq.read_schema(path).metadata[b"cloister.release"].decode()
    else:
        data = json.loads(path.read_text())
        rows, text = data["rows"], json.dumps(data["release"])
    assert [row["level"] for row in rows] == [*LEVELS, "*"]
    assert Release.from_json(text).adds_up()
    with pytest.raises(SinkError):
        made.save(path)


@pytest.mark.parametrize("ending", ["parquet", "json"])
@pytest.mark.parametrize("hidden", [b" \t", b"\n", b"\xef\xbb\xbf"], ids=["blanks", "lines", "mark"])
def test_nothing_is_hidden_beside_a_certificate(ending: str, hidden: bytes, tmp_path: Path) -> None:
    """What means the same in other bytes carries a message out under a good signature."""
    path = tmp_path / f"table.{ending}"
    cl.tabulate(students(500), ["level"], 1.0, schema=SCHEMA).save(path)
    assert read_certificate(path) is not None

    def edit(text: bytes) -> bytes:
        return hidden + text if hidden[0] == 0xEF else text.replace(b": ", b":" + hidden, 1)

    if ending == "parquet":
        table = pq.read_table(path)
        text = edit(table.schema.metadata[b"cloister.release"])
        pq.write_table(table.replace_schema_metadata({b"cloister.release": text}), path)
    else:
        path.write_bytes(edit(path.read_bytes()))
    with pytest.raises(CloisterError, match=r"changed after it was written|JSON"):
        read_certificate(path)


def test_values_outside_a_domain_count_as_its_default() -> None:
    """Unknown values, nulls and numbers outside their bounds are counted, and nothing is said about them."""
    table = pa.table({"c": ["a", "b", "zebra", None, "a"], "x": [1.0, 99.0, None, -7.0, 3.0]})
    made = cl.tabulate(table, ["c", "x"], 1e7, domains={"c": ["a", "b"]}, bounds={"x": (0, 10)}, bins={"x": 2})
    assert made.counts.round().tolist() == [[3, 1], [0, 1]]


def test_seeded_tables_repeat_and_say_so() -> None:
    """Seeded noise gives the same table and stamps it."""
    tables = []
    for _ in range(2):
        with seeded_noise(3):
            tables.append(cl.tabulate(students(300), ["level"], 1.0, schema=SCHEMA))
    assert np.array_equal(tables[0].fitted, tables[1].fitted)
    assert tables[0].release is not None
    assert "NOT PRIVATE" in tables[0].release.status


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": []}, "which columns"),
        ({"by": ["level", "level"]}, "twice"),
        ({"by": ["absent"]}, "no column"),
        ({"bins": {"grade": 3}}, "not one of the columns"),
        ({"by": ["age"], "bins": {"age": 0}}, "at least 1"),
        ({"by": ["age"], "bins": {"age": [120, 130]}}, "cut nothing"),
        ({"by": ["age"], "bins": {"age": ["old"]}}, "rising edges"),
        ({"measures": ["level"]}, "number with public bounds"),
        ({"by": ["student_id", "hours_online", "grade", "age"], "bins": {"student_id": 100_000}}, "cells, and at most"),
        ({"budget": -1}, "positive finite"),
    ],
)
def test_usage_faults_are_told(change: dict[str, object], message: str) -> None:
    """Each fault is told in the user's words, before anything is charged."""
    arguments = {"by": ["level"], "budget": 1.0, "schema": SCHEMA, **change}
    with pytest.raises(UsageError, match=message):
        cl.tabulate(students(50), **arguments)


def test_a_column_nothing_is_known_about_is_refused() -> None:
    """Without a schema, a domain or bounds there are no public cells."""
    with pytest.raises(SchemaError, match="nothing is known"):
        cl.tabulate(pa.table({"c": ["a"]}), ["c"], 1.0)


def test_a_table_is_written_by_its_ending(tmp_path: Path) -> None:
    """Another ending is refused."""
    with pytest.raises(UsageError, match=r"\.csv"):
        cl.tabulate(students(50), ["level"], 1.0, schema=SCHEMA).save(tmp_path / "table.xls")


def test_the_certificate_says_what_counts_and_sums_are() -> None:
    """Fractions of a row and negative sums stood in tables without a word; a table without sums does not speak of them."""
    rows = pa.table({"c": ["a"] * 500, "x": [1.0] * 500})
    facts: dict[str, Any] = {"domains": {"c": ["a", "b", "e"]}, "bounds": {"x": (0, 1000)}}
    made = cl.tabulate(rows, ["c"], 0.1, measures=["x"], **facts)
    assert made.release is not None
    assert any("all are whole" in note for note in made.release.notes)
    assert any("below 0" in note for note in made.release.notes)
    plain = cl.tabulate(rows, ["c"], 1, **facts).release
    assert plain is not None
    assert not any("below 0" in note for note in plain.notes)
