"""Tables of plain Python objects, through every verb: lists of rows, lists of dicts, dicts of columns, frames, arrays."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError, SourceError, UsageError
from cloister.sources.opening import open_source
from cloister.sources.ragged_rows import count_ragged
from cloister.sources.stated_names import StatedNames

NAMES = ["age", "pay"]
AGES, PAYS = [20, 30, 40, 50] * 25, [1.5, 2.5, 7.5, 8.5] * 25
ROWS = [list(row) for row in zip(AGES, PAYS, strict=True)]
COLUMNS = {"age": AGES, "pay": PAYS}
SCHEMA = cl.Schema.from_text(
    '[columns.age]\nkind = "number"\nbounds = [0, 100]\nrole = "quasi"\n'
    '[columns.pay]\nkind = "number"\nbounds = [0, 10]\nrole = "sensitive"\n'
)
FORMS: dict[str, Any] = {
    "rows": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "dicts": [{"pay": pay, "age": age} for age, pay in ROWS],
    "columns": COLUMNS,
    "columns of all kinds": {"age": np.array(AGES), "pay": pd.Series(PAYS)},
    "columns of Arrow and Polars": {"age": pa.chunked_array([AGES]), "pay": pl.Series(PAYS)},
    "array": np.array(ROWS),
    "pandas": pd.DataFrame(COLUMNS),
    "Polars": pl.DataFrame(COLUMNS),
    "Arrow": pa.table(COLUMNS),
}
every_form = pytest.mark.parametrize("form", FORMS)


@every_form
def test_every_verb_takes_every_python_table(form: str, tmp_path: Path) -> None:
    """With a schema, or with names where the data has none, all of them hold the same rows."""
    data = FORMS[form]
    counts = cl.tabulate(data, ["age"], 1e6, bins={"age": [0, 25, 45, 100]}, schema=SCHEMA).counts
    assert np.rint(counts).tolist() == [25, 50, 25]
    named = cl.tabulate(data, ["pay"], 1e6, bounds={"pay": (0, 10)}, bins={"pay": 2}, columns=NAMES)
    assert np.rint(named.counts).tolist() == [50, 50]
    model = cl.KMeans(2, 1e6, (0, 100), columns=NAMES).fit(data)
    assert model.feature_names_in_.tolist() == NAMES
    assert np.sort(model.cluster_centers_[:, 1]).round().tolist() == [2, 8]
    assert cl.KMeans(2, 1e6, schema=SCHEMA).fit_predict(data).shape == (100,)
    assert round(cl.synopsis(data, 1e6, schema=SCHEMA).total) == 100
    assert cl.risk(data, ["age"], schema=SCHEMA).risk.k == 25
    assert cl.PrivateMicrodata(1e6, schema=SCHEMA).sample(data).table.schema.names == NAMES
    cl.TopDownSpecialization(k=5, schema=SCHEMA).publish(data, tmp_path / "t.csv")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 101


def test_rows_of_a_list_are_dicts_or_lists_each_by_itself() -> None:
    """Under the same stated names; what a row lacks, has too much of, or calls otherwise is unreadable."""
    rows = [[1, 2], {"pay": 2, "age": 1}, {"age": 1}, [1], [1, 2, 3], {"AGE": 1, 0: 5}, None, 7, "text"]
    source = open_source(rows, StatedNames(("age", "pay")))
    (batch,) = source.batches(["age", "pay"])
    cells = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    nothing = (None, None)
    assert cells == [("1", "2"), ("1", "2"), ("1", None), ("1", None), ("1", "2"), nothing, nothing, nothing, nothing]


@pytest.mark.parametrize(
    "use",
    [
        lambda data: cl.KMeans(2, 1.0, (0, 1)).fit(data),
        lambda data: cl.synopsis(data, 1.0, (0, 1)),
        lambda data: cl.tabulate(data, ["age"], 1.0, bounds={"age": (0, 100)}),
        lambda data: cl.choose(data, "age", 1.0, bounds=(0, 100), quantile=0.5),
        lambda data: cl.PrivateMicrodata(1.0, bounds={"age": (0, 100)}).sample(data),
        lambda data: cl.risk(data, ["age"]),
        lambda data: cl.TopDownSpecialization(k=5, quasi=["age"]).publish(data, "never.csv"),
    ],
    ids=["KMeans", "synopsis", "tabulate", "choose", "PrivateMicrodata", "risk", "publish"],
)
@pytest.mark.parametrize("rows", [ROWS, FORMS["dicts"], []], ids=["lists", "dicts", "empty"])
def test_a_list_is_refused_alike_until_its_columns_are_stated(use: Callable[[Any], Any], rows: Any) -> None:
    """Whatever its rows are: names that were taken from them would hang on one of them."""
    with pytest.raises(SourceError, match=r"which columns it has\. (Name them in|Give a schema.*DataFrame\(rows\))"):
        use(rows)


@pytest.mark.parametrize(
    "rows",
    [ROWS, FORMS["dicts"], [[pay] for pay in PAYS], pd.DataFrame(FORMS["dicts"])],
    ids=["lists", "dicts", "narrow", "frame"],
)
def test_some_columns_of_a_schema_are_clustered_alike_in_every_form(rows: Any) -> None:
    """Dicts are read by their keys; lists have the schema's columns, or, where they have as many cells as were named, those."""
    model = cl.KMeans(2, 1e6, schema=SCHEMA, columns=["pay"]).fit(rows)
    assert np.sort(model.cluster_centers_[:, 0]).round().tolist() == [2, 8]
    assert cl.synopsis(rows, 1, schema=SCHEMA, columns=["pay"]).columns == ("pay",)


