"""A private table as a frame, in a notebook, and laid out in two ways."""

from __future__ import annotations

import re
from itertools import permutations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.schema import Category, Column, Number, Schema
from cloister.tabulation.private_table import PrivateTable

SCHEMA = Schema(
    (
        Column("sex", Category(("f", "m"), other=True)),
        Column("town", Category(("Rome", "<Paris>"))),
        Column("age", Number((0, 100), step=1)),
    )
)
ROWS = pa.table({"sex": ["f"] * 60 + ["m"] * 40, "town": ["Rome"] * 70 + ["<Paris>"] * 30, "age": [30] * 100})


def made(by: tuple[str, ...] = ("sex", "town"), **terms: object) -> PrivateTable:
    return cl.tabulate(ROWS, list(by), 1e6, schema=SCHEMA, **terms)


def test_frames_of_every_kind_hold_the_rows() -> None:
    """pandas, Polars and Arrow; Polars and pyarrow take the table itself."""
    table = made(means=["age"])
    rows = list(table.rows())
    assert table.to_arrow().to_pylist() == table.frame().to_pylist() == rows
    assert table.to_polars().to_dicts() == pl.DataFrame(table).to_dicts() == pa.table(table).to_pylist() == rows
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["count"].tolist() == [row["count"] for row in rows]
    assert frame["count"].dtype == "int64"


def test_a_pivot_has_a_column_for_each_value_of_the_last() -> None:
    """Rows of the other columns, and totals on both sides."""
    pivot = made().pivot()
    assert pivot.column_names == ["sex", "Rome", "<Paris>", "*"]
    assert pivot.to_pydict() == {
        "sex": ["f", "m", "(other)", "*"],
        "Rome": [60, 10, 0, 70],
        "<Paris>": [0, 30, 0, 30],
        "*": [60, 40, 0, 100],
    }
    assert made(("sex",)).pivot("standard_error").column_names == ["f", "m", "(other)", "*"]
    with pytest.raises(UsageError, match='no number "counts"'):
        made().pivot("counts")


def test_a_notebook_shows_the_table_escaped() -> None:
    """The first rows, the total and the guarantee as HTML; a label is a text."""
    html = made()._repr_html_()
    assert "&lt;Paris&gt;" in html
    assert "<Paris>" not in html
    assert "epsilon 1000000" in html
    assert re.search(r"<caption>Private table by sex, town", html)


@pytest.mark.parametrize("by", list(permutations(("sex", "town", "age"))))
def test_the_other_cell_is_there_in_every_order_though_nobody_is_in_it(by: tuple[str, ...]) -> None:
    """Where the schema says other = true, with a count of its own; unseen values are counted in it."""
    rows = [row for row in made(by, bins={"age": 2}).rows() if row["sex"] == "(other)"]
    assert len(rows) == (2 + 1) * (2 + 1)
    assert all(row["count"] == 0 for row in rows)
    unseen = cl.tabulate({"sex": ["x", None, "f"], "town": ["Rome"] * 3, "age": [1] * 3}, list(by), 1e6, schema=SCHEMA)
    assert unseen.margin("sex").tolist() == [1, 0, 2]
