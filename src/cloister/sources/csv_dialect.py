"""How a CSV file is written, for an output that should look like it. For holders: all of the file is looked at."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Any

from cloister.parameters import unknown_choice
from cloister.sources.csv import UTF16, CsvSource
from cloister.sources.opening import SeveralSources
from cloister.sources.source import retold

__all__ = ["SEMICOLON", "STANDARD", "CsvDialect", "check_dialect", "dialect_of"]

AT_ONCE = 1 << 20
NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """What parts fields and lines, and in which bytes."""

    delimiter: str = ","
    encoding: str = "utf-8"
    has_mark: bool = False  # a byte order mark
    line_end: str = "\n"
    decimal: str = "."  # of numbers that are written anew

    @property
    def encoding_name(self) -> str:
        """As people know it."""
        return NAMES[self.encoding]

    def __str__(self) -> str:
        mark = " with a byte order mark" if self.has_mark else ""
        return f"{SIGNS[self.delimiter]}, {self.encoding_name}{mark}"

    def told(self, asked: str | None) -> str:
        """A sentence on it, where a dialect was asked for by its name or not."""
        return f"Written {'with' if asked == 'semicolon' else 'as the input is:'} {self}."


STANDARD = CsvDialect()
SEMICOLON = CsvDialect(";", "utf-8", has_mark=True, line_end="\r\n", decimal=",")
"""As Excel opens it where a comma is the decimal mark: in German, French, Spanish, Italian, Dutch and Portuguese."""
DIALECTS = ("input", "standard", "semicolon")


def check_dialect(dialect: object) -> str:
    """Which dialect an output should have: the one of the input, the standard one, or that of a European Excel."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise unknown_choice("dialect", dialect, DIALECTS)
    return dialect


def dialect_of(source: Any) -> CsvDialect:
    """How the files of a source are written; the standard where they are no CSV files, or differ."""
    if isinstance(source, SeveralSources):
        found = {dialect_of(part) for part in source.parts}
        return found.pop() if len(found) == 1 else STANDARD
    return _read_dialect(source) if isinstance(source, CsvSource) else STANDARD


def _read_dialect(source: CsvSource) -> CsvDialect:
    with retold(source.place.shown), source.place.stream() as file:
        head = file.read(3)
        if source.is_utf16:
            order = "utf-16-le" if head[:2] == UTF16[0] else "utf-16-be"
            return CsvDialect(
                source.grammar.delimiter or ",", order, True, _line_end(file.read(AT_ONCE).replace(b"\0", b""))
            )
        has_mark = head == codecs.BOM_UTF8
        decoder = codecs.getincrementaldecoder("utf-8")()
        line_end, piece, encoding = None, b"" if has_mark else head, "utf-8"
        while piece := piece + file.read(AT_ONCE):
            line_end = line_end or _line_end(piece)
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                encoding, has_mark = "cp1252", False
                break
            piece = b""
    return CsvDialect(source.grammar.delimiter or ",", encoding, has_mark, line_end or "\n")


def _line_end(text: bytes) -> str:
    """The first line end of a text."""
    found = re.search(rb"\r\n?|\n", text)
    return found[0].decode() if found else "\n"
