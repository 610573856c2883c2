"""Means in cells and margins: what they are, how far they may be off, and where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError

FACTS: dict[str, Any] = {"domains": {"c": ["a", "b", "empty"]}, "bounds": {"x": (0, 10)}}
VALUES = {"a": 8.0, "b": 3.0}
ROWS = pa.table({"c": ["a"] * 400 + ["b"] * 100, "x": [8.0] * 400 + [3.0] * 100})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_means_become_exact_as_epsilon_grows(neighbours: str) -> None:
    """In cells and in the total; an empty cell has none."""
    rows = list(cl.tabulate(ROWS, ["c"], 1e6, means=["x"], neighbours=neighbours, **FACTS).rows())
    assert [row["mean of x"] for row in rows] == [pytest.approx(8), pytest.approx(3), None, pytest.approx(7)]
    assert rows[2]["standard_error of mean of x"] is None


def test_a_mean_of_a_summed_number_costs_nothing_more() -> None:
    """The noisy sum is bought once: the counts are as well known with the mean as without it."""
    with_mean = cl.tabulate(ROWS, ["c"], 1, measures=["x"], means=["x"], **FACTS)
    assert with_mean.errors == cl.tabulate(ROWS, ["c"], 1, measures=["x"], **FACTS).errors
    assert with_mean.heads[-4:] == ("sum of x", "standard_error of x", "mean of x", "standard_error of mean of x")
    assert "sum of x" not in cl.tabulate(ROWS, ["c"], 1, means=["x"], **FACTS).heads


def hits(widening: float, neighbours: str = "add-remove") -> float:
    """How often a mean lies within 1.96 of its standard errors of the true one, over 300 releases of two cells and a total."""
    found = []
    for _ in range(300):
        rows = list(cl.tabulate(ROWS, ["c"], 1, means=["x"], neighbours=neighbours, **FACTS).rows())
        for row in (rows[0], rows[1], rows[3]):
            reach = 1.96 * widening * row["standard_error of mean of x"]
            found.append(abs(row["mean of x"] - VALUES.get(row["c"], 7.0)) <= reach)
    return float(np.mean(found))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_standard_errors_of_means_hold(neighbours: str) -> None:
    """About 94 of 100 lie within 1.96 of them (Laplace noise); below 88 has a chance of less than a millionth."""
    assert hits(1.0, neighbours) > 0.88


def test_standard_errors_that_are_too_small_are_caught() -> None:
    """Planted bug: half the standard error fails the same check."""
    assert hits(0.5) < 0.88


def test_means_lie_within_the_bounds_and_small_cells_have_none() -> None:
    """At an epsilon of 0.05 noise is far larger than the cells."""
    for _ in range(20):
        for row in cl.tabulate(ROWS, ["c"], 0.05, means=["x"], **FACTS).rows():
            mean, error = row["mean of x"], row["standard_error of mean of x"]
            assert (mean is None) == (error is None) == (row["count"] < max(3 * row["standard_error"], 1) or mean is None)
            assert mean is None or 0 <= mean <= 10


def test_a_table_without_any_mean_is_written(tmp_path: Any) -> None:
    """A column of nothing has the type of numbers, and the file can be checked."""
    made = cl.tabulate(ROWS.slice(0, 0), ["c"], 0.01, means=["x"], **FACTS)
    assert made.to_arrow().schema.field("mean of x").type == pa.float64()
    made.save(tmp_path / "t.parquet")


def test_means_of_one_name_are_refused_as_a_text() -> None:
    """A string would become its letters."""
    with pytest.raises(UsageError, match=r"Give means=\[\.\.\.\]"):
        cl.tabulate(ROWS, ["c"], 1, means="x", **FACTS)
