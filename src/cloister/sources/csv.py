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
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv

from cloister.errors import SourceError
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.sources.places import NEVER_EMPTY, Place
from cloister.sources.records import WINDOW, Grammar, Readable, RecordRun
from cloister.sources.source import BATCH_ROWS, present, retold
from cloister.sources.text_head import PLAIN_HEAD, TextHead, pass_lines, read_head, read_text, stated_head
from cloister.work_done import counted, is_watched

__all__ = ["UTF16", "CsvSource", "Streamed", "is_blank", "open_csv", "text_of"]

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
    head: TextHead = PLAIN_HEAD  # what stands above the rows
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

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """Text, whatever the rows hold: none is read."""
        return pa.schema([(name, pa.string()) for name in present(self.names, columns)])

    def ragged_rows(self) -> int:
        """How many records have more or fewer fields than the header; for the holder."""
        with retold(self.place.shown), self.place.stream() as file:
            return sum(
                self._is_ragged(row)
                for run in self._runs(file)
                for raw, table in (self._pieces(run.raw, [0]) if run.quoted else [(run.raw, None)])
                if table is None
                for row in self.grammar.rows(raw.decode("latin-1"), run.quoted)
            )

    def raw_rows(self) -> Iterator[list[str]]:
        """The fields of each record as they are cut, undecoded; for the holder."""
        with retold(self.place.shown), self.place.stream() as file:
            for run in self._runs(file):
                yield from self.grammar.rows(run.raw.decode("latin-1"), run.quoted)

    def _is_ragged(self, row: list[str]) -> bool:
        """Whether cells are lacking or left out; behind the last name there may be blank ones, if the header has such."""
        if len(row) == len(self.names):
            return False
        return len(row) != len(self.names) + self.head.unnamed or any(row[len(self.names) :])

    def _batches(self, places: list[int], names: list[str]) -> Iterator[pa.RecordBatch]:
        with retold(self.place.shown), self.place.stream() as file:
            for run in counted(self._runs(file), self._bytes(), lambda run: len(run.raw)):
                # a column is read even if none is asked for: rows are counted by it
                table = self._table(run, places or [0])
                yield from table.rename_columns(names or ["rows"]).select(names).to_batches(BATCH_ROWS)

    def _bytes(self) -> int | None:
        """How many bytes a pass reads, where somebody watches it and that is known."""
        return self.place.plain_size() if is_watched() and isinstance(self.place, Place) else None

    def _runs(self, file: Readable) -> Iterator[RecordRun]:
        """The records below the header."""
        headed = not self.head.has_header
        for run in self.grammar.runs(pass_lines(text_of(file, self.head.has_header), self.head), self.window):
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
        width = [str(place) for place in range(len(self.names) + self.head.unnamed)]
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


def open_csv(place: Streamed, options: FileOptions = NOTHING_SAID, window: int = WINDOW) -> CsvSource:
    """A source over a delimited text file; its header is read, and where it is said to have none, nothing is."""
    with retold(place.shown), place.stream() as file:
        text = text_of(file, has_header=not options.names)
        is_utf16 = isinstance(text, codecs.StreamRecoder)
        if options.names:
            grammar, names, head = stated_head(place.shown, options)
        else:
            grammar, names, head = read_head(text, window, place.shown, options)
    return CsvSource(place, grammar, names, window, head, is_utf16=is_utf16)


def is_blank(place: Streamed) -> bool:
    """Whether a text file, unpacked, holds nothing but line ends and a byte order mark."""
    with retold(place.shown), place.stream() as file:
        text = text_of(file)
        while piece := text.read(_SMALL):
            if piece.strip(b"\r\n"):
                return False
    return not place.shown.lower().endswith(NEVER_EMPTY)


def text_of(stream: Readable, has_header: bool = True) -> Readable:
    """The stream without its byte order mark, as bytes in which ASCII is ASCII.

    Without a header the first bytes are of a row: a mark there is a part of its first cell, and the file is not taken for UTF-16.
    Otherwise how a row reads would depend on whether another stands above it.
    """
    if not has_header:
        return stream
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
        columns.append(pa.array([None if cell is None else read_text(cell) for cell in cells], pa.string()))
    return pa.table(columns, names=table.column_names)
