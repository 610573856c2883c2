"""A CSV file as Arrow wrote it, written again in another dialect: delimiter, encoding, byte order mark, line ends.

Arrow quotes every text, and no number holds a comma or a line end. So what stands outside quotes are delimiters and line ends
alone, and what stands inside stays as it is.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from cloister.sources.csv_dialect import STANDARD, CsvDialect
from cloister.sources.text_head import WINDOWS_1252

__all__ = ["write_again", "write_decimal_commas"]

AT_ONCE = 1 << 20
_MARKS = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "cp1252": b""}
_CELL = re.compile(rb'"(?:[^"]|"")*"|[^";\r\n]+|;|\r\n')  # of a file in the dialect of semicolons
_DECIMAL = re.compile(rb'("?)(-?(?:0|[1-9]\d*))\.(\d+(?:[eE][-+]?\d+)?)\1')
_TABLE = codecs.charmap_build(WINDOWS_1252)


def write_again(path: Path, dialect: CsvDialect) -> CsvDialect:
    """Write a staged file of commas, LF and UTF-8 in a dialect, and return the one that it has then.

    Where the encoding lacks a character, or a cell would be read back as another text, it is UTF-8 with a byte order mark.
    """
    if dialect == STANDARD or not path.is_file():  # on Spark an output is a folder
        return STANDARD
    again = path.with_name(path.name + ".again")
    try:
        _write(path, again, dialect)
    except UnicodeError:
        dialect = replace(dialect, encoding="utf-8", has_mark=True)
        _write(path, again, dialect)
    os.replace(again, path)
    return dialect


def write_decimal_commas(path: Path, columns: frozenset[int]) -> None:
    """Write the numbers in some columns of a file in the dialect of semicolons with decimal commas.

    A cell is a number if it is one from end to end, without zeros in front: 01.02 is a day.
    """
    again = path.with_name(path.name + ".again")
    with path.open("rb") as read, again.open("wb") as written:
        commas, rest = _DecimalCommas(columns), b""
        for piece in _pieces(read):
            rest += piece
            if rest.count(b'"') % 2 == 0:  # no cell goes on in the next piece
                written.write(_CELL.sub(commas.replaced, rest))
                rest = b""
        written.write(rest)
    os.replace(again, path)


class _DecimalCommas:
    """Cells of a file one after another, and in which column they stand."""

    def __init__(self, columns: frozenset[int]) -> None:
        self._columns, self._column = columns, 0
        self._is_header = True

    def replaced(self, found: re.Match[bytes]) -> bytes:
        """A cell, a delimiter or a line end, as it is to be written."""
        token = found[0]
        if token in (b";", b"\r\n"):
            self._column = self._column + 1 if token == b";" else 0
            self._is_header &= token == b";"
        elif not self._is_header and self._column in self._columns and (number := _DECIMAL.fullmatch(token)):
            return b"%b%b,%b%b" % (number[1], number[2], number[3], number[1])
        return token


def _write(source: Path, target: Path, dialect: CsvDialect) -> None:
    encode = _encode_windows if dialect.encoding == "cp1252" else _encoder(dialect.encoding)
    marks = [(b",", dialect.delimiter.encode()), (b".", dialect.decimal.encode()), (b"\n", dialect.line_end.encode())]
    with source.open("rb") as read, target.open("wb") as written:
        written.write(_MARKS[dialect.encoding] if dialect.has_mark else b"")
        is_quoted = False
        for piece in _pieces(read):
            is_quoted, replaced = _replaced(piece, is_quoted, marks)
            written.write(encode(replaced))


def _replaced(piece: bytes, is_quoted: bool, marks: Sequence[tuple[bytes, bytes]]) -> tuple[bool, bytes]:
    r"""A piece with other marks outside quotes, and whether it ends inside; a mark is one byte, and becomes one or more.

    >>> _replaced(b'"a,b",1.5\n', False, [(b",", b";"), (b".", b","), (b"\n", b"\r\n")])
    (False, b'"a,b";1,5\r\n')
    """
    old = np.frombuffer(piece, np.uint8)
    quotes = np.cumsum(old == ord('"'), dtype=np.uint8)  # it wraps around at 256, which leaves odd and even as they are
    is_outside = (quotes & 1) == is_quoted
    new, places, added = old.copy(), [], []
    for mark, other in marks:
        if mark != other:
            at = np.flatnonzero(is_outside & (old == mark[0]))
            new[at] = other[0]
            places += [at + 1] * (len(other) - 1)
            added += [np.full(len(at), byte, np.uint8) for byte in other[1:]]
    if places:
        new = np.insert(new, np.concatenate(places), np.concatenate(added))
    return is_quoted ^ bool(quotes[-1] & 1), new.tobytes()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """A file in pieces that end where lines do, so that no character is cut."""
    rest = b""
    while piece := file.read(AT_ONCE):
        head, line_end, tail = piece.rpartition(b"\n")
        if line_end:
            yield rest + head + line_end
            rest = tail
        else:
            rest += piece
    if rest:
        yield rest


def _encoder(encoding: str) -> Callable[[bytes], bytes]:
    if encoding == "utf-8":
        return lambda piece: piece
    return lambda piece: piece.decode().encode(encoding)


def _encode_windows(piece: bytes) -> bytes:
    """Windows-1252, in which no cell may be UTF-8 by chance: it would be read as that."""
    if piece.isascii():
        return piece
    encoded = codecs.charmap_encode(piece.decode(), "strict", _TABLE)[0]
    for cell in encoded.split(b'"'):
        if not cell.isascii() and _is_utf8(cell):
            raise UnicodeError("a cell would be read as another text")
    return encoded


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
