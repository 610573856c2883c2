"""Pictures of a private table: bars with intervals of each column, and a heat map of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.report.picture import HeatAxis, HeatMap, MeasuredBars, MeasuredSteps, Picture

__all__ = ["MarginCells", "table_pictures"]

MOST_BINS = 40  # of a column as bars; more are a stair with few of their names
MOST_BARS = 50  # categories: the largest of more
MOST_DOWN, MOST_ACROSS = 50, 40  # categories of a heat map: the largest of more
MOST_CELLS = 200  # bins of a heat map in either direction; more are added up
SKEWED = 30.0  # so many times the middle one, the largest cell leaves the others no colour of their own
MOST_COLUMNS = 12
NAMED = 6  # values that are written below a stair
INTERVALS = "are 95% intervals of the noise; they say nothing of whom the table does not hold."
LEFT_OUT = " A value with too few rows has none."
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class MarginCells:
    """One column of a table: its values, and of each the numbers that the rows of the table have, by their heads."""

    name: str
    labels: tuple[str, ...]
    numbers: Mapping[str, tuple[Any, ...]]
    statistics: tuple[
        tuple[str, ...], ...
    ]  # the heads of each: the number, and its standard error or the ends of its interval
    width: float  # standard errors to either side of a 95% interval
    is_ordered: bool = False  # its values are bins of numbers or days

    def largest(self, most: int) -> list[int]:
        """The places of its largest values, in their order."""
        counts = self.numbers["count"]
        return sorted(sorted(range(len(counts)), key=lambda place: -counts[place])[:most])


def table_pictures(columns: Sequence[MarginCells], pair: NDArray[Any] | None) -> tuple[Picture, ...]:
    """What a table looks like; `pair` are the counts by the two columns that are shown together."""
    pictures = []
    if pair is not None:
        pictures.append(_heat(columns, pair))
    shown = columns[:MOST_COLUMNS]
    panels = tuple(
        _bars(
            each,
            range(len(each.labels)),
            each.numbers["count"],
            each.numbers["low"],
            each.numbers["high"],
            "rows (noisy)",
        )
        for each in shown
    )
    more = f" The first {MOST_COLUMNS} of {len(columns)} columns." if len(columns) > MOST_COLUMNS else ""
    across = 1 if len(panels) == 1 else 2
    title = f"Rows by {columns[0].name}" if len(columns) == 1 else "Rows by each column"
    pictures.append(Picture(title, panels, f"{_marks(panels)} {INTERVALS}{more}", across=across))
    for heads in [one for several in (columns[0].statistics if columns else ()) for one in _one_by_one(several)]:
        panels = tuple(_statistic(each, heads) for each in shown)
        pictures.append(
            Picture(f"{heads[0].capitalize()}", panels, f"{_marks(panels)} {INTERVALS}{LEFT_OUT}", across=across)
        )
    return tuple(pictures)


def _one_by_one(heads: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The heads of each number: quantiles of one column are several numbers, each with the ends of its interval."""
    if f"low of {heads[0]}" not in heads:
        return [heads]
    return [heads[place : place + 3] for place in range(0, len(heads), 3)]


def _statistic(column: MarginCells, heads: tuple[str, ...]) -> MeasuredBars | MeasuredSteps:
    """A statistic of each value; values with too few rows have none."""
    values = column.numbers[heads[0]]
    given = [place for place, value in enumerate(values) if value is not None]
    if heads[1] == f"low of {heads[0]}":
        low, high = ([column.numbers[head][place] for place in given] for head in heads[1:3])
    else:
        reach = [column.width * column.numbers[heads[1]][place] for place in given]
        low = [values[place] - each for place, each in zip(given, reach, strict=True)]
        high = [values[place] + each for place, each in zip(given, reach, strict=True)]
    return _bars(column, given, [values[place] for place in given], low, high, f"{heads[0]} (noisy)")


def _bars(
    column: MarginCells,
    places: Sequence[int],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    label: str,
) -> MeasuredBars | MeasuredSteps:
    """A number of some values of a column, by their places: a bar each, or a stair of many bins."""
    words = [column.labels[place] for place in places]
    if column.is_ordered and len(words) > MOST_BINS:
        edges = tuple(float(place) for place in range(len(words) + 1))
        ticks = tuple((place + 0.5, words[place]) for place in range(0, len(words), -(-len(words) // NAMED)))
        return MeasuredSteps(column.name, edges, tuple(values), tuple(low), tuple(high), label=label, ticks=ticks)
    largest = set(column.largest(MOST_BARS))
    kept = [i for i, place in enumerate(places) if place in largest]
    note = f"({MOST_BARS} largest of {len(column.labels):,})" if len(column.labels) > MOST_BARS else ""
    named = tuple(words[i] or '""' for i in kept)
    shown, lowest, highest = (tuple(each[i] for i in kept) for each in (values, low, high))
    return MeasuredBars(column.name, named, shown, lowest, highest, label=label, note=note)


def _marks(panels: Sequence[MeasuredBars | MeasuredSteps]) -> str:
    kinds = {type(panel) for panel in panels}
    return {1: "Grey bands" if MeasuredSteps in kinds else "Lines"}.get(len(kinds), "Lines and grey bands")


def _heat(columns: Sequence[MarginCells], counts: Array) -> Picture:
    """The table of two columns, the one with more values below the other."""
    is_wide = counts.shape[1] > counts.shape[0]
    table, (down, across) = (counts.T, columns[::-1]) if is_wide else (counts, columns)
    y, table, note = _fewer(down, table, MOST_DOWN)
    x, turned, note_across = _fewer(across, table.T, MOST_ACROSS)
    shown = turned.T[::-1]  # the first value stands on top, as in a table
    filled = shown[shown > 0]
    is_log = bool(filled.size) and float(filled.max()) > SKEWED * float(np.median(filled))
    panel = HeatMap(
        "",
        HeatAxis(across.name, x),
        HeatAxis(down.name, y[::-1]),
        tuple(tuple(line) for line in shown.tolist()),
        label="rows (noisy), colours logarithmic" if is_log else "rows (noisy)",
        is_log=is_log,
    )
    caption = f"Each cell holds noise, which the intervals of the table's file bound.{note}{note_across}"
    return Picture(f"Rows by {columns[0].name} and {columns[1].name}", (panel,), caption, across=1)


def _fewer(column: MarginCells, table: Array, most: int) -> tuple[tuple[str, ...], Array, str]:
    """The lines of a table where they are few: of categories the largest, of bins neighbours added up; and what was done."""
    words = [word or '""' for word in column.labels]
    if column.is_ordered:
        starts = list(range(0, len(words), -(-len(words) // MOST_CELLS)))
        note = f" Neighbouring bins of {column.name} are added up." if len(starts) < len(words) else ""
        return tuple(words[start] for start in starts), np.add.reduceat(table, starts, axis=0), note
    kept = column.largest(most)
    note = f" The {most} largest of {len(words):,} values of {column.name}." if len(kept) < len(words) else ""
    return tuple(words[place] for place in kept), table[kept], note
