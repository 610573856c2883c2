"""Delimited text cut into whole records, and records cut into fields, by one grammar.

A field may be quoted; a quote inside it is doubled; a quoted field may hold delimiters and line ends. A quote that does
not open a field is a character like any other. Lines end in LF, CRLF or CR. Blank lines are no records, except in files of one
column, whose grammar has no delimiter: there a blank line is a record without a value.

The result does not depend on where blocks end. One rule sees to that: a record that is longer than a window has a stray
quote, and its first line alone is the record, with quotes as plain characters.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

__all__ = ["WINDOW", "Grammar", "Readable", "RecordRun"]

WINDOW = 1 << 22  # bytes


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class RecordRun:
    """A run of whole records; where quotes are plain characters, `quoted` is False and each line is a record."""

    raw: bytes
    quoted: bool = True


@dataclass(frozen=True)
class Grammar:
    """Records whose fields are parted by `delimiter`; "" in files of one column, whose records are single fields."""

    delimiter: str

    @cached_property
    def _whole(self) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
        """Patterns of one record, and of as many as there are."""
        d = re.escape(self.delimiter)
        # possessive throughout: no step back, so that the time is linear in the text
        field = rf'(?:"[^"]*+(?:""[^"]*+)*+"[^{d}\r\n]*+|[^"{d}\r\n][^{d}\r\n]*+|)'
        more_fields = rf"(?:{d}{field})*+" if d else ""
        record = rf"{field}{more_fields}(?:\r\n?|\n)"
        return re.compile(record.encode()), re.compile(rf"(?:{record})*+".encode())

    @cached_property
    def _field(self) -> re.Pattern[str]:
        d = re.escape(self.delimiter)
        # text that ends without a line end still matches: a search that fails would begin again at every character
        parted = rf"{d}|" if d else ""
        return re.compile(rf'(?:"([^"]*+(?:""[^"]*+)*+)"([^{d}\r\n]*+)|([^{d}\r\n]*+))({parted}\r\n|\r|\n|\Z)')

    def runs(self, stream: Readable, window: int = WINDOW) -> Iterator[RecordRun]:
        """Cut a stream into runs of whole records. Memory holds two windows, whatever the file."""
        ahead = _Ahead(stream)
        while ahead.fill(window):
            view = ahead.buffer[:window]
            cut = self.whole(view)
            if cut:
                cut = ahead.whole_line_end(cut)
                yield RecordRun(ahead.buffer[:cut])
                ahead.drop(cut)
            elif not view.endswith((b"\n", b"\r"), 0, _line_end(view)):
                yield RecordRun(view, quoted=False)
                ahead.drop_line(window)
            else:
                ahead.fill(2 * window)
                yield from self._unclosed(ahead, window)

    def _unclosed(self, ahead: _Ahead, window: int) -> Iterator[RecordRun]:
        """Cut lines from where a record begins that a window does not hold, up to a window of them, in linear time.

        Every line end that this record runs over stands inside its quotes. So does a record that begins in one of those
        lines, from its first line end on: if it does not end in its own line, it ends where the first one ends.
        """
        buffer = ahead.buffer
        whole = self._whole[0].match(buffer)
        end = whole.end() if whole else len(buffer) + window  # beyond what any of these records may reach
        start, began, quoted = 0, 0, True  # the records from `began` up to `start` make a run
        while start < min(window, len(buffer)):
            line_end = _line_end(buffer, start, start + window)
            if not buffer.endswith((b"\n", b"\r"), start, line_end):
                break  # a line that no window holds
            is_whole = self._whole[0].match(buffer, start, line_end) is not None
            if not is_whole and start and end - start <= window:
                break
            if is_whole != quoted:
                if began < start:
                    yield RecordRun(buffer[began:start], quoted)
                began, quoted = start, is_whole
            start = ahead.whole_line_end(line_end)
        if began < start:
            yield RecordRun(buffer[began:start], quoted)
        ahead.drop(start)

    def first(self, run: RecordRun) -> int:
        """Where the first record of a run ends."""
        record = self._whole[0].match(run.raw) if run.quoted else None
        return record.end() if record else _line_end(run.raw)

    def rows(self, text: str, quoted: bool = True) -> Iterator[list[str]]:
        """The fields of each record of a run, slowly."""
        if not quoted:
            lines = re.split(r"\r\n?|\n", text.removesuffix("\n").removesuffix("\r"))
            for line in lines:
                if line or not self.delimiter:
                    yield line.split(self.delimiter) if self.delimiter else [line]
            return
        row: list[str] = []
        for field in self._field.finditer(text):
            inner, rest, plain, end = field.groups()
            if not end and not row and not plain and inner is None:
                return  # the end of a text whose last line has its line end
            row.append(plain if inner is None else inner.replace('""', '"') + rest)
            if not self.delimiter or end != self.delimiter:
                if len(row) > 1 or row[0] or inner is not None or not self.delimiter:
                    yield row
                row = []

    def whole(self, text: bytes) -> int:
        """Where the last whole record ends; 0 if there is none."""
        if b'"' not in text:
            return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        records = self._whole[1].match(text)
        return records.end() if records else 0


_LINE_END = re.compile(rb"\r\n?|\n")


def _line_end(text: bytes, start: int = 0, end: int = sys.maxsize) -> int:
    """Where the line that begins at `start` ends, with its line end; `end`, or the text's, if there is none."""
    line_end = _LINE_END.search(text, start, end)
    return line_end.end() if line_end else min(end, len(text))


class _Ahead:
    """What was read of a stream and is not used yet."""

    def __init__(self, stream: Readable) -> None:
        self._stream, self._ended = stream, False
        self.buffer = b""

    def fill(self, size: int) -> bool:
        """Read until there are so many bytes, or all; the last line gets its line end. False: nothing is left."""
        while len(self.buffer) < size and not self._ended:
            piece = self._stream.read(size - len(self.buffer))
            self._ended = not piece
            self.buffer += piece
        if self._ended and self.buffer and not self.buffer.endswith((b"\n", b"\r")):
            self.buffer += b"\n"
        return bool(self.buffer)

    def whole_line_end(self, end: int) -> int:
        """The place behind a line end, which may have been cut between CR and LF."""
        if not self.buffer.endswith(b"\r", 0, end):
            return end
        self.fill(end + 1)
        return end + self.buffer.startswith(b"\n", end)

    def drop(self, used: int) -> None:
        """Forget what was used."""
        self.buffer = self.buffer[used:]

    def drop_line(self, window: int) -> None:
        """Pass over the first line, which no window holds."""
        self.drop(window)
        while self.buffer or self.fill(window):
            line_end = re.search(rb"[\r\n]", self.buffer)
            self.drop(self.whole_line_end(line_end.end()) if line_end else len(self.buffer))
            if line_end:
                return
