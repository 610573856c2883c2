"""Pictures of a private table hold the numbers of its rows."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.report.picture import HeatMap, MeasuredBars, MeasuredSteps
from cloister.schema import Category, Column, Number, Schema
from cloister.tabulation.private_table import PrivateTable

MANY = tuple(f"v{i}" for i in range(250))
SCHEMA = Schema(
    [
        Column("sex", Category(("f", "m"))),
        Column("area", Category(MANY)),
        Column("pay", Number((0, 100))),
        Column("age", Number((0, 99))),
    ]
)
chance = np.random.default_rng(2)
TABLE = {
    "sex": chance.choice(["f", "m"], 3000).tolist(),
    "area": chance.choice(MANY, 3000).tolist(),
    "pay": (chance.random(3000) * 100).tolist(),
    "age": chance.integers(0, 99, 3000).tolist(),
}


def tabulated(*by: str, **options: object) -> PrivateTable:
    return cl.tabulate(TABLE, by=list(by), budget=1, schema=SCHEMA, **options)


def test_bars_are_the_margins_with_their_intervals() -> None:
    """Count, low and high of each value are those of the table's rows; sums have theirs."""
    table = tabulated("sex", "age", bins={"age": 4}, measures=["pay"])
    _, counts, sums = table.pictures()
    for panel, total, column in zip(counts.panels, sums.panels, ("sex", "age"), strict=True):
        assert isinstance(panel, MeasuredBars)
        other = "age" if column == "sex" else "sex"
        rows = [row for row in table.rows() if row[other] == "*" and row[column] != "*"]
        assert panel.words == tuple(row[column] for row in rows)
        for name, numbers in (("count", panel.values), ("low", panel.low), ("high", panel.high)):
            assert numbers == tuple(row[name] for row in rows)
        assert total.values == tuple(row["sum of pay"] for row in rows)
        reach = [table.width * row["standard_error of pay"] for row in rows]
        assert np.allclose(np.array(total.high) - np.array(total.values), reach)


def test_every_quantile_has_its_own_interval() -> None:
    """Each of a number's quantiles is drawn, with the ends that the table's rows have."""
    table = tabulated("sex", quantiles={"pay": [0.25, 0.5]})
    _, *quantiles = table.pictures()
    rows = [row for row in table.rows() if row["sex"] != "*"]
    heads = [head for head in rows[0] if f"low of {head}" in rows[0]]
    assert len(heads) == len(quantiles) == 2
    for head, picture in zip(heads, quantiles, strict=True):
        (panel,) = picture.panels
        for name, numbers in ((head, panel.values), (f"low of {head}", panel.low), (f"high of {head}", panel.high)):
            assert numbers == tuple(row[name] for row in rows)


def test_two_columns_are_a_heat_map() -> None:
    """Every cell is that of the table, the first value on top; neighbours are added up where there are too many."""
    table = tabulated("sex", "area")
    (panel,) = table.pictures()[0].panels
    assert isinstance(panel, HeatMap)
    assert (panel.x.words, panel.y.words[-1]) == (("f", "m"), "v0")
    values = np.array(panel.values)[::-1]
    assert values.shape == (125, 2)
    assert np.array_equal(values, table.counts.T.reshape(125, 2, 2).sum(axis=1))


def test_many_values_are_a_stair() -> None:
    """250 bars could not be read: all values are there, few of them by name."""
    table = tabulated("area")
    ((panel,),) = [picture.panels for picture in table.pictures()]
    assert isinstance(panel, MeasuredSteps)
    assert panel.values == tuple(table.counts.tolist())
    assert len(panel.ticks) <= 6


def test_columns_are_chosen_by_name() -> None:
    """Two of three columns make a heat map; one that is not there is refused."""
    table = tabulated("sex", "age", "area", bins={"age": 2})
    assert not any(isinstance(panel, HeatMap) for picture in table.pictures() for panel in picture.panels)
    (panel,) = table.pictures(["age", "sex"])[0].panels
    assert np.array_equal(np.array(panel.values)[::-1], table.margin("age", "sex"))
    with pytest.raises(UsageError, match="no column"):
        table.pictures(["pay"])
