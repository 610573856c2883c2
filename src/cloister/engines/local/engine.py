"""The local engine: streams batches through a kernel on every core.

Memory stays bounded whatever the file's size: a few batches are in flight, and encoded rows are kept between folds in
memory when they are small or the data was in memory anyway, and in a temporary file when they are many.

Privacy
-------
Every pass begins with a block of no rows: compiled loops stay on disk, and which of them are there must not say whether a table,
or a secret sample of it, was empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Draw, Engine, Shuffle
from cloister.engines.local.encoded_rows import EncodedRows
from cloister.engines.local.shuffle import write_shuffled
from cloister.engines.passes import in_order
from cloister.engines.sampling import SampledRows, add_up
from cloister.kernels import Kernel, Summary
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import Exact
from cloister.kernels.keyed import Keyed, KeyedKernel, distinct, keys_of_people, no_keys
from cloister.kernels.row_maps import RowMap
from cloister.schema.unit import Unit
from cloister.sinks.batch_writer import writer_of
from cloister.sources.source import Source, TypedSource

__all__ = ["LocalEngine"]

KEYS_AT_ONCE = 4_000_000  # keys that wait before they are merged


class LocalEngine(Engine):
    """Runs kernels over the rows of a source in this process.

    Parameters
    ----------
    source : Source
    encoding : Encoding
    unit : Unit, optional
        Whose rows are bounded.
    once : bool, default False
        The rows are gone through one time only, so nothing is kept for another.
    """

    def __init__(self, source: Source, encoding: Encoding, unit: Unit | None = None, once: bool = False) -> None:
        self.encoding = encoding
        self._source = source
        self.rows = EncodedRows(source, encoding, unit, once)  # beside the `Engine` protocol: not `Exact`

    def fold(self, kernel: Kernel) -> Exact[Summary]:
        """The summary of all rows."""
        none = in_order([self.encoding.no_rows()], kernel.fold)
        return Exact(add_up(kernel, chain(none, self.rows.each(kernel.fold))))

    def fold_by_key(self, kernel: KeyedKernel, person: str | None = None) -> Exact[Keyed]:
        """How many rows have each key; memory grows with the number of distinct keys."""
        parts: Iterable[Keyed]
        list(in_order([self.encoding.no_rows()], kernel.keys))
        if person is None:
            parts, width = self.rows.each(lambda rows: distinct(kernel.keys(rows))), kernel.width
        else:
            columns = tuple(dict.fromkeys([*self.encoding.columns, person]))
            batches, width = self._source.batches(columns), kernel.width + 2
            parts = in_order(batches, lambda batch: distinct(keys_of_people(kernel, self.encoding, person, batch)))
        return Exact(added_counts(parts, width))

    def label(self, function: Callable[[Encoded], NDArray[Any]], name: str) -> Exact[NDArray[Any]]:
        """A number for each row, in the order of the rows."""
        labels = list(self.rows.each(function))
        return Exact(np.concatenate(labels) if labels else np.empty(0, dtype=np.int32))

    def sample(self, keep: Draw) -> SampledRows:
        """The rows that a secret draw keeps, held in memory."""
        return SampledRows([self.encoding.no_rows(), *self.rows.sample(keep)])

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns, as their first rows have them; text where there is no row."""
        if isinstance(self._source, TypedSource):
            return self._source.types(columns)
        first = next(iter(self._source.batches(columns)), None)
        return pa.schema([(name, pa.string()) for name in columns]) if first is None else first.schema

    def distinct(self, kernel: DistinctValues) -> Exact[pa.Table]:
        """The different values of some columns, in memory."""
        values = kernel.empty()
        for some in in_order(self._source.batches(kernel.columns), kernel.collect):
            values = kernel.merge(values, some)
        return Exact(values)

    def gather(self, row_map: RowMap) -> Exact[pa.Table]:
        """Every row, mapped, in the order of the rows."""
        mapped = in_order(self._source.batches(row_map.columns), row_map.map_batch)
        return Exact(pa.Table.from_batches(mapped, row_map.schema))

    def rewrite(self, row_map: RowMap, path: str, format: str = "parquet", shuffle: Shuffle | None = None) -> None:
        """Write every row, mapped, to a new file: in the order of the rows, or in a secret one."""
        mapped = in_order(self._source.batches(row_map.columns), row_map.map_batch)
        if shuffle is not None:
            write_shuffled(mapped, row_map.schema, Path(path), format, shuffle)
            return
        with writer_of(path, format, row_map.schema) as writer:
            for batch in mapped:
                writer.write_batch(batch)

    def close(self) -> None:
        """Let go of the encoded rows."""
        self.rows.close()


def added_counts(parts: Iterable[Keyed], width: int) -> Keyed:
    """The sum of many counts by key; a number of them is gathered before they are added."""
    total, waiting, count = no_keys(width), [], 0
    for part in parts:
        waiting.append(part)
        count += len(part)
        if count > KEYS_AT_ONCE:
            total, waiting, count = merged(total, waiting), [], 0
    return merged(total, waiting)


def merged(total: Keyed, parts: list[Keyed]) -> Keyed:
    """All counts in one."""
    parts = [total, *parts]
    return distinct(np.concatenate([part.keys for part in parts]), np.concatenate([part.counts for part in parts]))
