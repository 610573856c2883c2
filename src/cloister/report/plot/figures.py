"""Pictures as matplotlib figures and as files: which panel is drawn how, and how much room it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import Any

from cloister.errors import SinkError
from cloister.report.document import Chart
from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel
from cloister.report.picture import (
    CenterMap,
    CenterProfile,
    HeatMap,
    MeasuredBars,
    MeasuredLines,
    MeasuredSteps,
    Picture,
    PicturePanel,
    WordGrid,
)
from cloister.report.plot.center_marks import draw_centers, draw_profile, name_centers
from cloister.report.plot.charts import draw_chart, draw_panel, draw_square
from cloister.report.plot.drawable import check_drawable, check_matplotlib
from cloister.report.plot.fitted_names import LONGEST_LINE, fit_names, title_room
from cloister.report.plot.line_marks import draw_lines
from cloister.report.plot.marks import draw_grid, draw_heat_map, draw_measured_bars, draw_steps
from cloister.report.plot.style import SOFT, look, short, with_note
from cloister.report.plot.svg_parts import read_svg, svg_text

__all__ = ["fill", "figure", "height_of_picture", "save", "settle", "save_bytes", "WIDTH"]

WIDTH = 6.4  # inches; readable when it is 600 pixels wide
DPI = 150
MOST_TITLE_LINES = 2
TITLE_LINE = 0.2  # inches
BETWEEN = 0.06  # of the width of a panel, between it and the next
MARGIN = 0.012  # of the width of a page
BEYOND_AXES = 1.1  # so much longer than its axis a label may be
SMALLEST = 0.5  # of the size of a text
CAPTION_WIDTH, CAPTION_LINE = 112, 0.16  # characters of a line, inches
MOST_HEIGHT = 100.0  # inches
NO_METADATA = {"svg": {"Date": None, "Creator": None, "Format": None, "Type": None}, "pdf": {"CreationDate": None}}

DRAWERS: dict[type[Any], Callable[[Any, Any], None]] = {
    MeasuredBars: draw_measured_bars,
    MeasuredLines: draw_lines,
    MeasuredSteps: draw_steps,
    CenterMap: draw_centers,
    CenterProfile: draw_profile,
    WordGrid: draw_grid,
    HeatMap: draw_heat_map,
    BarPanel: draw_panel,
    HistogramPanel: draw_panel,
    HeatPanel: draw_square,
    Chart: draw_chart,
}


def figure(pictures: Sequence[Picture]) -> Any:
    """The pictures below one another as one matplotlib Figure, which a notebook shows."""
    check_matplotlib()
    from matplotlib.text import Text

    from cloister.report.plot.shown_figure import ShownFigure

    with look():
        pictures = [fit_names(each) for each in pictures]
        heights = [height_of_picture(each, with_words=True) for each in pictures]
        scale = min(1.0, MOST_HEIGHT / max(sum(heights), 1e-9))
        drawn = ShownFigure(
            figsize=(WIDTH, max(1.0, sum(heights) * scale)), dpi=DPI, layout="constrained", facecolor="white"
        )
        parts = drawn.subfigures(len(pictures), 1, height_ratios=heights, squeeze=False)[:, 0] if pictures else ()
        titles: list[Any] = []
        maps: list[tuple[Any, CenterMap]] = []
        for part, picture in zip(parts, pictures, strict=True):
            part.set_facecolor("white")
            maps += fill(part, picture)
            titles.append(part.suptitle("\n".join(_title_lines(picture)), x=MARGIN, ha="left", weight="bold"))
            if picture.caption:
                part.supxlabel(
                    "\n".join(_lines(picture.caption)), x=MARGIN, ha="left", fontsize=7.5, color=SOFT, linespacing=1.3
                )
        settle(drawn, maps, titles)
        for text in drawn.findobj(Text):
            text.set_parse_math(False)
    return drawn


def save(pictures: Sequence[Picture], path: str | PathLike[str]) -> None:
    """Draw the pictures below one another into a file, by its name's ending; what is for the holder only its owner may read."""
    check_drawable(path)
    target = Path(path)
    drawn = save_bytes(pictures, target.suffix.lower()[1:])
    try:
        if any(picture.for_holder for picture in pictures):
            target.touch(mode=0o600)
        target.write_bytes(drawn)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise SinkError(f"{target} cannot be written: {reason}. Choose another place.") from None


def save_bytes(pictures: Sequence[Picture], format: str) -> bytes:
    """The file of some pictures."""
    file = BytesIO()
    with look():
        figure(pictures).savefig(file, format=format, dpi=DPI, metadata=NO_METADATA.get(format))
    if format == "svg":
        return f'<?xml version="1.0" encoding="utf-8"?>\n{svg_text(read_svg(file.getvalue()))}\n'.encode()
    return file.getvalue()


