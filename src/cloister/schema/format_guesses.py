"""How the cells of a column are probably written, from a look at some of them: for drafts, which are the holder's.

Privacy
-------
A guess picks from the lists below and holds nothing else, so no value of a row gets into a draft. The holder confirms it; a
release reads by the schema alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers

__all__ = ["DIGITS", "MOSTLY", "Guess", "are_digits_of_days", "guess_date", "guess_missing", "guess_number", "usual_style"]

MOSTLY = 0.9  # a few cells that cannot be read do not change what a column is
MISSING_WORDS = ("?", "-", "--", ".", "..", "NA", "N/A", "n/a", "na", "#N/A", "null", "NULL", "NaN", "nan")
# of two formats that read as many cells the first is taken: "20,000" is rather twenty thousand than twenty
NUMBER_FORMATS = (
    PLAIN,
    CellFormat(thousands=","),
    CellFormat(decimal=","),
    CellFormat(decimal=",", thousands="."),
    *(CellFormat(decimal=mark, thousands=blank) for blank in (" ", "\u00a0", "\u202f") for mark in (",", ".")),
    *(CellFormat(thousands=mark) for mark in ("'", "\u2019")),
)
_DAYS_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y")
_MONTHS_FIRST = ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
DATE_FORMATS = (
    PLAIN,
    *(CellFormat(date=day + time) for time in _TIMES for day in (*_DAYS_FIRST, *_MONTHS_FIRST, "%Y/%m/%d", "%Y.%m.%d")),
    *(CellFormat(date=words) for words in ("%d %B %Y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%B %d, %Y", "%b %d, %Y")),
)
DIGITS = CellFormat(date="%Y%m%d")
_PLAUSIBLE = (-25_567, 47_481)  # 1900-01-01 to 2099-12-31: eight digits that are days, not numbers


@dataclass(frozen=True, slots=True)
class Guess:
    """A format that reads nearly all cells; `alternatives` read as many, and some cells otherwise."""

    form: CellFormat
    alternatives: tuple[CellFormat, ...] = ()

    def in_style(self, style: str | None) -> CellFormat:
        """The format, or the alternative that goes with the style of the file's other columns."""
        return next((form for form in (self.form, *self.alternatives) if style_of(form) == style), self.form)


def style_of(form: CellFormat) -> str:
    """What the formats of one file mostly share: the decimal mark, and whether days or months come first."""
    return form.decimal if form.date is None else form.date.replace("%b", "%m").replace("%B", "%m")[:2]


def usual_style(guesses: Iterable[Guess | None]) -> str | None:
    """The style of the columns that can be read in one way only, where that is not the plain one; None: there is none."""
    styles = Counter(style_of(guess.form) for guess in guesses if guess is not None and not guess.alternatives)
    return next((style for style, _ in styles.most_common() if style in (",", "%m")), None)


def guess_missing(written: pa.Array) -> tuple[str, ...]:
    """Those of the usual words for a missing value that occur."""
    return tuple(word for word in MISSING_WORDS if pc.any(pc.equal(written, word)).as_py())


def guess_number(values: pa.Array) -> Guess | None:
    """How numbers are written in these cells, none of them empty; None: they are not numbers."""
    return _guess(values, NUMBER_FORMATS, numbers)


def guess_date(values: pa.Array) -> Guess | None:
    """How dates are written in these cells, none of them empty; None: they are not dates."""
    return _guess(values, DATE_FORMATS, days)


def are_digits_of_days(values: pa.Array) -> bool:
    """Whether these cells are days such as 19800311, which would pass for numbers."""
    read = days(values, DIGITS)
    plausible = (read >= _PLAUSIBLE[0]) & (read <= _PLAUSIBLE[1])
    return len(values) > 0 and bool(plausible.sum() >= MOSTLY * len(values))


def _guess(
    values: pa.Array, formats: tuple[CellFormat, ...], read: Callable[[pa.Array, CellFormat], NDArray[np.float64]]
) -> Guess | None:
    readings = {form: read(values, form) for form in formats}
    counts = {form: int(np.isfinite(cells).sum()) for form, cells in readings.items()}
    most = max(counts.values())
    if not len(values) or most < MOSTLY * len(values):
        return None
    best, *others = [form for form, count in counts.items() if count == most]
    different = [form for form in others if not np.array_equal(readings[form], readings[best], equal_nan=True)]
    return Guess(best, tuple(different))
