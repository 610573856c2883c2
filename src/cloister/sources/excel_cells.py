"""How a cell of a workbook becomes a text: one rule, by that cell alone.

Cells of a workbook have types of their own, one by one. No column gets a type from them: each cell becomes the text that a
CSV file would have in its place, and the schema and the flags then say what a column holds, as for CSV:

- text as it is, rich text without its looks;
- numbers in their shortest form, whole ones without a point (1, 0.1, 1e+300);
- dates as 2024-02-29, moments as 2024-02-29 13:45:07, times of day as 13:45:00, durations as hours:minutes:seconds. A
number is one of these where the cell's own format says so, in the calendar of the workbook (from 1900 or from 1904);
- true and false;
- formulas as the value that was last computed for them, and stored;
- errors (#N/A, #DIV/0!), empty cells, and the covered cells of merged ones as nothing.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

__all__ = ["cell_text"]

_EXACT = 1e16  # whole numbers below it are written digit by digit, as `repr` does


def cell_text(cell: Any) -> str:
    """The text of a cell as the reader hands it out: a text, a float, a bool, a date, a moment, a time or a duration.

    >>> [cell_text(cell) for cell in ("007", 1.0, 0.1, -0.0, 1e300, True, "")]
    ['007', '1', '0.1', '0', '1e+300', 'true', '']
    >>> cell_text(datetime(2024, 2, 29, 13, 45, 7)), cell_text(timedelta(hours=30))
    ('2024-02-29 13:45:07', '30:00:00')
    """
    kind = type(cell)
    if kind is str:
        return str(cell)
    if kind is float:
        return str(int(cell)) if cell.is_integer() and abs(cell) < _EXACT else repr(cell)
    if kind is bool:
        return "true" if cell else "false"
    if kind is datetime:
        return str(cell.isoformat(" "))
    if kind in (date, time):
        return str(cell.isoformat())
    if kind is timedelta:
        return _duration_text(cell)
    return str(cell) if kind is int else ""


def _duration_text(duration: timedelta) -> str:
    """Hours, which may be many, minutes and seconds; a part of a second where there is one."""
    micros = duration // timedelta(microseconds=1)
    seconds, part = divmod(abs(micros), 1_000_000)
    fraction = f".{part:06}".rstrip("0") if part else ""
    return f"{'-' if micros < 0 else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
