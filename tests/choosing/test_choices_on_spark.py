"""Choices on Spark are the local ones, bit for bit."""

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

SCHEMA = """
unit = "who"
max_rows = 2
[columns.who]
kind = "text"
[columns.age]
kind = "number"
bounds = [0, 99]
[columns.level]
kind = "category"
domain = ["bachelor", "master", "doctor"]
"""
ASKED = [
    {"column": "age", "quantile": "1/3", "count_rows": True},
    {"column": "age", "options": [20, 54, 90]},
    {"column": "level"},
]
WORK = """
import json, sys
import cloister as cl
from cloister.testing import seeded_noise
from cloister.vault import Spark
rows, schema, asked = sys.argv[1], cl.Schema.from_text(sys.argv[2]), json.loads(sys.argv[3])
engine, seen = Spark(master="local[2]", conf=(("spark.sql.shuffle.partitions", "4"),)), []
for each in asked:
    with seeded_noise(7):
        seen.append(cl.choose(rows, budget=0.02, schema=schema, engine=engine, **each).release_.result)
print(json.dumps(seen))
"""


def test_spark_chooses_what_this_process_chooses(tmp_path: Path) -> None:
    """With seeded noise at an epsilon at which the noise decides, per person; the histograms must be the same to do so."""
    random = np.random.default_rng(0)
    levels = np.array(["bachelor", "master", "doctor"])[random.integers(0, 3, 3000)]
    who = np.char.add("p", random.integers(0, 900, 3000).astype(str))
    pq.write_table(pa.table({"age": random.uniform(0, 99, 3000), "level": levels, "who": who}), tmp_path / "rows.parquet")
    run = [sys.executable, "-c", WORK, str(tmp_path / "rows.parquet"), SCHEMA, json.dumps(ASKED)]
    done = subprocess.run(run, check=True, capture_output=True, text=True, timeout=400)
    seen = json.loads(done.stdout.strip().splitlines()[-1])
    for each, result in zip(ASKED, seen, strict=True):
        with seeded_noise(7):
            made = cl.choose(str(tmp_path / "rows.parquet"), budget=0.02, schema=cl.Schema.from_text(SCHEMA), **each)
        assert made.release_.result == result
