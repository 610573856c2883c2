"""CSV as it comes: any of four delimiters, UTF-8, UTF-16 or Windows-1252, compressed or not, ragged lines and all.

Every cell is read as text, because a type that is inferred from the first rows aborts on a later one. A line with too
few fields is filled with nulls, one with too many is cut: no line aborts a run, and none is dropped.

Privacy
-------
How a record is read depends on that record and the header: the delimiter is taken from the header, not from the rows; the
header is one line, and nothing behind it is looked at before the rows are read. A header without a delimiter has one column, and
every line below it is one cell, blank ones included. A cell with bytes that are not UTF-8 is read as Windows-1252, whatever the
other cells of its line hold. What a record is depends on quotes: a line whose quoted field is left open runs on to the next
quote, if one follows within a window, and takes the lines between into its record.
The guarantee is about records as they are cut here, so a file must be quoted properly for a record to be a person's row.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv

from cloister.column_names import FirstLine
from cloister.errors import SourceError
from cloister.sources.places import NEVER_EMPTY
from cloister.sources.records import WINDOW, Grammar, Readable, RecordRun
from cloister.sources.source import BATCH_ROWS, distinct, present, retold

__all__ = ["UTF16", "CsvSource", "is_blank", "open_csv", "read_header"]

_DELIMITERS = ",;\t|"
MOST_COLUMNS = 100_000
LONGEST_NAME = 1_000  # characters
_NO_DELIMITER = b"\x1f"  # where it stands, a file of one column is read slowly
_SMALL = 1 << 15  # bytes that are read slowly without looking for the ragged line among them
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # what files in UTF-16 begin with


class Streamed(Protocol):
    """What bytes are read from: a file, or what stands for one."""

    @property
    def shown(self) -> str:
        """Its name in messages."""
        ...

    def stream(self) -> AbstractContextManager[Any]:
        """The bytes from the beginning, decompressed."""
        ...


@dataclass(frozen=True)
class CsvSource:
    """A delimited text file."""

    place: Streamed
    grammar: Grammar
    names: tuple[str, ...]
    window: int = WINDOW
    in_memory: bool = False
    typed: bool = False  # a CSV file does not say which of its columns are numbers
    is_utf16: bool = False

    def keeping_kinds(self) -> CsvSource:
        """The same rows, for a private verb, which takes no UTF-16: a byte too few in one line changes all lines behind it."""
        if self.is_utf16:
            raise SourceError(
                f"{self.place.shown}: the file is in UTF-16, where a broken line changes how all others are read. Save it as "
                "UTF-8, for example with: iconv -f UTF-16 -t UTF-8"
            )
        return self

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; every column is text."""
        wanted = present(self.names, columns)
        places = {name: place for place, name in enumerate(self.names)}
        return self._batches([places[name] for name in wanted], wanted)

    def ragged_rows(self) -> int:
        """How many records have more or fewer fields than the header; for the holder."""
        width = len(self.names)
        with retold(self.place.shown), self.place.stream() as file:
            return sum(
                len(row) != width
                for run in self._runs(file)
                for raw, table in (self._pieces(run.raw, [0]) if run.quoted else [(run.raw, None)])
                if table is None
                for row in self.grammar.rows(raw.decode("latin-1"), run.quoted)
            )

    def _batches(self, places: list[int], names: list[str]) -> Iterator[pa.RecordBatch]:
        with retold(self.place.shown), self.place.stream() as file:
            for run in self._runs(file):
                # a column is read even if none is asked for: rows are counted by it
                table = self._table(run, places or [0])
                yield from table.rename_columns(names or ["rows"]).select(names).to_batches(BATCH_ROWS)

    def _runs(self, file: Readable) -> Iterator[RecordRun]:
        """The records below the header."""
        headed = False
        for run in self.grammar.runs(_text(file), self.window):
            if not headed:
                headed, run = self._below_header(run)
            if run.raw:
                yield run

    def _below_header(self, run: RecordRun) -> tuple[bool, RecordRun]:
        raw = run.raw.lstrip(b"\r\n")
        return bool(raw), RecordRun(raw[self.grammar.first(RecordRun(raw, run.quoted)) :] if raw else raw, run.quoted)

    def _table(self, run: RecordRun, places: list[int]) -> pa.Table:
        raw = run.raw
        pieces = self._pieces(raw, places) if run.quoted else [(raw, None)]
        tables = [self._slow(piece, run.quoted, places) if table is None else table for piece, table in pieces]
        table = pa.concat_tables(tables)
        return table if _is_utf8(raw) else _decoded(table)

    def _pieces(self, raw: bytes, places: list[int]) -> Iterator[tuple[bytes, pa.Table | None]]:
        """Arrow reads what it can; around a ragged line, where it can only stop, is a small piece without a table."""
        if self._is_fast(raw):
            try:
                yield raw, self._fast(raw, places)
                return
            except pa.ArrowInvalid:
                pass
        cut = self.grammar.whole(raw[: len(raw) // 2]) if len(raw) > _SMALL else 0
        if cut:
            cut += raw.startswith(b"\r\n", cut - 1)  # a line end stays whole
            yield from self._pieces(raw[:cut], places)
            yield from self._pieces(raw[cut:], places)
        else:
            yield raw, None

    def _is_fast(self, raw: bytes) -> bool:
        """Whether Arrow may try: it fails at lines that are all blank, and one column needs a delimiter that nothing holds."""
        return bool(raw.strip(b"\r\n")) if self.grammar.delimiter else _NO_DELIMITER not in raw

    def _fast(self, raw: bytes, places: list[int]) -> pa.Table:
        width = [str(place) for place in range(len(self.names))]
        chosen = [str(place) for place in places]
        # Arrow drops one byte order mark from the start of all it is given: with one of ours it never drops one of a row's
        marked = codecs.BOM_UTF8 + raw
        return csv.read_csv(
            pa.BufferReader(marked),
            # one block: the run is whole records, and Arrow must not cut it again
            read_options=csv.ReadOptions(use_threads=False, column_names=width, block_size=len(marked) + 1),
            parse_options=csv.ParseOptions(
                delimiter=self.grammar.delimiter or _NO_DELIMITER.decode(),
                newlines_in_values=True,
                ignore_empty_lines=bool(self.grammar.delimiter),
            ),
            convert_options=csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(chosen, pa.string()),
                include_columns=list(dict.fromkeys(chosen)),
                strings_can_be_null=False,
            ),
        ).select(chosen)

    def _slow(self, raw: bytes, quoted: bool, places: list[int]) -> pa.Table:
        cells: list[list[bytes | None]] = [[] for _ in places]
        for row in self.grammar.rows(raw.decode("latin-1"), quoted):  # a byte is a character
            for column, place in zip(cells, places, strict=True):
                column.append(row[place].encode("latin-1") if place < len(row) else None)
        columns = [pa.array(column, pa.binary()).view(pa.string()) for column in cells]
        return pa.table(columns, names=[str(place) for place in places])


def open_csv(place: Streamed, window: int = WINDOW) -> CsvSource:
    """A source over a delimited text file; its header is read."""
    with retold(place.shown), place.stream() as file:
        text = _text(file)
        grammar, names = read_header(_first_line(text, window, place.shown), place.shown)
    return CsvSource(place, grammar, names, window, is_utf16=isinstance(text, codecs.StreamRecoder))


def is_blank(place: Streamed) -> bool:
    """Whether a text file, unpacked, holds nothing but line ends and a byte order mark."""
    with retold(place.shown), place.stream() as file:
        text = _text(file)
        while piece := text.read(_SMALL):
            if piece.strip(b"\r\n"):
                return False
    return not place.shown.lower().endswith(NEVER_EMPTY)


def _first_line(stream: Readable, longest: int, shown: str) -> bytes:
    """The first line that is not blank, without its end; nothing behind it is looked at."""
    head = b""
    while piece := stream.read(_SMALL):
        head = (head + piece).lstrip(b"\r\n")
        if line_end := re.search(rb"[\r\n]", head):
            return head[: line_end.start()]
        if len(head) >= longest:
            raise SourceError(f"{shown}: the first line has no end within {longest:,} bytes. A table needs lines that end.")
    return head


def read_header(line: bytes, shown: str) -> tuple[Grammar, tuple[str, ...]]:
    """How a file is written and what its columns are called, by its first line, without byte order mark and line end.

    A quote that the line leaves open is refused: it would take rows into a name, and which ones their own quotes would say.
    """
    if not line:
        raise SourceError(f"{shown}: the file is empty. It needs a header line with the names of its columns.")
    grammar = Grammar(_delimiter(line))
    if not grammar.whole(line + b"\n"):
        raise SourceError(f"{shown}: a quote in the header line is not closed there. Names of columns hold no line breaks.")
    fields = next(grammar.rows(line.decode("latin-1") + "\n"), [])
    return grammar, _names([_read_text(field.encode("latin-1")) for field in fields], shown)


def _names(header: list[str], shown: str) -> tuple[str, ...]:
    names = [name.strip() for name in header]
    if len(names) > MOST_COLUMNS:
        raise SourceError(f"{shown}: the first line has more than {MOST_COLUMNS:,} fields. Check the delimiter of the file.")
    if not any(names):
        raise SourceError(f"{shown}: the header line cannot be read. Name the columns in the first line.")
    for place, name in enumerate(names, 1):
        if not name:
            raise SourceError(f"{shown}: column {place} has no name in the header line. Name it, or remove the column.")
    if _looks_like_a_row(names):
        raise SourceError(f"{shown}: the first line looks like data, not like names. Add a header line above it.")
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


def _text(stream: Readable) -> Readable:
    """The stream without its byte order mark, as bytes in which ASCII is ASCII."""
    mark = stream.read(3)
    if mark == codecs.BOM_UTF8:
        return stream
    rest = _Joined(mark, stream)
    if mark.startswith(UTF16):
        # half a pair of surrogates becomes bytes that are not UTF-8: then its cell, and no other, is read as such
        return codecs.EncodedFile(rest, "utf-8", "utf-16", "surrogatepass")  # type: ignore[arg-type]
    return rest


class _Joined:
    """Bytes that were read ahead, then the stream."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int = -1, /) -> bytes:
        head, self._head = self._head[:size], self._head[size:]
        return head or self._stream.read(size)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(table: pa.Table) -> pa.Table:
    """Cells that are not UTF-8 are taken for Windows-1252, each by itself."""
    columns = []
    for column in table.columns:
        cells = column.cast(pa.binary(), safe=False).to_pylist()
        columns.append(pa.array([None if cell is None else _read_text(cell) for cell in cells], pa.string()))
    return pa.table(columns, names=table.column_names)


def _read_text(raw: bytes) -> str:
    """The text of a cell, and no other cell's: a byte that Windows-1252 lacks is the control character of its number."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return codecs.charmap_decode(raw, "strict", _WINDOWS_1252)[0]


_WINDOWS_1252 = "".join(bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(256))  # as browsers read it
