"""Private rows on Spark are the local ones, row for row: what is folded is the same, and so is the seeded noise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.testing import seeded_noise

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FACTS = {"bounds": {"age": [0, 99], "pay": [0, 1]}, "domains": {"level": ["low", "middle", "high"]}}
ASKED = [
    {"method": "clusters"},
    {"method": "marginals"},
    {"method": "insensitive", "k": 50, "neighbours": "replace-one"},
]
WORK = """
import json, sys
import cloister as cl
from cloister.testing import seeded_noise
from cloister.vault import Spark
rows, facts, asked = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
engine, seen = Spark(master="local[2]", conf=(("spark.sql.shuffle.partitions", "4"),)), []
for each in asked:
    with seeded_noise(7):
        model = cl.PrivateMicrodata(2, **facts, **each, engine=engine, random_state=0)
        seen.append(model.sample(rows).table.to_pylist())
print(json.dumps(seen))
"""


def test_rows_are_the_same_on_spark(tmp_path: Path) -> None:
    """All three methods, from several files; insensitive groups are ranked on the driver."""
    random = np.random.default_rng(0)
    for part in range(3):
        age = random.integers(0, 100, 500)
        table = {"age": age, "pay": random.random(500), "level": np.array(["low", "middle", "high"])[age // 34]}
        pq.write_table(pa.table(table), tmp_path / f"part-{part}.parquet")
    rows = str(tmp_path / "*.parquet")
    words = [sys.executable, "-c", WORK, rows, json.dumps(FACTS), json.dumps(ASKED)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    on_spark = json.loads(done.stdout.strip().splitlines()[-1])
    for each, there in zip(ASKED, on_spark, strict=True):
        with seeded_noise(7):
            here = cl.PrivateMicrodata(2, **FACTS, **each, random_state=0).sample(rows).table.to_pylist()  # type: ignore[arg-type]
        assert here == there
