"""Names of columns and words fitted to the panels of a picture: none runs over its neighbours, and those that differ look so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel
from cloister.report.picture import (
    CenterMap,
    CenterProfile,
    HeatMap,
    MeasuredBars,
    MeasuredSteps,
    Picture,
    PicturePanel,
    WordGrid,
)
from cloister.report.plot.distinct_names import shorten_names
from cloister.report.plot.style import short

__all__ = ["LONGEST_LINE", "bar_words_room", "fit_names", "title_room"]

LONGEST_LINE = 66  # characters of a line of a picture's title
LONGEST_SHARED = 120
BELOW = {1: 76, 2: 36}  # characters below a panel, by how many are in a line; of more fewer
BELOW_NARROW = 22
BESIDE = 26  # characters beside a panel, from below to above
IN_PROFILE, IN_GRID, IN_SQUARE = 28, 24, 16
Rename = Callable[[str], str]


def fit_names(picture: Picture) -> Picture:
    """The picture with its long names shortened: without what they share, which the caption then says."""
    across = max(1, min(picture.across, len(picture.panels)))
    found = [each for panel in picture.panels for each in _names(panel, across)]
    longest = min((room for _, room in found), default=LONGEST_LINE)
    shown = shorten_names(list(dict.fromkeys(name for name, _ in found)), longest)

    def rename(name: str) -> str:
        return shown.texts.get(name, name)

    caption = picture.caption
    if shown.head or shown.tail:
        left_out = short(f"{shown.head}\N{HORIZONTAL ELLIPSIS}{shown.tail}", LONGEST_SHARED)
        caption = f"{caption} Names are without what they share: {left_out}.".lstrip()
    panels = tuple(_fit_words(_renamed(panel, rename), across) for panel in picture.panels)
    title = picture.title
    if len(picture.heading) > LONGEST_LINE:
        for name in sorted(shown.texts, key=len, reverse=True):
            title = title.replace(name, rename(name)) if len(name) > longest else title
    return replace(picture, title=title, panels=panels, caption=caption)


def title_room(across: int, note: str) -> int:
    """Characters of the title of a panel, beside its note."""
    return max(8, (34 if across > 1 else 72) - (len(note) + 1 if note else 0))


def bar_words_room(across: int) -> int:
    """Characters of the words beside bars."""
    return 48 if across == 1 else 24


def _names(panel: PicturePanel, across: int) -> Iterator[tuple[str, int]]:
    """The names of columns in a panel, and how much room each has."""
    below = BELOW.get(across, BELOW_NARROW)
    if isinstance(panel, CenterMap):
        yield from ((panel.x_label, below), (panel.y_label, BESIDE))
    elif isinstance(panel, MeasuredSteps):
        yield panel.x_label, below
    elif isinstance(panel, HeatMap):
        yield from ((panel.x.label, below), (panel.y.label, BESIDE))
        yield from ((name, IN_PROFILE) for name in (panel.y.words if panel.has_columns else ()))
    elif isinstance(panel, CenterProfile):
        yield from ((name, IN_PROFILE) for name in panel.columns)
    elif isinstance(panel, WordGrid):
        yield from ((name, IN_GRID) for name in panel.columns)
    elif isinstance(panel, HeatPanel):
        yield from ((name, IN_SQUARE) for name in panel.names)
    if isinstance(panel, MeasuredBars | MeasuredSteps | BarPanel | HistogramPanel):
        yield panel.title, title_room(across, panel.note)


def _renamed(panel: PicturePanel, rename: Rename) -> PicturePanel:
    changes: dict[str, Any] = {}
    if isinstance(panel, CenterMap):
        changes = {"x_label": rename(panel.x_label), "y_label": rename(panel.y_label)}
    elif isinstance(panel, MeasuredSteps):
        changes = {"x_label": rename(panel.x_label)}
    elif isinstance(panel, HeatMap):
        x, y = (replace(axis, label=rename(axis.label)) for axis in (panel.x, panel.y))
        changes = {"x": x, "y": replace(y, words=tuple(map(rename, y.words))) if panel.has_columns else y}
    elif isinstance(panel, CenterProfile | WordGrid):
        changes = {"columns": tuple(map(rename, panel.columns))}
    elif isinstance(panel, HeatPanel):
        changes = {"names": tuple(map(rename, panel.names))}
    if isinstance(panel, MeasuredBars | MeasuredSteps | BarPanel | HistogramPanel):
        changes["title"] = rename(panel.title)
    return replace(panel, **changes) if changes else panel


def _fit_words(panel: PicturePanel, across: int) -> PicturePanel:
    """The words of a panel, told apart: they need not have anything in common."""
    if isinstance(panel, MeasuredBars):
        return replace(panel, words=_told_apart(panel.words, bar_words_room(across)))
    if isinstance(panel, BarPanel):
        return replace(panel, words=_told_apart(panel.words, IN_SQUARE))
    if isinstance(panel, HeatMap):
        x = replace(panel.x, words=_told_apart(panel.x.words, 12))
        return replace(panel, x=x, y=replace(panel.y, words=_told_apart(panel.y.words, IN_PROFILE)))
    return panel


def _told_apart(words: Sequence[str], longest: int) -> tuple[str, ...]:
    texts = shorten_names(list(dict.fromkeys(words)), longest, are_related=False).texts
    return tuple(texts[word] for word in words)
