"""Dates in text as days: a whole column at once, each cell by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.schema.arrow_numpy import to_mask, to_numbers
from cloister.schema.date_format import MONTHS

__all__ = ["days_in_text"]

CENTURY = 69  # two digits of a year from here on are of the 20th century, as in POSIX


def days_in_text(trimmed: pa.Array, pattern: str) -> NDArray[np.float64]:
    """Each text as a number of days since 1970-01-01; NaN where it does not match, or where there is no such day.

    The groups of the pattern are those of `date_format`: year or short (of two digits), and month or name with day, or ordinal.

    >>> from cloister.schema.date_format import date_pattern
    >>> days_in_text(pa.array(["11.03.1980", "31.02.1980", "1980-03-11"]), date_pattern("%d.%m.%Y")).tolist()
    [3722.0, nan, nan]
    """
    matched = pc.extract_regex(trimmed, pattern)
    parts = {field.name: _whole_numbers(matched, field.name) for field in matched.type}
    year = parts["year"] if "year" in parts else parts["short"] + np.where(parts["short"] < CENTURY, 2000, 1900)
    month = parts.get("month", parts.get("name", np.ones_like(year)))
    first = ((year - 1970).astype("M8[Y]").astype("M8[M]") + (month - 1).astype("m8[M]")).astype("M8[D]")
    day = first + (parts["ordinal" if "ordinal" in parts else "day"] - 1).astype("m8[D]")
    # the 31st of February would be a day in March; such a day cannot be read
    span = "M8[Y]" if "ordinal" in parts else "M8[M]"
    exists = (day.astype(span) == first.astype(span)) & (year >= 1) & (month >= 1) & (month <= 12)
    return np.where(exists & to_mask(pc.is_valid(matched)), day.astype(np.int64), np.nan)


def _whole_numbers(matched: pa.Array, group: str) -> NDArray[np.int64]:
    """One group of each match as a number, the name of a month as its place, 0 if it is none; 1 where there is no match."""
    words = pc.if_else(pc.is_valid(matched), pc.struct_field(matched, group), None)
    if group == "name":
        short = pc.utf8_lower(pc.utf8_slice_codeunits(words, 0, 3))
        numbers = pc.fill_null(pc.add(pc.index_in(short, value_set=pa.array(MONTHS, short.type)), 1), 0)
    else:
        numbers = words.cast(pa.int64())
    return to_numbers(numbers.cast(pa.int64()), null=1)
