"""What tests of collections ask a Spark host to do."""

from __future__ import annotations

from typing import Any

from cloister.collect import Collection
from cloister.collect.counting import count_reports
from tests.spark_hosts import session


def counted(collection: Collection, path: str, parts: int) -> dict[str, Any]:
    """The counts of packed reports: of the file, and of a DataFrame in so many partitions."""
    frame = session().read.parquet(path).repartition(parts)
    found = {}
    for name, reports in (("file", path), ("frame", frame)):
        counts = count_reports(collection, reports, engine="spark")
        found[name] = (counts.reports, dict(counts.refused), dict(counts.values), counts.joint, dict(counts.tables))
    return found
