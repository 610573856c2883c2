"""Rows of which each person has at most so many, held person by person: in memory, or in temporary files when large.

A batch is cut down first, and lies in the order of its owners' hashes; so the people between two hashes are a slice of it. Then
the slices of all batches meet, for a few people at a time: memory holds a few of them, however many rows and people there are.

Privacy: what is spilled are encoded rows of the table, in files without a name, as in `spill`: they are gone when the process
ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.engines.base import Draw
from cloister.engines.local.spill import ArrayFile, disk, nameless_file
from cloister.engines.passes import in_order
from cloister.engines.sampling import Owned, sample_people
from cloister.kernels.loops.arrays import I32
from cloister.kernels.per_unit import at_most
from cloister.schema.unit import Unit
from cloister.work_done import counted

__all__ = ["HeldRows", "cut_down", "hold"]

OWNER_BYTES = 16
ALL = slice(None)
PARTS = 1024  # slices of a batch, by the first bits of the owners: a thousandth of the rows fits into memory
PART_SHIFT = np.uint64(64 - 10)
WRITTEN_PARTS = 64  # parts that are written at a time
BLOCK_ROWS = 65_536
BATCH_ROWS = 16_384  # smaller batches are joined: each is cut into its parts

Widths = tuple[int, int]  # how many numbers and codes a row has

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OwnedPiece:
    """Where rows with their owners begin in a file, and how many they are."""

    start: int
    count: int


class OwnedFile:
    """Rows with their owners in a temporary file."""

    def __init__(self, columns: Widths) -> None:
        self._file = ArrayFile(nameless_file(disk()))
        self._columns = columns

    def append(
        self, owners: Iterable[NDArray[np.uint64]], numbers: Iterable[I32], codes: Iterable[I32], count: int
    ) -> OwnedPiece:
        """Put rows behind all others, each of the three in pieces that together are those of `count` rows."""
        return OwnedPiece(self._file.append(chain(owners, numbers, codes)), count)

    def owners(self, piece: OwnedPiece, some: slice = ALL) -> NDArray[np.uint64]:
        """Whose rows some of a piece are, (n, 2)."""
        first, last, _ = some.indices(piece.count)
        owners = np.empty((last - first, 2), np.uint64)
        self._file.read((piece.start + OWNER_BYTES * first, owners))
        return owners

    def rows(self, piece: OwnedPiece, some: slice = ALL) -> Encoded:
        """Some rows of a piece."""
        first, last, _ = some.indices(piece.count)
        numbers, codes = (np.empty((last - first, width), np.int32) for width in self._columns)
        of_number, of_code = (4 * width for width in self._columns)
        of_numbers = piece.start + OWNER_BYTES * piece.count
        of_codes = of_numbers + of_number * piece.count
        self._file.read((of_numbers + of_number * first, numbers), (of_codes + of_code * first, codes))
        return Encoded(numbers, codes)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class HeldRows:
    """Bounded rows, person by person; a person may reach from one block into the next.

    Parameters
    ----------
    columns : how many numbers and codes a row has
    memory : bytes beyond which blocks go to a file
    """

    def __init__(self, columns: Widths, memory: int) -> None:
        self._columns = columns
        self._room = memory
        self._blocks: list[Owned | OwnedPiece] = []
        self._file: OwnedFile | None = None

    def add(self, owners: NDArray[np.uint64], rows: Encoded) -> None:
        """Take the rows of the next people."""
        for start in range(0, len(rows), BLOCK_ROWS):
            some = slice(start, start + BLOCK_ROWS)
            block = owners[some], Encoded(rows.numbers[some], rows.codes[some])
            self._room -= size_of(block)
            if self._room >= 0:
                self._blocks.append(block)
                continue
            if self._file is None:
                self._file = OwnedFile(self._columns)
            self._blocks.append(self._file.append([owners[some]], [rows.numbers[some]], [rows.codes[some]], len(block[0])))

    def each(self, work: Callable[[Encoded], T]) -> Generator[T]:
        """What some work makes of each block."""
        return in_order(counted(self._blocks, len(self._blocks)), lambda block: work(self._rows(block)))

    def sample(self, keep: Draw) -> list[Encoded]:
        """All rows of the people that a draw keeps, one draw a person."""
        return list(sample_people(((self._owners(block), self._rows(block)) for block in self._blocks), keep))

    def close(self) -> None:
        """Let the rows go, and the file that they are in."""
        self._blocks = []
        if self._file is not None:
            self._file.close()
            self._file = None

    def _owners(self, block: Owned | OwnedPiece) -> NDArray[np.uint64]:
        return open_file(self._file).owners(block) if isinstance(block, OwnedPiece) else block[0]

    def _rows(self, block: Owned | OwnedPiece) -> Encoded:
        return open_file(self._file).rows(block) if isinstance(block, OwnedPiece) else block[1]


class Gathered:
    """Batches that are cut down, in memory or in a file, of which the rows of some people can be had together.

    Parameters
    ----------
    columns : how many numbers and codes a row has
    """

    def __init__(self, columns: Widths) -> None:
        self._columns = columns
        self._file: OwnedFile | None = None
        self._pieces: list[OwnedPiece] = []
        self._piece_ends: list[NDArray[np.int64]] = []  # where the parts of each piece end, (PARTS + 1,)
        self._waiting: list[Owned] = []
        self._waiting_ends: list[NDArray[np.int64]] = []

    def add(self, batch: Owned) -> None:
        """Take a batch."""
        self._waiting.append(batch)
        part = (batch[0][:, 0] >> PART_SHIFT).astype(np.int64)
        self._waiting_ends.append(np.searchsorted(part, np.arange(PARTS + 1)))

    def write(self) -> None:
        """Move what waits to the file, part by part, so that a part is read in one go."""
        if self._file is None:
            self._file = OwnedFile(self._columns)
        ends = np.sum(self._waiting_ends, axis=0)
        owners = self._by_part([owners for owners, _ in self._waiting])
        numbers = self._by_part([rows.numbers for _, rows in self._waiting])
        codes = self._by_part([rows.codes for _, rows in self._waiting])
        self._pieces.append(self._file.append(owners, numbers, codes, int(ends[-1])))
        self._piece_ends.append(ends)
        self._waiting, self._waiting_ends = [], []

    def _by_part(self, arrays: Sequence[NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """What waits of owners, numbers or codes, some parts at a time."""
        bounds = [ends.tolist() for ends in self._waiting_ends]
        for first in range(0, PARTS, WRITTEN_PARTS):
            parts = range(first, first + WRITTEN_PARTS)
            yield np.concatenate(
                [array[ends[p] : ends[p + 1]] for p in parts for array, ends in zip(arrays, bounds, strict=True)]
            )

    def groups(self) -> list[tuple[int, int]]:
        """Ranges of parts that hold about a block's rows together, or one part that holds more."""
        ends = np.sum([np.zeros(PARTS + 1, np.int64), *self._piece_ends, *self._waiting_ends], axis=0)
        groups, first = [], 0
        while first < PARTS and ends[-1]:
            fits = int(np.searchsorted(ends, ends[first] + BLOCK_ROWS, side="right")) - 1
            last = min(max(first + 1, fits), PARTS)
            groups.append((first, last))
            first = last
        return groups

    def rows(self, group: tuple[int, int]) -> Owned:
        """All rows of the people of a group."""
        first, last = group
        found = [
            some_of(batch, ends[first], ends[last]) for batch, ends in zip(self._waiting, self._waiting_ends, strict=True)
        ]
        for piece, ends in zip(self._pieces, self._piece_ends, strict=True):
            some = slice(int(ends[first]), int(ends[last]))
            file = open_file(self._file)
            found.append((file.owners(piece, some), file.rows(piece, some)))
        return joined(found)

    def close(self) -> None:
        """Let the batches go."""
        self._waiting = []
        if self._file is not None:
            self._file.close()


