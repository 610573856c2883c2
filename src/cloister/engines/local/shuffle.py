"""Rows of a file in a secret order, with one bucket of them in memory at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from cloister.engines.base import Shuffle
from cloister.sinks import writer_of

__all__ = ["shuffle_file"]

BUCKET_ROWS = 1 << 18


def shuffle_file(source: Path, target: Path, format: str, shuffle: Shuffle) -> None:
    """Write the rows of a Parquet file in a secret order, each order equally likely, and remove that file.

    Rows are dealt into buckets at random and every bucket is put in a random order by itself.
    """
    import pyarrow.parquet as pq  # for start-up time

    with pq.ParquetFile(source) as rows:
        schema, count = rows.schema_arrow, rows.metadata.num_rows
        buckets = max(1, -(-count // BUCKET_ROWS))
        paths = [source.with_name(f"{source.name}.{i}") for i in range(buckets)]
        writers = [pa.ipc.new_file(str(path), schema) for path in paths]
        for batch in rows.iter_batches():
            dealt = shuffle.integers(buckets, batch.num_rows)
            order = np.argsort(dealt, kind="stable")
            ends = np.searchsorted(dealt[order], np.arange(buckets + 1))
            ranked = batch.take(pa.array(order))
            for i, writer in enumerate(writers):
                if ends[i] < ends[i + 1]:
                    writer.write_batch(ranked.slice(ends[i], ends[i + 1] - ends[i]))
        for writer in writers:
            writer.close()
    with writer_of(str(target), format, schema) as out:
        for path in paths:
            with pa.memory_map(str(path)) as mapped:
                bucket = pa.ipc.open_file(mapped).read_all()
                for batch in bucket.take(pa.array(shuffle.permutation(bucket.num_rows))).to_batches():
                    out.write_batch(batch)
            path.unlink()
    source.unlink()
