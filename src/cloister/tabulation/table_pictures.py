"""Pictures of a private table: bars with intervals of each column, and a heat map of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.report.picture import HeatAxis, HeatMap, MeasuredBars, MeasuredSteps, Picture

__all__ = ["MarginCells", "table_pictures"]

MOST_BARS = 40  # values of a column; more are a stair with few of their names
MOST_CELLS = 200  # of a heat map in either direction; more are added up
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


def table_pictures(columns: Sequence[MarginCells], pair: NDArray[Any] | None) -> tuple[Picture, ...]:
    """What a table looks like; `pair` are the counts by the two columns that are shown together."""
    pictures = []
    if pair is not None:
        pictures.append(_heat([each.name for each in columns], [each.labels for each in columns], pair))
    shown = columns[:MOST_COLUMNS]
    panels = tuple(
        _bars(each.name, each.labels, each.numbers["count"], each.numbers["low"], each.numbers["high"], "rows (noisy)")
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
    labels = [column.labels[place] for place in given]
    return _bars(column.name, labels, [values[place] for place in given], low, high, f"{heads[0]} (noisy)")


def _bars(
    title: str,
    words: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    label: str,
) -> MeasuredBars | MeasuredSteps:
    if len(words) <= MOST_BARS:
        named = tuple(word or '""' for word in words)
        return MeasuredBars(title, named, tuple(values), tuple(low), tuple(high), label=label)
    edges = tuple(float(place) for place in range(len(words) + 1))
    ticks = tuple((place + 0.5, words[place]) for place in range(0, len(words), -(-len(words) // NAMED)))
    return MeasuredSteps(title, edges, tuple(values), tuple(low), tuple(high), label=label, ticks=ticks)


def _marks(panels: Sequence[MeasuredBars | MeasuredSteps]) -> str:
    kinds = {type(panel) for panel in panels}
    return {1: "Grey bands" if MeasuredSteps in kinds else "Lines"}.get(len(kinds), "Lines and grey bands")


def _heat(names: Sequence[str], labels: Sequence[Sequence[str]], counts: Array) -> Picture:
    """The table of two columns, the one with more values below the other."""
    is_wide = counts.shape[1] > counts.shape[0]
    table, (down, across) = (counts.T, (1, 0)) if is_wide else (counts, (0, 1))
    y, table = _joined(labels[down], table)
    x, turned = _joined(labels[across], table.T)
    values = tuple(tuple(line) for line in turned.T[::-1].tolist())  # the first value stands on top, as in a table
    panel = HeatMap("", HeatAxis(names[across], x), HeatAxis(names[down], y[::-1]), values, label="rows (noisy)")
    note = " Neighbouring values are added up." if max(counts.shape) > MOST_CELLS else ""
    caption = f"Each cell holds noise, which the intervals of the table's file bound.{note}"
    return Picture(f"Rows by {names[0]} and {names[1]}", (panel,), caption, across=1)


def _joined(words: Sequence[str], table: Array) -> tuple[tuple[str, ...], Array]:
    """Neighbouring lines of a table added up until there are few."""
    each = -(-len(words) // MOST_CELLS)
    starts = range(0, len(words), each)
    return tuple(words[start] or '""' for start in starts), np.add.reduceat(table, list(starts), axis=0)
