"""The page of pictures as it is drawn."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from cloister.report.panels import HeatPanel
from cloister.report.plot.charts import draw_square


@pytest.mark.parametrize(("worst", "end"), [(0.02, 0.5), (0.5, 0.5), (0.8, 0.8)])
def test_pages_have_one_scale_of_colours(worst: float, end: float) -> None:
    """Small errors are pale: the scale goes from 0 to a half, and further only where an error does."""
    figure = Figure()
    axes = figure.subplots()
    draw_square(axes, HeatPanel("pairs", ("a", "b"), ((0.0, worst), (worst, float("nan")))))
    assert axes.images[0].get_clim() == (0, end)
