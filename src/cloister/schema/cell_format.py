"""How the cells of a column are written: decimal mark, thousands, dates, and what stands for a missing value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cloister.errors import SchemaError
from cloister.parameters import check_text
from cloister.schema.date_format import ISO_PATTERN, check_date_format, date_pattern

__all__ = ["PLAIN", "THOUSANDS", "CellFormat"]

DECIMALS = (".", ",")
THOUSANDS = (",", ".", "'", "\u2019", "_", " ", "\u00a0", "\u202f")  # the last three: a blank, and two that do not break


@dataclass(frozen=True, slots=True)
class CellFormat:
    """How the text of a cell is read; what a cell holds as a number or as a date already needs no format.

    Parameters
    ----------
    decimal : "." or ","
    thousands : str, optional
        What parts groups of three digits. None: nothing may.
    date : str, optional
        The words of strptime, such as ``%d.%m.%Y``. None: ISO 8601.
    missing : tuple of str
        Texts that stand for no value, as they are written. An empty cell always does.

    Privacy
    -------
    A format is a public fact of the whole column, applied to each cell by itself: no cell is read by what others hold.

    Examples
    --------
    >>> import re
    >>> german = CellFormat(decimal=",", thousands=".")
    >>> [bool(re.search(german.number_pattern, text)) for text in ("36.993,09", "36993,09", "36.99", "1.5")]
    [True, True, False, False]
    """

    decimal: str = "."
    thousands: str | None = None
    date: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise SchemaError('decimal must be "." or ",".')
        if self.thousands is not None and self.thousands not in THOUSANDS:
            raise SchemaError("thousands must be one of , . ' ’ _ or a blank, in quotes. Leave it out if there is none.")
        if self.thousands == self.decimal:
            raise SchemaError(f'decimal and thousands are both "{self.decimal}". Change one of them.')
        object.__setattr__(self, "missing", _missing(self.missing))
        if self.date is not None:
            check_date_format(self.date)

    @property
    def number_pattern(self) -> str:
        """What the whole text of a number looks like: no "inf", no "nan", groups of exactly three digits."""
        whole, point = "[0-9]+", re.escape(self.decimal)
        if self.thousands is not None:
            whole = f"(?:[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        return rf"^[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?$"

    @property
    def date_pattern(self) -> str:
        """What the whole text of a date looks like, with a group for each part of the day."""
        return ISO_PATTERN if self.date is None else date_pattern(self.date)


def _missing(words: object) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, (tuple, list)) or not all(isinstance(w, str) for w in words):
        raise SchemaError('missing must be a list of texts, such as ["?", "NA", "-"].')
    return tuple(dict.fromkeys(check_text(word, "missing").strip() for word in words))


PLAIN = CellFormat()
"""What is not described is written as in most files for programs: 36993.09, 1980-03-11."""
