"""The local engine: streams batches through a kernel on every core.

Memory stays bounded whatever the file's size: a few batches are in flight, and encoded rows are kept between folds only
when they are small or the data was in memory anyway.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.errors import CloisterError, EngineError
from cloister.kernels import Kernel, Summary, zero
from cloister.sources import Source

__all__ = ["LocalEngine"]

CACHE_BYTES = 256 * 2**20
BLOCK_ROWS = 65_536

T = TypeVar("T")


class LocalEngine:
    """Runs kernels over the rows of a source in this process."""

    def __init__(self, source: Source, encoding: Encoding) -> None:
        self._source = source
        self._encoding = encoding
        self._cache: list[Encoded] | None = None
        self._cacheable = True

    def fold(self, kernel: Kernel) -> Summary:
        """The summary of all rows."""
        total = zero(kernel)
        for part in self._each(kernel.fold):
            total = total + part
        return total

    def map(self, function: Callable[[Encoded], T]) -> Iterator[T]:
        """The function's value for each batch, in the order of the rows: for what the holder keeps."""
        yield from self._each(function)

    def sample(self, keep: Callable[[int], NDArray[np.bool_]]) -> SampledRows:
        """The rows that a secret draw keeps, held in memory; `keep` draws a mask for so many rows."""
        blocks = []
        for rows in self._each(lambda rows: rows):
            mask = keep(len(rows))
            blocks.append(Encoded(rows.numbers[mask], rows.codes[mask]))
        return SampledRows(blocks)

    def _each(self, work: Callable[[Encoded], T]) -> Iterator[T]:
        if self._cache is not None:
            yield from in_order(self._cache, work)
            return
        kept: list[Encoded] | None = [] if self._cacheable else None
        size = 0

        def encode_and_work(batch: pa.RecordBatch) -> tuple[Encoded, T]:
            rows = self._encoding.encode(batch)
            return rows, work(rows)

        for rows, value in in_order(self._source.batches(self._encoding.columns), encode_and_work):
            if kept is not None:
                size += rows.numbers.nbytes + rows.codes.nbytes
                kept.append(rows)
                if size > CACHE_BYTES and not self._source.in_memory:
                    kept, self._cacheable = None, False
            yield value
        self._cache = kept


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


def in_order(items: Iterator[pa.RecordBatch] | list[Encoded], work: Callable[..., T]) -> Iterator[T]:
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
        raise EngineError(f"the pass over the rows failed ({type(error).__name__}). Nothing was released.") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
