"""Encoded rows in a file that has no name: kept between folds when they are too many for memory.

Privacy: the file is in no folder, so that only who may look into this process can read it, and it is gone when the process
ends, however it ends. Its bytes may stay on the disk until they are written over, as those of any temporary file.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import EngineError, raise_alone

__all__ = ["ArrayFile", "Piece", "Spill", "disk", "nameless_file", "open_spill"]

LEAST_FREE = 2 * 2**30  # bytes of the disk that are left to others
ON_DISK = "/var/tmp"  # where large temporary files belong: /tmp may be memory

Piece = tuple[int, int]  # where rows begin in the file, and how many they are


class Spill:
    """Batches of encoded rows in a file; several threads may write and read."""

    def __init__(self, file: IO[bytes], columns: tuple[int, int]) -> None:
        self._file = file
        self._columns = columns
        self._end = 0
        self._full = False
        self._lock = threading.Lock()

    def write(self, rows: Encoded) -> Piece | None:
        """Put rows into the file: where they are; None once the disk has no room."""
        size = rows.numbers.nbytes + rows.codes.nbytes
        with self._lock:
            start, self._end = self._end, self._end + size
        try:
            room = os.fstatvfs(self._file.fileno())
            if self._full or room.f_bavail * room.f_frsize < LEAST_FREE:
                return None
            whole = os.pwritev(self._file.fileno(), [rows.numbers.data, rows.codes.data], start) == size
        except OSError:
            whole = False
        if whole:
            return start, len(rows)
        self._full = True  # for good: no later write is tried
        return None

    def read(self, piece: Piece) -> Encoded:
        """The rows of a piece."""
        start, count = piece
        numbers, codes = (np.empty((count, width), dtype=np.int32) for width in self._columns)
        done = os.preadv(self._file.fileno(), [numbers.data, codes.data], start)
        if done != numbers.nbytes + codes.nbytes:
            raise OSError("a temporary file lost a part")
        return Encoded(numbers, codes)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class ArrayFile:
    """Arrays in a file, one behind the other; several threads may write and read, on any system."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._end = 0
        self._lock = threading.Lock()

    def append(self, arrays: Iterable[NDArray[Any]]) -> int:
        """Put arrays behind all others: where they begin."""
        with self._lock, told_of_the_disk():
            start = self._end
            self._file.seek(start)
            for array in arrays:
                self._file.write(in_bytes(array))
                self._end += array.nbytes
            self._file.flush()
        return start

    def read(self, *places: tuple[int, NDArray[Any]]) -> None:
        """Fill arrays, each from its own place on."""
        with self._lock, told_of_the_disk():
            for start, array in places:
                self._file.seek(start)
                if self._file.readinto(in_bytes(array)) != array.nbytes:  # type: ignore[attr-defined]
                    raise OSError("a temporary file lost a part")

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def in_bytes(array: NDArray[Any]) -> memoryview:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


@contextmanager
def told_of_the_disk() -> Iterator[None]:
    """Say what to do where a file cannot be written or read."""
    try:
        yield
    except OSError:
        raise_alone(
            EngineError(
                "the disk has no room for the rows while they are put in order by person. Free some, or let TMPDIR name "
                "a folder on another one."
            )
        )


def open_spill(columns: tuple[int, int]) -> Spill | None:
    """A new file for rows of so many numbers and codes; None where the system has no such files."""
    if not hasattr(os, "pwritev"):
        return None
    try:
        return Spill(nameless_file(disk()), columns)
    except OSError:
        return None


def disk() -> str | None:
    """Where large temporary files go; None: where Python puts them."""
    return ON_DISK if "TMPDIR" not in os.environ and os.access(ON_DISK, os.W_OK) else None


def nameless_file(folder: str | None) -> IO[bytes]:
    """A new file on the disk of a folder, and in no folder: nobody else can open it, and it ends with this process."""
    return tempfile.TemporaryFile(dir=folder)