def settle(drawn: Any, maps: Sequence[tuple[Any, CenterMap]], titles: Sequence[Any] = ()) -> None:
    """Lay a figure out once and for all; ticks are made when they are drawn, and later the user's own settings hold.

    Letters are of many widths: labels and titles that are too long for their place after all are written smaller.
    """
    from matplotlib.axes import Axes

    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")
    for axes in drawn.findobj(Axes):
        box = axes.get_window_extent()
        _shrink(axes.xaxis.label, box.width * BEYOND_AXES)
        _shrink(axes.yaxis.label, box.height * BEYOND_AXES)
    for axes, panel in maps:
        name_centers(axes, panel)
    for title in titles:
        _shrink(title, drawn.bbox.width * (1 - 2 * MARGIN))


def _shrink(text: Any, room: float) -> None:
    """Write a text smaller until it is no longer than that."""
    box = text.get_window_extent()
    length = max(box.width, box.height)
    if length > room:
        text.set_fontsize(text.get_fontsize() * max(SMALLEST, room / length))


def fill(part: Any, picture: Picture) -> list[tuple[Any, CenterMap]]:
    """Draw the panels of a picture into a figure, or a part of one; title and caption aside.

    Returns the axes of those whose marks are named once everything has its place.
    """
    lines = _grid(picture)
    heights = [max(map(_height, line)) for line in lines]
    if part.get_layout_engine() is not None:
        part.get_layout_engine().set(wspace=BETWEEN)  # numbers stand at the right of bars, words at the left of the next
    places = part.add_gridspec(max(1, len(lines)), _across(picture), height_ratios=heights or None)
    maps = []
    for i, line in enumerate(lines):
        for j, panel in enumerate(line):
            axes = part.add_subplot(places[i, j])
            DRAWERS[type(panel)](axes, panel)
            if isinstance(panel, CenterMap):
                maps.append((axes, panel))
            if isinstance(panel, BarPanel) and len(picture.panels) == 1:
                axes.legend(loc="best")
            if isinstance(panel, MeasuredBars):  # bars are as thick in every panel of a line
                axes.set_ylim(max(len(panel.words), round((heights[i] - 0.72) / 0.2)) - 0.5, -0.5)
            if not isinstance(panel, Chart) and panel.title:
                above = 26 if isinstance(panel, CenterProfile) else 6
                note = getattr(panel, "note", "")
                room = title_room(_across(picture), "")
                axes.set_title(with_note(panel.title, note, room), weight="bold", pad=above)
    return maps


def height_of_picture(picture: Picture, *, with_words: bool) -> float:
    """Inches that a picture takes, with its title and caption or without."""
    panels = sum(max(map(_height, line)) for line in _grid(picture))
    words = (
        0.4
        + TITLE_LINE * (len(_title_lines(picture)) - 1)
        + (0.1 + CAPTION_LINE * len(_lines(picture.caption)) if picture.caption else 0.0)
    )
    return panels + (words if with_words else 0.0)


def _lines(caption: str) -> list[str]:
    return wrap(short(caption, 1000), CAPTION_WIDTH)


def _title_lines(picture: Picture) -> list[str]:
    """The heading, on more lines than one where it is long."""
    return wrap(short(picture.heading, MOST_TITLE_LINES * (LONGEST_LINE - 6)), LONGEST_LINE) or [""]


def _across(picture: Picture) -> int:
    return max(1, min(picture.across, len(picture.panels)))


def _grid(picture: Picture) -> list[tuple[PicturePanel, ...]]:
    """The panels, line by line."""
    across = _across(picture)
    return [picture.panels[at : at + across] for at in range(0, len(picture.panels), across)]


def _height(panel: PicturePanel) -> float:
    """Inches that a panel takes."""
    if isinstance(panel, MeasuredBars):
        return 0.72 + 0.2 * min(max(3, len(panel.words)), 60)
    if isinstance(panel, CenterProfile):
        each = 0.18 + 0.03 * len(panel.names)
        return 0.95 + 0.18 * (len(panel.names) // 6) + each * len(panel.columns)
    if isinstance(panel, WordGrid):
        return 0.7 + 0.25 * len(panel.columns)
    if isinstance(panel, HeatMap):
        return 1.2 + min(max(1.4, 0.2 * len(panel.y.words)), 10.0) if panel.y.words else 3.4
    return {MeasuredSteps: 1.9, MeasuredLines: 3.0, CenterMap: 2.7, HeatPanel: 3.4, Chart: 3.4}.get(type(panel), 2.1)
