"""What tests of CSV files ask a Spark host to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cloister.encode import Encoding
from cloister.engines.spark.engine import SparkEngine
from cloister.engines.spark.frames import open_spark
from cloister.engines.spark.options import Spark
from cloister.kernels import Rows
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from cloister.schema.unit import Unit
from tests.engines.spark.jobs import attempt, set_conf
from tests.spark_hosts import session

Cells = list[tuple[str | None, ...]]
# each line is a record, and pieces are so small that files are cut into many
IN_PIECES = {
    "spark.cloister.csv.lines": "true",
    "spark.sql.files.maxPartitionBytes": "512",
    "spark.sql.files.openCostInBytes": "1",
}


def cells(path: str, names: list[str], conf: dict[str, str]) -> Cells:
    """The rows of files, in some order, under settings of the session."""
    for name, value in conf.items():
        set_conf(name, value)
    try:
        return [tuple(row) for row in open_spark(path, Spark()).frame.select(*names).collect()]
    finally:
        for name in conf:
            set_conf(name, None)


def counts_by_person(path: str, encoding: Encoding, person: str) -> dict[tuple[int, ...], int]:
    """How many rows each person has of each kind."""
    made = SparkEngine(open_spark(path, Spark()), encoding)
    found = open_exact(made.fold_by_key(RowKeys(len(encoding.columns)), person))
    return dict(zip(map(tuple, found.keys.tolist()), found.counts.tolist(), strict=True))


def bounded_count(path: str, encoding: Encoding, unit: Unit) -> int:
    """How many rows count when people are bounded."""
    made = SparkEngine(open_spark(path, Spark()), encoding, unit)
    count = int(open_exact(made.fold(Rows()))["counts"][0])
    made.close()
    return count


def opening(paths: list[str]) -> tuple[str, str]:
    """The error that opening files ends in."""
    return attempt(open_spark, paths, Spark())


def fit_without_columns(data: Path | str) -> tuple[str, str]:
    """The error of k-means that is not told which columns to take; from a Parquet file by way of a DataFrame."""
    import cloister as cl

    rows: Any = session().read.parquet(str(data)) if str(data).endswith(".parquet") else str(data)
    return attempt(cl.KMeans(2, 1.0, (0, 1), engine="spark").fit, rows)
