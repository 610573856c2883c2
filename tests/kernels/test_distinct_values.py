"""The different values of some columns."""

from __future__ import annotations

import datetime
from functools import reduce

import pyarrow as pa
import pytest

from cloister.errors import SchemaError
from cloister.kernels.distinct_values import DistinctValues

CELLS = pa.table(
    {
        "town": ["Harbour", "", "Hill", None, "Harbour", "Mill", "Hill"],
        "age": [31, 40, 31, None, 40, 7, 7],
        "day": [datetime.date(2024, 1, day) for day in (1, 1, 2, 3, 3, 3, 1)],
    }
)


def values(kernel: DistinctValues, rows: int) -> list[tuple[object, ...]]:
    """The values of all cells, read in batches of so many rows; NaN is written as a word."""
    batches = CELLS.select(kernel.columns).to_batches(max_chunksize=rows)
    merged = reduce(kernel.merge, map(kernel.collect, batches), kernel.empty())
    return sorted(tuple(str(cell) for cell in row.values()) for row in merged.to_pylist())


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_batches_do_not_matter(rows: int) -> None:
    """Each value comes once, blanks aside, however the rows are cut."""
    kernel = DistinctValues(("age", "town", "day"), (10, 10, 10))
    found = values(kernel, rows)
    assert found == values(kernel, 7)
    assert [row[1] for row in found if row[0] == "1"] == ["Harbour", "Hill", "Mill"]
    assert [row[2] for row in found if row[0] == "0"] == ["31.0", "40.0", "7.0"]
    assert [row[4] for row in found if row[0] == "2"] == ["True"] * 3


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_of_too_many_values_the_ends_are_kept(rows: int) -> None:
    """A column with more values than its limit gives the smallest and the largest, and says so, however the rows are cut."""
    found = values(DistinctValues(("age",), (2,)), rows)
    assert [(row[1], row[2], row[5]) for row in found] == [("None", "40.0", "True"), ("None", "7.0", "True")]


@pytest.mark.parametrize("rows", [1, 5, 100])
def test_a_code_among_many_numbers_is_not_forgotten(rows: int) -> None:
    """That some texts are written with a zero in front is known of a column, whichever batch they stand in."""
    cells = pa.table({"zip": [f"{number:05}" if number == 7 else str(number) for number in range(100)]})
    kernel = DistinctValues(("zip",), (10,))
    merged = reduce(kernel.merge, map(kernel.collect, cells.to_batches(max_chunksize=rows)), kernel.empty())
    assert merged["is_code"].to_pylist() == [True, True]
    assert sorted(merged["number"].to_pylist()) == [0.0, 99.0]


def test_lists_are_refused() -> None:
    """A column needs one value a row."""
    batch = pa.record_batch({"spans": pa.array([[1, 2]])})
    with pytest.raises(SchemaError, match="lists or structs"):
        DistinctValues(("spans",), (5,)).collect(batch)
