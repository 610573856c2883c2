"""JSON Lines: one object a line, whose columns are declared by a schema or a call and never found in rows.

Every cell is read as text, as those of CSV are. Each by one rule, whatever else is in its line:

- a string is its text; a number is its digits as they stand there, however many; true and false are those words
- null, a key that is not there, a list or an object, and what is no JSON (NaN, Infinity) are a missing cell
- of a key that stands twice in an object the last one counts; keys that are not declared are left out
- half a pair of surrogates in a string is the replacement character

and each line by one rule:

- a line of blanks is no row; any other line that is not one JSON object (broken, a list, a number, longer than a window, nested
  too deep) is a row of missing cells
- a byte order mark at the start of a line is left out: in the first one of a file it says UTF-8
- a line that is not UTF-8 is read as Windows-1252
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from cloister.errors import SourceError, by_door
from cloister.file_options import FileOptions
from cloister.sources.csv import Streamed, text_of
from cloister.sources.records import WINDOW, Readable
from cloister.sources.source import BATCH_ROWS, distinct, present, retold
from cloister.sources.stated_names import StatedNames
from cloister.sources.text_head import PLAIN_HEAD, TextHead, pass_lines, read_text

__all__ = ["JsonLinesSource", "open_json_lines"]

LOOKED_AT = 10_000  # rows whose keys a draft lists
_BLANK = b" \t\r\n"


@dataclass(frozen=True)
class JsonLinesSource:
    """A file of JSON objects, one a line."""

    place: Streamed
    names: tuple[str, ...]
    head: TextHead = PLAIN_HEAD
    window: int = WINDOW  # bytes of the longest line
    in_memory: bool = False
    typed: bool = False  # cells are texts, as those of CSV

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; every column is text."""
        return self._batches(present(self.names, columns))

    def ragged_rows(self) -> int:
        """How many lines are no JSON object; for the holder."""
        return sum(row is None for row in self._rows())

    def broken_lines(self, most: int) -> tuple[int, int]:
        """How many of the first lines are no JSON object, and how many lines were looked at; for the holder."""
        rows = [row is None for row in islice(self._rows(), most)]
        return sum(rows), len(rows)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        rows = self._rows()
        while some := [row or {} for row in islice(rows, BATCH_ROWS)]:
            columns = [_texts([row.get(name) for row in some]) for name in names]
            if names:
                yield pa.RecordBatch.from_arrays(columns, names=names)
            else:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(some), pa.struct([])))

    def _rows(self) -> Iterator[dict[str, Any] | None]:
        with retold(self.place.shown), self.place.stream() as file:
            for line in _lines(pass_lines(text_of(file, has_header=False), self.head), self.window):
                bare = b"" if line is None else line.removeprefix(codecs.BOM_UTF8)
                if line is None or bare.strip(_BLANK):
                    yield None if line is None else _object(bare)


def open_json_lines(place: Streamed, options: FileOptions, stated: StatedNames) -> JsonLinesSource:
    """A source over a file of JSON Lines with the columns that were declared; no row is read, but for a draft."""
    head = TextHead(options.skip or 0, has_header=False)
    names = options.names or stated.of_keys()
    if not names and stated.keys_from_rows:
        rows = islice(JsonLinesSource(place, (), head)._rows(), LOOKED_AT)
        names = tuple(dict.fromkeys(_checked(key) for row in rows for key in row or ()))
        if not names:
            raise SourceError(
                f"{place.shown}: no line at its beginning is a JSON object. Give a file with one object a line."
            )
    if not names:
        raise SourceError(
            f"{place.shown}: lines of JSON do not say which columns the table has. Give a schema (cloister schema FILE drafts "
            f"one), or name the columns: {by_door('Files(..., names=[...])', '--names A,B')}."
        )
    return JsonLinesSource(place, distinct(names, place.shown), head)


def _checked(key: str) -> str:
    """A key that a column can be called by; others are no text."""
    return _SURROGATES.sub("\ufffd", key)


def _lines(stream: Readable, window: int) -> Iterator[bytes | None]:
    """Lines without their LF; None for one that is longer than a window. Memory holds a window and a line."""
    rest, is_long = b"", False
    while piece := stream.read(1 << 20):
        *lines, last = piece.split(b"\n")
        for line in lines:
            yield None if is_long or len(rest) + len(line) > window else rest + line
            rest, is_long = b"", False
        is_long = is_long or len(rest) + len(last) > window
        rest = b"" if is_long else rest + last
    if is_long or rest:
        yield None if is_long else rest


def _object(line: bytes) -> dict[str, Any] | None:
    """The object of a line by its keys, with numbers as texts; None if the line is no object."""
    try:
        value = _DECODER.decode(read_text(line))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# numbers stay as they are written; NaN and the infinities are no JSON
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=lambda _: None)
_SURROGATES = re.compile("[\ud800-\udfff]")
_WORDS = {True: "true", False: "false"}


def _texts(cells: list[Any]) -> pa.Array:
    return pa.array([_text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str | None:
    if isinstance(cell, str):
        return cell if cell.isascii() or not _is_broken(cell) else _SURROGATES.sub("\ufffd", cell)
    return _WORDS[cell] if isinstance(cell, bool) else None


def _is_broken(text: str) -> bool:
    """Whether half a pair of surrogates is in it, which has no UTF-8."""
    return _SURROGATES.search(text) is not None
