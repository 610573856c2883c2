"""Counts of reports on Spark: the same numbers as here, of files and of DataFrames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.collect import Collection, simulate
from cloister.collect.counting import count_reports
from tests.collect import collect_jobs
from tests.spark_hosts import Host

pytestmark = pytest.mark.spark
BITS = {"domain": [str(i) for i in range(19)], "protocol": "unary"}
COLLECTIONS = {
    "joined": Collection("joined", {"a": ["x", "y"], "b": ["", "u", "v"]}, 1),
    "bits": Collection("bits", {"a": ["x", "y"], "t": BITS}, 1),
    "many": Collection("many", {f"q{j:02}": ["n", "y"] for j in range(26)}, 3),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_spark_counts_what_is_counted_here(classic: Host, tmp_path: Path, name: str) -> None:
    """Joint tables, bits, and marginals beyond the cells; reports that no client sends are refused alike."""
    collection = COLLECTIONS[name]
    random = np.random.default_rng(0)
    people = {q.name: [q.values[i] for i in random.integers(0, len(q.values), 700)] for q in collection.questions}
    reports = simulate(collection, people, method="unbiased").reports
    wrong = pa.table({column: ["wrong"] for column in reports.column_names}).cast(reports.schema)
    path = str(tmp_path / "reports.parquet")
    pq.write_table(pa.concat_tables([reports, wrong]), path)
    here = count_reports(collection, path)
    assert here.reports == 700
    assert sum(here.refused.values()) == 1
    for found in classic(collect_jobs.counted, collection, path, 5).values():
        counted, refused, values, joint, tables = found
        assert (counted, refused) == (here.reports, dict(here.refused))
        assert all(np.array_equal(values[q], here.values[q]) for q in here.values)
        assert (joint is None) == (here.joint is None)
        assert joint is None or np.array_equal(joint, here.joint)
        assert tables.keys() == here.tables.keys()
        assert all(np.array_equal(tables[names], here.tables[names]) for names in tables)
