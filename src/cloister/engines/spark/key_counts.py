"""Counting by key on Spark's workers: distinct keys with counts on the way into a shuffle, and out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoding
from cloister.engines.spark.blocks import pieces
from cloister.engines.spark.work import Batches
from cloister.kernels.keyed import Keyed, KeyedKernel, distinct, keys_of_people, no_keys

__all__ = ["CountKeys", "CountKeysOfPeople", "CountKeysOfRows", "PackKeys"]

KEYS_AT_ONCE = 200_000  # keys a worker gathers before it hands them on


@dataclass(frozen=True, slots=True)
class CountKeys:
    """Blocks -> keys with counts, gathered as far as memory allows; the shuffle adds the rest."""

    kernel: KeyedKernel
    columns: tuple[int, int]

    def __call__(self, batches: Batches) -> Batches:
        keys = (self.kernel.keys(rows) for batch in batches for rows in pieces(batch, self.columns))
        yield from gathered(keys, self.kernel.width)


@dataclass(frozen=True, slots=True)
class CountKeysOfRows:
    """Rows -> keys with counts."""

    kernel: KeyedKernel
    encoding: Encoding

    def __call__(self, batches: Batches) -> Batches:
        keys = (self.kernel.keys(self.encoding.encode(batch)) for batch in batches if batch.num_rows)
        yield from gathered(keys, self.kernel.width)


@dataclass(frozen=True, slots=True)
class CountKeysOfPeople:
    """Rows -> keys that end in the person, with counts."""

    kernel: KeyedKernel
    encoding: Encoding
    person: str

    def __call__(self, batches: Batches) -> Batches:
        keys = (keys_of_people(self.kernel, self.encoding, self.person, batch) for batch in batches)
        yield from gathered(keys, self.kernel.width + 2)


def gathered(keys: Iterator[NDArray[np.int64]], width: int) -> Batches:
    """Distinct keys with counts as columns k0, k1, ... and n."""

    def out(total: Keyed) -> pa.RecordBatch:
        columns = {f"k{j}": total.keys[:, j].copy() for j in range(width)}
        return pa.RecordBatch.from_pydict({**columns, "n": total.counts})

    total, waiting, count = no_keys(width), [no_keys(width).keys], 0
    for some in keys:
        waiting.append(some)
        count += len(some)
        if count > KEYS_AT_ONCE:
            total, waiting, count = total + distinct(np.concatenate(waiting)), [no_keys(width).keys], 0
            if len(total) > KEYS_AT_ONCE:
                yield out(total)
                total = no_keys(width)
    total = total + distinct(np.concatenate(waiting))
    if len(total):
        yield out(total)


@dataclass(frozen=True, slots=True)
class PackKeys:
    """Keys and counts, a column each -> two cells, so that the driver reads memory and not lines."""

    width: int

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            columns = [batch.column(f"k{j}").to_numpy(zero_copy_only=False) for j in range(self.width)]
            keys = np.ascontiguousarray(np.column_stack(columns), dtype=np.int64)
            counts = np.ascontiguousarray(batch.column("n").to_numpy(zero_copy_only=False), dtype=np.int64)
            yield pa.RecordBatch.from_pydict(
                {"keys": pa.array([keys.tobytes()], pa.binary()), "counts": pa.array([counts.tobytes()], pa.binary())}
            )
