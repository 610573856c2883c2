"""Rows in a secret order, with one bucket of them in memory at a time.

Privacy: until they are shuffled the rows lie in files without a name, as in `spill`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from cloister.engines.base import Shuffle
from cloister.engines.local.spill import nameless_file
from cloister.sinks.batch_writer import writer_of

__all__ = ["write_shuffled"]

BUCKET_ROWS = 1 << 18


def write_shuffled(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Path, format: str, shuffle: Shuffle
) -> None:
    """Write rows to a new file in a secret order, each order equally likely.

    Rows are dealt into buckets at random and every bucket is put in a random order by itself.
    """
    count = max(1, -(-shuffle.rows // BUCKET_ROWS))
    with ExitStack() as stack:
        buckets = [stack.enter_context(nameless_file(str(target.parent))) for _ in range(count)]
        with ExitStack() as writing:
            writers = [writing.enter_context(pa.ipc.new_file(pa.PythonFile(file, "w"), schema)) for file in buckets]
            for batch in batches:
                dealt = shuffle.integers(count, batch.num_rows)
                order = np.argsort(dealt, kind="stable")
                ends = np.searchsorted(dealt[order], np.arange(count + 1))
                ranked = batch.take(pa.array(order))
                for i, writer in enumerate(writers):
                    if ends[i] < ends[i + 1]:
                        writer.write_batch(ranked.slice(ends[i], ends[i + 1] - ends[i]))
        with writer_of(str(target), format, schema) as out:
            for file in buckets:
                file.seek(0)
                rows = pa.ipc.open_file(pa.PythonFile(file, "r")).read_all()
                file.close()  # its room on the disk is free again
                for batch in rows.take(pa.array(shuffle.permutation(rows.num_rows))).to_batches():
                    out.write_batch(batch)
