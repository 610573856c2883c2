"""Bounds that a call states, `bounds={"age": (0, 110), "born": ("1930-01-01", "2020-12-31")}`: two numbers, or two days.

Which of them is decided by the types of the two ends, and never by a row.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, TypeAlias

import numpy as np

from cloister.errors import SchemaError, UsageError
from cloister.schema.kinds import Category, Date, Kind, Number

__all__ = ["DAYS", "Ends", "check_agrees", "has_days", "read_ends"]

Ends: TypeAlias = tuple[float, float] | tuple[datetime.date, datetime.date]

DAYS = '("1930-01-01", "2020-12-31")'
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
COARSE = ("Y", "M", "generic")  # units of NumPy whose moments are no days


def read_ends(name: str, ends: Any) -> Ends:
    """Two numbers or two days, as the call gives them for a column; a moment stands for its day.

    >>> read_ends("born", ("1930-01-01", np.datetime64("2020-12-31T08:00")))
    (datetime.date(1930, 1, 1), datetime.date(2020, 12, 31))
    >>> read_ends("age", np.array([0, 110]))
    (0, 110)
    """
    wanted = UsageError(f'the bounds of column "{name}" must be two numbers, such as (0, 110), or two days, such as {DAYS}.')
    if not isinstance(ends, tuple | list | np.ndarray) or np.shape(ends) != (2,):
        raise wanted
    low, high = (_end(end) for end in ends)
    if isinstance(low, datetime.date) and isinstance(high, datetime.date):
        return low, high
    if _is_number(low) and _is_number(high):
        return low, high
    raise wanted


def has_days(ends: Any) -> bool:
    """Whether there is a day among bounds, however deep they lie."""
    if isinstance(ends, np.ndarray) and ends.dtype.kind == "M":
        return True
    if isinstance(ends, tuple | list) or (isinstance(ends, np.ndarray) and ends.ndim):
        return any(has_days(end) for end in ends)
    return isinstance(_end(ends), datetime.date) or isinstance(ends, np.datetime64)


def check_agrees(name: str, ends: Ends, known: Kind | None) -> None:
    """Refuse bounds of another kind than the schema says that the column is; `known` None: it says nothing."""
    are_days = isinstance(ends[0], datetime.date)
    if known is None or isinstance(known, Date if are_days else Number):
        return
    kind, given = type(known).__name__.lower(), "days" if are_days else "numbers"
    if isinstance(known, Date):
        advice = f"Give days, such as {DAYS}, or leave it out of the bounds."
    elif isinstance(known, Number):
        advice = "Give numbers, or leave it out of the bounds."
    elif isinstance(known, Category):
        advice = "Leave it out of the bounds, or correct the schema."
    else:
        advice = "Correct the schema, or leave it out."
    raise SchemaError(f'column "{name}" is a {kind} by the schema, and its bounds are {given}. {advice}')


def _end(end: Any) -> Any:
    """An end as a plain number or a day; anything else as it is."""
    if isinstance(end, str):
        try:
            return datetime.date.fromisoformat(end) if ISO_DAY.fullmatch(end) else end
        except ValueError:
            return end
    if isinstance(end, np.datetime64):
        day = end if np.datetime_data(end.dtype)[0] in COARSE else end.astype("datetime64[D]").item()
        return day if isinstance(day, datetime.date) else end  # no time, or a year that no calendar has
    if isinstance(end, np.generic):
        return end.item()
    if isinstance(end, datetime.datetime):  # those of pandas too, of which one is no time
        day = end.date()
        return day if type(day) is datetime.date else None
    return end


def _is_number(end: Any) -> bool:
    return isinstance(end, int | float) and not isinstance(end, bool)