def test_a_row_of_a_narrow_list_says_nothing_about_the_others() -> None:
    """Rows of both widths stand side by side, and what is neither is filled up."""
    names = StatedNames(("pay",), ("age", "pay"))
    (batch,) = open_source([[1, 2], [2], {"pay": 2}, [], [1, 2, 3], None], names).batches(["age", "pay"])
    assert batch.column("age").to_pylist() == ["1", None, None, None, "1", None]
    assert batch.column("pay").to_pylist() == ["2", "2", "2", None, "2", None]


def test_columns_in_another_order_than_those_of_the_schema_are_refused_with_a_hint_that_works() -> None:
    """Lists of as many cells may have either order: neither is guessed. A frame says it."""
    for rows, what in ((ROWS, "the rows"), (FORMS["dicts"], "the rows"), (np.array(ROWS), "the array")):
        with pytest.raises(SourceError, match=f"not clear whether {what}.*in its order; or pass"):
            cl.KMeans(2, 1e6, schema=SCHEMA, columns=["pay", "age"]).fit(rows)
    assert cl.KMeans(2, 1.0, schema=SCHEMA, columns=["pay"]).fit(np.array(ROWS)).n_features_in_ == 1  # two columns wide


def test_rows_wider_than_the_clusters_are_not_labelled_by_their_first_cells() -> None:
    """The holder is told: the third cell of a row is not the second column."""
    model = cl.KMeans(2, 1e6, (0, 1), columns=["x0", "x2"]).fit([[0.0, 9.0, 0.1], [0.0, 9.0, 0.9]] * 20)
    with pytest.raises(UsageError, match="as many cells as the 2 columns"):
        model.predict([[0.0, 9.0, 0.1]])
    assert len(model.predict([[0.0, 0.1], [0.0, 0.1, 7], {"x2": 0.9, "x0": 0, "x1": 9}, [], None])) == 5


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ({}, "at least one"),
        ({"a": 5}, "Convert it"),
        ({"a": "abc"}, "Convert it"),
        ({"a": {1, 2}}, "Convert it"),
        ({"a": np.zeros((2, 2))}, "Convert it"),
        ({1: [1]}, "their names"),
        ({"a": [1], "b": [1, 2]}, "differ in length"),
    ],
)
def test_what_is_no_dict_of_columns_is_refused(data: Any, hint: str) -> None:
    """By its form alone, in one sentence."""
    with pytest.raises(CloisterError, match=hint):
        cl.tabulate(data, ["a"], 1, bounds={"a": (0, 1)})


def test_a_column_that_does_not_say_what_it_holds_is_named_before_it_is_clustered() -> None:
    """Lists and object arrays may hold anything; arrays and Series of numbers say so."""
    with pytest.raises(CloisterError, match=r'"age" holds text, or else no numbers\. Say which columns'):
        cl.KMeans(2, 1.0, (0, 100)).fit(COLUMNS)
    typed = {"age": np.array(AGES), "pay": pl.Series(PAYS)}
    assert cl.KMeans(2, 1.0, (0, 100)).fit(typed).n_features_in_ == 2
    assert open_source({"a": pa.array([[1]])}).nested == ("a",)  # type: ignore[attr-defined]


def test_labels_of_a_wide_list_are_those_of_its_columns() -> None:
    """`fit_predict` read the rows by the clustered columns alone: x2 of three was taken from the second cell."""
    rows = [[0.0, 9.0, 0.1], [0.0, 9.0, 0.9]] * 200
    labels = cl.KMeans(2, 1e6, (0, 1), columns=["x0", "x2"]).fit_predict(rows)
    assert labels[0] != labels[1]
    assert set(labels[::2]) == {labels[0]}


def test_rows_of_another_width_are_counted_for_the_holder() -> None:
    """Dicts have keys, which may be missing, and no width."""
    rows = [[1, 2], (1, 2), {"pay": 2}, [1], [1, 2, 3], None, "text", np.zeros(2)]
    assert count_ragged(open_source(rows, StatedNames(("age", "pay")))) == 4
    assert count_ragged(open_source([[1, 2], [2], []], StatedNames(("pay",), ("age", "pay")))) == 1
    assert count_ragged(open_source(pd.DataFrame({"a": [1]}))) == 0


@pytest.mark.parametrize("index", [[0.5, 1.5, 2.5], [10.0, -3.0, 2.0], [2.0, 2.0, 0.0], [np.nan, 0.0, 1.0]])
def test_the_labels_of_a_series_say_nothing(index: list[float]) -> None:
    """pandas 2 cuts a Series with an index of floats by its labels, and fails at some of them."""
    source = open_source({"age": pd.Series([1.0, 2.0, 3.0], index=index), "sex": pd.Series(["f", "m", "f"], index=index)})
    assert (source.texts, source.nested) == (("sex",), ())  # type: ignore[attr-defined]
    assert [len(batch) for batch in source.batches(["age", "sex"])] == [3]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([datetime.date(2020, 1, 1)] * 3),
        pl.Series([datetime.datetime(2020, 1, 1, 5)] * 3),
        pl.Series(["2020-01-01"] * 3, dtype=pl.Categorical),
        pl.Series(["2020-01-01"] * 3),
    ],
    ids=lambda column: str(column.dtype),
)
def test_a_series_of_polars_reads_as_in_a_frame(column: pl.Series) -> None:
    """Older ones hand over a Series of dates or categories in a way that Arrow refuses."""
    bounds = (datetime.date(2000, 1, 1), datetime.date(2039, 12, 31))
    for data in ({"born": column}, pl.DataFrame({"born": column})):
        made = cl.tabulate(data, ["born"], 1e6, bounds={"born": bounds}, bins={"born": ["2010-01-01", "2030-01-01"]})
        assert np.rint(made.counts).tolist() == [0, 3, 0]
