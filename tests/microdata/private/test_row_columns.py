"""Which columns are made up, and how values are written: inside bounds and domains, in the column's own kind."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from cloister.errors import SchemaError, UsageError
from cloister.microdata.private.row_columns import choose_row_columns
from cloister.schema import Category, Column, Date, Number, Role, Schema, Text

SCHEMA = Schema(
    (
        Column("name", Text(), role=Role.IDENTIFIER),
        Column("age", Number(bounds=(0, 99), step=1)),
        Column("pay", Number(bounds=(0, 1))),
        Column("born", Date(bounds=(date(1950, 1, 1), date(2000, 12, 31)))),
        Column("sex", Category(domain=("f", "m"), other=True)),
        Column("land", Category(domain=("here",))),
        Column("note", Text()),
    )
)
NAMES = ("note", "sex", "age", "pay", "born", "land", "name", "more")


def test_what_the_schema_describes_is_made_up_in_the_order_of_the_data() -> None:
    """Identifiers, free text and columns that nobody described stay behind."""
    columns = choose_row_columns(NAMES, None, {}, {}, SCHEMA)
    assert columns.names == ("sex", "age", "pay", "born", "land")
    assert columns.left_behind == ("note", "name", "more")
    assert columns.numbers == ("age", "pay", "born")
    assert columns.categories == ("sex",)  # land has one value


def test_values_are_written_in_their_kind_and_inside_their_bounds() -> None:
    """Whole numbers as integers, days as dates, categories as their texts, whatever was drawn."""
    columns = choose_row_columns(NAMES, None, {}, {}, SCHEMA)
    made = {
        "age": np.array([-5.0, 41.6, 300.0]),
        "pay": np.array([-1.0, 0.12345678912345, 2.0]),
        "born": np.array([-1e9, 0.4, 1e9]),
        "sex": np.array([0, 1, 2]),
    }
    table = columns.table(made)
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.string()]
    assert table["age"].to_pylist() == [0, 42, 99]
    assert table["pay"].to_pylist() == [0.0, 0.123456789, 1.0]
    assert table["born"].to_pylist() == [date(1950, 1, 1), date(1970, 1, 1), date(2000, 12, 31)]
    assert table["sex"].to_pylist() == ["f", "m", "(other)"]
    assert table["land"].to_pylist() == ["here"] * 3


def test_days_are_read_on_the_grid_of_their_bounds() -> None:
    """A date column is a number of days: the first day is the low end of the grid, the last the high end."""
    columns = choose_row_columns(NAMES, None, {}, {}, SCHEMA)
    batch = pa.record_batch(
        {
            "age": [1, 2], "pay": [0.5, 0.5], "born": [date(1950, 1, 1), date(2000, 12, 31)], "sex": ["f", "m"],
            "land": ["here", "here"],
        }
    )  # fmt: skip
    domain = columns.domain
    encoded = domain.encoding.encode(batch)
    place = [grid.name for grid in domain.encoding.numbers].index("born")
    assert encoded.numbers[:, place].tolist() == [-domain.halves[place], domain.halves[place]]


@pytest.mark.parametrize("name", ["name", "note"])
def test_a_column_that_must_not_be_made_up_is_refused(name: str) -> None:
    """An identifier or free text that somebody names."""
    with pytest.raises(SchemaError, match=r"says who a row is about|is text"):
        choose_row_columns(NAMES, [name], {}, {}, SCHEMA)


def test_without_public_facts_nothing_is_made_up() -> None:
    """One sentence that says what to give."""
    with pytest.raises(UsageError, match="nothing is publicly known"):
        choose_row_columns(["a", "b"], None, {}, {}, None)
    with pytest.raises(SchemaError, match="nothing is known about column"):
        choose_row_columns(["a", "b"], ["a"], {}, {}, None)


def test_a_number_without_bounds_is_refused() -> None:
    """Its values could lie anywhere."""
    schema = Schema((Column("a", Number()),))
    with pytest.raises(SchemaError, match="no bounds"):
        choose_row_columns(["a"], None, {}, {}, schema)


def test_few_digits_do_not_leave_the_bounds() -> None:
    """Numbers without a step are written to nine digits, inside bounds that are narrower than that."""
    bounds = (1_000_000_000.4, 1_000_000_000.9)
    columns = choose_row_columns(["a"], None, {"a": bounds}, {}, None)
    written = columns.table({"a": np.linspace(*bounds, 7)})["a"].to_pylist()
    assert min(written) >= bounds[0]
    assert max(written) <= bounds[1]
