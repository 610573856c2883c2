"""The page of pictures: columns of both tables, total variation of pairs, distances to the nearest record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.report.numbers import percent
from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel, Page, Panel
from cloister.report.picture import Picture, PicturePanel
from cloister.report.value_bins import value_bins
from cloister.risks.rows.closest_records import NearestRecords
from cloister.risks.rows.kept_shares import KeptShares, shares_of
from cloister.risks.rows.row_tables import RowColumn, RowTable

__all__ = ["make_page", "page_pictures", "pictured_columns"]

MOST_PANELS = 12
MOST_WORDS = 7  # of a column, the others together
BINS = 24
MOST_DIGITS = 12
NAMES = ("original", "release", "control")


def pictured_columns(columns: Sequence[RowColumn], shares: KeptShares, target: str | None = None) -> list[RowColumn]:
    """The columns that have a panel, in their order: where there are many, the target and those kept worst."""
    worst = sorted(shares.columns, key=lambda each: (each.columns[0] != target, -each.variation))[:MOST_PANELS]
    names = {name for each in worst for name in each.columns}
    return [column for column in columns if column.name in names]


def make_page(
    original: RowTable,
    released: RowTable,
    shares: KeptShares,
    near: Sequence[NearestRecords],
    words: Mapping[str, Mapping[int, str]],
    target: str | None = None,
) -> Page:
    """The page of two tables; `near` are distances of original rows and, where there are some, of control rows.

    `words` are the texts of codes of the original, by column: other codes are shown together.
    """
    variation = {each.columns[0]: each.variation for each in shares.columns}
    panels: list[Panel] = []
    for column in pictured_columns(original.columns, shares, target):
        note = f"(off by {percent(variation[column.name])})"
        if column.is_number:
            panels.append(_histogram(note, column, original, released))
        else:
            panels.append(_bars(note, original.place(column.name), original, released, words.get(column.name, {})))
    title = f"{original.rows:,} original rows and {released.rows:,} released rows; for the holder only"
    if left_out := len(original.columns) - len(panels):
        title += f"\n{left_out} of {len(original.columns)} columns are not drawn: those that are kept best"
    return Page(title, tuple(panels), _heat(shares), _distances(near))


def page_pictures(page: Page) -> tuple[Picture, ...]:
    """The page in parts that stand below one another."""
    colors = "Blue: the original. Orange: the release."
    pictures = [Picture("Columns of both tables", tuple(page.panels), colors, for_holder=True)] if page.panels else []
    others: list[tuple[str, PicturePanel]] = [("Distances to the nearest released row", page.last)]
    if page.heat is not None:
        others.insert(0, ("Pairs of columns", page.heat))
    pictures += [Picture(title, (panel,), for_holder=True, across=1) for title, panel in others]
    return tuple(pictures)


def _histogram(note: str, column: RowColumn, original: RowTable, released: RowTable) -> HistogramPanel:
    values = [table.scaled(column.name) for table in (original, released)]
    real = values[0][~np.isnan(values[0])]
    edges = (value_bins(_own_numbers(column, real), BINS) - column.low) / column.width
    series = []
    for name, table, each in zip(NAMES, (original, released), values, strict=False):
        inside = np.clip(each, edges[0], edges[-1])  # numbers beyond the original's are counted at its ends
        blank = np.isnan(each)
        heights = np.histogram(inside[~blank], edges, weights=table.counts[~blank])[0] / table.rows
        series.append((name, tuple(heights.tolist())))
    ticks = tuple((float(edge), _tick(column, float(edge))) for edge in (edges[0], edges[len(edges) // 2], edges[-1]))
    return HistogramPanel(column.name, tuple(edges.tolist()), ticks, tuple(series), note=note)


def _own_numbers(column: RowColumn, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of a column as they were before they were scaled; the way there and back may cost their last digits."""
    numbers = column.low + scaled * column.width
    digits = MOST_DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(numbers), np.finfo(float).tiny)))
    finest = int(np.clip(digits.min(initial=MOST_DIGITS), 0, MOST_DIGITS))
    return np.round(numbers, finest)


def _tick(column: RowColumn, scaled: float) -> str:
    value = column.low + scaled * column.width
    return (
        str(np.datetime64(round(value), "D")) if column.is_date else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    )


def _bars(note: str, place: int, original: RowTable, released: RowTable, words: Mapping[int, str]) -> BarPanel:
    shares = [shares_of(table, place) for table in (original, released)]
    blank = original.columns[place].size - 1
    known = {**words, **({blank: "(blank)"} if shares[0][blank] + shares[1][blank] > 0 else {})}
    shown = sorted(known, key=lambda code: -shares[0][code])[:MOST_WORDS]
    others = [max(0.0, 1 - float(each[shown].sum())) for each in shares]
    has_others = max(others) > 1e-9
    labels = (*(known[code] for code in shown), *(["(rarer values)"] if has_others else []))
    series = tuple(
        (name, (*each[shown].tolist(), *([other] if has_others else [])))
        for name, each, other in zip(NAMES, shares, others, strict=False)
    )
    return BarPanel(original.columns[place].name, labels, series, note)


def _heat(shares: KeptShares) -> HeatPanel | None:
    if not shares.pairs:
        return None
    names = [each.columns[0] for each in shares.columns]
    names = [name for name in names if any(name in pair.columns for pair in shares.pairs)]
    values = np.full((len(names), len(names)), np.nan)
    place = {name: i for i, name in enumerate(names)}
    for each in shares.pairs:
        i, j = (place[name] for name in each.columns)
        values[i, j] = values[j, i] = each.variation
    for each in shares.columns:
        if each.columns[0] in place:
            values[place[each.columns[0]], place[each.columns[0]]] = each.variation
    return HeatPanel(
        "Share of rows that pairs of columns are off by (diagonal: one column)",
        tuple(names),
        tuple(map(tuple, values.tolist())),
    )


def _distances(near: Sequence[NearestRecords]) -> HistogramPanel:
    distances = [np.sqrt(each.squares[:, 0]) for each in near]
    names = NAMES[:1] if len(near) == 1 else (NAMES[0], NAMES[2])
    highest = max(float(each.max()) for each in distances)
    edges: NDArray[np.float64] = np.linspace(0, highest or 1.0, 2 * BINS + 1)
    series = []
    for name, each, values in zip(names, near, distances, strict=True):
        heights = np.histogram(values, edges, weights=each.counts)[0] / each.tried
        series.append((name, tuple(heights.tolist())))
    title = "Distance to nearest record"
    return HistogramPanel(title, tuple(edges.tolist()), (), tuple(series), "1: one differing word, or a whole width")
