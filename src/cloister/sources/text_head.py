"""What stands above the rows of a text file: title lines, a `sep=` line of Excel's, and the header, or none of them.

Privacy
-------
The header line is public, so the delimiter is taken from it. A file that is said to have no header begins with a row: of it
nothing is looked at, and names and delimiter come from the call or the schema alone.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from cloister.column_names import FirstLine
from cloister.errors import SourceError, by_door
from cloister.file_options import FileOptions
from cloister.sources.records import Grammar, Readable
from cloister.sources.source import distinct

__all__ = [
    "PLAIN_HEAD",
    "SEP_LINE",
    "WINDOWS_1252",
    "TextHead",
    "header_names",
    "pass_lines",
    "read_head",
    "read_header",
    "read_text",
    "stated_head",
]

_DELIMITERS = ",;\t|"
MOST_COLUMNS = 100_000
LONGEST_NAME = 1_000  # characters
_SMALL = 1 << 15  # bytes that are read at once
SEP_LINE = re.compile(rb'"?sep=([,;\t|])"?[,;\t|]*', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextHead:
    """What stands above the rows."""

    skip: int = 0  # lines that are passed over
    has_sep_line: bool = False  # below them, a line that tells Excel the delimiter
    has_header: bool = True  # and the names of the columns
    unnamed: int = 0  # fields at the end of the header that have no name: a delimiter ends each line


PLAIN_HEAD = TextHead()


def stated_head(shown: str, options: FileOptions) -> tuple[Grammar, tuple[str, ...], TextHead]:
    """How a file without a header is read: as the call or the schema says."""
    assert options.names is not None
    ends_as_tabs = re.search(r"\.(tsv|tab)(\.\w+)?$", shown, re.IGNORECASE)
    usual = "" if len(options.names) == 1 else "\t" if ends_as_tabs else ","
    grammar = Grammar(usual if options.delimiter is None else options.delimiter)
    return grammar, options.names, TextHead(options.skip or 0, has_header=False)


def read_head(text: Readable, window: int, shown: str, options: FileOptions) -> tuple[Grammar, tuple[str, ...], TextHead]:
    """How a file with a header is read; nothing behind the header is looked at."""
    skip = options.skip or 0
    rest = _Rest(text)
    for _ in range(skip):
        rest.pass_line()
    line = rest.take_line(window, shown)
    delimiter = options.delimiter
    sep = SEP_LINE.fullmatch(line)
    if sep:
        delimiter = delimiter or sep[1].decode()
        line = rest.take_line(window, shown)
    grammar, names, unnamed = read_header(line, shown, delimiter)
    return grammar, names, TextHead(skip, sep is not None, True, unnamed)


def pass_lines(stream: Readable, head: TextHead) -> Readable:
    """The stream below its title lines and its `sep=` line; line ends are LF, CRLF or CR, whatever is quoted."""
    if not head.skip and not head.has_sep_line:
        return stream
    rest = _Rest(stream)
    for _ in range(head.skip):
        rest.pass_line()
    if head.has_sep_line:
        rest.pass_blank_lines()
        rest.pass_line()
    return rest


class _Rest:
    """A stream of which lines are passed over, in bounded memory."""

    def __init__(self, stream: Readable) -> None:
        self._stream, self._buffer = stream, b""

    def _fill(self) -> bool:
        if not self._buffer:
            self._buffer = self._stream.read(_SMALL)
        return bool(self._buffer)

    def pass_line(self) -> None:
        """Drop all up to the next line end."""
        while self._fill():
            end = re.search(rb"[\r\n]", self._buffer)
            if end is None:
                self._buffer = b""
                continue
            is_cr = end[0] == b"\r"
            self._buffer = self._buffer[end.end() :]
            if is_cr and self._fill():
                self._buffer = self._buffer.removeprefix(b"\n")
            return

    def pass_blank_lines(self) -> None:
        """Drop line ends."""
        while self._fill():
            self._buffer = self._buffer.lstrip(b"\r\n")
            if self._buffer:
                return

    def take_line(self, longest: int, shown: str) -> bytes:
        """The next line that is not blank, without its end."""
        self.pass_blank_lines()
        while not (end := re.search(rb"[\r\n]", self._buffer)):
            if len(self._buffer) >= longest:
                raise SourceError(
                    f"{shown}: the first line has no end within {longest:,} bytes. A table needs lines that end."
                )
            piece = self._stream.read(_SMALL)
            if not piece:
                break
            self._buffer += piece
        cut = end.start() if end else len(self._buffer)
        line, self._buffer = self._buffer[:cut], self._buffer[cut:]
        return line

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end."""
        if not self._buffer:
            return self._stream.read(size)
        piece = self._buffer if size < 0 else self._buffer[:size]
        self._buffer = self._buffer[len(piece) :]
        return piece


