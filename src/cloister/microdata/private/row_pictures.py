"""Pictures of private rows: how each column is spread over them. The rows are made up, so counting them is free."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.parameters import check_shown
from cloister.report.picture import MeasuredBars, MeasuredSteps, Picture
from cloister.report.value_bins import value_bins

__all__ = ["row_pictures"]

MOST_COLUMNS = 12
MOST_BARS = 12  # of a column's words: the most frequent
BINS = 30
DAY_ONE = date(1970, 1, 1)
CAPTION = "Made-up rows. They follow the noisy tables that were released; that noise is in every bar, and is not drawn."


def row_pictures(table: pa.Table, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
    """How each column is spread; `columns` are those to show."""
    asked = check_shown(columns, table.schema.names, "the rows have no column")
    panels = tuple(_panel(name, table[name]) for name in asked[:MOST_COLUMNS])
    more = f" The first {MOST_COLUMNS} of {len(asked)} columns." if len(asked) > MOST_COLUMNS else ""
    title = f"{table.num_rows:,} private rows, column by column"
    return (Picture(title, panels, CAPTION + more, across=1 if len(panels) == 1 else 2),)


def _panel(name: str, cells: pa.ChunkedArray) -> MeasuredBars | MeasuredSteps:
    is_day = pa.types.is_date(cells.type)
    if is_day or pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        days = cells.cast(pa.date32()).cast(pa.int32()) if is_day else cells
        numbers = days.drop_null().cast(pa.float64(), safe=False).to_numpy()
        if len(numbers):
            return _steps(name, numbers[np.isfinite(numbers)], is_day)
    return _words(name, cells)


def _steps(name: str, numbers: np.ndarray, is_day: bool) -> MeasuredSteps:
    edges = value_bins(numbers, BINS)
    counts, _ = np.histogram(numbers, edges)
    days = np.ceil(edges[[0, len(edges) // 2, -1]]) - [0, 0, 1] if is_day else np.empty(0)  # edges lie between days
    ticks = tuple((float(day), (DAY_ONE + timedelta(days=int(day))).isoformat()) for day in days)
    return MeasuredSteps("", tuple(edges.tolist()), tuple(counts.tolist()), x_label=name, label="rows", ticks=ticks)


def _words(name: str, cells: pa.ChunkedArray) -> MeasuredBars:
    counted = pc.value_counts(cells.combine_chunks()).to_pylist()
    found = sorted(counted, key=lambda each: (-each["counts"], str(each["values"])))
    words = tuple("(blank)" if each["values"] in (None, "") else str(each["values"]) for each in found[:MOST_BARS])
    values = tuple(float(each["counts"]) for each in found[:MOST_BARS])
    note = f"({MOST_BARS} of {len(found):,} values)" if len(found) > MOST_BARS else ""
    return MeasuredBars(name, words, values, label="rows", note=note)
