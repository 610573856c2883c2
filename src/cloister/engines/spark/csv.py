"""CSV on Spark: Spark cuts files into lines, and on the workers the grammar of the local engine reads them.

So a file means on Spark what it means locally. Spark's own CSV parser reads some of the same bytes as other records and cells,
and people's rows are counted by records.

Privacy
-------
A quoted cell may hold line breaks, so where a record begins is known only to whoever has read its file from the beginning. So a
file is read by one task, unless the user states publicly that no cell holds a line break: then files are read in pieces, each
line is one record, and a quote that its line does not close is a character like any other.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from pyarrow import compute

from cloister.engines.spark.session import prepare
from cloister.engines.spark.shipping import map_in_arrow
from cloister.engines.spark.work import Batches, Guarded, Work
from cloister.errors import DataError, SourceError
from cloister.sources.csv import UTF16, CsvSource
from cloister.sources.records import WINDOW, Grammar, Readable, RecordRun
from cloister.sources.text_head import SEP_LINE, TextHead, read_header

__all__ = ["quoted", "read_csv", "shown_as"]

IN_PIECES = "spark.cloister.csv.lines"
# Spark's CSV reader with all but the cutting at LF turned off: no other reader of Spark's goes through a large file in one task.
# In Latin-1 a byte is a character, so none of these marks stands in any file.
WHOLE = {
    "multiLine": True, "encoding": "ISO-8859-1", "lineSep": "\n", "header": False, "sep": "\u2460", "quote": "\u2461",
    "escape": "\u2462", "charToEscapeQuoteEscaping": "\u2463", "comment": "\u2464", "nullValue": "\u2465", "emptyValue": "",
    "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "maxCharsPerColumn": -1, "mode": "PERMISSIVE",
}  # fmt: skip
# every line carries the name of its file in eight bytes, and where the piece of the file begins that it was read with
WHERE = ("xxhash64(input_file_name()) AS file", "input_file_block_start() AS start")
PACKED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")  # what files begin with that gzip, bzip2 and zstd write


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """How a file is written: its delimiter, and its columns in their order."""

    delimiter: str
    names: tuple[str, ...]
    unnamed: int = 0  # fields behind the last name


def read_csv(session: Any, paths: list[str]) -> Any:
    """A DataFrame over CSV files: each is read by its own header, their columns are matched by name, every cell is text."""
    prepare(session)  # the workers read with Cloister's code
    layouts = find_layouts(session, paths)
    names = next(iter(layouts.values())).names
    in_pieces = str(session.conf.get(IN_PIECES, "false")).lower() == "true"
    lines = pieces_of_files(session, paths) if in_pieces else whole_files(session, paths)
    return run(lines, Parse(names, layouts, in_pieces), ", ".join(f"{quoted(name)} string" for name in names))


def quoted(name: str) -> str:
    """A column's name as Spark's SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


def run(lines: Any, work: Work, schema: str) -> Any:
    """What the workers make of lines."""
    guarded = Guarded(work)
    return map_in_arrow(lines, lambda batches: guarded(batches), schema)


def whole_files(session: Any, paths: list[str]) -> Any:
    """The lines of files, in their order, a file in one task; each byte has become a character, lines without any are lost."""
    lines = session.read.schema("line string").options(**WHOLE, recursiveFileLookup=True).csv(paths)
    return lines.selectExpr(*WHERE, "CAST(line AS binary) AS line")


def pieces_of_files(session: Any, paths: list[str]) -> Any:
    """The lines of files, read in pieces of as many bytes as Spark sees fit; lines without a byte are left out."""
    lines = session.read.option("recursiveFileLookup", True).text(paths)
    return lines.selectExpr(*WHERE, "CAST(value AS binary) AS line").where("length(line) > 0")


def find_layouts(session: Any, paths: list[str]) -> dict[int, CsvLayout]:
    """The layout of every file by the hash of its name, in the order of the names. Headers are read, and no row is looked at."""
    lines = pieces_of_files(session, paths).where("start = 0")
    files = lines.inputFiles()
    if not files:
        raise SourceError(f"{paths[0]}: the folder holds no data files.")
    # a single file need not be gone through to its end; several may be read by one task, one after the other
    heads = lines.limit(1) if len(files) == 1 else run(lines, first_lines, "file bigint, start bigint, line binary")
    headers = {head["file"]: bytes(head["line"]) for head in heads.collect()}
    if not headers:
        raise SourceError(f"{paths[0]}: the file is empty. It needs a header line with the names of its columns.")
    shown = dict.fromkeys(headers, paths[0]) if len(files) == 1 else names_of(session, files)
    layouts: dict[int, CsvLayout] = {}
    same: dict[CsvLayout, CsvLayout] = {}  # thousands of files travel as one layout
    for file in sorted(headers, key=shown.__getitem__):
        layout = layout_of(headers[file], shown[file])
        layouts[file] = same.setdefault(layout, layout)
        first = next(iter(layouts))
        if set(layout.names) != set(layouts[first].names):
            raise SourceError(
                f"{shown[file]} and {shown[first]} have different columns. Give files with the same columns,"
                " or one at a time."
            )
    return layouts


def names_of(session: Any, files: list[str]) -> dict[int, str]:
    """What files are called in messages, by the hashes of their names."""
    names = session.createDataFrame([[file] for file in files], "name string").selectExpr("name", "xxhash64(name) AS file")
    return {row["file"]: shown_as(row["name"]) for row in names.collect()}


