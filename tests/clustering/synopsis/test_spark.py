"""Synopses with Spark: released from a Spark engine, and clustered by MLlib."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.testing import seeded_noise
from tests.clustering.synopsis.test_synopsis import MIDDLES, heaps

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WORK = """
import json, sys
import cloister as cl
from cloister.testing import seeded_noise
from cloister.vault import Spark
rows, made, engine = sys.argv[1], sys.argv[2], Spark(master="local[2]", conf=(("spark.sql.shuffle.partitions", "4"),))
counts = {}
for method in ("adaptive-grid", "tree"):
    with seeded_noise(7):
        counts[method] = cl.synopsis(rows, 1.0, (0, 1), method, engine=engine).cells.counts.tolist()
with seeded_noise(7):
    facts = {"bounds": {"x0": (0, 1), "x1": (0, 1)}, "bins": {"x0": 4}, "means": ["x1"], "quantiles": {"x1": [0.1, 0.5]}}
    table = list(cl.tabulate(rows, ["x0"], 1.0, **facts, engine=engine).rows())
model = cl.Synopsis.cluster_file(made, 3, engine, random_state=0)
print(json.dumps([counts, table, model.cluster_centers_.tolist(), model.cluster_sizes_.sum(), model.release_.adds_up()]))
"""


def test_spark_gives_the_local_synopsis_and_mllib_clusters_it(tmp_path: Path) -> None:
    """With seeded noise cells and tables are the local ones bit for bit; MLlib finds the heaps from the file alone."""
    X = heaps(3000)
    pq.write_table(pa.table({"x0": X[:, 0], "x1": X[:, 1]}), tmp_path / "rows.parquet")
    cl.synopsis(X, 2.0, (0, 1)).save(tmp_path / "s.parquet")
    run = [sys.executable, "-c", WORK, str(tmp_path / "rows.parquet"), str(tmp_path / "s.parquet")]
    done = subprocess.run(run, check=True, capture_output=True, text=True, timeout=400)
    counts, table, centers, size, adds_up = json.loads(done.stdout.strip().splitlines()[-1])
    rows = str(tmp_path / "rows.parquet")
    for method, seen in counts.items():
        with seeded_noise(7):
            assert cl.synopsis(rows, 1.0, (0, 1), method).cells.counts.tolist() == seen
    with seeded_noise(7):
        facts: dict[str, Any] = {"bounds": dict.fromkeys(["x0", "x1"], (0, 1)), "bins": {"x0": 4}}
        made = cl.tabulate(rows, ["x0"], 1.0, **facts, means=["x1"], quantiles={"x1": [0.1, 0.5]})
        assert list(made.rows()) == table
    assert (((np.array(centers)[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.01).all()
    assert size == pytest.approx(3000, rel=0.1)
    assert adds_up
