"""Cells of any source, read as the schema says: the original as people write it, labels as `anonymize` writes them."""

from __future__ import annotations

import csv
import datetime
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cloister as cl
from cloister.errors import SchemaError
from cloister.risks.assess import RiskReport, assess
from cloister.risks.cell_words import plain_words
from cloister.schema import Date, Number
from cloister.schema.hierarchies import Hierarchy

GERMAN = """
[columns.born]
kind = "date"
bounds = [1970-01-01, 1979-12-31]
format = "%d.%m.%Y"
missing = ["?"]
role = "quasi"
[columns.sex]
kind = "category"
domain = ["m", "w"]
other = true
missing = ["?"]
role = "quasi"
[columns.cost]
kind = "number"
bounds = [0, 50000]
decimal = ","
thousands = "."
missing = ["?"]
role = "quasi"
"""
PLAIN = """
[columns.born]
kind = "date"
bounds = [1970-01-01, 1979-12-31]
role = "quasi"
[columns.sex]
kind = "category"
domain = ["m", "w"]
other = true
role = "quasi"
[columns.cost]
kind = "number"
bounds = [0, 50000]
role = "quasi"
"""


def two_writings(rows: int = 120) -> tuple[pa.Table, pa.Table]:
    """One table as people in Germany write it, and as programs do."""
    drawn = random.Random(5)
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(days=drawn.randrange(3_600)) for _ in range(rows)]
    costs = [round(drawn.lognormvariate(7, 1) / 5, 0) * 5 + 0.25 for _ in range(rows)]
    sexes = [drawn.choice(["m", "w", "w", "x", None]) for _ in range(rows)]
    swapped = [f"{cost:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".") for cost in costs]
    gaps = [i % 17 == 0 for i in range(rows)]
    german = pa.table(
        {
            "born": ["?" if gap else day.strftime("%d.%m.%Y") for day, gap in zip(days, gaps, strict=True)],
            "sex": ["?" if sex is None else sex for sex in sexes],
            "cost": ["?" if gap else text for text, gap in zip(swapped, gaps, strict=True)],
        }
    )
    plain = pa.table(
        {
            "born": pa.array([None if gap else day for day, gap in zip(days, gaps, strict=True)]),
            "sex": pa.array(sexes),
            "cost": pa.array([None if gap else cost for cost, gap in zip(costs, gaps, strict=True)]),
        }
    )
    return german, plain


@pytest.mark.parametrize("scope", ["global", "local"])
def test_the_original_is_read_as_it_is_written(scope: str, tmp_path: Path) -> None:
    """A published table against its original, dates and numbers in the German way: the same loss as against the plain one."""
    german, plain = two_writings()
    schemas = [cl.Schema.from_text(text) for text in (GERMAN, PLAIN)]
    settings: dict[str, Any] = {"k": 4, "scope": scope, "shuffle": False, "schema": schemas[0]}
    if scope == "global":
        settings["suppression"] = 0.1
    cl.TopDownSpecialization(**settings).publish(german, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        published = list(csv.DictReader(file))
    assert any("(other)" in row["sex"] for row in published)
    assert any(row["cost"].startswith("[") for row in published)
    reports = [
        assess(tmp_path / "out.csv", against=table, population=table, schema=schema)
        for table, schema in zip((german, plain), schemas, strict=True)
    ]
    assert reports[0] == reports[1]
    assert reports[0].risk.k >= 4
    assert reports[0].risk.outside == 0
    assert reports[0].loss is not None
    assert 0 < reports[0].loss.lm < 1


def test_a_raw_table_loses_nothing_against_itself_written_otherwise() -> None:
    """Dates and numbers compare by value, whatever they are written like."""
    german, plain = two_writings()
    report = assess(plain, against=german, schema=cl.Schema.from_text(GERMAN))
    assert report.loss is not None
    assert report.loss.lm == 0
    assert report.linkage is not None


def test_classes_are_those_of_values() -> None:
    """Spellings of one number, date or missing value are one class; counted together, apart, and in another writing."""
    german, plain = two_writings()
    schemas = [cl.Schema.from_text(text) for text in (GERMAN, PLAIN)]
    expected = assess(plain, schema=schemas[1])
    assert assess(german, schema=schemas[0]).risk == expected.risk
    assert assess(german, schema=schemas[0], search=2).risk == expected.risk
    rows = pa.table({"cost": ["1.242,50", "1242,5", "?", ""], "born": ["1.2.1975", "01.02.1975", "", "?"], "sex": ["m"] * 4})
    assert assess(rows, schema=schemas[0]).risk.k == 2


def test_unseen_categories_are_told_apart_in_the_table_itself() -> None:
    """A table that shows x and y does not hide one behind the other, though "(other)" would."""
    table = pa.table({"sex": ["m", "m", "x", "y"]})
    schema = cl.Schema.from_text('[columns.sex]\nkind = "category"\ndomain = ["m"]\nother = true\nrole = "quasi"\n')
    assert assess(table, schema=schema).risk.k == 1


def test_leaves_of_a_hierarchy_are_written_as_the_cells_are() -> None:
    """A hierarchy over German numbers covers plain ones, and labels above them."""
    tree = Hierarchy.from_paths([("1.000,5", "low", "*"), ("2.000", "low", "*"), ("9.000", "high", "*")])
    schema = cl.Schema.from_text('[columns.x]\nkind = "number"\ndecimal = ","\nthousands = "."\nrole = "quasi"\n')
    original = pa.table({"x": [1000.5, 2000.0, 9000.0]})
    report = assess(pa.table({"x": ["low", "low", "9.000"]}), against=original, schema=schema, hierarchies={"x": tree})
    assert report.loss is not None
    assert report.loss.lm == pytest.approx((1 / 2 + 1 / 2) / 3)


def test_a_value_that_the_hierarchy_lacks_is_told_of_the_original() -> None:
    """With the side that has it, and without the value; only the original's cells are others, not any label."""
    tree = Hierarchy.from_paths([("Lima", "*"), ("Quito", "*")])
    table, original = pa.table({"x": ["Lima", "*"]}), pa.table({"x": ["Lima", "Bogota"]})
    with pytest.raises(SchemaError, match="1 of 2 different values of the original") as error:
        assess(table, ["x"], against=original, hierarchies={"x": tree})
    assert "Bogota" not in str(error.value)
    schema = cl.Schema.from_text(
        '[columns.x]\nkind = "category"\ndomain = ["Lima", "Quito"]\nother = true\nrole = "quasi"\n'
    )
    report = assess(pa.table({"x": ["Lima", "(other)"]}), against=original, schema=schema)
    assert report.loss is not None
    assert report.loss.lm == 0
    with pytest.raises(SchemaError, match="neither values"):
        assess(pa.table({"x": ["Lima", "South"]}), against=original, schema=schema)


def test_every_frame_gives_the_same(tmp_path: Path) -> None:
    """Python objects, polars, views, dictionaries (of nulls and twins too), runs and Parquet: one table, one risk."""
    words = ["x", "y", "x", None, "", "x", "y", None]
    numbers = ["1", "1.0", "2", "1", "", "2", None, "3"]
    plain = pa.table({"a": words, "s": numbers})
    expected = assess(plain, ["a"], sensitive="s")
    assert (expected.risk.k, expected.sensitive[0].values) == (2, 3)
    listed = pa.array(["x", "y", None, "", "x"])
    twins = pa.DictionaryArray.from_arrays(pa.array([0, 1, 4, 2, 3, 0, 1, None]), listed)
    coded = pa.table({"a": twins, "s": pa.array(numbers).dictionary_encode()})
    pq.write_table(
        pa.table({name: plain[name].dictionary_encode() for name in plain.column_names}), tmp_path / "coded.parquet"
    )
    objects: list[Any] = ["x", "y", "x", None, "", "x", "y", float("nan")]
    sources = [
        pd.DataFrame(
            {"a": pd.Series(objects, dtype=object), "s": pd.Series([1, 1.0, 2, "1", "", "2.0", None, 3], dtype=object)}
        ),
        pd.DataFrame({"a": pd.Categorical(words), "s": numbers}),
        pl.DataFrame({"a": words, "s": numbers}),
        pl.DataFrame({"a": words, "s": numbers}).with_columns(pl.col("a").cast(pl.Categorical)),
        pa.table({name: plain[name].cast(pa.string_view()) for name in plain.column_names}),
        pa.table({"a": words, "s": pa.RunEndEncodedArray.from_arrays(np.arange(1, 9, dtype=np.int32), pa.array(numbers))}),
        coded,
        tmp_path / "coded.parquet",
    ]
    for source in sources:
        found = assess(source, ["a"], sensitive="s")
        assert (found.risk, found.sensitive) == (expected.risk, expected.sensitive)


def test_nested_columns_are_left_out_of_a_search_by_name() -> None:
    """Without named quasi-identifiers a column of lists stops nothing, and a note says that it was not looked at."""
    table = pa.table({"a": ["x", "y", "x"], "parts": [[1], [2], []], "record": [{"u": 1}] * 3})
    report: RiskReport = assess(table)
    assert report.quasi == ("a",)
    assert any("parts, record" in note for note in report.notes)
    with pytest.raises(SchemaError, match='"parts" holds lists'):
        assess(table, ["a", "parts"])


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=1, max_size=20))
def test_a_number_has_one_text_whatever_its_writing(values: list[float]) -> None:
    """Typed, plainly, or with marks of thousands."""
    german = Number(decimal=",", thousands=".")
    swapped = [f"{value:,.3f}".replace(",", "_").replace(".", ",").replace("_", ".") for value in values]
    expected = plain_words(pa.array(values), Number()).to_pylist()
    assert plain_words(pa.array(swapped), german).to_pylist() == expected
    assert plain_words(pa.array(values), german).to_pylist() == expected
    assert plain_words(pa.array([repr(value) for value in values]), Number()).to_pylist() == expected


def test_what_is_no_number_or_date_of_its_kind_stays_as_it_is() -> None:
    """Labels, large numbers that a float would join, and days beyond the calendar are not rewritten."""
    words = ["[20, 30)", "*", "9007199254740993", "9007199254740992", "many"]
    assert plain_words(pa.array(words), Number()).to_pylist() == words
    large = pa.array([2**53, 2**53 + 1])
    assert plain_words(large, Number()).to_pylist() == ["9007199254740992", "9007199254740993"]
    days = plain_words(pa.array(["1980-03-11T10:00:00", "1980", "[1980-01-01, 1990-01-01)", "1980-02-31"]), Date())
    assert days.to_pylist() == ["1980-03-11", "1980", "[1980-01-01, 1990-01-01)", "1980-02-31"]
