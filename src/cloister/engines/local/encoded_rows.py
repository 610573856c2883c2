"""The encoded rows of a source, kept between passes: in memory when they are few, in a temporary file when they are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

import pyarrow as pa

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Draw
from cloister.engines.local.bounded import HeldRows, cut_down, hold
from cloister.engines.local.spill import Piece, Spill, open_spill
from cloister.engines.passes import in_order
from cloister.engines.sampling import Owned
from cloister.kernels.per_unit import people, row_hashes
from cloister.schema.unit import Unit
from cloister.sources.source import Source
from cloister.work_done import counted

__all__ = ["EncodedRows"]

CACHE_BYTES = 256 * 2**20
HELD_BYTES = 256 * 2**20

T = TypeVar("T")


class EncodedRows:
    """Encoded rows, in blocks; with a unit, at most so many rows of each person.

    Parameters
    ----------
    source : Source
    encoding : Encoding
    unit : Unit, optional
    once : bool, default False
        The rows are gone through one time only, so nothing is kept for another.
    """

    def __init__(self, source: Source, encoding: Encoding, unit: Unit | None = None, once: bool = False) -> None:
        self._source = source
        self._encoding = encoding
        self._widths = len(encoding.numbers), len(encoding.categories)
        self._unit = unit
        self._cache: list[Encoded] | None = None
        self._spill: Spill | None = None
        self._pieces: list[Piece] | None = None  # of the spill, once it is whole
        self._keeps = not once  # whether encoded rows can be kept, and are worth it
        self._held: HeldRows | None = None

    @property
    def spilled_blocks(self) -> int:
        """How many blocks are kept in a file."""
        return len(self._pieces or ())

    def each(self, work: Callable[[Encoded], T]) -> Iterator[T]:
        """What some work makes of each block, in the order of the rows."""
        if self._unit is not None:
            yield from self._bounded(self._unit).each(work)
        elif self._cache is not None:
            yield from in_order(counted(self._cache, len(self._cache)), work)
        elif self._pieces is not None and self._spill is not None:
            spill = self._spill
            pieces = counted(self._pieces, len(self._pieces))
            yield from in_order(pieces, lambda piece: work(spill.read(piece)))
        else:
            yield from self._encode_and_keep(work)

    def sample(self, keep: Draw) -> list[Encoded]:
        """The rows, or all rows of the people, that a secret draw keeps."""
        if self._unit is not None:
            return self._bounded(self._unit).sample(keep)
        row_hashes(self._encoding.no_rows())  # which loops are compiled says nothing about the table
        blocks = []
        for number, (rows, hashes) in enumerate(self.each(lambda rows: (rows, row_hashes(rows)))):
            mask = keep(hashes, number)
            blocks.append(Encoded(rows.numbers[mask], rows.codes[mask]))
        return blocks

    def close(self) -> None:
        """Let go of what is kept."""
        self._cache = self._pieces = None
        if self._spill is not None:
            self._spill.close()
            self._spill = None
        if self._held is not None:
            self._held.close()
            self._held = None

    def _bounded(self, unit: Unit) -> HeldRows:
        if self._held is None:
            encoding = self._encoding
            columns = tuple(dict.fromkeys([*encoding.columns, unit.column]))

            def owned(batch: pa.RecordBatch) -> Owned:
                owners = people(batch.column(columns.index(unit.column)))
                return cut_down(owners, encoding.encode(batch), unit.max_rows)

            # no rows first: which loops are compiled says nothing about the table
            list(
                in_order([encoding.no_rows()], lambda none: cut_down(people(pa.array([], pa.string())), none, unit.max_rows))
            )
            with closing(in_order(self._source.batches(columns), owned)) as batches:
                self._held = hold(batches, unit, self._widths, HELD_BYTES)
        return self._held

    def _encode_and_keep(self, work: Callable[[Encoded], T]) -> Iterator[T]:
        """Read and encode every row, and keep what was encoded for the next pass: in memory, or else in a file."""
        kept: list[Encoded] = []
        pieces: list[Piece | None] = []
        size = 0
        spill: Spill | None = None

        def encode_and_work(batch: pa.RecordBatch) -> tuple[Encoded | Piece | None, T]:
            rows = self._encoding.encode(batch)
            value = work(rows)
            return rows if spill is None else spill.write(rows), value

        with closing(in_order(self._source.batches(self._encoding.columns), encode_and_work)) as results:
            try:
                for item, value in results:
                    if spill is not None:  # batches that were in flight when it was opened are not written yet
                        pieces.append(spill.write(item) if isinstance(item, Encoded) else item)
                    elif self._keeps:
                        assert isinstance(item, Encoded)
                        kept.append(item)
                        size += item.numbers.nbytes + item.codes.nbytes
                        if size > CACHE_BYTES and not self._source.in_memory:
                            spill = open_spill(self._widths)
                            self._keeps = spill is not None
                            pieces, kept = [spill.write(rows) for rows in kept] if spill else [], []
                    yield value
            except BaseException:
                # a thread may still be writing, so the file is not closed here: it goes when the last one lets go of it
                spill = None
                raise
        if spill is None:
            self._cache = kept if self._keeps else None
        elif None in pieces:  # the disk is full: the source is read again in each pass
            spill.close()
            self._keeps = False
        else:
            self._spill, self._pieces = spill, [piece for piece in pieces if piece]
