"""What tests of files of one table ask a Spark host to do."""

from __future__ import annotations

import cloister as cl
from cloister.encode import Encoding
from cloister.engines.spark.engine import SparkEngine
from cloister.engines.spark.frames import open_spark
from cloister.engines.spark.options import Spark
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from tests.engines.spark.jobs import attempt


def charged_fit(path: str | list[str], columns: list[str], url: str | None) -> tuple[str, str]:
    """The error of a fit that would be charged."""
    table = "people" if url else None
    return attempt(cl.KMeans(2, 1.0, (0, 1), columns=columns, table=table, ledger=url, engine="spark").fit, path)


def integers(path: str, encoding: Encoding) -> dict[tuple[int, ...], int]:
    """How many rows of files have the same integers."""
    made = SparkEngine(open_spark(path, Spark()), encoding)
    keyed = open_exact(made.fold_by_key(RowKeys(len(encoding.numbers) + len(encoding.categories))))
    return dict(zip(map(tuple, keyed.keys.tolist()), keyed.counts.tolist(), strict=True))
