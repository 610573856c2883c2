"""Files of xz, which Arrow does not unpack: they stream in bounded memory, however far a few bytes swell."""

from __future__ import annotations

import lzma
from typing import Any, Self

__all__ = ["XzStream"]

MOST_MEMORY = 1 << 30  # of an unpacker: what xz -9 wrote needs 65 MB
READ_AT_ONCE = 1 << 16


class XzStream:
    """The bytes of an .xz file: one stream after the other, as xz itself reads them."""

    def __init__(self, packed: Any) -> None:
        self._packed, self._input, self._is_over = packed, b"", False
        self._unpacker: lzma.LZMADecompressor | None = None

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end."""
        try:
            return self._read(size)
        except lzma.LZMAError as error:
            raise OSError("not xz") from error

    def _read(self, size: int) -> bytes:
        while not self._is_over:
            if self._unpacker is None and not self._begin():
                break
            assert self._unpacker is not None
            if self._unpacker.needs_input and not self._input:
                self._input = self._packed.read(READ_AT_ONCE)
                if not self._input:
                    raise EOFError("the file ends in the middle")
            piece = self._unpacker.decompress(self._input, size)
            self._input = b""
            if self._unpacker.eof:
                self._input, self._unpacker = self._unpacker.unused_data, None
            if piece:
                return piece
        return b""

    def _begin(self) -> bool:
        """Whether there is one more stream; zeros may stand between two."""
        while not self._input.lstrip(b"\0"):
            self._input = self._packed.read(READ_AT_ONCE)
            if not self._input:
                self._is_over = True
                return False
        self._input = self._input.lstrip(b"\0")
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._packed.close()
