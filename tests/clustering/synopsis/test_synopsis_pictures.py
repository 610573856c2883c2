"""Pictures of a synopsis hold what its queries answer."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.report.picture import INTERVAL, HeatMap, MeasuredSteps

ROWS = np.random.default_rng(1).normal([[0.3, 0.6, 0.5]] * 2000, 0.1)


@pytest.mark.parametrize("method", ["uniform-grid", "adaptive-grid", "tree"])
def test_columns_are_counts_of_boxes(method: str) -> None:
    """Each step is what `count` says of its range, with 95% of its noise."""
    cells = cl.synopsis(ROWS[:, :2], budget=2, bounds=(0, 1), method=method)
    for column, panel in zip(cells.columns, cells.pictures()[1].panels, strict=True):
        assert isinstance(panel, MeasuredSteps)
        for place in (0, len(panel.values) // 2, len(panel.values) - 1):
            found = cells.count({column: panel.edges[place : place + 2]})
            assert panel.values[place] == pytest.approx(found.value, abs=1e-6)
            assert panel.high[place] - panel.values[place] == pytest.approx(INTERVAL * found.standard_error, abs=1e-6)


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
