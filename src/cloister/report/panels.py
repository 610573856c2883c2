"""A page of small pictures as plain data: bars, histograms and a table of colours. `report.plot` draws them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BarPanel", "HeatPanel", "HistogramPanel", "Page", "Panel"]


@dataclass(frozen=True, slots=True)
class BarPanel:
    """Shares of words, one bar a word and series."""

    title: str
    words: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]  # name and shares
    note: str = ""  # behind the title, and never cut


@dataclass(frozen=True, slots=True)
class HistogramPanel:
    """Shares of numbers between edges, one line a series."""

    title: str
    edges: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]  # none: where the renderer likes them
    series: tuple[tuple[str, tuple[float, ...]], ...]
    label: str = ""
    note: str = ""  # behind the title, and never cut


@dataclass(frozen=True, slots=True)
class HeatPanel:
    """A square table of shares as colours, NaN where there is none."""

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


Panel = BarPanel | HistogramPanel


@dataclass(frozen=True, slots=True)
class Page:
    """Panels in a grid, and below them the table of colours and one more panel."""

    title: str
    panels: tuple[Panel, ...]
    heat: HeatPanel | None
    last: Panel