def shown_as(url: str) -> str:
    """A file's name in a message: without passwords, and as a path where it is one."""
    parts = urlsplit(url)
    return unquote(parts.path if parts.scheme == "file" else f"{parts.scheme}://{parts.hostname or ''}{parts.path}")


def first_lines(batches: Batches) -> Batches:
    """Lines -> the first line of each file."""
    last: tuple[int, int] | None = None
    for batch in batches:
        for where, begin, _ in stretches(batch):
            if where != last:
                yield batch.slice(begin, 1)
            last = where


def layout_of(line: bytes, shown: str) -> CsvLayout:
    """What a header line says."""
    if line.startswith(UTF16):
        raise SourceError(
            f"{shown}: the file is in UTF-16, which is not read on Spark. Save it as UTF-8, or read it locally."
        )
    if line.startswith(PACKED) or b"\0" in line:
        raise SourceError(
            f"{shown}: the file is no text. If it is compressed, Spark must see it by the end of its name: .gz, .bz2, .zst."
        )
    header = line.removeprefix(codecs.BOM_UTF8).strip(b"\r\n")
    if SEP_LINE.fullmatch(header):
        raise SourceError(
            f"{shown}: the first line tells Excel the delimiter, which is not read on Spark. Remove it, or read it locally."
        )
    grammar, names, unnamed = read_header(header, shown)
    if not grammar.delimiter:
        raise SourceError(
            f"{shown}: a CSV file of one column is not read on Spark, which loses blank lines: they are rows without a value. "
            "Save it as Parquet, or read it locally."
        )
    return CsvLayout(grammar.delimiter, names, unnamed)


@dataclass(frozen=True, slots=True)
class Parse:
    """Lines, file by file or piece by piece -> rows, with the same columns in the same order."""

    names: tuple[str, ...]
    layouts: dict[int, CsvLayout]
    in_pieces: bool

    def __call__(self, batches: Batches) -> Batches:
        for (file, start), blocks in groupby(blocks_of(batches), itemgetter(0)):
            layout = self.layouts.get(file)
            if layout is None:
                raise DataError("a file was written while others were opened. Run this again when all are there.")
            grammar = (LineGrammar if self.in_pieces else Grammar)(layout.delimiter)
            # the first line of a file is passed over; a later piece gets one for it
            text = map(itemgetter(1), blocks)
            lines = chain([b"-\n"] if start else [], text if self.in_pieces else map(bytes_again, text))
            yield from CsvSource(Lines(lines), grammar, layout.names, head=TextHead(unnamed=layout.unnamed)).batches(
                self.names
            )


def blocks_of(batches: Batches) -> Iterator[tuple[tuple[int, int], bytes]]:
    """The text that the lines of a batch make up, with the file and the piece of it that they come from."""
    for batch in batches:
        for where, begin, end in stretches(batch):
            lines = batch.column("line").slice(begin, end - begin)
            ends = pa.array([0, len(lines)], pa.int32())
            joined = compute.binary_join(pa.ListArray.from_arrays(ends, lines), pa.scalar(b"\n", lines.type))
            yield where, joined[0].as_buffer().to_pybytes() + b"\n"


def bytes_again(text: bytes) -> bytes:
    """The bytes of a file whose bytes were read as characters."""
    return text if text.isascii() else text.decode().encode("latin-1")


def stretches(batch: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Where lines of one piece of one file stand together: which piece, from where, to where."""
    pair = [batch.column(name).to_numpy(zero_copy_only=False) for name in ("file", "start")]
    changes = np.flatnonzero((np.diff(pair[0]) != 0) | (np.diff(pair[1]) != 0)) + 1
    bounds = [0, *changes.tolist(), batch.num_rows] if batch.num_rows else [0]
    for begin, end in pairwise(bounds):
        yield (int(pair[0][begin]), int(pair[1][begin])), begin, end


class Lines:
    """Text that comes in blocks, as a stream that stands for a file."""

    shown = "a CSV file"

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def stream(self) -> AbstractContextManager[Any]:
        """The text from its beginning; once."""
        return nullcontext(self)

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        block = self._rest or next(self._blocks, b"")
        self._rest = block[size:]
        return block[:size]


@dataclass(frozen=True)
class LineGrammar(Grammar):
    """Records of one line each."""

    @cached_property
    def _lines(self) -> re.Pattern[bytes]:
        """As many records as there are until one whose quotes are not closed on its line."""
        d = re.escape(self.delimiter)
        field = rf'(?:"[^"\r\n]*+(?:""[^"\r\n]*+)*+"[^{d}\r\n]*+|[^"{d}\r\n][^{d}\r\n]*+|)'
        return re.compile(rf"(?:{field}(?:{d}{field})*+\n)*+".encode())

    def runs(self, stream: Readable, window: int = WINDOW) -> Iterator[RecordRun]:
        """Cut a stream of whole lines into runs of records."""
        buffer = b""
        while piece := stream.read(window):
            buffer += piece
            cut = buffer.rfind(b"\n") + 1
            yield from self._runs(buffer[:cut])
            buffer = buffer[cut:]

    def _runs(self, text: bytes) -> Iterator[RecordRun]:
        begin = 0
        while begin < len(text):
            closed_lines = self._lines.match(text, begin)
            end = closed_lines.end() if closed_lines else begin
            closed = end > begin
            if not closed:
                end = text.index(b"\n", begin) + 1
            yield RecordRun(text[begin:end], closed)
            begin = end
