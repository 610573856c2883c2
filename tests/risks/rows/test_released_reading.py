"""Cells of the original are read as the release reads them: what a blank counts as is no error of made-up rows."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from cloister.risks.rows.compare_rows import ComparedTables, compare_rows
from cloister.risks.rows.row_tables import RowTable, lay_out
from cloister.risks.rows.rows_report import Origin
from cloister.risks.rows.rows_request import RowsComparison
from cloister.schema import Category, Column, Date, Kind, Number, Schema

DAYS = (datetime.date(2020, 1, 1), datetime.date(2020, 1, 3))


def read(kind: Kind, original: list[Any], released: list[Any], origin: Origin, **more: list[Any]) -> list[RowTable]:
    """A column of two or three tables, laid out."""
    request = RowsComparison(schema=Schema((Column("x", kind),)), origin=origin)
    others = [pa.table({"x": pa.array(each)}) for each in more.values()]
    opened = ComparedTables.open(pa.table({"x": released}), pa.table({"x": pa.array(original)}), *others, request=request)
    return lay_out(opened.count(), opened.columns, opened.kinds)


@pytest.mark.parametrize(
    ("kind", "original", "released"),
    [
        (Category(("a", "b"), other=True), ["a", None, "z", "?"], ["a", "(other)", "(other)", "(other)"]),
        (Category(("a", "b")), ["b", None, "z", ""], ["b", "a", "a", "a"]),
        (Category(("a", "b"), default="b"), ["a", None, "z", "a"], ["a", "b", "b", "a"]),
        (Category(("a", "b", "c"), missing=("?",)), ["b", "?", "b", "b"], ["b", "a", "b", "b"]),
        (Category(("1", "2")), ["1.0", "2", "3", "x"], ["1", "2", "1", "1"]),
        (Number(bounds=(0, 10)), ["-5", "70", "none", None], [0, 10, 5, 5]),
        (Number(bounds=(0, 10), default=2, missing=("9",)), ["9", "8", "8", "8"], [2, 8, 8, 8]),
        (Date(bounds=DAYS), ["2019-05-05", "2020-01-03", "", "x"], ["2020-01-01", "2020-01-03", "2020-01-02", "2020-01-02"]),
    ],
)
def test_a_private_release_of_every_row_has_no_error(kind: Kind, original: list[Any], released: list[Any]) -> None:
    """Made-up rows that hold what each cell counts as are the same rows, and so is a control of the same cells."""
    for origin in ("made up", "not known"):
        before, after, control = read(kind, original, released, origin, control=original)  # type: ignore[arg-type]
        assert before.has_same_rows(after)
        assert control.has_same_rows(after)
    before, after = read(kind, original, released, "averaged")
    assert not before.has_same_rows(after)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (Category(("a", "b")), ["a", None, "z", "b"]),
        (Category(("a", "b"), other=True), ["a", None, "z", "b"]),
        (Number(bounds=(0, 10)), ["-5", "70", "none", None]),
    ],
)
def test_a_table_is_itself_unless_it_is_made_up(kind: Kind, cells: list[Any]) -> None:
    """Averaged rows, or rows of which nobody knows what they are, keep blanks and values beyond the schema, as the original."""
    for origin in ("averaged", "not known"):
        before, after = read(kind, cells, cells, origin)  # type: ignore[arg-type]
        assert before.has_same_rows(after)


def test_other_is_named_so_in_pictures() -> None:
    """The bar of "(other)" bears its name, and not that of a value which it stands for."""
    request = RowsComparison(schema=Schema((Column("x", Category(("a", "b"), other=True)),)), origin="made up")
    original, released = pa.table({"x": ["a", "zz", None, "a"]}), pa.table({"x": ["a", "(other)", "(other)", "b"]})
    report = compare_rows(ComparedTables.open(released, original, request=request), request)
    assert report.shares.worst_column.variation == pytest.approx(0.25)
    assert report.page is not None
    assert set(report.page.panels[0].words) == {"a", "b", "(other)"}  # type: ignore[union-attr]
