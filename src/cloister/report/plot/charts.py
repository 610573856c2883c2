"""Charts, and pages of panels, as pictures."""

from __future__ import annotations

from itertools import zip_longest
from os import PathLike
from typing import Any

from cloister.report.document import Chart
from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel, Page, Panel
from cloister.report.plot.drawable import check_drawable
from cloister.report.plot.style import COLORS, clean_axes, look, share_text, short, with_note

__all__ = ["draw", "draw_chart", "draw_page", "draw_panel", "draw_square"]

LEFT_STYLES = (("o-", COLORS[0]), ("D-", COLORS[2]))
RIGHT_STYLES = (("s--", COLORS[1]), ("^:", COLORS[4]))
PANEL_COLORS = {"original": COLORS[0], "release": COLORS[1]}
OTHER_COLOR = COLORS[2]
FEWEST_BARS = 4  # that a panel has room for: two words alone would be as wide as the panel
ACROSS = 4  # panels in a line of a page
PANEL_SIZE = (3.4, 2.3)  # inches
LAST_HEIGHT = 4.6  # inches: the line of the heat map
LONGEST_WORD, LONGEST_TITLE, LONGEST_PAGE_TITLE = 16, 38, 100
LEAST_HEAT = 0.5  # where the scale of colours ends at least, so that pages can be compared


def draw(chart: Chart, path: str | PathLike[str]) -> None:
    """Draw a chart as PNG, SVG or PDF, by the name of the file."""
    check_drawable(path)
    from matplotlib.figure import Figure

    with look():
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        draw_chart(axes, chart)
        axes.set_title(chart.title, loc="center", fontsize=11)
        figure.savefig(path, dpi=120)


def draw_chart(left: Any, chart: Chart) -> None:
    """Series over the same points, on one axis or two."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    sides = [(left, chart.left, LEFT_STYLES, False)]
    if chart.right is not None:
        # the later axes are drawn above the earlier ones
        sides.append((left.twinx(), chart.right, RIGHT_STYLES, True))
    for axes, axis, styles, is_right in sides:
        series = [each for each in chart.series if each.is_right is is_right or chart.right is None]
        for i, each in enumerate(series):
            style, color = styles[i % len(styles)]
            axes.plot(chart.points, each.values, style, color=color, label=each.name)
        axes.set(ylabel=axis.label, yscale="log" if axis.is_log else "linear")
        if axis.is_log:
            axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _, write=axis.format: write(number)))
        else:
            axes.set_ylim(bottom=0)
    left.set(xlabel=chart.x.label, xscale="log" if chart.x.is_log else "linear")
    left.set_xticks(chart.points, [chart.x.format(point) for point in chart.points])
    left.xaxis.set_minor_locator(NullLocator())
    lines = [line for axes, *_ in sides for line in axes.get_lines()]
    names = [str(line.get_label()) for line in lines]
    left.figure.legend(lines, names, loc="outside lower center", ncols=3)
    clean_axes(left)


def draw_page(page: Page, path: str | PathLike[str]) -> None:
    """Draw a page of panels as PNG or SVG, by the name of the file."""
    check_drawable(path)
    from matplotlib.figure import Figure

    with look():
        lines = max(1, -(-len(page.panels) // ACROSS))
        heights = [PANEL_SIZE[1] * lines, LAST_HEIGHT]
        figure = Figure(figsize=(PANEL_SIZE[0] * ACROSS, sum(heights) + 0.8), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=heights)
        above, below = parts
        drawn = []
        for axes, panel in zip_longest(above.subplots(lines, ACROSS).flat, page.panels):
            if panel is None:
                axes.set_axis_off()
                continue
            draw_panel(axes, panel)
            axes.set_title(with_note(panel.title, panel.note, LONGEST_TITLE), fontsize=9)
            drawn.append(axes)
        if drawn:
            lines_and_names = drawn[0].get_legend_handles_labels()
            above.legend(*lines_and_names, loc="outside upper center", ncols=len(lines_and_names[1]), frameon=False)
        places = below.subplots(1, 1 if page.heat is None else 2, squeeze=False)[0]
        if page.heat is not None:
            draw_square(places[0], page.heat)
            places[0].set_title(short(page.heat.title, LONGEST_TITLE), fontsize=9)
        draw_panel(places[-1], page.last)
        places[-1].set_title(short(page.last.title, LONGEST_TITLE), fontsize=9)
        places[-1].set_ylabel("share of rows", fontsize=8)
        places[-1].legend(frameon=False, fontsize=8)
        figure.suptitle("\n".join(short(line, LONGEST_PAGE_TITLE) for line in page.title.splitlines()))
        figure.savefig(path, dpi=110)


def draw_panel(axes: Any, panel: Panel) -> None:
    """Shares of words or of numbers, beside those of other tables."""
    axes.tick_params(labelsize=7)
    if isinstance(panel, HistogramPanel):
        _draw_histogram(axes, panel)
    else:
        _draw_bars(axes, panel)


def _draw_histogram(axes: Any, panel: HistogramPanel) -> None:
    for i, (name, shares) in enumerate(panel.series):
        color = PANEL_COLORS.get(name, OTHER_COLOR)
        axes.stairs(shares, panel.edges, fill=i == 0, alpha=0.35 if i == 0 else 1, color=color, lw=1.4, label=name)
    if panel.ticks:
        axes.set_xticks([at for at, _ in panel.ticks], [words for _, words in panel.ticks])
    axes.set_xlabel(panel.label, fontsize=8)
    axes.yaxis.set_major_formatter(share_text)


def _draw_bars(axes: Any, panel: BarPanel) -> None:
    height = 0.8 / len(panel.series)
    for i, (name, shares) in enumerate(panel.series):
        places = [at + i * height - 0.4 + height / 2 for at in range(len(shares))]
        color = PANEL_COLORS.get(name, OTHER_COLOR)
        axes.barh(places, shares, height, color=color, alpha=0.35 if i == 0 else 1, label=name)
    axes.set_yticks(range(len(panel.words)), [short(word, LONGEST_WORD) for word in panel.words])
    axes.set_ylim(max(len(panel.words), FEWEST_BARS) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(share_text)


def draw_square(axes: Any, panel: HeatPanel) -> None:
    """A square table of shares as colours."""
    highest = max((value for line in panel.values for value in line if value == value), default=0.0)
    image = axes.imshow(panel.values, cmap="YlOrRd", vmin=0, vmax=max(highest, LEAST_HEAT))
    size = 7 if len(panel.names) <= 30 else 4
    names = [short(name, LONGEST_WORD) for name in panel.names]
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=size)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8)
    bar.ax.tick_params(labelsize=7)
    bar.ax.yaxis.set_major_formatter(share_text)