def read_header(line: bytes, shown: str, delimiter: str | None = None) -> tuple[Grammar, tuple[str, ...], int]:
    """How a file is written, its columns, and how many fields behind them have no name; by its first line without line end.

    A quote that the line leaves open is refused: it would take rows into a name, and which ones their own quotes would say.
    """
    if not line:
        raise SourceError(f"{shown}: the file is empty. It needs a header line with the names of its columns.")
    grammar = Grammar(_delimiter(line) if delimiter is None else delimiter)
    if not grammar.whole(line + b"\n"):
        raise SourceError(f"{shown}: a quote in the header line is not closed there. Names of columns hold no line breaks.")
    fields = next(grammar.rows(line.decode("latin-1") + "\n"), [])
    header = [read_text(field.encode("latin-1")).strip() for field in fields]
    unnamed = int(len(header) > 1 and not header[-1])  # a delimiter that ends each line; more of them are a title's
    names = header_names(header[: len(header) - unnamed], shown)
    return grammar, names, unnamed


def header_names(names: list[str], shown: str) -> tuple[str, ...]:
    """The names of columns by the cells of a header; a row in its place is refused, as far as it can be told."""
    if len(names) > MOST_COLUMNS:
        raise SourceError(f"{shown}: the first line has more than {MOST_COLUMNS:,} fields. Check the delimiter of the file.")
    if not any(names):
        raise SourceError(f"{shown}: the header line cannot be read. Name the columns in the first line.")
    for place, name in enumerate(names, 1):
        if not name:
            raise SourceError(
                f"{shown}: column {place} has no name in the header line. Name it, or remove the column; if the line is a title, "
                f"pass over it: {by_door('Files(..., skip=1)', '--skip 1')}."
            )
    if _looks_like_a_row(names):
        raise SourceError(
            f"{shown}: the first line looks like data, not like names. Name the columns in their order: "
            f"{by_door('Files(..., names=[...])', '--names A,B')}; or add a header line above it."
        )
    return FirstLine(distinct(names, shown))


def _looks_like_a_row(names: list[str]) -> bool:
    """Whether a header holds numbers other than rising whole ones (years, places), which people do use as names.

    A file without a header would lose its first row and publish its values as the names of columns.
    """
    if any(len(name) > LONGEST_NAME for name in names):
        return True
    number = re.compile(r"[+-]?(\d++[.,]?\d*+|[.,]\d++)([eE][+-]?\d++)?", re.ASCII)
    # a name of numbers only, parted by blanks, is a row of a file without any of the delimiters
    numbers = [word for name in names if all(map(number.fullmatch, name.split())) for word in name.split()]
    if not all(word.isdigit() for word in numbers):
        return True
    values = [int(word) for word in numbers]
    return values != sorted(set(values))


def _delimiter(line: bytes) -> str:
    """The delimiter that stands most often in the header line, outside quotes; "" if there is none: one column."""
    bare = re.sub(rb'"[^"]*("|$)', b"", line).decode("latin-1")
    if not any(map(bare.count, _DELIMITERS)):
        fields = next(Grammar(",").rows(line.decode("latin-1") + "\n"), [])  # a quote inside a name opens nothing
        return "," if len(fields) > 1 else ""
    return max(_DELIMITERS, key=bare.count)


def read_text(raw: bytes) -> str:
    """The text of a cell, and no other cell's: a byte that Windows-1252 lacks is the control character of its number."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return codecs.charmap_decode(raw, "strict", WINDOWS_1252)[0]


WINDOWS_1252 = "".join(bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(256))  # as browsers read it
