"""Which columns are worked on: those the user names, or all that the schema and the types allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import parquet

from cloister import Schema
from cloister.clustering.domain import from_bounds
from cloister.clustering.inputs import Input
from cloister.clustering.number_columns import choose_columns
from cloister.errors import CloisterError, SchemaError, UsageError
from cloister.sources.opening import open_source

TABLE = pa.table({"id": [1], "x": [0.5], "y": [0.5], "name": ["a"]})
UNIT = 'unit = "id"\nmax_rows = 3\n[columns.id]\nkind = "text"\nrole = "identifier"\n'
X = '[columns.x]\nkind = "number"\nbounds = [0, 1]\n'
NAME = '[columns.name]\nkind = "category"\ndomain = ["a", "b"]\n'
SSN = '[columns.y]\nkind = "number"\nbounds = [0, 1]\nrole = "identifier"\n'
BOUNDS = (0, 1)


def choose(schema: str, columns: list[str] | None, bounds: object, data: object = TABLE) -> list[str]:
    source = open_source(data)
    return choose_columns(Input(source, source.names), Schema.from_text(schema) if schema else None, columns, bounds).names


@pytest.mark.parametrize(
    ("schema", "columns", "bounds", "expected"),
    [
        (UNIT, ["x", "y"], None, ["x", "y"]),
        (UNIT + NAME, None, None, ["x", "y"]),
        (UNIT + X, None, None, ["x"]),
        (UNIT + X + NAME, None, BOUNDS, ["x", "y"]),
        (UNIT + X + NAME + SSN, None, BOUNDS, ["x"]),
        ("", ["x"], BOUNDS, ["x"]),
    ],
)
def test_columns_are_what_user_and_schema_say(
    schema: str, columns: list[str] | None, bounds: object, expected: list[str]
) -> None:
    """The unit, identifiers and what the schema calls something else than a number are left out."""
    assert choose(schema, columns, bounds) == expected


@pytest.mark.parametrize(
    ("schema", "columns", "told"),
    [
        ("", None, '"name" holds text'),
        (UNIT, None, '"name" holds text'),
        (UNIT + X, ["x", "z"], '"z"'),
        (UNIT + X, ["id"], "says who a row is about"),
        (X + SSN, ["y"], "says who a row is about"),
    ],
)
def test_columns_that_cannot_be_numbers_are_refused(schema: str, columns: list[str] | None, told: str) -> None:
    """Text that nobody described, columns that are not there, and identifiers end in one clear error."""
    with pytest.raises(CloisterError, match=told):
        choose(schema, columns, None)


TYPED: dict[str, Callable[[Path], object]] = {
    "Arrow": lambda folder: TABLE,
    "dictionary": lambda folder: TABLE.set_column(3, "name", TABLE["name"].dictionary_encode()),
    "bytes": lambda folder: TABLE.set_column(3, "name", TABLE["name"].cast(pa.binary())),
    "Parquet": lambda folder: parquet.write_table(TABLE, folder / "t.parquet") or folder / "t.parquet",
    "pandas string": lambda folder: TABLE.to_pandas().astype({"name": "string"}),
    "Polars": lambda folder: polars.from_arrow(TABLE),
    "dict of arrays": lambda folder: {"x": np.zeros(2), "name": np.array(["a", "b"])},
}


@pytest.mark.parametrize("form", TYPED)
def test_a_named_column_of_a_type_of_text_is_refused(form: str, tmp_path: Path) -> None:
    """Naming it clustered the default that stands for every text; by its declared type it is refused, as it is by default."""
    data = TYPED[form](tmp_path)
    with pytest.raises(UsageError, match=r'"name" holds text by its type.*Leave it out of columns'):
        choose("", ["x", "name"], BOUNDS, data)
    assert choose("", ["x"], BOUNDS, data) == ["x"]
    assert choose('[columns.name]\nkind = "number"\nbounds = [0, 1]\n', ["x", "name"], BOUNDS, data) == ["x", "name"]


UNTOLD: dict[str, object] = {
    "pandas objects": pd.DataFrame({"name": pd.Series(["a", "1"], dtype=object)}),
    "pandas category": pd.DataFrame({"name": pd.Categorical(["a", "1"])}),
    "dict of lists": {"name": ["a", "1"]},
    "dict of objects": {"name": np.array(["a", "1"], dtype=object)},
}


@pytest.mark.parametrize("form", UNTOLD)
def test_a_named_column_that_says_nothing_of_its_cells_is_read(form: str) -> None:
    """Only the rows could tell that it holds text, and they do not decide what is refused."""
    assert choose("", ["name"], BOUNDS, UNTOLD[form]) == ["name"]


@pytest.mark.parametrize("columns", [["id"], ["name"], ["y"]])
def test_bounds_do_not_make_a_number_of_what_the_schema_calls_something_else(columns: list[str]) -> None:
    """With bounds of the user's own the unit, identifiers and categories are refused too."""
    with pytest.raises(SchemaError, match=r"says who a row is about|is a category in the schema, and distances"):
        choose(UNIT + X + NAME + SSN, columns, BOUNDS)


def test_bounds_by_column_need_to_know_the_columns() -> None:
    """Beside a schema, which may leave columns out, bounds one a column are refused without their names."""
    both = ([0, 0], [1, 2])
    assert choose(UNIT + X + NAME, ["x", "y"], both) == ["x", "y"]
    with pytest.raises(UsageError, match="which columns they are for"):
        choose(UNIT + X + NAME, None, both)


def test_a_default_of_the_schema_holds_with_any_bounds() -> None:
    """What cannot be read counts as the schema's default, whoever gives the bounds."""
    source = open_source(TABLE)
    schema = Schema.from_text(X + "default = 0.25\n")
    found = choose_columns(Input(source, source.names), schema, ["x"], (0, 2))
    grid = from_bounds(found.names, found.bounds, "bounds", found.defaults).encoding.numbers[0]
    assert grid.center + grid.default * grid.step == pytest.approx(0.25, abs=grid.step)


def test_a_category_is_refused_with_what_can_be_done() -> None:
    """The message said that it might be anything, and named no column that would do."""
    with pytest.raises(SchemaError, match=r'"name" is a category in the schema.* number columns are: x.*cloister tabulate'):
        choose(X + '[columns.name]\nkind = "category"\n', ["name"], None)
