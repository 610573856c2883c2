"""Panels of centres: where they lie in two columns or one, and their profile over many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cloister.report.picture import CenterMap, CenterProfile
from cloister.report.plot.marks import few_ticks
from cloister.report.plot.name_places import NAME_SIZE, MarkedCircle, NameBox, place_names
from cloister.report.plot.style import COLORS, GRID, INK, MARKERS, axis_text, clean_axes, share_text, short

__all__ = ["draw_centers", "draw_profile", "name_centers"]

MOST_NAMED = 20  # centres that have their name beside them: the largest
LEAST_AREA, MOST_AREA = 14.0, 420.0  # of a centre's mark, in square points
LONGEST = 28


def draw_centers(axes: Any, panel: CenterMap) -> None:
    """A mark for each centre, its area by its size; lines show how far noise may have moved it. Names come later."""
    y = panel.y or panel.sizes
    areas = _areas(panel.sizes)
    if panel.x_errors:
        axes.errorbar(panel.x, y, xerr=panel.x_errors, fmt="none", ecolor=INK, elinewidth=0.9, alpha=0.8, zorder=3)
    if panel.y_errors:
        axes.errorbar(panel.x, y, yerr=panel.y_errors, fmt="none", ecolor=INK, elinewidth=0.9, alpha=0.8, zorder=3)
    colors = [COLORS[i % len(COLORS)] for i in range(len(panel.x))]
    axes.scatter(panel.x, y, s=areas, c=colors, alpha=0.75, linewidths=0, zorder=2)
    axes.set(xlabel=short(panel.x_label, 40), ylabel=short(panel.y_label, 30))
    if panel.x_limits is not None:
        axes.set_xlim(panel.x_limits)
    if panel.y_limits is not None:
        axes.set_ylim(panel.y_limits)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(few_ticks())
        axis.set_major_formatter(axis_text)
    clean_axes(axes)


def name_centers(axes: Any, panel: CenterMap) -> None:
    """The names of the largest centres, each beside its own mark: where neither another mark nor another name is.

    It is asked for when the axes have their place on the page, from which follows what is beside what.
    """
    import numpy as np

    x, y, areas = np.array(panel.x), np.array(panel.y or panel.sizes), _areas(panel.sizes)
    points_a_pixel = 72 / axes.figure.dpi

    def place(right: Any, up: Any) -> list[tuple[float, float]]:
        return [(float(a), float(b)) for a, b in axes.transData.transform(np.column_stack([right, up])) * points_a_pixel]

    marks = [MarkedCircle(*at, area**0.5 / 2) for at, area in zip(place(x, y), areas, strict=True)]
    ends = [(x - panel.x_errors, y, x + panel.x_errors, y)] if panel.x_errors else []
    ends += [(x, y - panel.y_errors, x, y + panel.y_errors)] if panel.y_errors else []
    lines = [
        NameBox(*low, *high)
        for left, below, right, above in ends
        for low, high in zip(place(left, below), place(right, above), strict=True)
    ]
    frame = NameBox(*(float(end) * points_a_pixel for end in axes.get_window_extent().extents))
    largest = sorted(range(len(areas)), key=lambda i: -areas[i])[:MOST_NAMED]
    names = [short(panel.names[i], 12) for i in largest]
    style = {"textcoords": "offset points", "fontsize": NAME_SIZE, "zorder": 4, "ha": "center", "va": "center"}
    for i, name, offset in zip(largest, names, place_names(marks, largest, names, frame, lines), strict=True):
        axes.annotate(name, (panel.x[i], y[i]), offset, **style)


def draw_profile(axes: Any, panel: CenterProfile) -> None:
    """One line a column; each centre is a mark on it, between the lowest and the highest value that the column may have."""
    k = len(panel.names)
    spread = 0.5 / max(k, 1)
    for i, name in enumerate(panel.names):
        places = [line[i] for line in panel.places]
        heights = [row + (i - (k - 1) / 2) * spread for row in range(len(panel.columns))]
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        if panel.errors:
            reach = [line[i] for line in panel.errors]
            low = [max(0.0, place - error) for place, error in zip(places, reach, strict=True)]
            high = [min(1.0, place + error) for place, error in zip(places, reach, strict=True)]
            axes.hlines(heights, low, high, color=color, lw=1.0, alpha=0.7)
        axes.plot(places, heights, marker, color=color, ms=4.5, mew=0, label=short(name, LONGEST), clip_on=False)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(panel.columns) - 0.45, -0.55)
    axes.set_yticks(
        range(len(panel.columns)), [short(_with_ends(panel, row), LONGEST + 20) for row in range(len(panel.columns))]
    )
    axes.set_xlabel(panel.label)
    axes.xaxis.set_major_formatter(share_text)
    for row in range(len(panel.columns) - 1):
        axes.axhline(row + 0.5, color=GRID, lw=0.5)
    clean_axes(axes, "x")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=min(k, 5), handletextpad=0.2, columnspacing=1.2, borderpad=0.2
    )


def _with_ends(panel: CenterProfile, row: int) -> str:
    name = short(panel.columns[row], LONGEST)
    return f"{name} ({panel.ends[row][0]} to {panel.ends[row][1]})" if panel.ends else name


def _areas(sizes: Sequence[float]) -> list[float]:
    """The area of each mark; noise may have taken a size below 0."""
    most = max([*sizes, 1e-300])
    return [LEAST_AREA + (MOST_AREA - LEAST_AREA) * max(0.0, size) / most for size in sizes]