def cut_down(owners: NDArray[np.uint64], rows: Encoded, max_rows: int) -> Owned:
    """The rows that count of each person, in the order of the owners."""
    kept = at_most(owners, rows, max_rows)
    # `take` moves whole rows, ten times as fast as an index does
    return owners.take(kept, axis=0), Encoded(rows.numbers.take(kept, axis=0), rows.codes.take(kept, axis=0))


def hold(batches: Iterable[Owned], unit: Unit, columns: Widths, memory: int) -> HeldRows:
    """Bound the rows of each person.

    Parameters
    ----------
    batches : as `cut_down` makes them, in any order
    unit : Unit
    columns : how many numbers and codes a row has
    memory : bytes beyond which the rows go through a temporary file
    """
    gathered, held = Gathered(columns), HeldRows(columns, memory)
    size = 0
    for batch in large(batches, unit.max_rows):
        gathered.add(batch)
        size += size_of(batch)
        if size > memory:
            gathered.write()
            size = 0
    with closing(in_order(gathered.groups(), lambda group: cut_down(*gathered.rows(group), unit.max_rows))) as people:
        for owners, rows in people:
            held.add(owners, rows)
    gathered.close()
    return held


def large(batches: Iterable[Owned], max_rows: int) -> Iterator[Owned]:
    """The batches, small ones joined and cut down again."""
    waiting: list[Owned] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch[0])
        if count >= BATCH_ROWS:
            yield batch if len(waiting) == 1 else cut_down(*joined(waiting), max_rows)
            waiting, count = [], 0
    if waiting:
        yield cut_down(*joined(waiting), max_rows)


def joined(batches: Sequence[Owned]) -> Owned:
    """The rows of several batches, one batch behind the other."""
    owners = np.concatenate([owners for owners, _ in batches])
    cells = [rows.numbers for _, rows in batches], [rows.codes for _, rows in batches]
    return owners, Encoded(*map(np.concatenate, cells))


def size_of(batch: Owned) -> int:
    """How many bytes rows and owners take."""
    return batch[0].nbytes + batch[1].numbers.nbytes + batch[1].codes.nbytes


def some_of(batch: Owned, first: int, last: int) -> Owned:
    """A slice of rows with their owners."""
    owners, rows = batch
    return owners[first:last], Encoded(rows.numbers[first:last], rows.codes[first:last])


def open_file(file: OwnedFile | None) -> OwnedFile:
    """The file that pieces are in."""
    assert file is not None, "a block that is not in memory is in the file"
    return file
