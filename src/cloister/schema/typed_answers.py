"""Answers as people type them, and values as they would type them: for the questions of `interview`."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import pyarrow as pa

from cloister.column_names import nearest_name
from cloister.errors import SchemaError
from cloister.schema.cell_format import CellFormat
from cloister.schema.cell_values import days
from cloister.schema.format_guesses import DATE_FORMATS
from cloister.schema.kinds import Date, Number

__all__ = [
    "read_date_format",
    "read_flag",
    "read_name",
    "read_number",
    "read_number_style",
    "read_pair",
    "read_texts",
    "read_whole",
    "read_word",
    "show",
    "show_date_format",
    "show_number_style",
]

NONE = "none"
EXAMPLE_DAY = date(2024, 12, 31)
STYLE = re.compile("1(?P<thousands>[,.'\u2019_ \u00a0\u202f]?)234(?P<decimal>[.,])5")


def read_word(text: str, words: Iterable[str]) -> str:
    """One of some words, or the beginning of one alone.

    >>> read_word("Num", ["number", "category"])
    'number'
    """
    known = list(words)
    near = [word for word in known if word.startswith(text.casefold())]
    if text.casefold() in known:
        return text.casefold()
    if len(near) == 1:
        return str(near[0])
    raise SchemaError(f"type one of {', '.join(known)}.{nearest_name(text, known)}")


def read_pair(text: str, read: Callable[[str], Any] | None = None) -> tuple[Any, Any] | None:
    """Two numbers, or two days, with a blank, a comma, "to" or two points between them; none.

    >>> read_pair("0 to 110", read_number), read_pair("1900-01-01, 2030-12-31")
    ((0.0, 110.0), (datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)))
    """
    if text == NONE:
        return None
    parts = [part for part in re.split(r"\s+to\s+|\.\.|[\s,;:\[\]()]+", text) if part]
    if len(parts) != 2:
        raise SchemaError("type two values with a blank between them, the lower first, or none.")
    low, high = ((read or read_day)(part) for part in parts)
    return low, high


def read_number(text: str) -> float | None:
    """A number with a point; none."""
    if text == NONE:
        return None
    try:
        return float(text)
    except ValueError:
        raise SchemaError("type numbers with digits and a point, such as 0.5, or none.") from None


def read_day(text: str) -> date:
    """A day in ISO form, or with points: then the day comes first wherever people write so.

    >>> read_day("31.12.2024") == read_day("2024-12-31")
    True
    """
    with_points = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", text, re.ASCII)
    try:
        if with_points:
            day, month, year = map(int, with_points.groups())
            return date(year, month, day)
        return date.fromisoformat(text)
    except ValueError:
        raise SchemaError("type days as year-month-day, such as 1990-12-31 or 31.12.1990, or none.") from None


def read_whole(text: str) -> int:
    """A whole number of at least 1."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise SchemaError("type a whole number of at least 1.")
    return int(text)


def read_texts(text: str) -> tuple[str, ...] | None:
    """Texts with commas between them; one that holds a comma stands in quotes. none: nothing.

    >>> read_texts('f, m, "not told, or unknown"')
    ('f', 'm', 'not told, or unknown')
    """
    if text == NONE:
        return None
    try:
        cells = next(csv.reader([text], skipinitialspace=True, strict=True))
    except (csv.Error, StopIteration):
        raise SchemaError("a quotation mark is not closed. Type values with commas between them, or none.") from None
    return tuple(cell.strip() for cell in cells if cell.strip()) or None


def read_flag(text: str) -> bool:
    """Yes or no."""
    return read_word(text, ["yes", "no"]) == "yes"


def read_name(text: str) -> str | None:
    """A name; none."""
    return None if text == NONE else text


def read_number_style(text: str) -> dict[str, str | None]:
    """How 1234.5 is written.

    >>> read_number_style("1.234,5")
    {'decimal': ',', 'thousands': '.'}
    """
    found = STYLE.fullmatch(text)
    if not found or found["thousands"] == found["decimal"]:
        raise SchemaError("type one thousand two hundred thirty-four and a half as the column writes it, such as 1.234,5.")
    return {"decimal": found["decimal"], "thousands": found["thousands"] or None}


def read_date_format(text: str) -> str | None:
    """How 2024-12-31 is written: as a day, or in the words of strptime; None: in ISO form.

    >>> read_date_format("31.12.2024"), read_date_format("%m/%d/%y"), read_date_format("2024-12-31")
    ('%d.%m.%Y', '%m/%d/%y', None)
    """
    if "%" in text:
        return Date(format=text).format
    cell, wanted = pa.array([text]), (EXAMPLE_DAY - date(1970, 1, 1)).days
    for form in DATE_FORMATS:
        if days(cell, form)[0] == wanted:
            return form.date
    raise SchemaError("type the last day of 2024 as the column writes it, such as 31.12.2024, or its format: %d.%m.%Y.")


def show(value: object) -> str:
    """A value as it would be typed.

    >>> show((0.0, 110.0)), show(("f", "m, or so")), show(None)
    ('0 110', 'f, "m, or so"', 'none')
    """
    if value is None or value == ():
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, tuple) and isinstance(value[0], str):
        return ", ".join(f'"{text}"' if "," in text else text for text in value)
    return " ".join(show(part) for part in value) if isinstance(value, tuple) else str(value)


def show_number_style(kind: Number) -> str:
    """1234.5 as a column writes it."""
    return f"1{kind.thousands or ''}234{kind.decimal}5"


def show_date_format(words: str | None) -> str:
    """The last day of 2024 as a column writes it, or its format."""
    if words is None:
        return EXAMPLE_DAY.isoformat()
    plain = {"%d": "31", "%m": "12", "%Y": "2024", "%y": "24"}
    shown = re.sub("%.", lambda found: plain.get(found.group(), found.group()), words)
    return words if "%" in shown or days(pa.array([shown]), CellFormat(date=words))[0] != 20_088 else shown
