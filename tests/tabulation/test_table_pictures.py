"""Pictures of a private table hold the numbers of its rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.report import plot
from cloister.report.picture import HeatMap, MeasuredBars, MeasuredSteps, Picture
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
    """Every cell is that of the table, the first value on top; neighbouring bins are added up where there are too many."""
    table = tabulated("sex", "pay", bins={"pay": 250})
    (panel,) = table.pictures()[0].panels
    assert isinstance(panel, HeatMap)
    assert (panel.x.words, panel.y.words[-1]) == (("f", "m"), table.labels[1][0])
    values = np.array(panel.values)[::-1]
    assert values.shape == (125, 2)
    assert np.array_equal(values, table.counts.T.reshape(125, 2, 2).sum(axis=1))
    assert "bins of pay are added up" in table.pictures()[0].caption


def test_of_many_categories_the_largest_are_shown() -> None:
    """Each with its name, in the order of the schema, and the picture says how many there are; nothing is added up."""
    table = tabulated("sex", "area")
    heat, bars = table.pictures()
    totals = table.margin("area")
    largest = sorted(sorted(range(250), key=lambda place: -totals[place])[:50])
    names = tuple(f"v{place}" for place in largest)
    (panel,) = heat.panels
    assert panel.y.words == names[::-1]
    assert np.array_equal(np.array(panel.values)[::-1], table.counts.T[largest])
    assert "The 50 largest of 250 values of area." in heat.caption
    assert isinstance(bars.panels[1], MeasuredBars)
    assert (bars.panels[1].words, bars.panels[1].note) == (names, "(50 largest of 250)")
    assert bars.panels[1].values == tuple(totals[largest].tolist())


def test_every_shown_category_has_its_name_beside_it() -> None:
    """42 rows of a heat map are 42 labels; a stair of bins has as many labels as have room."""
    table = tabulated("sex", "area")
    figure = table.plot()
    heat, bars = figure.axes[0], figure.axes[3]
    assert [label.get_text() for label in heat.get_yticklabels()] == list(table.pictures()[0].panels[0].y.words)
    assert [label.get_text() for label in bars.get_yticklabels()] == list(table.pictures()[1].panels[1].words)
    figure = tabulated("sex", "pay", bins={"pay": 250}).plot()
    boxes = [label.get_window_extent() for label in figure.axes[3].get_xticklabels()]
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_small_cells_are_told_apart_from_empty_ones() -> None:
    """Where one cell is far larger than the others colours are logarithmic, and the scale says so; else they are not."""
    skewed = {"sex": ["f"] * 100_000 + ["m"] * 300, "area": ["v0"] * 100_000 + [MANY[i % 40] for i in range(300)]}
    schema = Schema([Column("sex", Category(("f", "m"))), Column("area", Category(MANY[:40]))])
    (panel,) = cl.tabulate(skewed, by=["sex", "area"], budget=20, schema=schema).pictures()[0].panels
    assert (panel.is_log, panel.label) == (True, "rows (noisy), colours logarithmic")
    figure = plot.figure([Picture("", (panel,), across=1)])
    shade = figure.axes[0].collections[0].norm
    assert shade(7) - shade(0) > 0.1
    assert shade(figure.axes[0].collections[0].get_array().max()) == 1
    (even,) = tabulated("sex", "age", bins={"age": 4}).pictures()[0].panels
    assert (even.is_log, even.label) == (False, "rows (noisy)")


def test_many_bins_are_a_stair() -> None:
    """250 bars could not be read: all bins are there, few of them by name."""
    table = tabulated("pay", bins={"pay": 250})
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
