"""Whole counts and the digits that noise leaves, such that margins still agree with cells."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import csv

import cloister as cl
from cloister.datasets import STUDENTS, students
from cloister.tabulation.private_table import PrivateTable
from cloister.tabulation.table_digits import whole_counts

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, max_side=5)


@given(SHAPES.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=st.floats(0, 1e6))))
def test_whole_counts_are_next_to_what_they_were(cells: np.ndarray) -> None:
    """Cells, the total and the margin of the first axis move by less than one; nothing becomes negative."""
    whole = whole_counts(cells)
    near = 1 + 1e-4
    assert (whole >= 0).all()
    assert (np.abs(whole - cells) < near).all()
    assert abs(whole.sum() - cells.sum()) < near
    first = tuple(range(1, cells.ndim))
    assert (np.abs(whole.sum(axis=first) - cells.sum(axis=first)) < near).all()


def made(budget: object = 1, **terms: object) -> PrivateTable:
    return cl.tabulate(
        students(2000), ["level", "age"], budget, measures=["grade", "hours_online"], schema=STUDENTS_ALONE, **terms
    )


STUDENTS_ALONE = dataclasses.replace(STUDENTS, table=None, neighbours=None)


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_margins_in_a_file_are_the_sums_of_its_cells_to_the_last_digit(ending: str, neighbours: str, tmp_path: Path) -> None:
    """Counts are whole, sums are decimals, and both add up exactly as they are written down."""
    path = tmp_path / f"t.{ending}"
    made(neighbours=neighbours).save(path)
    if ending == "csv":
        rows = csv.read_csv(path, convert_options=csv.ConvertOptions(auto_dict_encode=False)).to_pylist()
    else:
        rows = json.loads(path.read_text())["rows"]
    cells = [row for row in rows if "*" not in (row["level"], row["age"])]
    for margin in (row for row in rows if "*" in (row["level"], row["age"])):
        under = [row for row in cells if all(margin[by] in ("*", row[by]) for by in ("level", "age"))]
        assert isinstance(margin["count"], int)
        assert margin["count"] == sum(row["count"] for row in under)
        for name in ("sum of grade", "sum of hours_online"):
            assert Decimal(repr(margin[name])) == sum(Decimal(repr(row[name])) for row in under)


def test_sums_have_the_digits_that_noise_leaves() -> None:
    """A cell's sum is a multiple of the second digit of its standard error."""
    row = next(made().rows())
    error = row["standard_error of grade"]
    unit = 10.0 ** (np.floor(np.log10(error)) - 1)
    assert row["sum of grade"] / unit == pytest.approx(round(row["sum of grade"] / unit), abs=1e-6)


def test_intervals_are_whole_and_a_public_total_is_itself() -> None:
    """True counts are whole, so the ends of their intervals are."""
    rows = list(made(neighbours="replace-one").rows())
    assert all(isinstance(row[end], int) for row in rows for end in ("count", "low", "high"))
    assert (rows[-1]["low"], rows[-1]["count"], rows[-1]["high"]) == (2000, 2000, 2000)
