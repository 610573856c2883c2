"""How rows that Spark writes are dealt into files.

Privacy: Spark writes a file a partition. The partitions of the input would show, by their sizes, where rows were removed; so
what each file holds follows from the rows that are written alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cloister.engines.spark.frames import quoted

__all__ = ["ROWS_A_FILE", "in_full_files", "in_order_of_hashes"]

ROWS_A_FILE = 2_000_000
MICROS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_PLACE_BITS = 33  # of Spark's growing number of a row: its place in its partition, below the number of the partition


@contextmanager
def in_full_files(rows: Any) -> Iterator[Any]:
    """The rows of a DataFrame in their order, in partitions of ROWS_A_FILE; the last holds what is left.

    It costs a shuffle of the rows, which Spark keeps meanwhile: they are counted before each is told its file.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions

    place, begin = _unused_names(rows.columns, 2)
    part = functions.shiftright(functions.col(place), _PLACE_BITS)
    kept = rows.withColumn(place, functions.monotonically_increasing_id()).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        total, begins = 0, []
        for number, count in sorted(tuple(line) for line in kept.groupBy(part.alias(begin)).count().collect()):
            begins.append((number, total))
            total += count
        files = max(1, -(-total // ROWS_A_FILE))
        if files == 1:
            dealt = kept.repartition(1)
        else:
            begin_of = rows.sparkSession.createDataFrame(begins, f"{begin}_part long, {begin} long")
            known = kept.join(functions.broadcast(begin_of), part == functions.col(f"{begin}_part"))
            at = functions.col(begin) + functions.col(place).bitwiseAND(2**_PLACE_BITS - 1)
            file = functions.floor(at / ROWS_A_FILE).cast("int")
            keys = functions.array(*(functions.lit(key).cast("long") for key in _keys_of_partitions(rows, files)))
            dealt = known.repartition(files, functions.element_at(keys, file + 1))
        yield dealt.sortWithinPartitions(place).select(*map(quoted, rows.columns))
    finally:
        kept.unpersist()


@contextmanager
def in_order_of_hashes(rows: Any, count: int) -> Iterator[Any]:
    """A DataFrame dealt into files and sorted within them, by a hash of each row and then by the row; `count`: how many rows."""
    from pyspark.sql import functions

    files = max(1, -(-count // ROWS_A_FILE))
    micros = {"timestampFormat": MICROS, "timestampNTZFormat": MICROS}
    whole = functions.sha2(functions.to_json(functions.struct(*map(quoted, rows.columns)), micros), 256)
    ties = [quoted(name) for name, kind in rows.dtypes if "map<" not in kind]  # maps have no order
    yield rows.repartition(files, whole).sortWithinPartitions(whole, *ties)


def _keys_of_partitions(rows: Any, partitions: int) -> list[int]:
    """For each partition a number that Spark's own hash deals into it."""
    from pyspark.sql import functions

    key = functions.col("id")
    dealt = functions.pmod(functions.hash(key), functions.lit(partitions))
    found: dict[int, int] = {}
    candidates = 32 * partitions
    while len(found) < partitions:
        lines = rows.sparkSession.range(candidates).groupBy(dealt.alias("partition")).agg(functions.min(key)).collect()
        found = {int(partition): int(number) for partition, number in lines}
        candidates *= 2
    return [found[partition] for partition in range(partitions)]


def _unused_names(names: list[str], count: int) -> list[str]:
    """Names that no column has, whatever the case."""
    taken, stem = {name.lower() for name in names}, "place"
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    return [f"{stem}{i}" for i in range(count)]
