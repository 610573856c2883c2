"""Panels of lines over an axis, with bands of errors around them."""

from __future__ import annotations

from typing import Any

from cloister.report.picture import MeasuredLines
from cloister.report.plot.marks import few_ticks
from cloister.report.plot.style import COLORS, MARKERS, SOFT, axis_text, clean_axes, short

__all__ = ["draw_lines"]

MOST_TICKS = 8
LONGEST_NAME = 40


def draw_lines(axes: Any, panel: MeasuredLines) -> None:
    """Each line with its marks and its band; a legend below where there are several."""
    for i, line in enumerate(panel.lines):
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        axes.plot(line.x, line.values, color=color, marker=marker, ms=3.5, label=short(line.name, LONGEST_NAME))
        if line.low:
            axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.18, lw=0)
    if panel.level is not None:
        axes.axhline(panel.level[0], color=SOFT, lw=1, ls=(0, (4, 2)), label=short(panel.level[1], LONGEST_NAME))
    axes.set(xlabel=short(panel.x_label, 60), ylabel=short(panel.label, 60))
    axes.set_yscale("log" if panel.is_log else "linear")
    axes.set_xscale("log" if panel.is_x_log else "linear")
    _mark_places(axes, panel)
    if not panel.is_log:
        axes.yaxis.set_major_locator(few_ticks())
    axes.yaxis.set_major_formatter(axis_text)
    if len(panel.lines) > 1 or panel.level is not None:
        axes.legend(fontsize=7, loc="best")
    clean_axes(axes)


def _mark_places(axes: Any, panel: MeasuredLines) -> None:
    """Ticks where something was measured, if these are few; otherwise where the axis likes them."""
    from matplotlib.ticker import NullLocator

    places = sorted({place for line in panel.lines for place in line.x})
    if len(places) <= MOST_TICKS:
        axes.set_xticks(places, [axis_text(place) for place in places])
        axes.xaxis.set_minor_locator(NullLocator())
    elif not panel.is_x_log:
        axes.xaxis.set_major_locator(few_ticks())
        axes.xaxis.set_major_formatter(axis_text)
    else:
        axes.xaxis.set_major_formatter(axis_text)
