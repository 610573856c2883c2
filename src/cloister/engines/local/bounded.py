"""Rows of which each person has at most so many, held person by person: in memory, or in temporary files when large.

Privacy: what is spilled are encoded rows of the table, in files without a name, as in `spill`: they are gone when the process
ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.engines.base import Draw
from cloister.engines.local.spill import disk, nameless_file
from cloister.engines.sampling import Owned, sample_people
from cloister.kernels.per_unit import at_most
from cloister.schema.unit import Unit

__all__ = ["HeldRows", "hold"]

OWNER = 4  # int32 numbers that say whose row it is: 128 bits
BUCKETS = 64
BLOCK_ROWS = 65_536


class HeldRows:
    """Bounded rows, person by person; a person may reach from one block into the next."""

    def __init__(self, blocks: list[Owned]) -> None:
        self._owned = blocks

    @property
    def blocks(self) -> list[Encoded]:
        """The rows alone."""
        return [rows for _, rows in self._owned]

    def sample(self, keep: Draw) -> list[Encoded]:
        """All rows of the people that a draw keeps, one draw a person."""
        return list(sample_people(self._owned, keep))

    def close(self) -> None:
        """Let the rows go; files that they were spilled to go with the last array that maps them."""
        self._owned = []


def hold(batches: Iterable[Owned], unit: Unit, columns: tuple[int, int], memory: int) -> HeldRows:
    """Bound the rows of each person.

    Parameters
    ----------
    batches : owners (n, 2) and rows, in any order
    unit : Unit
    columns : how many numbers and codes a row has
    memory : bytes beyond which the rows go through a temporary file
    """
    width = OWNER + sum(columns)
    waiting: list[NDArray[np.int32]] = []
    size = 0
    stream = iter(batches)
    for owners, rows in stream:
        waiting.append(pack(owners, rows, unit.max_rows))
        size += waiting[-1].nbytes
        if size > memory:
            return spill(waiting, stream, unit, columns)
    whole = np.concatenate(waiting) if waiting else np.empty((0, width), dtype=np.int32)
    return HeldRows(cut(*bounded(whole, unit.max_rows, columns)))


def spill(waiting: list[NDArray[np.int32]], rest: Iterator[Owned], unit: Unit, columns: tuple[int, int]) -> HeldRows:
    """Part the rows by person into files, bound each file by itself, and map the result back into memory."""
    with ExitStack() as stack:
        buckets = [stack.enter_context(nameless_file(disk())) for _ in range(BUCKETS)]
        for packed in waiting:
            part(packed, buckets)
        waiting.clear()
        for owners, rows in rest:
            part(pack(owners, rows, unit.max_rows), buckets)
        out = [stack.enter_context(nameless_file(disk())) for _ in ("owners", "numbers", "codes")]
        count = 0
        for bucket in buckets:
            bucket.seek(0)
            packed = np.fromfile(bucket, dtype=np.int32).reshape(-1, OWNER + sum(columns))
            bucket.close()  # its room on the disk is free again
            owners, rows = bounded(packed, unit.max_rows, columns)
            count += len(rows)
            owners.tofile(out[0])
            rows.numbers.tofile(out[1])
            rows.codes.tofile(out[2])
        owners = mapped(out[0], np.uint64, (count, 2))
        rows = Encoded(
            mapped(out[1], np.int32, (count, columns[0])),
            mapped(out[2], np.int32, (count, columns[1])),
        )
    return HeldRows(cut(owners, rows))


def mapped(file: IO[bytes], kind: type, shape: tuple[int, int]) -> NDArray[Any]:
    """A file as an array, which keeps it alive; an empty one cannot be mapped."""
    if not shape[0] * shape[1]:
        return np.empty(shape, dtype=kind)
    file.flush()
    return np.asarray(np.memmap(file, dtype=kind, mode="r", shape=shape))


def pack(owners: NDArray[np.uint64], rows: Encoded, max_rows: int) -> NDArray[np.int32]:
    """Owner, numbers and codes side by side, without the rows of a person beyond the limit, (n, 4 + d + c)."""
    kept = at_most(owners, rows, max_rows)
    who = np.ascontiguousarray(owners[kept]).view(np.int32)
    return np.concatenate([who, rows.numbers[kept], rows.codes[kept]], axis=1)


def part(packed: NDArray[np.int32], buckets: Sequence[IO[bytes]]) -> None:
    """Append each row to the file of its person."""
    bucket = packed[:, 0].view(np.uint32) % BUCKETS
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(BUCKETS + 1))
    ranked = packed[order]
    for i, file in enumerate(buckets):
        ranked[ends[i] : ends[i + 1]].tofile(file)


def bounded(packed: NDArray[np.int32], max_rows: int, columns: tuple[int, int]) -> Owned:
    """The rows that count, person by person."""
    owners = np.ascontiguousarray(packed[:, :OWNER]).view(np.uint64)  # (n, 2)
    ends = OWNER + columns[0]
    rows = Encoded(np.ascontiguousarray(packed[:, OWNER:ends]), np.ascontiguousarray(packed[:, ends:]))
    kept = at_most(owners, rows, max_rows)
    return owners[kept], Encoded(rows.numbers[kept], rows.codes[kept])


def cut(owners: NDArray[np.uint64], rows: Encoded) -> list[Owned]:
    """Blocks of a size that folds well."""
    pieces = (slice(start, start + BLOCK_ROWS) for start in range(0, len(rows), BLOCK_ROWS))
    return [(owners[piece], Encoded(rows.numbers[piece], rows.codes[piece])) for piece in pieces]
