"""Signs that a file is not read as it is meant, for the holder: another delimiter, a title above the header, no header at all.

Privacy
-------
The first rows are looked at. The words are for the holder's eyes, and no private verb may ask for them.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise

from cloister.column_names import FirstLine
from cloister.errors import LikelyMisread, by_door, warn_of_release
from cloister.sources.csv import CsvSource, text_of
from cloister.sources.excel import ExcelSource
from cloister.sources.json_lines import JsonLinesSource
from cloister.sources.opening import SeveralSources
from cloister.sources.source import retold
from cloister.sources.text_head import pass_lines

__all__ = ["warn_of_misreading"]

LOOKED_AT = 100  # rows
LOOKED_AT_BYTES = 1 << 16
LOOKED_AT_LINES = 10_000  # of JSON
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)
_DELIMITERS = (b",", b";", b"\t", b"|")


def warn_of_misreading(opened: object) -> None:
    """Warn the holder of data that was opened, if its first rows say that it is meant otherwise."""
    for source in opened.parts[:1] if isinstance(opened, SeveralSources) else (opened,):
        words = ""
        if isinstance(source, CsvSource):
            rows = list(islice(source.raw_rows(), LOOKED_AT))
            words = _of_delimiter(source, rows) or _of_title(source, rows) or _of_no_header(source.names, rows)
        elif isinstance(source, ExcelSource):
            has_title = len(source.names) == 1 and source.has_cells_beside(LOOKED_AT)
            words = _title("one name", "more") if has_title else _of_no_header(source.names, [])
        elif isinstance(source, JsonLinesSource):
            words = _of_json(source)
        if words:
            warn_of_release(words, LikelyMisread, 3)


def _of_delimiter(source: CsvSource, rows: list[list[str]]) -> str:
    """What is said where every row has one field, and several columns are named."""
    if len(source.names) == 1 or {len(row) for row in rows} != {1}:
        return ""
    said = by_door('Files(..., delimiter=";")', "--delimiter semicolon")
    return (
        f"{len(source.names)} columns are named, and the first rows have one field each: the file may have another delimiter. "
        f"Say which, for example {said}."
    )


def _of_title(source: CsvSource, rows: list[list[str]]) -> str:
    """What is said where every row has more fields than names stand in the first line."""
    named = len(source.names) + source.head.unnamed
    if not isinstance(source.names, FirstLine) or not rows:
        return ""
    if named > 1:
        widths = {len(row) for row in rows}
        is_title = len(widths) == 1 and min(widths) > named
    else:  # without a delimiter a row is one cell: does one of them stand in each line, as often, outside of quotes?
        lines = _lines_below(source)
        often = [{line.count(sign) for line in lines} for sign in _DELIMITERS]
        is_title = len(lines) > 1 and any(len(counts) == 1 and min(counts) > 0 for counts in often)
    return _title("one name" if named == 1 else f"{named} names", "more") if is_title else ""


def _lines_below(source: CsvSource) -> list[bytes]:
    """The first lines below the header, without what stands in quotes."""
    with retold(source.place.shown), source.place.stream() as file:
        text, start = pass_lines(text_of(file), source.head), b""
        while len(start) < LOOKED_AT_BYTES and (piece := text.read(LOOKED_AT_BYTES)):  # which may be short
            start += piece
    lines = [line for line in start.splitlines() if line.strip()]
    whole = lines if len(start) < LOOKED_AT_BYTES else lines[:-1]
    return [re.sub(rb'"[^"]*"', b"", line) for line in whole[1 : LOOKED_AT + 1]]


def _title(names: str, cells: str) -> str:
    return (
        f"the header has {names}, and rows below it have {cells} cells. If it is a title above the header, give "
        f"{by_door('Files(..., skip=1)', '--skip 1')}."
    )


def _of_no_header(names: tuple[str, ...], rows: list[list[str]]) -> str:
    """What is said where the names of columns are numbers, or stand below as cells: the first line may be a row."""
    if not isinstance(names, FirstLine):
        return ""
    numbers = [float(name.replace(",", ".")) for name in names if _NUMBER.fullmatch(name)]
    steps = {after - before for before, after in pairwise(numbers)}
    is_numbered = len(numbers) > 1 and len(steps) == 1  # years, or places
    is_repeated = any(cell.strip() == name for row in rows for name, cell in zip(names, row, strict=False))
    if not is_repeated and (not numbers or is_numbered):
        return ""
    said = by_door('Files(..., names=["age", ...])', "--names age,...")
    return (
        "the first line may be a row and not a header: a name in it is a number, or stands below as a value. If it is one, name "
        f"the columns in their order: {said}."
    )


def _of_json(source: JsonLinesSource) -> str:
    """What is said where lines are no JSON objects: each is a row in which everything is missing."""
    broken, lines = source.broken_lines(LOOKED_AT_LINES)
    first = "the first " * (lines == LOOKED_AT_LINES)
    if not broken:
        return ""
    return (
        f"{broken:,} of {first}{lines:,} lines are no JSON objects: they are read as rows in which every value is missing."
    )
