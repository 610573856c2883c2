"""What a workbook holds and how large it is, before its cells are read: sheets by name, sizes, and the area of a sheet.

A sheet is read whole, and the reader takes memory for every cell between the first and the last that is used, used or not.
So a file of a few bytes may ask for all memory there is: by parts that unpack to many gigabytes, or by one cell in the last
corner of a sheet. Both are refused here, by what the file says of itself and by the places of its cells, never by what a
cell holds.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any
from xml.etree import ElementTree

from cloister.errors import SourceError

__all__ = ["MOST_AREA", "MOST_BYTES", "Sheet", "check_area", "check_sizes", "list_sheets"]

MOST_BYTES = 1 << 30  # of one part, unpacked
MOST_STRUCTURE = 1 << 26  # of the parts that list sheets
MOST_AREA = 40_000_000  # cells from the first to the last used, or about 3 GB
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # as Excel has them
_CHUNK = 1 << 20
_CELL = re.compile(rb"<(?:[\w.-]+:)?c(?=[\s/>])")
_PLACE = re.compile(rb"""<(?:[\w.-]+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["']""")
_LONGEST_TAG = 1 << 12
_RESAVE = "Open it in a spreadsheet program and save it anew as .xlsx, or as CSV UTF-8."


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook."""

    name: str
    is_visible: bool
    part: str | None  # where its cells are; None: a chart


def list_sheets(book: zipfile.ZipFile, shown: str) -> list[Sheet]:
    """The sheets in their order."""
    try:
        targets = {
            link.get("Id"): (link.get("Type", ""), link.get("Target", ""))
            for link in _elements(book, "xl/_rels/workbook.xml.rels", "Relationship")
        }
        sheets = []
        for sheet in _elements(book, "xl/workbook.xml", "sheet"):
            link = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), None)
            kind, target = targets[link]
            if ".." in target or "\\" in target:
                raise KeyError(link)
            part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            is_table = kind.endswith("/worksheet")
            sheets.append(
                Sheet(sheet.get("name", ""), sheet.get("state", "visible") == "visible", part if is_table else None)
            )
    except (KeyError, ElementTree.ParseError, UnicodeError):
        raise SourceError(f"{shown}: the workbook's own list of sheets is broken. {_RESAVE}") from None
    return sheets


def _elements(book: zipfile.ZipFile, part: str, tag: str) -> list[Any]:
    if book.getinfo(part).file_size > MOST_STRUCTURE:
        raise KeyError(part)
    root = ElementTree.fromstring(book.read(part))
    return [element for element in root.iter() if element.tag.rpartition("}")[2] == tag]


def check_sizes(book: zipfile.ZipFile, parts: list[str], shown: str) -> None:
    """Refuse parts that unpack to more than fits, as the directory of the file says, and two parts of one name."""
    names = [name.lower() for name in book.namelist()]
    if len(set(names)) != len(names):
        raise SourceError(f"{shown}: the workbook holds two parts of one name. {_RESAVE}")
    for part in parts:
        size = book.getinfo(part).file_size if part in book.NameToInfo else 0
        if size > MOST_BYTES:
            raise SourceError(
                f"{shown}: a part of the workbook unpacks to {size / 1e9:.1f} GB, and a sheet is read whole; the limit is "
                f"{MOST_BYTES >> 30} GiB. Save the sheet as CSV UTF-8 or Parquet, which are read in pieces."
            )


def check_area(book: zipfile.ZipFile, part: str, shown: str) -> None:
    """Refuse a sheet whose used area is too large to be held, by the places of its cells."""
    last_row = last_column = 0
    with book.open(part) as file:
        for piece in _tags(file, shown):
            places = _PLACE.findall(piece)
            if len(places) != len(_CELL.findall(piece)):
                raise SourceError(f"{shown}: some cells of the sheet do not say where they are. {_RESAVE}")
            if places:
                last_column = max(last_column, *(_column_number(letters) for letters in {letters for letters, _ in places}))
                last_row = max(last_row, *(int(row) for row in {row for _, row in places}))
    if last_row > MOST_ROWS or last_column > MOST_COLUMNS:
        raise SourceError(f"{shown}: the sheet has more than {MOST_ROWS:,} rows or {MOST_COLUMNS:,} columns. {_RESAVE}")
    if last_row * last_column > MOST_AREA:
        raise SourceError(
            f"{shown}: the used area of the sheet is {last_row:,} rows by {last_column:,} columns, and at most "
            f"{MOST_AREA:,} "
            "cells are read. Delete what stands far from the table, or save the sheet as CSV UTF-8 or Parquet."
        )


def _tags(file: IO[bytes], shown: str) -> Iterator[bytes]:
    """The bytes in pieces that cut no tag."""
    rest = file.read(_LONGEST_TAG)
    if b"\0" in rest:  # UTF-16, in which no place would be found
        raise SourceError(f"{shown}: the sheet is not written in UTF-8. {_RESAVE}")
    while piece := file.read(_CHUNK):
        piece = rest + piece
        cut = piece.rfind(b"<")
        if cut < 0 or len(piece) - cut > _CHUNK + _LONGEST_TAG:  # a tag, or the text behind it, of a megabyte
            cut = len(piece)
        rest = piece[cut:]
        yield piece[:cut]
    if rest:
        yield rest


def _column_number(letters: bytes) -> int:
    """The place of a column by its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
