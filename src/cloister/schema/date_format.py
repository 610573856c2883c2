"""Dates as people write them: the words of strptime as a pattern, the same on every machine.

Python's own strptime follows the locale of the machine and takes one text at a time. Here months have their English names, and
`dates_in_text` reads a whole column at once. A day and a month may have one digit or two; ``%y`` follows POSIX: 69 to 99 are
of the 20th century, 00 to 68 of the 21st.
"""

from __future__ import annotations

import re

from cloister.errors import SchemaError

__all__ = ["ISO_PATTERN", "MONTHS", "check_date_format", "date_pattern"]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "|".join(MONTHS)
_FULL_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "mon|tue|wed|thu|fri|sat|sun"
_FULL_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NAMES = frozenset({_MONTH, _FULL_MONTH, _DAYS, _FULL_DAYS})
_TWO = "[0-9]{1,2}"  # of digits; where no mark parts them from the next: exactly two
# what a word matches, and the name of what it says about the day; the time of day is read over
_WORDS: dict[str, tuple[str, str]] = {
    "Y": ("[0-9]{4}", "year"),
    "y": ("[0-9]{2}", "short"),
    "m": (_TWO, "month"),
    "d": (_TWO, "day"),
    "b": (_MONTH, "name"),
    "B": (_FULL_MONTH, "name"),
    "j": ("[0-9]{3}", "ordinal"),
    "a": (_DAYS, ""),
    "A": (_FULL_DAYS, ""),
    "H": ("[01]?[0-9]|2[0-3]", ""),
    "I": ("0?[1-9]|1[0-2]", ""),
    "M": ("[0-5]?[0-9]", ""),
    "S": ("[0-5]?[0-9]", ""),
    "f": ("[0-9]{1,6}", ""),
    "p": ("am|pm", ""),
    "z": ("z|[+-][0-9]{2}:?[0-9]{2}", ""),
}
ISO_PATTERN = r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?)?$"
_BLANKS = r"[\s\p{Z}\x0b\x1c-\x1f\x85]+"  # what Python calls a blank: the \s of Arrow's patterns is ASCII alone
_DIGITS = frozenset(f"%{word}" for word in "YymdjHIMSf")


def check_date_format(words: object) -> None:
    """Refuse a format that has unknown words, or does not say the whole day."""
    if not isinstance(words, str):
        raise SchemaError('format must be a text in quotes, such as "%d.%m.%Y".')
    said = re.findall(r"%(.)", words.replace("%%", ""))
    if unknown := [word for word in said if word not in _WORDS]:
        known = " ".join(f"%{word}" for word in _WORDS)
        raise SchemaError(f'format "{words}" has %{unknown[0]}, and only these are known: {known}.')
    parts = sorted(filter(None, (_WORDS[word][1] for word in said)))
    if len(set(parts)) < len(parts):
        raise SchemaError(f'format "{words}" says the same part of a date twice.')
    if [part for part in parts if part not in ("year", "short")] not in (["day", "month"], ["day", "name"], ["ordinal"]):
        raise SchemaError(f'format "{words}" must say day and month, such as "%d.%m.%Y".')
    if ("year" in parts) == ("short" in parts):
        raise SchemaError(f'format "{words}" must say the year once: %Y for four digits, %y for two.')


def date_pattern(words: str) -> str:
    """What the whole text of a date looks like, with a named group for each part of the day."""
    pieces = ["", *re.findall(r"%.|[^%]+|%", words), ""]
    pattern = ""
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if not piece.startswith("%") or piece in ("%", "%%"):
            pattern += re.sub(r"(?:\\?\s)+", lambda _: _BLANKS, re.escape(piece.replace("%%", "%")))
            continue
        match, name = _WORDS[piece[1]]
        if match == _TWO and {before, after} & _DIGITS:
            match = "[0-9]{2}"
        if match in _NAMES:
            match = _in_any_case(match)
        pattern += f"(?P<{name}>{match})" if name else f"(?:{match})"
    return f"(?i)^{pattern}$"


def _in_any_case(names: str) -> str:
    """Names in small or large letters, and no other: to patterns that ignore case a long s is an s, too."""
    return f"(?-i:{re.sub('[a-z]', lambda letter: f'[{letter[0]}{letter[0].upper()}]', names)})"
