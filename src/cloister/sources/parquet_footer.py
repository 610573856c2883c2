"""What a Parquet footer says, read without Arrow's own accessors.

`RowGroupMetaData.column` ends the process where a footer is damaged: Arrow's exception crosses code that does not expect
one. A footer is a struct in Thrift's compact protocol, of which a few fields are needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

__all__ = ["Chunk", "Footer", "chunks_of", "read_chunks", "read_footer"]

MOST_BYTES = 1 << 20  # of a footer that is looked at: a longer one has thousands of chunks, and takes too long here
MOST_LEVELS = 32
_MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _SHORT, _INT, _LONG, _DOUBLE, _BYTES, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The values of one column in one row group."""

    path: str
    values: int
    size: int  # bytes, not compressed
    has_dictionary: bool
    start: int  # its first byte in the file
    end: int


@dataclass(frozen=True, slots=True)
class Footer:
    """The fields of a footer by their numbers, and the bytes that each of them takes."""

    fields: dict[int, Any]
    raw: dict[int, bytes]


def read_footer(file: IO[bytes]) -> Footer:
    """The footer of a file, however long; ValueError where it is not as it should be."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or not 0 < length <= size - 8:
        raise ValueError("no footer")
    file.seek(size - 8 - length)
    reader = _Compact(file.read(length))
    try:
        return Footer(reader.struct(), reader.top)
    except IndexError:
        raise ValueError("a footer that ends too early") from None


def read_chunks(file: Any) -> list[Chunk] | None:
    """The chunks of a Parquet file; None where its footer is too long to look at, or not as it should be."""
    size = file.size()
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or not 0 < length <= min(MOST_BYTES, size - 8):
        return None
    file.seek(size - 8 - length)
    try:
        return list(chunks_of(_Compact(file.read(length)).struct()))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, UnicodeError):
        return None


def chunks_of(footer: dict[int, Any]) -> Iterator[Chunk]:
    """FileMetaData.row_groups (4) -> RowGroup.columns (1) -> ColumnChunk.meta_data (3)."""
    for group in footer[4]:
        for column in group[1]:
            meta = column[3]
            path = ".".join(part.decode() for part in meta[3])
            start = int(meta.get(11) or meta[9])  # a dictionary, where there is one, comes before the values
            yield Chunk(path, int(meta[5]), int(meta[6]), 11 in meta, start, start + int(meta[7]))


class _Compact:
    """A reader of Thrift's compact protocol: structs are dicts by the numbers of their fields."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._at = raw, 0
        self.top: dict[int, bytes] = {}  # what each field of the outermost struct takes

    def struct(self, level: int = 0) -> dict[int, Any]:
        """The fields up to the stop byte; none stands twice."""
        if level > MOST_LEVELS:
            raise ValueError("too deep")
        fields: dict[int, Any] = {}
        number, begin = 0, self._at
        while header := self._byte():
            step, kind = header >> 4, header & 15
            number = number + step if step else self._integer()
            if number in fields:
                raise ValueError("a field that stands twice")
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._read(kind, level + 1)
            if level == 0:
                self.top[number], begin = self._raw[begin : self._at], self._at
        return fields

    def _read(self, kind: int, level: int) -> Any:
        if kind in (_SHORT, _INT, _LONG):
            return self._integer()
        if kind in (_BYTE, _TRUE, _FALSE):  # of a list: a byte each
            return self._byte()
        if kind == _DOUBLE:
            return self._take(8)
        if kind == _BYTES:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            header = self._byte()
            size = header >> 4 if header >> 4 < 15 else self._varint()
            return [self._read(header & 15, level + 1) for _ in range(self._possible(size))]
        if kind == _STRUCT:
            return self.struct(level)
        raise ValueError("a footer has no such type")  # maps included

    def _possible(self, size: int) -> int:
        """A number of elements, each of which takes a byte at least."""
        if size > len(self._raw) - self._at:
            raise ValueError("longer than the footer")
        return size

    def _byte(self) -> int:
        self._at += 1
        return self._raw[self._at - 1]

    def _take(self, size: int) -> bytes:
        begin = self._at
        self._at += self._possible(size)
        return self._raw[begin : self._at]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("an integer of more than 64 bits")

    def _integer(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
