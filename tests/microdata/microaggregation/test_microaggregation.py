"""The whole walk: a table goes in, groups of k come out, and what must not leave stays behind."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from cloister.errors import CloisterError, DataError, EngineError, SchemaError, SinkError, UsageError
from cloister.microdata.microaggregation import group_rewriting, publish_groups
from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release
from cloister.schema import Category, Column, Date, Number, Role, Schema
from cloister.testing import seeded_noise
from tests.microdata.microaggregation.mixed_tables import people_table, tuples_of

QUASI = ["age", "height", "born", "city"]
SCHEMA = Schema(
    (
        Column("patient_id", Category(), Role.IDENTIFIER),
        Column("age", Number((0, 120), 1), Role.QUASI),
        Column("height", Number((100, 250), 0.5), Role.QUASI),
        Column("born", Date((date(1940, 1, 1), date(2000, 1, 1))), Role.QUASI),
        Column("city", Category(), Role.QUASI),
        Column("diagnosis", Category(), Role.SENSITIVE),
    )
)


def made_ledger(folder: Path) -> Ledger:
    """A ledger that knows the table."""
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.create("people", "add-remove", 1)
    return ledger


def in_form(form: str, table: pa.Table, folder: Path) -> Any:
    """The same rows as another kind of table."""
    if form == "csv":
        pyarrow.csv.write_csv(table, folder / "in.csv")
        return folder / "in.csv"
    if form == "parquet":
        pq.write_table(table, folder / "in.parquet")
        return folder / "in.parquet"
    if form == "pandas":
        return table.to_pandas()
    if form == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    if form == "dict":
        return {name: table[name].to_pylist() for name in table.column_names}
    return table


@pytest.mark.parametrize("form", ["csv", "parquet", "pandas", "polars", "dict", "arrow"])
def test_every_table_comes_out_in_groups_of_k(form: str, tmp_path: Path) -> None:
    """Each published tuple has k rows, the rows are as many as before, and the form of the input makes no difference."""
    table = people_table()
    model = Microaggregation(k=4, columns=QUASI)
    release = model.publish(in_form(form, table, tmp_path), tmp_path / "out.csv")
    counts = tuples_of(tmp_path / "out.csv", QUASI)
    assert min(counts.values()) >= 4
    assert sum(counts.values()) == 200 == model.summary_.rows
    assert str(release.guarantee) == "syntactic: k = 4, not differentially private"
    model.publish(table, tmp_path / "same.csv")
    assert tuples_of(tmp_path / "same.csv", QUASI) == counts


def test_a_group_reads_the_same_in_every_row(tmp_path: Path) -> None:
    """Rows of a group are one tuple, whose number is the mean of the group; Parquet keeps the types."""
    table = people_table()
    model = Microaggregation(k=4, columns=["age", "born"], sensitive="patient_id")
    groups = model.groups(table)
    assert "holder only" in groups.stamp
    model.publish(table, tmp_path / "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.schema.types == [pa.string(), pa.int64(), pa.date32()]
    by_id = {row["patient_id"]: (row["age"], row["born"]) for row in out.to_pylist()}
    ages = table["age"].to_numpy()
    for group in range(groups.value.max() + 1):
        members = np.flatnonzero(groups.value == group)
        written = {by_id[f"p{i}"] for i in members}
        assert len(written) == 1
        assert next(iter(written))[0] == np.rint(ages[members].mean())


def test_what_is_not_named_stays_behind(tmp_path: Path) -> None:
    """Identifiers and all others are dropped; sensitive columns and kept ones stay, the latter with a warning."""
    table = people_table()
    model = Microaggregation(k=5, columns=["age"], sensitive="diagnosis")
    model.publish(table, tmp_path / "a.csv")
    assert pyarrow.csv.read_csv(tmp_path / "a.csv").column_names == ["age", "diagnosis"]
    assert model.summary_.dropped == ("patient_id", "height", "born", "city", "note")
    assert any("Sensitive columns are published as they are: diagnosis" in note for note in model.release_.notes)
    with pytest.warns(UserWarning, match=r"outside of k: patient_id\. patient_id may name single rows"):
        release = Microaggregation(k=5, columns=["age"], keep="patient_id").publish(table, tmp_path / "b.csv")
    assert any('"patient_id" is an identifier, or is named like one' in note for note in release.notes)


def test_a_schema_says_what_columns_are(tmp_path: Path) -> None:
    """Roles choose the columns, sensitive ones ride along, numbers keep to their step, and a CSV is read by the same kinds."""
    pyarrow.csv.write_csv(people_table(), tmp_path / "in.csv")
    model = Microaggregation(k=5, schema=SCHEMA)
    model.publish(tmp_path / "in.csv", tmp_path / "out.csv")
    out = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert out.column_names == [*QUASI, "diagnosis"]
    assert np.allclose(out["height"].to_numpy() % 0.5, 0)
    assert min(tuples_of(tmp_path / "out.csv", QUASI).values()) >= 5


def test_rows_come_out_in_a_secret_order(tmp_path: Path) -> None:
    """The order of the output is drawn anew, and a seeded one is stamped."""
    table = people_table(300)
    model = Microaggregation(k=5, columns=["age"], sensitive="patient_id")
    model.publish(table, tmp_path / "a.csv")
    ids = pyarrow.csv.read_csv(tmp_path / "a.csv")["patient_id"].to_pylist()
    assert ids != table["patient_id"].to_pylist()  # chance 1/300!
    assert sorted(ids) == sorted(table["patient_id"].to_pylist())
    assert not model.release_.seeded
    with seeded_noise(1):
        assert model.publish(table, tmp_path / "b.csv").seeded


def test_k_counts_people_where_there_is_a_unit(tmp_path: Path) -> None:
    """Everybody has three rows: a tuple has rows of k people, the column that says whose they are is gone."""
    table = people_table(60)
    table = pa.concat_tables([table] * 3)
    schema = replace(SCHEMA, unit="patient_id", max_rows=3)
    model = Microaggregation(k=4, schema=schema)
    release = model.publish(table, tmp_path / "out.csv")
    assert release.guarantee.unit == 'person (column "patient_id")'
    assert "patient_id" not in pyarrow.csv.read_csv(tmp_path / "out.csv").column_names
    assert model.summary_.people is not None
    assert model.summary_.people >= 4
    of = model.groups(table).value
    people = np.tile(np.arange(60), 3)
    assert min(len(np.unique(people[of == g])) for g in range(of.max() + 1)) >= 4


def test_hierarchies_generalise_categories(tmp_path: Path) -> None:
    """A mapping or a folder; groups of two cities become the label above them."""
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("Ahaus;west;*\nBonn;west;*\nCelle;east;*\n")
    for given in (tmp_path / "trees", {"city": tmp_path / "trees" / "city.csv"}):
        out = tmp_path / f"{type(given).__name__}.csv"
        Microaggregation(k=90, columns=["age", "city"], hierarchies=given).publish(people_table(), out)
        assert set(pyarrow.csv.read_csv(out)["city"].to_pylist()) <= {"Ahaus", "Bonn", "Celle", "west", "*"}
        assert {"west", "*"} & set(pyarrow.csv.read_csv(out)["city"].to_pylist())


def test_text_decides_by_all_its_cells_what_it_is(tmp_path: Path) -> None:
    """Numbers and dates in text are averaged; codes with a zero in front, words and truth values are not; blanks stay."""
    rows = {
        "n": ["1", "2", "4", "", "9", "9"], "d": ["2020-01-01", "2020-01-03", "2020-01-05"] * 2, "zip": ["01", "02", "02"] * 2,
        "b": ["true", "true", "false"] * 2,
    }  # fmt: skip
    Microaggregation(k=6, columns=list(rows)).publish(rows, tmp_path / "out.csv")
    lines = list(csv.reader((tmp_path / "out.csv").open()))
    assert Counter(map(tuple, lines[1:])) == {("5", "2020-01-03", "02", "true"): 6}


def test_the_ledger_and_the_certificate_know_of_it(tmp_path: Path) -> None:
    """One entry a publication, tied to the certificate, which reads back; groups are recorded too."""
    ledger = made_ledger(tmp_path)
    model = Microaggregation(k=5, columns=QUASI, table="people", ledger=ledger)
    release = model.publish(people_table(), tmp_path / "out.csv")
    assert release.ledger is not None
    read = Release.from_json((tmp_path / "out.csv.release.json").read_text())
    assert read.digest() == release.digest()
    assert json.loads(release.to_json())["result"]["classes"] == len(tuples_of(tmp_path / "out.csv", QUASI))
    model.groups(people_table())
    assert len(ledger.entries("people")) == 2


REFUSED: list[tuple[dict[str, Any], type[CloisterError], str]] = [
    ({"k": 1}, UsageError, "k must be a whole number of at least 2"),
    ({"k": 2.5}, UsageError, "k must be a whole number"),
    ({"rule": "best"}, UsageError, "rule"),
    ({"distance": "far"}, UsageError, "distance"),
    ({"columns": None}, UsageError, "which columns are microaggregated"),
    ({"columns": ["aeg"]}, SchemaError, 'no column "aeg". Did you mean "age"'),
    ({"columns": ["age", "age"]}, UsageError, "twice"),
    ({"sensitive": ["age"]}, UsageError, "cannot be both"),
    ({"keep": ["nothing"]}, SchemaError, 'no column "nothing"'),
    ({"hierarchies": {"diagnosis": "x.csv"}}, UsageError, "not microaggregated"),
    ({"hierarchies": 3}, UsageError, "hierarchies must be"),
    ({"columns": ["patient_id"], "schema": SCHEMA}, UsageError, "is an identifier in the schema"),
    ({"hierarchies": {"age": "x.csv"}, "schema": SCHEMA}, UsageError, "published as a mean"),
]


@pytest.mark.parametrize(("settings", "error", "words"), REFUSED)
def test_what_can_be_known_before_is_refused_before(
    settings: dict[str, Any], error: type[CloisterError], words: str, tmp_path: Path
) -> None:
    """One sentence or two; nothing is written, and the ledger does not know the table."""
    ledger = made_ledger(tmp_path)
    model = Microaggregation(**{"columns": ["age", "city"], "table": "people", "ledger": ledger, **settings})
    with pytest.raises(error, match=words) as told:
        model.publish(people_table(), tmp_path / "out.csv")
    assert str(told.value).count(". ") <= 1
    assert not list(tmp_path.glob("out*"))
    assert not ledger.entries("people")


@pytest.mark.parametrize(
    ("table", "k", "words"),
    [
        ({"age": [1, 2, 3]}, 4, "fewer than k = 4 rows"),
        ({"age": pa.array([], pa.int64())}, 4, "no rows"),
        ({"age": [1.0, np.inf, 3.0]}, 2, "infinite, or cannot be read"),
    ],
)
def test_what_only_the_rows_show_is_refused_and_nothing_is_written(
    table: dict[str, Any], k: int, words: str, tmp_path: Path
) -> None:
    """Too few rows, no rows, numbers that are none."""
    with pytest.raises(DataError, match=words):
        Microaggregation(k=k, columns=["age"]).publish(pa.table(table), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_cells_outside_the_schema_are_refused(tmp_path: Path) -> None:
    """A number beyond its bounds would stretch the scale."""
    with pytest.raises(DataError, match=r'"age" holds numbers outside the bounds'):
        Microaggregation(k=2, columns=["age"], schema=SCHEMA).publish(
            pa.table({"age": [1, 2, 999], "diagnosis": ["x"] * 3}), tmp_path / "out.csv"
        )


@pytest.mark.parametrize(
    "cells", [pa.array([7] * 9), pa.nulls(9, pa.float64()), pa.nulls(9, pa.string()), pa.array(["a"] * 9)]
)
def test_a_column_of_one_value_is_published(cells: pa.Array, tmp_path: Path) -> None:
    """One value, or none at all, is as near to all others as can be, and comes out as it is."""
    for distance in ("mixed", "standardized"):
        out = tmp_path / f"{distance}.parquet"
        Microaggregation(k=3, distance=distance, columns=["x"]).publish(pa.table({"x": cells}), out)
        assert set(pq.read_table(out)["x"].to_pylist()) == set(cells.to_pylist())


def test_many_categories_are_fine(tmp_path: Path) -> None:
    """Ten thousand values, all different: every group has the mode that comes first."""
    model = Microaggregation(k=100, columns=["x"])
    model.publish(pa.table({"x": [f"v{i}" for i in range(10_000)]}), tmp_path / "out.csv")
    assert model.summary_.groups == 100


def test_an_output_with_other_rows_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a writer that leaves the centroid of one row alone; the recount sees it, and nothing appears."""
    right = group_rewriting.GroupRewriting.map_batch

    def wrong(self: group_rewriting.GroupRewriting, batch: pa.RecordBatch) -> pa.RecordBatch:
        done = right(self, batch)
        ages = done.column(0).to_pylist()
        return done.set_column(0, done.schema.field(0), pa.array([ages[0] + 1, *ages[1:]], done.column(0).type))

    monkeypatch.setattr(group_rewriting.GroupRewriting, "map_batch", wrong)
    with pytest.raises(EngineError, match="does not hold the rows that were planned"):
        Microaggregation(k=5, columns=["age"]).publish(people_table(), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_groups_below_k_are_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: groups of one row fewer than k."""
    right = publish_groups.make_groups
    monkeypatch.setattr(publish_groups, "make_groups", lambda rows, k, *others: right(rows, k - 1, *others))
    with pytest.raises(EngineError, match="fewer than k = 5"):
        Microaggregation(k=5, columns=["age", "height"]).publish(people_table(), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_an_output_that_exists_is_left_alone(tmp_path: Path) -> None:
    """Before a row is read."""
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(SinkError):
        Microaggregation(k=5, columns=["age"]).publish(people_table(), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_rows_without_an_order_are_refused(tmp_path: Path) -> None:
    """As on Spark: before it is started, and before anything is recorded."""
    ledger = made_ledger(tmp_path)
    model = Microaggregation(k=5, columns=["age"], table="people", ledger=ledger, engine="spark")
    for work in (
        lambda: model.publish(tmp_path / "in.csv", tmp_path / "out.csv"),
        lambda: model.groups(tmp_path / "in.csv"),
    ):
        with pytest.raises(UsageError, match="on Spark rows have no order"):
            work()
    assert not ledger.entries("people")


def test_lists_and_arrays_have_the_columns_that_are_named() -> None:
    """Without a schema rows of a list have the named columns; those of an array are x0, x1 ..."""
    values = [[1.0, 5.0], [2.0, 5.0], [9.0, 1.0], [8.0, 1.0]]
    for rows, names in ((values, ["a", "b"]), (np.array(values), ["x0", "x1"])):
        of = Microaggregation(k=2, columns=names).groups(rows).value
        assert of[0] == of[1] != of[2] == of[3]
    listed = Schema((Column("a", Number(), Role.QUASI), Column("b", Number(), Role.OTHER)))
    assert len(Microaggregation(k=2, schema=listed).groups(values).value) == 4


def test_blanks_of_every_kind_are_blanks(tmp_path: Path) -> None:
    """NaN, null, an empty text and what the schema lists as missing; they are grouped with each other."""
    schema = Schema((Column("x", Number(missing=("-9",)), Role.QUASI),))
    for cells in ([1.0, 2.0, np.nan, np.nan], [1.0, 2.0, None, None], ["1", "2", "", "-9"]):
        for given in (schema, None):
            if given is None and "-9" in cells:
                continue
            out = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
            Microaggregation(k=2, columns=["x"], schema=given).publish(pa.table({"x": cells}), out)
            assert Counter(pq.read_table(out)["x"].to_pylist()) == {2: 2, None: 2}


def test_a_plan_reads_no_row() -> None:
    """It says what becomes of each column, by the names alone."""
    plan = str(Microaggregation(k=5, schema=SCHEMA, keep="note").plan(people_table().column_names))
    for words in (
        "k = 5",
        "cmd",
        "mixed",
        "Dropped: patient_id",
        "Sensitive, as they are: diagnosis",
        "Kept as they are: note",
    ):
        assert words in plan
    with pytest.raises(UsageError, match="as a list"):
        Microaggregation(columns=["age"]).plan("age")


def test_it_is_a_scikit_learn_estimator_as_far_as_parameters_go() -> None:
    """`clone` gives an equal one, which is not fitted."""
    model = clone(Microaggregation(k=7, columns=["age"], rule="mdav"))
    assert model.get_params()["k"] == 7
    assert repr(model) == "Microaggregation(k=7, rule='mdav', columns=['age'])"


def test_a_column_of_lists_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    """By its declared type: a ledger that named it as published would be wrong for good."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 5)
    table = pa.table({"age": [1, 2, 3, 4], "tags": [["a"], [], ["b"], ["c"]]})
    for settings in ({"columns": ["age", "tags"]}, {"columns": ["age"], "keep": ["tags"]}):
        model = Microaggregation(k=2, table="people", ledger=ledger, **settings)
        with pytest.raises(SchemaError, match="lists or structs"):
            model.publish(table, tmp_path / "out.csv")
    assert ledger.account("people").holder_uses == 0


def test_many_rows_of_a_person_do_not_make_the_mean_theirs(tmp_path: Path) -> None:
    """Where k counts people each of them weighs 1: somebody with 200 of 204 rows of a group has a fifth of its mean."""
    schema = Schema.from_text(
        'unit = "who"\nmax_rows = 500\n[columns.who]\nkind = "text"\n[columns.pay]\nkind = "number"\nbounds = [0, 1000]\n'
        '[columns.job]\nkind = "category"\ndomain = ["spy", "cook"]\n'
    )
    who = ["a"] * 200 + ["b", "c", "d", "e"]
    table = pa.table({"who": who, "pay": [1000.0] * 200 + [0.0] * 4, "job": ["spy"] * 200 + ["cook"] * 4})
    Microaggregation(k=5, columns=["pay", "job"], schema=schema).publish(table, tmp_path / "out.parquet")
    written = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert {(row["pay"], row["job"]) for row in written} == {(200.0, "cook")}
