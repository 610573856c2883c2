"""Bins of a date column, from public facts: the days that a user names, or calendar years and decades."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import numpy as np

from cloister.errors import UsageError
from cloister.schema import Date

__all__ = ["cut_days", "day_number"]

MOST_PERIODS = 50  # years, or else decades, that are bins of their own
BINS = 10
EPOCH = datetime.date(1970, 1, 1)


def day_number(day: datetime.date) -> int:
    """Days since 1970-01-01."""
    return (day - EPOCH).days


def cut_days(name: str, kind: Date, wanted: Any) -> tuple[list[float], tuple[str, ...]]:
    """Edges as day numbers from the lowest to the highest, and a label for each bin.

    Days that are named cut the bounds: what lies before the first of them and after the last makes bins, too.
    """
    assert kind.bounds is not None
    first, last = kind.bounds
    if wanted is None:
        days = _periods(first, last)
    elif isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        days = _equal(name, first, last, int(wanted))
    else:
        days = _named(name, wanted)
        if not all(a < b for a, b in itertools.pairwise(days)):
            raise UsageError(f'the edges of "{name}" must be days that rise, such as 1950-01-01, 1970-01-01.')
        days = [*([first] if days[0] > first else []), *days, *([last] if days[-1] < last else [])]
    labels = [f"[{a}, {b})" for a, b in itertools.pairwise(days)]
    return [float(day_number(day)) for day in days], (*labels[:-1], labels[-1][:-1] + "]")


def _periods(first: datetime.date, last: datetime.date) -> list[datetime.date]:
    """Calendar years, or decades where there are many years, or ten bins of equal width."""
    for length in (1, 10):
        years = [year for year in range(first.year + 1, last.year + 1) if year % length == 0]
        if len(years) < MOST_PERIODS:
            starts = [datetime.date(year, 1, 1) for year in years]
            return [first, *(day for day in starts if day < last), last]
    return _equal("", first, last, BINS)


def _equal(name: str, first: datetime.date, last: datetime.date, count: int) -> list[datetime.date]:
    width = (last - first).days
    if not 1 <= count <= width:
        raise UsageError(f'bins of "{name}": give a number of bins from 1 to {width:,}, which are days, or days that rise.')
    return [*(first + datetime.timedelta(days=(width * i) // count) for i in range(count)), last]


def _named(name: str, wanted: Any) -> list[datetime.date]:
    try:
        days = [datetime.date.fromisoformat(day) if isinstance(day, str) else day for day in wanted]
    except (TypeError, ValueError):
        days = []
    if not days or any(isinstance(day, datetime.datetime) or not isinstance(day, datetime.date) for day in days):
        raise UsageError(f'bins of "{name}": it holds dates. Give days such as 1950-01-01, 1970-01-01, or a number of bins.')
    return days
