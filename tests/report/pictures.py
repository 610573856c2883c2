"""One picture with every kind of panel, for the tests of drawing."""

from __future__ import annotations

from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel
from cloister.report.picture import (
    CenterMap,
    CenterProfile,
    HeatAxis,
    HeatMap,
    MeasuredBars,
    MeasuredLine,
    MeasuredLines,
    MeasuredSteps,
    Picture,
    WordGrid,
)
from tests.report.documents import CHART

HOSTILE = '<script>alert("$x^2$")</script> & \n\u202e' + "y" * 300
NAMES = ("0", "1")
PANELS = (
    MeasuredBars(HOSTILE, ("a", HOSTILE), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5), label="rows"),
    MeasuredBars("risk", ("a",), (0.3,), is_share=True, line=(0.2, "one in five")),
    MeasuredSteps("steps", (0.0, 1.0, 2.0), (3.0, -1.0), (2.0, -2.0), (4.0, 0.0), x_label=HOSTILE),
    MeasuredLines(
        HOSTILE,
        (
            MeasuredLine(HOSTILE, (0.1, 1.0, 10.0), (1.0, 2.0, 3.0), (0.5, 1.5, 2.5), (1.5, 2.5, 3.5)),
            MeasuredLine("b", (1.0,), (2.0,)),
        ),
        x_label=HOSTILE,
        label=HOSTILE,
        is_x_log=True,
        is_log=True,
        level=(1.5, HOSTILE),
    ),
    CenterMap("", NAMES, (1.0, 2.0), (3.0, 4.0), (10.0, -5.0), (0.1, 0.2), (0.1, 0.2), HOSTILE, "日本語"),
    CenterProfile("profile", NAMES, ("a", HOSTILE), ((0.1, 0.9), (0.2, 0.8)), ((0.1, 0.1), (0.0, 0.3)), (("0", "1"),) * 2),
    WordGrid("words", NAMES, ("a", "b"), (("x", HOSTILE), ("x", "x"))),
    HeatMap("heat", HeatAxis("x", ("a", HOSTILE)), HeatAxis("y", ("c",)), ((1.0, 2.0),), label="rows"),
    HeatMap("many", HeatAxis("x", edges=tuple(range(41))), HeatAxis("y", edges=tuple(range(31))), ((1.0,) * 40,) * 30),
    BarPanel("bars", ("a", "b"), (("original", (0.2, 0.8)), ("release", (0.4, 0.6)))),
    HistogramPanel("histogram", (0.0, 1.0, 2.0), (), (("original", (0.2, 0.8)),)),
    HeatPanel("square", ("a", "b"), ((1.0, float("nan")), (0.0, 1.0))),
    CHART,
)
EVERY_PANEL = Picture(HOSTILE, PANELS, f"What it shows: {HOSTILE}.")
