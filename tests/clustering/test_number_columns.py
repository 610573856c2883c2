"""Which columns are worked on: those the user names, or all that the schema and the types allow."""

from __future__ import annotations

import pyarrow as pa
import pytest

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


def choose(schema: str, columns: list[str] | None, bounds: object) -> list[str]:
    source = open_source(TABLE)
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
