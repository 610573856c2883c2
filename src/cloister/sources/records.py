"""Delimited text cut into whole records, and records cut into fields, by one grammar.

A field may be quoted; a quote inside it is doubled; a quoted field may hold delimiters and line ends. A quote that does
not open a field is a character like any other. Lines end in LF, CRLF or CR; blank lines are no records.

The result does not depend on where blocks end. One rule sees to that: a record that is longer than a window has a stray
quote, and its first line alone is the record, with quotes as plain characters.
"""

from __future__ import annotations

import re
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
    """A run of whole records; `quoted` is False where quotes are plain characters."""

    raw: bytes
    quoted: bool = True


@dataclass(frozen=True)
class Grammar:
    """Records whose fields are parted by `delimiter`."""

    delimiter: str

    @cached_property
    def _whole(self) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
        """Patterns of one record, and of as many as there are."""
        d = re.escape(self.delimiter)
        # possessive throughout: no step back, so that the time is linear in the text
        field = rf'(?:"[^"]*+(?:""[^"]*+)*+"[^{d}\r\n]*+|[^"{d}\r\n][^{d}\r\n]*+|)'
        record = rf"{field}(?:{d}{field})*+(?:\r\n?|\n)"
        return re.compile(record.encode()), re.compile(rf"(?:{record})*+".encode())

    @cached_property
    def _field(self) -> re.Pattern[str]:
        d = re.escape(self.delimiter)
        return re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"([^{d}\r\n]*)|([^{d}\r\n]*))({d}|\r\n|\r|\n)')

    def runs(self, stream: Readable, window: int = WINDOW) -> Iterator[RecordRun]:
        """Cut a stream into runs of whole records. Memory holds a window, whatever the file."""
        buffer = b""
        ended = False
        while True:
            while len(buffer) < window and not ended:
                piece = stream.read(window - len(buffer))
                ended = not piece
                buffer += piece
            if ended and buffer and not buffer.endswith((b"\n", b"\r")):
                buffer += b"\n"
            if not buffer:
                return
            cut = self.whole(buffer)
            if cut:
                yield RecordRun(buffer[:cut])
            else:
                cut = _line_end(buffer)
                yield RecordRun(buffer[:cut], quoted=False)
                if not buffer.endswith((b"\n", b"\r"), 0, cut):
                    buffer, ended, cut = _rest_of_line(stream, window), False, 0
            buffer = buffer[cut:]

    def first(self, run: RecordRun) -> int:
        """Where the first record of a run ends."""
        record = self._whole[0].match(run.raw) if run.quoted else None
        return record.end() if record else _line_end(run.raw)

    def rows(self, text: str, quoted: bool = True) -> Iterator[list[str]]:
        """The fields of each record of a run, slowly; blank lines are left out."""
        if not quoted:
            yield text.rstrip("\r\n").split(self.delimiter)
            return
        row: list[str] = []
        for field in self._field.finditer(text):
            inner, rest, plain, end = field.groups()
            row.append(plain if inner is None else inner.replace('""', '"') + rest)
            if end != self.delimiter:
                if len(row) > 1 or row[0] or inner is not None:
                    yield row
                row = []

    def whole(self, text: bytes) -> int:
        """Where the last whole record ends; 0 if there is none."""
        if b'"' not in text:
            return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        records = self._whole[1].match(text)
        return records.end() if records else 0


def _line_end(text: bytes) -> int:
    """Where the first line ends, with its line end; everything if there is none."""
    line_end = re.search(rb"\r\n?|\n", text)
    return line_end.end() if line_end else len(text)


def _rest_of_line(stream: Readable, window: int) -> bytes:
    """Pass over a line that no window holds; what follows it."""
    while piece := stream.read(window):
        line_end = re.search(rb"[\r\n]", piece)
        if line_end:
            return piece[line_end.end() :]
    return b""
