"""Bins of a date column, from public facts: calendar periods, equal numbers of days, or the days that a user names."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.errors import UsageError
from cloister.schema import Date
from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import days as days_of
from cloister.tabulation.bin_edges import cut_bounds

__all__ = ["PERIODS", "cut_days", "day_number"]

MOST_PERIODS = 50  # years, or else decades, that are bins of their own
BINS = 10
EPOCH = datetime.date(1970, 1, 1)
PERIODS: dict[str, Callable[[datetime.date], str]] = {  # what the period of a day is called
    "decade": lambda day: f"{day.year // 10 * 10}s",
    "year": lambda day: f"{day.year:04}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "week": lambda day: "{:04}-W{:02}".format(*day.isocalendar()[:2]),  # as ISO 8601 numbers them, from Monday on
}


def day_number(day: datetime.date) -> int:
    """Days since 1970-01-01."""
    return (day - EPOCH).days


def cut_days(name: str, kind: Date, wanted: Any) -> tuple[list[float], tuple[str, ...]]:
    """Edges as day numbers from the lowest to the highest, and a label for each bin.

    `wanted` is a period, a number of bins, or days that cut the bounds (`cut_bounds`). Of a period that the bounds cut, the part
    within them is a bin under the name of the whole.
    """
    assert kind.bounds is not None
    first, last = kind.bounds
    period = _usual_period(first, last) if wanted is None else wanted
    if isinstance(period, str) and period.strip().lower() in PERIODS:
        return _periods(first, last, PERIODS[period.strip().lower()])
    if wanted is None or (isinstance(wanted, int | np.integer) and not isinstance(wanted, bool)):
        days = _equal(name, first, last, BINS if wanted is None else int(wanted))
    else:
        days = cut_bounds(name, _named(name, kind, wanted), first, last, (str(first), str(last)))
    labels = [f"[{a}, {b})" for a, b in itertools.pairwise(days)]
    return [float(day_number(day)) for day in days], (*labels[:-1], labels[-1][:-1] + "]")


def _usual_period(first: datetime.date, last: datetime.date) -> str | None:
    """Calendar years, or decades where there are many years, or neither."""
    years = last.year - first.year + 1
    if years <= MOST_PERIODS:
        return "year"
    return "decade" if years <= 10 * MOST_PERIODS else None


def _periods(
    first: datetime.date, last: datetime.date, label: Callable[[datetime.date], str]
) -> tuple[list[float], tuple[str, ...]]:
    """Where the calendar periods within the bounds begin, then the last day; and what they are called."""
    starts = [(day, text) for text, days in itertools.groupby(_days(first, last), label) for day in [next(days)]]
    edges = [day_number(day) for day, _ in starts]
    return [*map(float, edges), float(day_number(last))], tuple(text for _, text in starts)


def _days(first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    return (datetime.date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1))


def _equal(name: str, first: datetime.date, last: datetime.date, count: int) -> list[datetime.date]:
    width = (last - first).days
    if not 1 <= count <= width:
        raise UsageError(f'bins of "{name}": give a number of bins from 1 to {width:,}, which are days, or days that rise.')
    return [*(first + datetime.timedelta(days=(width * i) // count) for i in range(count)), last]


def _named(name: str, kind: Date, wanted: Any) -> list[datetime.date]:
    edges = [] if isinstance(wanted, str) else _items(wanted)
    days = [_day(edge, kind) for edge in edges]
    found = [day for day in days if day is not None]
    if not found or len(found) < len(days):
        written = "" if kind.format is None else f", or as the column has them, {kind.format}"
        raise UsageError(
            f'bins of "{name}": it holds dates. Give a period ({", ".join(PERIODS)}), days such as 1950-01-01, 1970-01-01'
            f"{written}; or a number of bins."
        )
    return found


def _items(wanted: Any) -> list[Any]:
    try:
        return list(wanted)
    except TypeError:
        return []


def _day(edge: Any, kind: Date) -> datetime.date | None:
    """A day, given as a date, a moment at midnight, one of NumPy's, or a text: ISO, or as the column writes it."""
    if isinstance(edge, str):
        for form in (PLAIN, kind.form):
            (number,) = days_of(pa.array([edge]), form)
            if not np.isnan(number) and (form is not PLAIN or len(edge.strip()) == len("1950-01-01")):
                return EPOCH + datetime.timedelta(days=int(number))
        return None
    if isinstance(edge, np.datetime64):
        edge = None if np.isnat(edge) else edge.astype("datetime64[us]").item()
    if isinstance(edge, datetime.datetime):
        is_midnight = edge == edge and edge.time() == datetime.time()  # pandas' NaT is a datetime that equals nothing
        return edge.date() if is_midnight else None
    return edge if isinstance(edge, datetime.date) else None
