"""The page of pictures as it is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import cloister as cl
from cloister.report.panels import HeatPanel, HistogramPanel
from cloister.report.plot.charts import draw_square


@pytest.mark.parametrize(("worst", "end"), [(0.02, 0.5), (0.5, 0.5), (0.8, 0.8)])
def test_pages_have_one_scale_of_colours(worst: float, end: float) -> None:
    """Small errors are pale: the scale goes from 0 to a half, and further only where an error does."""
    figure = Figure()
    axes = figure.subplots()
    draw_square(axes, HeatPanel("pairs", ("a", "b"), ((0.0, worst), (worst, float("nan")))))
    assert axes.images[0].get_clim() == (0, end)


def test_bins_of_whole_numbers_hold_as_many_values() -> None:
    """Ages that are spread evenly have no comb, in the original and the release."""
    ages = {"age": np.repeat(np.arange(17, 91), 10), "word": ["a", "b"] * 370}
    (panel, *_), *_ = (picture.panels for picture in cl.risk(ages, against=ages, as_rows=True).pictures())
    assert isinstance(panel, HistogramPanel)
    for _, shares in panel.series:
        assert np.allclose(shares[:-1], shares[0])
