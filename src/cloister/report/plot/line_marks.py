"""Panels of lines over an axis, with bands of errors around them."""

from __future__ import annotations

import math
from typing import Any

from cloister.report.picture import MeasuredLines
from cloister.report.plot.marks import few_ticks
from cloister.report.plot.style import COLORS, MARKERS, SOFT, axis_text, clean_axes, short

__all__ = ["draw_lines"]

MOST_TICKS = 8
NEAREST = 0.04  # of the axis, between two ticks
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
    if panel.is_log:
        _mark_decades(axes)
    else:
        axes.yaxis.set_major_locator(few_ticks())
        axes.yaxis.set_major_formatter(axis_text)
    if len(panel.lines) > 1 or panel.level is not None:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0.0, -0.24), ncols=2, borderaxespad=0.0)
    clean_axes(axes)


def _mark_decades(axes: Any) -> None:
    """Ticks at 1, 2 and 5 of each power of ten, also where the axis spans less than one."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=MOST_TICKS))
    axes.yaxis.set_major_formatter(axis_text)
    axes.yaxis.set_minor_formatter(NullFormatter())


def _mark_places(axes: Any, panel: MeasuredLines) -> None:
    """Ticks where something was measured, if these are few; those that would stand on another are left out."""
    from matplotlib.ticker import NullFormatter, NullLocator

    places = sorted({place for line in panel.lines for place in line.x})
    if len(places) <= MOST_TICKS:
        apart = [math.log10(place) for place in places] if panel.is_x_log else places
        least = NEAREST * (apart[-1] - apart[0])
        kept = [0] if places else []
        kept += [i for i in range(1, len(places)) if apart[i] - apart[i - 1] > least]
        axes.set_xticks([places[i] for i in kept], [axis_text(places[i]) for i in kept])
        axes.xaxis.set_minor_locator(NullLocator())
        return
    if not panel.is_x_log:
        axes.xaxis.set_major_locator(few_ticks())
    axes.xaxis.set_major_formatter(axis_text)
    axes.xaxis.set_minor_formatter(NullFormatter())
