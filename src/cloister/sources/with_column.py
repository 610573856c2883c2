"""A source with one more column, whose cells the holder has worked out row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import DataError
from cloister.sources.source import Source

__all__ = ["WithColumn"]


@dataclass(frozen=True, slots=True, eq=False)
class WithColumn:
    """The rows of a source, in its order, each with a number beside it.

    A source that has changed since the numbers were worked out, so that they are too few or too many, is refused.
    """

    source: Source
    name: str  # of the new column; the source has none of this name
    numbers: NDArray[np.int32]  # (n,)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the source, and the new one."""
        return (*self.source.names, self.name)

    @property
    def in_memory(self) -> bool:
        """As of the source."""
        return self.source.in_memory

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; a batch has as many as that of the source."""
        wanted = [name for name in columns if name != self.name]
        read = wanted or [self.source.names[0]]  # a batch without columns does not say how many rows it has
        done = 0
        for batch in self.source.batches(read):
            numbers = self.numbers[done : done + batch.num_rows]
            done += batch.num_rows
            if len(numbers) < batch.num_rows:
                raise _changed()
            cells = {name: batch.column(place) for place, name in enumerate(read)} | {self.name: pa.array(numbers)}
            yield pa.RecordBatch.from_arrays([cells[name] for name in columns], names=list(columns))
        if done < len(self.numbers):
            raise _changed()


def _changed() -> DataError:
    return DataError("the table has other rows now than when it was first read. Nothing was published; run it again.")
