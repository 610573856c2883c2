"""Pictures of a synopsis hold what its queries answer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.report.picture import INTERVAL, HeatMap, MeasuredSteps
from cloister.schema import Column, Number, Schema

ROWS = np.random.default_rng(1).normal([[0.3, 0.6, 0.5]] * 2000, 0.1)


@pytest.mark.parametrize("method", ["uniform-grid", "adaptive-grid", "tree"])
def test_columns_are_counts_of_boxes(method: str) -> None:
    """Each step is what `count` says of its range by its length, with 95% of its noise."""
    cells = cl.synopsis(ROWS[:, :2], budget=2, bounds=(0, 1), method=method)
    for column, panel in zip(cells.columns, cells.pictures()[1].panels, strict=True):
        assert isinstance(panel, MeasuredSteps)
        for place in (0, len(panel.values) // 2, len(panel.values) - 1):
            found = cells.count({column: panel.edges[place : place + 2]})
            lengths = (panel.edges[place + 1] - panel.edges[place]) / 0.1
            assert panel.label == "rows per 0.1 (noisy)"
            assert panel.values[place] * lengths == pytest.approx(found.value, abs=1e-6)
            reach = (panel.high[place] - panel.values[place]) * lengths
            assert reach == pytest.approx(INTERVAL * found.standard_error, abs=1e-6)


def test_every_panel_counts_over_one_length() -> None:
    """Columns with the same bounds have the same unit, whether their cells are even or not, and a step is as wide as it looks."""
    chance = np.random.default_rng(0)
    centers = chance.random((9, 24)) * 80 + 10
    rows = chance.normal(centers[chance.integers(0, 9, 4000)], 5)
    cells = cl.synopsis(rows, budget=5, bounds=(0, 100), method="tree")
    for column, panel in zip(cells.columns, cells.pictures()[1].panels, strict=False):
        assert panel.label == "rows per 10 (noisy)"
        assert sum(panel.values * np.diff(panel.edges) / 10) == pytest.approx(cells.cells.counts.sum())
        of_a_step = [cells.count({column: ends}).value for ends in pairwise(panel.edges)]
        assert np.allclose(np.array(of_a_step) * 10 / np.diff(panel.edges), panel.values, rtol=1e-4)


@pytest.mark.parametrize("method", ["uniform-grid", "adaptive-grid", "tree"])
def test_bins_of_whole_numbers_hold_as_many_values(method: str) -> None:
    """Numbers that are spread evenly over their steps have no peaks, whatever the cells are."""
    schema = Schema([Column(name, Number((17, 90), step=1)) for name in ("age", "hours")])
    ages = np.repeat(np.arange(17, 91), 400)
    cells = cl.synopsis({"age": ages, "hours": ages[::-1]}, budget=20, schema=schema, method=method)
    heat, steps = cells.pictures()
    for axis in (heat.panels[0].x, heat.panels[0].y):
        widths = np.diff(axis.edges)
        assert np.allclose(widths, np.rint(widths[0]))
        assert axis.edges[0] == pytest.approx(16.5)
    for panel in steps.panels:
        assert np.allclose(np.array(panel.edges) % 1, 0.5)
        each = 1 if panel.label == "rows per value (noisy)" else int(panel.label.split()[2])
        assert np.allclose(np.array(panel.values) / each, 400, rtol=0.1)


def test_a_value_is_counted_as_the_cells_that_hold_it() -> None:
    """Cells hold two and three values in turn; a single value is its share of those, not of the cell's width."""
    schema = Schema([Column("age", Number((17, 90), step=1))])
    cells = cl.synopsis({"age": np.repeat(np.arange(17, 91), 400)}, budget=20, schema=schema)
    assert np.allclose([cells.count({"age": (age, age)}).value for age in range(17, 91)], 400, rtol=0.1)


@pytest.mark.parametrize("method", ["uniform-grid", "adaptive-grid", "tree"])
def test_the_heat_map_holds_every_row_once(method: str) -> None:
    """The weights of the cells are spread over it, none is lost, and bins are at most 80 by 80."""
    cells = cl.synopsis(ROWS, budget=2, bounds=(0, 1), method=method)
    (panel,) = cells.pictures(["x2", "x0"])[0].panels
    assert isinstance(panel, HeatMap)
    assert (panel.x.label, panel.y.label) == ("x2", "x0")
    assert np.array(panel.values).sum() == pytest.approx(cells.weights().sum())
    assert max(np.array(panel.values).shape) <= 80


def test_one_column_is_a_stair() -> None:
    """Without a second column there is no heat map; a name that is not there is refused."""
    cells = cl.synopsis(ROWS[:, :1], budget=2, bounds=(0, 1))
    ((panel,),) = [picture.panels for picture in cells.pictures()]
    assert isinstance(panel, MeasuredSteps)
    with pytest.raises(UsageError, match="no column"):
        cells.pictures(["y"])
