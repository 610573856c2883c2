"""Which comparisons of a column with constants fail on no row.

Privacy
-------
A database may convert the cells of a column for a comparison with a constant of another type, and a cell that cannot be
converted ends the reading for all: `v = 1` over texts, one of which is "x". So the type of a column says which constants it
may be compared with, and what is not on the list is refused before anything is charged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

__all__ = ["ANYTHING", "OTHER", "Comparison", "Constant", "number_constant"]

Constant = str | int | float | bool | None

ANYTHING = "anything"  # a database that compares whatever with whatever
OTHER = "other"  # no type of the list
_LONGEST_PATTERN = 1_000  # SQLite refuses long patterns of LIKE, at the first row
_LARGEST_FLOAT = 1e30  # single precision holds it
_WHOLE = re.compile(r"[0-9]{1,39}")
_FRACTION = re.compile(r"[0-9]{1,17}(\.[0-9]{0,17})?([eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?)?")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column of a WHERE and the constants that it is compared with."""

    column: str
    constants: tuple[Constant, ...]
    operator: str = "="  # or "IS" or "LIKE"; all others are as "="

    def never_fails(self, kind: str) -> bool:
        """Whether it fails on no cell of a column of this kind.

        Kinds are anything, text, float, boolean, date, moment, whole numbers as int64 or uint8, and other.

        >>> Comparison("v", (1,)).never_fails("text"), Comparison("v", ("a", None)).never_fails("text")
        (False, True)
        >>> [Comparison("v", (number,)).never_fails("uint8") for number in (255, 256, -1, 1.5, "1")]
        [True, False, False, False, False]
        """
        if self.operator == "LIKE":
            (pattern,) = self.constants
            return kind in ("text", ANYTHING) and isinstance(pattern, str) and len(pattern) <= _LONGEST_PATTERN
        if self.operator == "IS":
            return kind == ANYTHING or all(
                each is None or (kind == "boolean" and _fits(each, kind)) for each in self.constants
            )
        return kind != OTHER and all(each is None or _fits(each, kind) for each in self.constants)


def number_constant(text: str, is_negative: bool = False) -> int | float | None:
    """A number as it stands in a query; None where it is too long or of another form.

    >>> number_constant("12"), number_constant("1.50", is_negative=True), number_constant("0x1f"), number_constant("1e400")
    (12, -1.5, None, None)
    """
    if _WHOLE.fullmatch(text):
        return -int(text) if is_negative else int(text)
    if _FRACTION.fullmatch(text):
        return -float(text) if is_negative else float(text)
    return None


def _fits(constant: str | int | float | bool, kind: str) -> bool:
    """Whether a constant is a value of a column of this kind."""
    if kind == ANYTHING:
        return True
    if isinstance(constant, bool):
        return kind == "boolean"
    if isinstance(constant, str):
        return kind == "text" or (kind in ("date", "moment") and _is_moment(constant, _DATE if kind == "date" else _MOMENT))
    if kind == "float":
        return abs(constant) <= _LARGEST_FLOAT
    return isinstance(constant, int) and _is_within(constant, kind)


def _is_within(number: int, kind: str) -> bool:
    """Whether a kind such as int16 or uint64 holds a number; the lowest one is left out, as it is written by its opposite."""
    bits = kind.removeprefix("u").removeprefix("int")
    if not bits.isdigit():
        return False
    high: int = (1 << int(bits) - (not kind.startswith("u"))) - 1
    return (0 if kind.startswith("u") else -high) <= number <= high


def _is_moment(text: str, form: re.Pattern[str]) -> bool:
    if not form.fullmatch(text):
        return False
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False
