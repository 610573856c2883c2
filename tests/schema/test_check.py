"""The holder's check: it counts what a release would replace, and shows no value."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from cloister.schema import Category, Column, Date, Number, Schema, Text
from cloister.schema.check import Trouble, check, count_cells
from cloister.schema.kinds import Kind
from cloister.sources.opening import open_source
from tests.real_data import real

AGE = Number((0, 100))
SEX = Category(("f", "m"))
DAY = Date((datetime.date(2020, 1, 1), datetime.date(2020, 12, 31)))


def troubles(kind: Kind, cells: pa.Array) -> dict[str, int | None]:
    """What is wrong with one column, and how often."""
    problems = check(Schema((Column("c", kind),)), open_source(pa.table({"c": cells})))
    return {problem.trouble: problem.count for problem in problems}


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        (AGE, pa.array(["1", "2.5", " 100 "]), {}),
        (AGE, pa.array(["1", "", None, "x", "x", "101", "-1", "inf"]), {"empty": 2, "unreadable": 3, "outside": 2}),
        (AGE, pa.array([1.0, float("nan"), float("inf"), None]), {"empty": 2, "outside": 1}),
        (SEX, pa.array(["f", " m", "x", "", None]), {"empty": 2, "outside": 1}),
        (Category(("f", "")), pa.array(["f", "", None]), {}),
        (DAY, pa.array(["2020-05-05", "2021-01-01", "soon", ""]), {"empty": 1, "unreadable": 1, "outside": 1}),
        (DAY, pa.array([datetime.date(2020, 5, 5), datetime.date(2019, 1, 1)]), {"outside": 1}),
        (Text(), pa.array(["a", None]), {"empty": 1}),
        (AGE, pa.array(["20,000", "36.993,09", "5"]), {"unreadable": 2}),  # was a number within its bounds, or nothing
        (Number((0, 50_000), thousands=","), pa.array(["20,000", "36.993,09"]), {"unreadable": 1}),
        (Number((0, 50_000), decimal=",", thousands="."), pa.array(["36.993,09"]), {}),
        (Number((0, 100), missing=("?", "-9")), pa.array(["?", "-9.0", "x"]), {"empty": 2, "unreadable": 1}),
        (Number((0, 100), missing=("-9",)), pa.array([-9, 101, 5]), {"empty": 1, "outside": 1}),
        (Category(("f", "m"), other=True, missing=("?",)), pa.array(["f", "?", "x"]), {"empty": 1, "outside": 1}),
        (DAY, pa.array(["11.03.2020"]), {"unreadable": 1}),
        (Date(DAY.bounds, format="%d.%m.%Y"), pa.array(["11.03.2020", "2020-03-11"]), {"unreadable": 1}),
        (Number(), pa.array([1.0]), {"blank": None}),
        (Category(), pa.array(["a"]), {"blank": None}),
        (Category(hierarchy="no/where.csv"), pa.array(["a"]), {"no file": None}),
    ],
)
def test_troubles_are_counted(kind: Kind, cells: pa.Array, expected: dict[str, int | None]) -> None:
    """Empty, unreadable and outside cells are counted, each cell once."""
    assert troubles(kind, cells) == expected


def test_an_absent_column_is_a_problem() -> None:
    """A column that the data does not have is told with the nearest name."""
    (problem,) = check(Schema((Column("incom", Text()),)), open_source(pa.table({"income": ["1"]})))
    assert problem.trouble is Trouble.MISSING
    assert '"income"' in str(problem)


def test_no_value_is_shown() -> None:
    """Messages tell counts, never what the cells hold."""
    schema = Schema((Column("age", AGE), Column("sex", SEX)))
    table = pa.table({"age": ["secret", "9999"], "sex": ["secret", "9999"]})
    for problem in check(schema, open_source(table)):
        assert "secret" not in str(problem)
        assert "9999" not in str(problem)


def test_counts_add_over_batches(tmp_path: Path) -> None:
    """Counts cover the whole file, and say of how many rows."""
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "5\nx\n" * 100_000)
    (problem,) = check(Schema((Column("age", AGE),)), open_source(path))
    assert (problem.count, problem.rows) == (100_000, 200_000)


def test_adult_fits_its_public_facts() -> None:
    """Ages of the Adult table lie between 17 and 90; narrower bounds are reported."""
    source = open_source(real("adult-30162.csv"))
    assert check(Schema((Column("age", Number((17, 90))),)), source) == []
    assert check(Schema((Column("age", Number((18, 90))),)), source)[0].trouble is Trouble.OUTSIDE


def test_a_check_names_the_default_and_counts_what_is_made_up() -> None:
    """The holder is told what missing, unreadable and unseen cells become, and how many there are in each column."""
    kinds = {"age": AGE, "sex": SEX, "job": Category(("a", "b"), other=True, missing=("?",))}
    schema = Schema(tuple(Column(name, kind) for name, kind in kinds.items()))
    table = open_source(
        pa.table({"age": ["1", "", "20,000", "200"], "sex": ["f", "x", "", "m"], "job": ["a", "?", "c", "b"]})
    )
    counts = {each.column.name: (each.made_up, each.clipped) for each in count_cells(schema, table)}
    assert counts == {"age": (2, 1), "sex": (2, 0), "job": (2, 0)}
    told = [str(problem) for problem in check(schema, table)]
    assert "age: 1 of 4 cells are empty. In a release they count as 50, the default." in told
    assert 'sex: 1 of 4 cells are not in the domain. In a release they count as "f", the default.' in told
    assert 'job: 1 of 4 cells are empty or marked as missing. In a release they count as "(other)", the default.' in told


def test_no_bounds_are_asked_for_of_what_says_who_a_row_is_about() -> None:
    """No release reads an identifier or a unit as a quantity, so that the schema lacks nothing."""
    schema = Schema.from_text(
        'unit = "mrn"\nmax_rows = 5\n[columns.mrn]\nkind = "number"\n[columns.id]\nkind = "number"\nrole = "identifier"\n'
        '[columns.letter]\nkind = "category"\nrole = "identifier"\n[columns.day]\nkind = "date"\nrole = "identifier"\n'
        '[columns.pay]\nkind = "number"\n'
    )
    rows = open_source(pa.table({"mrn": [1], "id": [2], "letter": ["a"], "day": ["2020-01-01"], "pay": [3.0]}))
    assert [problem.column for problem in check(schema, rows)] == ["pay"]
