"""The local engine: streams batches through a kernel on every core.

Memory stays bounded whatever the file's size: a few batches are in flight, and encoded rows are kept between folds in
memory when they are small or the data was in memory anyway, and in a temporary file when they are many.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.local.bounded import Draw, HeldRows, Owned, hold
from cloister.engines.local.spill import Piece, Spill, open_spill
from cloister.errors import CloisterError, EngineError, raise_alone
from cloister.kernels import Kernel, Summary, zero
from cloister.kernels.keyed import InOrder, Keyed, KeyedKernel, distinct, no_keys
from cloister.kernels.per_unit import people, row_hashes
from cloister.kernels.recoding import Recoding, with_different
from cloister.schema.unit import Unit
from cloister.sinks import writer_of
from cloister.sources import Source

__all__ = ["LocalEngine", "SampledRows"]

CACHE_BYTES = 256 * 2**20
HELD_BYTES = 512 * 2**20
BLOCK_ROWS = 65_536
KEYS_AT_ONCE = 4_000_000  # keys that wait before they are merged

T = TypeVar("T")


class LocalEngine:
    """Runs kernels over the rows of a source in this process.

    Parameters
    ----------
    source : Source
    encoding : Encoding
    unit : Unit, optional
        Whose rows are bounded: folds and samples then see at most so many rows of a person.
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

    def fold(self, kernel: Kernel) -> Summary:
        """The summary of all rows."""
        total = zero(kernel)
        for part in self._each(kernel.fold):
            total = total + part
        return total

    def fold_by_key(self, kernel: KeyedKernel, person: str | None = None) -> Keyed:
        """How many rows have each key, keys in rising order.

        With `person`, the column that says whose row it is, two integers at the end of each key stand for the person, and
        no row is left out: for counting people. Memory grows with the number of distinct keys.
        """
        if person is None:
            parts = self._each(lambda rows: distinct(kernel.keys(rows)))
        else:
            parts = in_order(
                self._source.batches(tuple(dict.fromkeys([*self._encoding.columns, person]))),
                lambda batch: distinct(keys_of_people(kernel, self._encoding, person, batch)),
            )
        width = kernel.width + (0 if person is None else 2)
        total, waiting, count = no_keys(width), [], 0
        for part in parts:
            waiting.append(part)
            count += len(part)
            if count > KEYS_AT_ONCE:
                total, waiting, count = merged(total, waiting), [], 0
        return merged(total, waiting)

    def rank(self, order: KeyedKernel) -> Keyed:
        """The rows in a public order, equal ones together: order and row as keys, how many there are, and their `places`.

        Which row comes before which never depends on other rows, batches or the engine. All distinct rows are gathered here.
        """
        return self.fold_by_key(InOrder(order, sum(self._widths)))

    def map(self, function: Callable[[Encoded], T]) -> Iterator[T]:
        """The function's value for each batch, in the order of the rows: for what the holder keeps."""
        yield from self._each(function)

    def label(self, function: Callable[[Encoded], NDArray[np.int32]], name: str) -> NDArray[np.int32]:
        """A number for each row, in the order of the rows: for what the holder keeps."""
        labels = list(self._each(function))
        return np.concatenate(labels) if labels else np.empty(0, dtype=np.int32)

    def sample(self, keep: Draw) -> SampledRows:
        """The rows that a secret draw keeps, held in memory; `keep` draws for hashes of the rows, or of the people."""
        if self._unit is not None:
            return SampledRows(self._bounded(self._unit).sample(keep))
        blocks = []
        for number, (rows, hashes) in enumerate(self._each(lambda rows: (rows, row_hashes(rows)))):
            mask = keep(hashes, number)
            blocks.append(Encoded(rows.numbers[mask], rows.codes[mask]))
        return SampledRows(blocks)

    def rewrite(self, recoding: Recoding, path: str, format: str = "parquet") -> None:
        """Write every row, recoded, to a new file, in the order of the rows. Stage it: see `cloister.sinks`."""
        with writer_of(path, format, recoding.schema) as writer:
            for batch in in_order(self._source.batches(recoding.columns), recoding.recode):
                writer.write_batch(batch)

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns, as their first rows have them; text where there is no row."""
        first = next(iter(self._source.batches(columns)), None)
        return pa.schema([(name, pa.string()) for name in columns]) if first is None else first.schema

    def distinct_rows(self, recoding: Recoding) -> pa.Table:
        """The different rows that a recoding makes, in memory: for what the holder looks up."""
        found = recoding.schema.empty_table()
        for batch in in_order(self._source.batches(recoding.columns), recoding.recode):
            found = with_different(found, batch)
        return found

    def close(self) -> None:
        """Let go of what is held between folds."""
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
                return people(batch.column(columns.index(unit.column))), encoding.encode(batch)

            try:
                self._held = hold(in_order(self._source.batches(columns), owned), unit, self._widths, HELD_BYTES)
            except OSError:
                raise_alone(
                    EngineError(
                        "the disk has no room for the rows while they are put in order by person. Free some, or let TMPDIR name "
                        "a folder on another one."
                    )
                )
        return self._held

    def _each(self, work: Callable[[Encoded], T]) -> Iterator[T]:
        if self._unit is not None:
            yield from in_order(self._bounded(self._unit).blocks, work)
            return
        if self._cache is not None:
            yield from in_order(self._cache, work)
        elif self._pieces is not None and self._spill is not None:
            spill = self._spill
            yield from in_order(self._pieces, lambda piece: work(spill.read(piece)))
        else:
            yield from self._first(work)

    def _first(self, work: Callable[[Encoded], T]) -> Iterator[T]:
        """Read and encode every row, and keep what was encoded for the next time: in memory, or else in a file."""
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
                    if spill is not None:  # batches that were on their way are not written yet
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
        elif None in pieces:  # the disk is full: the file is read again each time
            spill.close()
            self._keeps = False
        else:
            self._spill, self._pieces = spill, [piece for piece in pieces if piece]


class SampledRows:
    """A secret sample of the rows, small and in memory; folds like an engine."""

    def __init__(self, blocks: list[Encoded]) -> None:
        self._blocks = blocks

    def fold(self, kernel: Kernel) -> Summary:
        """The summary of the sampled rows."""
        total = zero(kernel)
        for part in in_order(self._blocks, kernel.fold):
            total = total + part
        return total


def keys_of_people(kernel: KeyedKernel, encoding: Encoding, person: str, batch: pa.RecordBatch) -> NDArray[np.int64]:
    """Keys with two integers more that stand for the person, (n, w + 2)."""
    who = people(batch.column(batch.schema.get_field_index(person))).view(np.int64)
    return np.concatenate([kernel.keys(encoding.encode(batch)), who], axis=1)


def merged(total: Keyed, parts: list[Keyed]) -> Keyed:
    """All counts in one."""
    parts = [total, *parts]
    return distinct(np.concatenate([part.keys for part in parts]), np.concatenate([part.counts for part in parts]))


def in_order(items: Iterable[Any], work: Callable[..., T]) -> Generator[T]:
    """Work on items on every core, a few in flight, and hand the results out in order.

    What goes wrong inside is told without its message, which might quote a value.
    """
    workers = os.cpu_count() or 1
    flying: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for item in items:
            flying.append(pool.submit(work, item))
            if len(flying) >= 2 * workers:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()
    except CloisterError:
        raise
    except Exception as error:
        raise_alone(EngineError(f"the pass over the rows failed ({type(error).__name__}). Nothing was released."))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        flying.clear()  # futures hold what went wrong, with its message
