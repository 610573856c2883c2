"""Panels of measured numbers: bars and stairs with their errors, heat maps, words in a grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cloister.report.picture import HeatAxis, HeatMap, MeasuredBars, MeasuredSteps, WordGrid
from cloister.report.plot.style import (
    ACCENT,
    COLORS,
    GRID,
    INK,
    SOFT,
    axis_text,
    characters_across,
    clean_axes,
    number_text,
    share_text,
    short,
    short_number,
    sparse,
)

__all__ = ["draw_grid", "draw_heat_map", "draw_measured_bars", "draw_steps"]

MOST_WORDS = 50  # on an axis
LONGEST = 28  # characters of a word beside a panel; where there is room pictures are fitted to it before
LONGEST_BAR = 48
MOST_NUMBERED = 60  # bars that have their number beside them
BARS_SHARE = 0.6  # of a panel with words beside its bars
MOST_NUMBERS = 120  # cells of a heat map with their numbers in them
MOST_NUMBERS_ACROSS = 12
MOST_DRAWN_CELLS = 900  # more of them are one image in an SVG
LEVELS = 40  # of the colour of a cell
FAINTEST, STRONG = 0.03, 0.55  # of the colour of a cell; from where on its number is white


def draw_measured_bars(axes: Any, panel: MeasuredBars) -> None:
    """Horizontal bars, their errors as lines."""
    places = range(len(panel.words))
    axes.barh(places, panel.values, 0.68, color=ACCENT, alpha=0.75 if panel.low else 0.85)
    if panel.low:
        axes.hlines(places, panel.low, panel.high, color=INK, lw=1.1)
    highest = max([*panel.values, *panel.high, panel.least_end, 1e-300])
    if len(panel.words) <= MOST_NUMBERED:
        write = share_text if panel.is_share else number_text
        for place, value, end in zip(places, panel.values, panel.high or panel.values, strict=True):
            number = write(short_number(value) if panel.low else value)
            beside = (_clear_of_line(axes, panel, max(value, end, 0.0), len(number), highest), place)
            axes.annotate(number, beside, (3, 0), textcoords="offset points", va="center", fontsize=7, color=SOFT)
    at, words = sparse(panel.words, MOST_WORDS, LONGEST_BAR)
    axes.set_yticks(at, words)
    axes.set_xlim(
        min([0.0, *panel.values, *panel.low]) * 1.05, highest * (1.16 if len(panel.words) <= MOST_NUMBERED else 1.05)
    )
    if panel.line is not None:
        axes.axvline(panel.line[0], color=COLORS[1], lw=1, ls=(0, (4, 2)))
    label = panel.label if panel.line is None else f"{panel.label} (dashed: {panel.line[1]})"
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(few_ticks())
    axes.xaxis.set_major_formatter(share_text if panel.is_share else axis_text)
    clean_axes(axes, "x")
    axes.spines["bottom"].set_visible(False)


def draw_steps(axes: Any, panel: MeasuredSteps) -> None:
    """A stair with a band of errors around it."""
    axes.stairs(panel.values, panel.edges, fill=True, color=ACCENT, alpha=0.3)
    axes.stairs(panel.values, panel.edges, baseline=None, color=ACCENT, lw=1.3)
    if panel.low:
        axes.stairs(panel.high, panel.edges, baseline=panel.low, fill=True, color=SOFT, alpha=0.35, lw=0)
    axes.set_xlim(panel.edges[0], panel.edges[-1])
    axes.set_ylim(min([0.0, *panel.low, *panel.values]) * 1.05, max([*panel.values, *panel.high, 1e-300]) * 1.06)
    axes.set(xlabel=short(panel.x_label, 60), ylabel=panel.label)
    if panel.ticks:
        each = max(len(short(words, 14)) for _, words in panel.ticks) + 2
        ticks = panel.ticks[:: -(-each * len(panel.ticks) // characters_across(axes))]  # those that have room
        axes.set_xticks([at for at, _ in ticks], [short(words, 14) for _, words in ticks])
    else:
        axes.xaxis.set_major_locator(few_ticks())
        axes.xaxis.set_major_formatter(axis_text)
    axes.yaxis.set_major_locator(few_ticks())
    axes.yaxis.set_major_formatter(axis_text)
    clean_axes(axes, "y")


def draw_heat_map(axes: Any, panel: HeatMap) -> None:
    """Cells as shades of one colour, empty ones as the page; few cells have their numbers."""
    import numpy as np
    from matplotlib.colors import FuncNorm, LinearSegmentedColormap, Normalize

    values = np.array(panel.values, dtype=np.float64)
    faint, full = [(*_rgb(ACCENT), alpha) for alpha in (FAINTEST, 1.0)]
    shades = LinearSegmentedColormap.from_list("shades", [faint, full], N=LEVELS)
    highest = float(np.nanmax(values, initial=0.0)) or 1.0
    scale = FuncNorm((np.log1p, np.expm1), 0.0, highest, clip=True) if panel.is_log else Normalize(0.0, highest, clip=True)
    mesh = axes.pcolormesh(_edges(panel.x), _edges(panel.y), values, cmap=shades, norm=scale, linewidth=0)
    mesh.set_rasterized(values.size > MOST_DRAWN_CELLS)
    mesh.set_antialiased(False)
    if values.size <= MOST_NUMBERS and values.shape[1] <= MOST_NUMBERS_ACROSS and panel.x.words and panel.y.words:
        _write_numbers(axes, values, scale, percent_text if panel.is_share else number_text)
    for axis, facts, most, longest in ((axes.xaxis, panel.x, MOST_WORDS, 12), (axes.yaxis, panel.y, MOST_WORDS, LONGEST)):
        if facts.words:
            at, words = sparse(facts.words, most, longest)
            axis.set_ticks([place + 0.5 for place in at], words)
        else:
            axis.set_major_locator(few_ticks())
            axis.set_major_formatter(axis_text)
    if panel.x.words and sum(len(word[:12]) for word in panel.x.words) > 50:
        axes.tick_params(axis="x", labelrotation=40 if len(panel.x.words) <= 20 else 90)
        for words in axes.get_xticklabels():
            words.set(ha="right", va="center" if len(panel.x.words) > 20 else "baseline", rotation_mode="anchor")
    axes.set(xlabel=short(panel.x.label, 60), ylabel=short(panel.y.label, 40))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(visible=True, color=GRID)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    if panel.is_log:
        bar.set_ticks([0.0, *(10.0**power for power in range(20) if 10.0**power <= highest)])
        bar.ax.yaxis.minorticks_off()
    else:
        bar.ax.yaxis.set_major_locator(few_ticks())
    bar.ax.yaxis.set_major_formatter(share_text if panel.is_share else axis_text)
    bar.set_label(panel.label)
    bar.solids.set(edgecolor="none", rasterized=False, antialiased=False)


def draw_grid(axes: Any, panel: WordGrid) -> None:
    """Words in a grid; of each line the most common word is faint, and others stand out."""
    across, down = len(panel.names), len(panel.columns)
    longest = max(4, 88 // max(across, 1))
    for i, line in enumerate(panel.words):
        kinds = sorted(dict.fromkeys(line), key=lambda word: -line.count(word))
        for j, word in enumerate(line):
            is_usual = word == kinds[0] and (line.count(word) > 1 or across == 1)
            color, shade = (SOFT, 0.1) if is_usual else (COLORS[kinds.index(word) % len(COLORS)], 0.32)
            axes.add_patch(_box(j, i, color, shade))
            axes.text(j + 0.5, i + 0.5, short(word, longest), ha="center", va="center", fontsize=7.5)
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.set_xticks([j + 0.5 for j in range(across)], [short(name, longest) for name in panel.names])
    axes.set_yticks([i + 0.5 for i in range(down)], [short(name, LONGEST) for name in panel.columns])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def percent_text(share: float) -> str:
    """A share in a cell, without decimals."""
    return f"{share:.0%}"


def few_ticks() -> Any:
    """Where numbers stand on an axis: few, at round places."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3)


def _clear_of_line(axes: Any, panel: MeasuredBars, end: float, letters: int, highest: float) -> float:
    """Where the number beside a bar begins: behind the line of the panel where it would run through it."""
    if panel.line is None:
        return end
    room = characters_across(axes) * BARS_SHARE
    reach = (letters + 2) / room * highest * 1.16
    return panel.line[0] if end < panel.line[0] < end + reach else end


def _box(x: float, y: float, color: str, shade: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x + 0.02, y + 0.06), 0.96, 0.88, facecolor=color, alpha=shade, linewidth=0)


def _rgb(color: str) -> tuple[float, ...]:
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _edges(axis: HeatAxis) -> list[float]:
    return list(axis.edges) if axis.edges else [float(place) for place in range(len(axis.words) + 1)]


def _write_numbers(axes: Any, values: Any, scale: Callable[[float], float], write: Callable[[float], str]) -> None:
    for (y, x), value in _cells(values):
        color = "#ffffff" if float(scale(value)) > STRONG else INK
        axes.text(x + 0.5, y + 0.5, write(short_number(value)), ha="center", va="center", fontsize=7, color=color)


def _cells(values: Any) -> Any:
    import numpy as np

    return ((place, float(value)) for place, value in np.ndenumerate(values) if value == value)
