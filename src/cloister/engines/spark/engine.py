"""The Spark engine: the same kernels, run by Spark's workers over the partitions of a DataFrame.

Rows are encoded once, in blocks of many rows a cell, and kept by Spark (in memory, else on the workers' disks) until the
engine is closed. A fold sends a kernel to every partition and adds integers; so partitions, their order, a task that is
run again and one that is run twice change nothing: Spark takes the result of one run of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.engines.base import Draw, Engine, Shuffle
from cloister.engines.sampling import SampledRows, add_up
from cloister.engines.spark import key_counts, work
from cloister.engines.spark.blocks import summary_from
from cloister.engines.spark.fault_messages import retold
from cloister.engines.spark.files_of_rows import in_full_files, in_order_of_hashes
from cloister.engines.spark.frames import SparkRows, check_types, quoted
from cloister.engines.spark.session import prepare, shuffle_partitions, wants_numpy
from cloister.engines.spark.shipping import map_in_arrow
from cloister.errors import SinkError, UsageError
from cloister.kernels import Kernel, Summary
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import Exact
from cloister.kernels.keyed import Keyed, KeyedKernel, distinct, no_keys
from cloister.kernels.row_maps import RowMap
from cloister.schema.unit import Unit

__all__ = ["SparkEngine"]

TREE_BYTES = 2**20  # of a partial summary: workers add larger ones among themselves before the driver sees them
TREE_WIDTH = 8  # tasks that add


class SparkEngine(Engine):
    """Runs kernels over the rows of a Spark DataFrame.

    Parameters
    ----------
    rows : SparkRows
    encoding, unit
        As for every engine.
    """

    def __init__(self, rows: SparkRows, encoding: Encoding, unit: Unit | None = None) -> None:
        self.encoding = encoding
        self._frame = rows.frame
        self._unit = unit
        self._widths = len(encoding.numbers), len(encoding.categories)
        check_types(rows, [*encoding.columns, *([unit.column] if unit else [])])
        prepare(rows.session)
        self._plain = wants_numpy(rows.session)
        self._kept: Any = None

    def fold(self, kernel: Kernel) -> Exact[Summary]:
        """The summary of all rows."""
        size = 8 * sum(int(np.prod(shape, dtype=np.int64)) for shape in kernel.parts.values())
        with retold("the pass over the rows"):
            blocks = self._blocks()
            buckets = TREE_WIDTH if size > TREE_BYTES else 1
            partial = self._run(blocks, work.Fold(kernel, self._widths, buckets), "bucket int, summary binary")
            if buckets > 1:
                partial = self._run(partial.repartition(buckets, "bucket"), work.add_summaries, "summary binary")
            cells = [line["summary"] for line in partial.select("summary").collect()]
        return Exact(add_up(kernel, (summary_from(kernel, np.frombuffer(cell, dtype=np.int64)) for cell in cells)))

    def fold_by_key(self, kernel: KeyedKernel, person: str | None = None) -> Exact[Keyed]:
        """How many rows have each key; one shuffle."""
        width = kernel.width + (0 if person is None else 2)
        names = [f"k{j}" for j in range(width)]
        schema = ", ".join(f"{name} bigint" for name in [*names, "n"])
        with retold("the count by key"):
            if person is None and self._unit is None and self._kept is None:
                # one pass is not worth keeping the encoded rows for
                counted = self._run(self._read(), key_counts.CountKeysOfRows(kernel, self.encoding), schema)
            elif person is None:
                counted = self._run(self._blocks(), key_counts.CountKeys(kernel, self._widths), schema)
            else:
                counted = self._run(self._read(person), key_counts.CountKeysOfPeople(kernel, self.encoding, person), schema)
            added = counted.groupBy(*names).sum("n").withColumnRenamed("sum(n)", "n")
            cells = self._run(added, key_counts.PackKeys(width), "keys binary, counts binary").collect()
        if not cells:
            return Exact(no_keys(width))
        keys = np.frombuffer(b"".join(line["keys"] for line in cells), dtype=np.int64).reshape(-1, width)
        return Exact(distinct(keys, np.frombuffer(b"".join(line["counts"] for line in cells), dtype=np.int64)))

    def label(self, function: Callable[[Encoded], NDArray[Any]], name: str) -> Exact[Any]:
        """The DataFrame with one more column, computed when it is read."""
        if name in self._frame.columns:
            raise UsageError(f'the data has a column "{name}" already. Rename it first.')
        with retold("the labels"):
            from pyspark.sql.types import IntegerType, StructField, StructType

            schema = StructType([*self._frame.schema.fields, StructField(name, IntegerType())])
            return Exact(self._run(self._frame, work.Label(function, self.encoding, name), schema))

    def sample(self, keep: Draw) -> SampledRows:
        """The rows that a secret draw keeps, drawn by the workers and gathered here, once.

        A task that is run again, or twice at a time, draws the same. What folds the sample later sees that one.
        """
        draw = (work.DrawRows if self._unit is None else work.DrawPeople)(keep, self._widths)
        with retold("the secret sample"):
            lines = self._run(self._blocks(), draw, work.BLOCKS).collect()
        numbers = np.frombuffer(b"".join(line["numbers"] for line in lines), dtype=np.int32)
        codes = np.frombuffer(b"".join(line["codes"] for line in lines), dtype=np.int32)
        count = sum(line["rows"] for line in lines)
        rows = Encoded(numbers.reshape(count, self._widths[0]), codes.reshape(count, self._widths[1]))
        return SampledRows([rows])  # no rows are a block, too: which loops are compiled does not depend on them

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        with retold("looking at the columns"):
            from pyspark.sql.pandas.types import to_arrow_schema

            return to_arrow_schema(self._frame.select(*map(quoted, columns)).schema)

    def distinct(self, kernel: DistinctValues) -> Exact[pa.Table]:
        """The different values of some columns, merged on the driver."""
        with retold("the pass over the rows"):
            lines = self._mapped(kernel.columns, work.CollectDistinct(kernel), kernel.schema).collect()
            values = pa.Table.from_pylist([line.asDict() for line in lines], kernel.schema)
        return Exact(kernel.merge(kernel.empty(), values))

    def rewrite(self, row_map: RowMap, path: str, format: str = "parquet", shuffle: Shuffle | None = None) -> None:
        """Write every row, mapped, into a new folder; the file _SUCCESS in it says that it is whole.

        Shuffled rows come in the order of a hash of each row as it is written, ties by the row itself. That order is a
        function of the written rows alone: it tells nothing about the input's order, needs no secret, and stays the same
        when a task is run again. Other rows keep their order, and are dealt into files anew (`files_of_rows`).
        """
        if format not in ("parquet", "csv"):
            raise SinkError(f'format "{format}" cannot be written. Choose parquet or csv.')
        with retold("the rewriting"):
            rows = self._mapped(row_map.columns, work.MapRows(row_map), row_map.schema)
            with in_order_of_hashes(rows, shuffle.rows) if shuffle is not None else in_full_files(rows) as dealt:
                writer = dealt.write.mode("error")
                if format == "csv":
                    writer = writer.option("header", True).option("escape", '"')
                writer.format(format).save(path)

    def close(self) -> None:
        """Let Spark forget the encoded rows."""
        if self._kept is not None:
            with retold("the release of memory"):
                self._kept.unpersist()
            self._kept = None

    def _run(self, frame: Any, job: work.Work, schema: Any) -> Any:
        guarded = work.Guarded(job, self._plain)
        return map_in_arrow(frame, lambda batches: guarded(batches), schema)

    def _mapped(self, columns: Sequence[str], job: work.Work, schema: pa.Schema) -> Any:
        """What workers make of some columns, in a form that Arrow describes."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return self._run(self._frame.select(*map(quoted, columns)), job, from_arrow_schema(schema))

    def _read(self, *more: str) -> Any:
        names = dict.fromkeys([*self.encoding.columns, *more])
        # without any column a batch would lose the number of its rows
        return self._frame.select(*map(quoted, names)) if names else self._frame.selectExpr("1 AS one")

    def _blocks(self) -> Any:
        """The encoded rows, kept by Spark from the first use on."""
        if self._kept is None:
            from pyspark import StorageLevel

            if self._unit is None:
                blocks = self._run(self._read(), work.Encode(self.encoding), work.BLOCKS)
            else:
                owned = self._run(self._read(self._unit.column), work.Own(self.encoding, self._unit), work.OWNED_ROWS)
                # all rows of a person meet in one task, in an order that does not depend on where they come from
                person = ["person_1", "person_2"]
                by_person = owned.repartition(shuffle_partitions(owned.sparkSession), *person)
                by_person = by_person.sortWithinPartitions(*person, "place", "numbers", "codes")
                blocks = self._run(by_person, work.Bound(self._unit, self._widths), work.OWNED_BLOCKS)
            self._kept = blocks.persist(StorageLevel.MEMORY_AND_DISK)
        return self._kept
