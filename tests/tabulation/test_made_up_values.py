"""Missing is not a value that somebody has: cells of their own, defaults that certificates name, counts that can be bought."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.errors import UsageError
from cloister.schema import Category, Column, Date, Number, Schema
from cloister.testing import seeded_noise
from tests.real_data import real

EXACT = 1e5  # an epsilon at which counts are theirs to a row or two
WORKCLASS = (
    "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked",
)  # fmt: skip
PAY = Number((0, 100_000), decimal=",", thousands=".", missing=("?",))
TEXTS = {"pay": ["36.993,09", "20.000", "?", "x", None, "1.000,5"], "level": ["a", "b", "?", "", "zz", "a"]}
SCHEMA = Schema((Column("pay", PAY), Column("level", Category(("a", "b"), other=True, missing=("?",)))))


@pytest.fixture(scope="module")
def adult() -> pa.Table:
    """The work classes of the Adult table, 1,836 of them unknown."""
    read = csv.ReadOptions(column_names=["age", "workclass", *(f"c{i}" for i in range(13))])
    return csv.read_csv(
        real("adult.data"), read_options=read, convert_options=csv.ConvertOptions(include_columns=["workclass"])
    )


def counts(table: Any, by: str, kind: Category) -> dict[str, float]:
    """The counts of one column, as good as exact."""
    made = cl.tabulate(table, [by], EXACT, schema=Schema((Column(by, kind),)))
    return dict(zip(made.labels[0], np.rint(made.counts), strict=True))


def test_unknown_work_classes_have_a_cell_of_their_own(adult: pa.Table) -> None:
    """22,696 people of the Adult table work privately, and 1,836 have no work class: not 24,532 and none."""
    made = counts(adult, "workclass", Category(WORKCLASS, other=True, missing=("?",)))
    assert (made["Private"], made["(other)"]) == (22_696, 1_836)
    unseen = counts(adult, "workclass", Category(WORKCLASS, other=True))  # "?" is unseen if nobody says that it is missing
    assert unseen == made


def test_without_a_cell_of_their_own_the_certificate_says_where_they_are_counted(adult: pa.Table) -> None:
    """A schema that does not say other keeps its counts, 24,532 of them private, and the certificate names that value."""
    schema = Schema((Column("workclass", Category(WORKCLASS)),))
    made = cl.tabulate(adult, ["workclass"], EXACT, schema=schema)
    assert round(made.counts[0]) == 24_532
    assert made.release_.parameters["defaults"] == {"workclass": "Private"}
    assert any('missing and unseen values of "workclass" are counted as "Private"' in note for note in made.release_.notes)


def write(folder: Path, kind: str) -> Any:
    """The texts in one of the forms that tables come in."""
    table = pa.table(TEXTS)
    if kind == "csv":
        csv.write_csv(table, folder / "t.csv")
        return folder / "t.csv"
    if kind == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "dictionary":
        return pa.table({name: table[name].dictionary_encode() for name in TEXTS})
    return pd.DataFrame(TEXTS) if kind == "pandas" else table


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "dictionary", "pandas"])
def test_a_cell_reads_alike_from_every_source(kind: str, tmp_path: Path) -> None:
    """Formats and missing words belong to the column, whatever its cells come in: sums, cells and counts are the same."""
    made = cl.tabulate(write(tmp_path, kind), ["level"], EXACT, measures=["pay"], schema=SCHEMA, count_missing=True)
    assert dict(zip(made.labels[0], np.rint(made.counts), strict=True)) == {"a": 2, "b": 1, "(other)": 3}
    assert made.sums["pay"].tolist() == pytest.approx([36_993.09 + 1_000.5, 20_000, 150_000], abs=100)
    assert {name: round(count) for name, count in made.release_.result["missing"]["counts"].items()} == {"pay": 3}


def test_lists_of_rows_are_read_by_the_same_rule() -> None:
    """A list of rows clusters at the values that its texts mean, and at the default where there is none."""
    rows = np.array([["36.993,09"], ["1.000,5"], ["?"]] * 400, dtype=object)
    schema = Schema((Column("x0", PAY),))
    made = cl.KMeans(n_clusters=3, budget=1e4, schema=schema, method="uniform-grid", random_state=0).fit(rows)
    centers = np.sort(made.cluster_centers_.ravel())
    assert centers == pytest.approx([1_000.5, 36_993.09, 50_000], abs=1_500)


def with_missing(share: float) -> pa.Table:
    """Ages of which a part is missing."""
    return pa.table({"age": [None if i % 10 < 10 * share else float(20 + i % 7) for i in range(2_000)]})


@pytest.mark.parametrize("verb", ["cluster", "synopsis", "tabulate"])
@pytest.mark.parametrize("default", [None, 25.0])
def test_every_verb_names_the_defaults_whether_or_not_anything_is_missing(verb: str, default: float | None) -> None:
    """With 40% of the ages missing, and with none, the same sentence names what stands for them."""
    schema = Schema((Column("age", Number((0, 100), default=default)),))

    def release(table: pa.Table) -> Any:
        if verb == "cluster":
            return cl.KMeans(n_clusters=2, schema=schema).fit(table).release_
        if verb == "synopsis":
            return cl.synopsis(table, 1, schema=schema).release_
        return cl.tabulate(table, ["age"], 1, schema=schema).release_

    some, none = release(with_missing(0.4)), release(with_missing(0))
    said = f'values of "age" are counted as {default or 50:g}'
    assert [note for note in some.notes if said in note] == [note for note in none.notes if said in note] != []
    assert some.parameters["defaults"] == none.parameters["defaults"] == {"age": default or 50.0}


def test_estimated_bounds_say_what_missing_counts_as() -> None:
    """Where bounds come from the budget, so does the default; the certificate says so too."""
    release = cl.KMeans(n_clusters=2, budget=5, columns=["age"]).fit(with_missing(0.4)).release_
    assert any("counted as 0" in note for note in release.notes)
    assert set(release.parameters["defaults"]) == {"age"}


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_missing_values_can_be_counted(neighbours: str) -> None:
    """The count of made-up ages is bought: noisy, near the truth, within the budget, and there if nothing is missing."""
    schema = Schema((Column("age", Number((0, 100), 1)), Column("sex", Category(("f", "m")))))
    for share in (0.4, 0.0):
        table = with_missing(share).append_column("sex", [["f", "m", "?", None] * 500])
        with seeded_noise(1):
            made = cl.tabulate(table, ["sex"], 2, measures=["age"], schema=schema, neighbours=neighbours, count_missing=True)
        missing = made.release_.result["missing"]
        assert missing["counts"]["age"] == pytest.approx(2_000 * share, abs=12 * missing["standard_error"])
        assert missing["counts"]["sex"] == pytest.approx(1_000, abs=12 * missing["standard_error"])
        assert made.release_.adds_up()
        assert any(note.startswith("Made-up values, counted with noise") for note in made.release_.notes)


def test_a_count_of_nothing_is_refused_before_the_charge() -> None:
    """Where every missing value has a cell of its own there is nothing to count."""
    with pytest.raises(UsageError, match="nothing to count"):
        cl.tabulate(pa.table({"level": ["a"]}), ["level"], 1, schema=SCHEMA, count_missing=True)


def test_other_is_in_margins_and_saved_tables(tmp_path: Path) -> None:
    """The cell "(other)" is in every margin and every format, and the table verifies."""
    table = pa.table({"level": TEXTS["level"] * 50, "sex": ["f", "m", "?"] * 100})
    schema = Schema((SCHEMA["level"], Column("sex", Category(("f", "m"), other=True))))
    made = cl.tabulate(table, ["level", "sex"], EXACT, schema=schema)
    assert made.margin("level").round().tolist() == [100, 50, 150]
    for ending in ("csv", "parquet", "json"):
        made.save(tmp_path / f"t.{ending}")
        assert CliRunner().invoke(app, ["verify", str(tmp_path / f"t.{ending}")]).exit_code == 0
    labels = {row["sex"] for row in json.loads((tmp_path / "t.json").read_text())["rows"]}
    assert labels == {"f", "m", "(other)", "*"}


def test_domains_and_bounds_of_a_call_keep_the_formats_of_the_schema() -> None:
    """A narrower domain or other bounds, given in the call, are read by the formats that the schema states."""
    table = pa.table(TEXTS)
    made = cl.tabulate(
        table, ["level"], EXACT, measures=["pay"], domains={"level": ["a"]}, bounds={"pay": (0, 40_000)}, schema=SCHEMA
    )
    assert made.labels == (("a", "(other)"),)
    assert made.sums["pay"].tolist() == pytest.approx([37_993.59, 80_000], abs=100)


def test_the_commands_say_and_count_what_is_made_up(tmp_path: Path) -> None:
    """A draft of a file with German numbers, filled in, gives a table whose command counts the made-up values."""
    csv.write_csv(pa.table({"pay": TEXTS["pay"] * 20, "level": TEXTS["level"] * 20}), tmp_path / "t.csv")
    csv.write_csv(pa.table({"pay": ["36.993,09", "?", "20.000"] * 20}), tmp_path / "clean.csv")
    runner = CliRunner()
    draft = runner.invoke(app, ["schema", str(tmp_path / "clean.csv")]).output
    assert 'decimal = ","  # guessed' in draft
    assert 'thousands = "."  # guessed' in draft
    (tmp_path / "t.toml").write_text(SCHEMA.to_toml())
    words = ["tabulate", tmp_path / "t.csv", "--by", "level", "--measures", "pay", "--epsilon", "9", "--count-missing"]
    result = runner.invoke(app, [*map(str, words), "--schema", str(tmp_path / "t.toml"), "--out", str(tmp_path / "o.csv")])
    assert result.exit_code == 0, result.output
    assert 'values of "pay" are counted as 50000' in " ".join(result.output.split())
    check = runner.invoke(
        app, ["schema", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "t.toml"), "--check", "--json"]
    )
    columns = {each["column"]: each for each in json.loads(check.output)["columns"]}
    assert (columns["pay"]["missing"], columns["pay"]["unreadable"], columns["pay"]["made_up"]) == (40, 20, 60)
    assert columns["level"]["made_up"] == 60


@pytest.mark.parametrize("facts", ["step = 1\n", "step = 2\n", "step = 1\ndefault = 2.5\n", "step = 0.5\ndefault = 3\n", ""])
def test_a_missing_number_is_one_value_in_its_cell_and_in_its_sum(facts: str) -> None:
    """A column in by and in measures: it is summed as the value that its cell was chosen for, which the certificate names."""
    schema = Schema.from_text(f'[columns.x]\nkind = "number"\nbounds = [0, 9]\n{facts}')
    table = cl.tabulate(pa.table({"x": ["?"] * 4}), ["x"], EXACT, measures=["x"], schema=schema)
    assert table.release_ is not None
    default = table.release_.parameters["defaults"]["x"]
    (cell,) = np.flatnonzero(table.counts.round())
    assert table.sums["x"][cell] == pytest.approx(4 * default, abs=0.1)
    if facts:  # one cell for each value
        assert float(table.labels[0][cell]) == default


@pytest.mark.parametrize("known", [None, Number((0, 9)), Category(("1", "2"), other=True)])
def test_a_column_is_no_category_in_by_and_a_number_in_measures(known: Any) -> None:
    """A missing cell would be two values at once, of which the certificate names one: refused before the charge."""
    schema = None if known is None else Schema((Column("x", known),))
    facts = {"domains": {"x": ["1", "2"]}, "bounds": {"x": (0, 9)}, "schema": schema}
    with pytest.raises(UsageError, match='"x" is a category'):
        cl.tabulate(pa.table({"x": ["1"]}), ["x"], 1, measures=["x"], **facts)


@pytest.mark.parametrize(("bounds", "default"), [((0, 100), 90.0), ((0, 50), 50.0), ((95, 200), 95.0)])
def test_bounds_of_a_call_keep_the_default_of_the_schema(bounds: tuple[float, float], default: float) -> None:
    """Clipped to them, in a table and in clusters: it was dropped without a word."""
    table = {"pay": [None, None, None], "x": ["1", "1", "1"]}
    schema = Schema((Column("pay", Number((0, 1000), default=90)),))
    made = cl.tabulate(table, ["pay"], EXACT, bounds={"pay": bounds}, bins={"pay": 2}, schema=schema)
    assert made.release_.parameters["defaults"] == {"pay": default}
    model = cl.KMeans(2, EXACT, bounds, columns=["pay"], schema=schema).fit(table)
    assert model.release_.parameters["defaults"]["pay"] == pytest.approx(default, abs=1e-3)


def test_a_date_keeps_its_default_too() -> None:
    """Inside the bounds of a call as it is, else at their end."""
    first, last = datetime.date(2000, 1, 1), datetime.date(2030, 1, 1)
    for day, kept in ((datetime.date(2029, 5, 5), "2029-05-05"), (datetime.date(1950, 5, 5), "2000-01-01")):
        schema = Schema((Column("born", Date((datetime.date(1900, 1, 1), last), default=day)),))
        made = cl.tabulate(
            {"born": [None]}, ["born"], EXACT, bounds={"born": (first, last)}, bins={"born": 2}, schema=schema
        )
        assert made.release_.parameters["defaults"] == {"born": kept}


def test_a_domain_of_a_call_keeps_the_default_of_the_schema_or_is_refused() -> None:
    """Unseen values were counted as the first of the domain, whatever the schema says."""
    schema = Schema((Column("level", Category(("a", "b", "c"), default="b")),))
    made = cl.tabulate({"level": ["?"] * 50}, ["level"], EXACT, domains={"level": ["a", " b "]}, schema=schema)
    assert np.rint(made.counts).tolist() == [0, 50]
    with pytest.raises(UsageError, match='counts unseen values of "level" as "b", which is not in the domain'):
        cl.tabulate({"level": ["?"]}, ["level"], EXACT, domains={"level": ["a", "c"]}, schema=schema)


@pytest.mark.parametrize(("center", "default"), [(None, 90.0), ([0.0], 90.0), ([500.0], 400.0), ([-50.0], 50.0)])
def test_a_ball_keeps_the_default_of_the_schema(center: list[float] | None, default: float) -> None:
    """As a box does, in its columns' own units."""
    schema = Schema((Column("pay", Number((0, 1000), default=90)),))
    model = cl.KMeans(2, EXACT, cl.Ball(100, center), columns=["pay"], schema=schema).fit({"pay": [None, None]})
    assert model.release_.parameters["defaults"]["pay"] == pytest.approx(default, abs=1e-3)
