"""How a cell of a Stata, SPSS or SAS file is read: by what the file declares of its column and by that cell alone.

- Numbers have the width that is declared; SPSS and SAS know doubles alone. Codes stay codes: value labels are not looked at.
- System-missing values, all kinds of user-missing values (.a, ranges of SPSS), NaN and blank texts are missing.
- A number that its column's format shows as a day or a moment is one, by the calendar of its program. One before the year 1
or after 9999 is missing. Times of day and durations stay numbers, and so do Stata's weeks, months, quarters, half-years and
moments with leap seconds (%tC).
- Texts are in the encoding that the file declares; where it declares none in UTF-8, and one that is no UTF-8 in Windows-1252.
Bytes that are no text there stay apart from each other, as bytes that are no UTF-8.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["SAS", "SPSS", "STATA", "AnyBytes", "Program", "cells_of"]

_NUMBERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "float": pa.float32(), "double": pa.float64()}
_EPOCH = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH  # the days that a calendar has
_SECONDS = 86_400  # of a day
_MICROS = 1_000_000  # of a second


@dataclass(frozen=True)
class Program:
    """How a program counts time, and which formats of its columns show it."""

    name: str
    days: re.Pattern[str]
    moments: re.Pattern[str]
    origin: date
    per_day: int  # what a day counts in columns of days
    per_second: int  # what a second counts in columns of moments

    def kind(self, stored: str, format: str | None) -> pa.DataType:
        """The type of a column, by what is declared of it.

        >>> STATA.kind("float", "%tdCCYY-NN-DD"), SPSS.kind("double", "F8.2"), SAS.kind("string", "DATE9")
        (DataType(date32[day]), DataType(double), DataType(large_string))
        """
        if stored == "string":
            return pa.large_string()
        if format and self.days.match(format):
            return pa.date32()
        return pa.timestamp("us") if format and self.moments.match(format) else _NUMBERS[stored]

    def days_of(self, numbers: NDArray[np.float64]) -> pa.Array:
        """The days that numbers stand for; a part of a day is dropped."""
        days = np.floor(numbers / self.per_day) + (self.origin.toordinal() - _EPOCH)
        known = (days >= _FIRST) & (days <= _LAST)  # never of NaN
        return pa.array(np.where(known, days, 0).astype(np.int32), pa.date32(), mask=~known)

    def moments_of(self, numbers: NDArray[np.float64]) -> pa.Array:
        """The moments that numbers stand for, to the microsecond."""
        start = (self.origin.toordinal() - _EPOCH) * _SECONDS
        seconds = np.floor(numbers / self.per_second)
        known = (seconds >= _FIRST * _SECONDS - start) & (seconds < (_LAST + 1) * _SECONDS - start)
        whole = np.where(known, seconds, 0)
        rest = np.where(known, numbers - whole * self.per_second, 0) * (_MICROS // self.per_second)
        micros = (whole.astype(np.int64) + start) * _MICROS + np.clip(np.rint(rest), 0, _MICROS - 1).astype(np.int64)
        return pa.array(micros, pa.timestamp("us"), mask=~known)


_WIDTH = r"\d*(\.\d*)?$"
STATA = Program("Stata", re.compile(r"%-?t?d"), re.compile(r"%-?tc(?!HH:MM(:SS)?$)"), date(1960, 1, 1), 1, 1000)
SPSS = Program(
    "SPSS",
    re.compile(r"([AEJS]?DATE|MOYR|QYR|WKYR)" + _WIDTH),
    re.compile(r"(DATETIME|YMDHMS)" + _WIDTH),
    date(1582, 10, 14),
    _SECONDS,
    1,
)
SAS = Program(
    "SAS",
    re.compile(r"(DATE|(WEEK|WORD)DAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(IS|E|B)8601DA|MONYY|JULIAN|NLDATE)" + _WIDTH),
    re.compile(r"(DATETIME|(IS|E|B)8601D[TN]|DATEAMPM|MDYAMPM|DTDATE|NLDATM)" + _WIDTH),
    date(1960, 1, 1),
    1,
    1,
)


class AnyBytes:
    r"""Texts that the reader handed out as if each of their bytes were a character of its own.

    The reader stops at bytes that are no text in the encoding of the file, and one cell must not end the reading of all. So
    it is told an encoding in which every byte is a character (`READ_AS`), and the encoding of the file is applied here.

    >>> AnyBytes("WINDOWS-1252").text("caf\xe9 \x80").decode(), AnyBytes("UTF-8").text("caf\xe9")
    ('café €', b'caf\xe9')
    """

    READ_AS = "ISO-8859-1"

    def __init__(self, encoding: str | None) -> None:
        self._codec = codecs.lookup(encoding).name if encoding else ""  # LookupError: Python has none of that name
        if self._codec and not _reads_any_bytes(self._codec):
            raise LookupError

    def text(self, cell: str | None) -> bytes | None:
        """The text as UTF-8, as far as it is one; None where it is blank."""
        if not cell or not cell.strip(" "):
            return None
        raw = cell.encode("latin-1")
        if cell.isascii() or self._codec == "utf-8":
            return raw
        if self._codec:
            return raw.decode(self._codec, "surrogateescape").encode("utf-8", "surrogatepass")
        return raw if _is_utf8(raw) else raw.decode("cp1252", "surrogateescape").encode("utf-8", "surrogatepass")


def _reads_any_bytes(codec: str) -> bool:
    """Whether every byte of ASCII is itself in an encoding, so that one that is none opens nothing and ends nothing.

    >>> [_reads_any_bytes(name) for name in ("cp1252", "shift_jis", "iso2022_jp", "utf-7", "utf-16", "cp037")]
    [True, True, False, False, False, False]
    """
    try:
        return all(bytes([code]).decode(codec, "surrogateescape") == chr(code) for code in range(128))
    except (UnicodeError, LookupError):
        return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def cells_of(program: Program, kind: pa.DataType, cells: Sequence[Any], texts: AnyBytes) -> pa.Array:
    """A column of cells as the reader handed them out, None for what is missing; of the declared type whatever they are."""
    if pa.types.is_large_string(kind):
        return pa.array(map(texts.text, cells), pa.large_binary()).view(kind)
    if kind in (pa.date32(), pa.timestamp("us")):
        numbers = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        return program.days_of(numbers) if kind == pa.date32() else program.moments_of(numbers)
    return pa.array(cells, kind, from_pandas=True)  # NaN is missing too
