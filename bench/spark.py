"""Spark: a warm fold beside a bare pass, k-means beside MLlib's, more cores and more rows. Each run in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.foundations import COLUMNS, write_parquet
from bench.measure import keep, seconds, show

MILLION = 1_000_000
LARGE = 20 * MILLION
SMALL = 5 * MILLION
CLUSTERS = 8


def session(cores: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "6g"}
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def count_rows(batches: Any) -> Any:
    import pyarrow as pa

    total = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"n": [total]})


def fold(path: str) -> dict[str, float]:
    """A warm fold of encoded rows, and a bare mapInArrow that counts the same rows, kept by Spark too."""
    from cloister.clustering.domain import from_bounds
    from cloister.engines.spark.engine import SparkEngine
    from cloister.engines.spark.frames import open_spark
    from cloister.engines.spark.options import Spark
    from cloister.kernels import CenterSums

    rows = session(2).read.parquet(path).persist()
    rows.count()
    domain = from_bounds([f"x{j}" for j in range(COLUMNS)], (0, 1), "bounds")
    kernel = CenterSums(domain.put(domain.halves * [[i / 8 - 0.5] * COLUMNS for i in range(CLUSTERS)]), domain.clip)
    engine = SparkEngine(open_spark(rows, Spark()), domain.encoding)

    def bare() -> None:
        assert sum(row["n"] for row in rows.mapInArrow(count_rows, "n long").collect()) == MILLION

    bare()
    first = seconds(lambda: engine.fold(kernel), 1)
    engine.fold(kernel)
    return {"bare": seconds(bare, 7), "first": first, "warm": seconds(lambda: engine.fold(kernel), 7)}


def kmeans(path: str, cores: str, peer: str) -> dict[str, float]:
    """Private k-means from Parquet, and MLlib's on the same rows in the same session."""
    import cloister as cl

    if hasattr(os, "sched_setaffinity"):
        # a task is a thread of Java's and a process of Python's: only held to its cores it uses no more of them
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    spark = session(int(cores))
    rows = spark.read.parquet(path)
    cl.KMeans(CLUSTERS, cl.ApproxDP(1, 1e-6), (0, 1)).fit(rows.limit(100_000))  # starts workers, compiles loops
    begun = time.perf_counter()
    cl.KMeans(CLUSTERS, cl.ApproxDP(1, 1e-6), (0, 1)).fit(rows)
    found = {"cloister": time.perf_counter() - begun}
    if peer == "mllib":
        from pyspark.ml.clustering import KMeans
        from pyspark.ml.feature import VectorAssembler

        vectors = VectorAssembler(inputCols=rows.columns, outputCol="features")
        model = KMeans(k=CLUSTERS, maxIter=5, seed=1)
        model.fit(vectors.transform(rows.limit(100_000)).select("features"))
        begun = time.perf_counter()
        kept = vectors.transform(rows).select("features").persist()
        model.fit(kept)
        found["mllib"] = time.perf_counter() - begun
    return found


def run(*words: str) -> Any:
    """One measurement in a process of its own; its last line is JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.spark", *words], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = {rows: str(Path(folder) / f"{rows}.parquet") for rows in (MILLION, SMALL, LARGE)}
        for rows, path in paths.items():
            write_parquet(Path(path), rows)
        timed = run("fold", paths[MILLION])
        ratio = timed["warm"] / timed["bare"]
        results = [
            {"what": "bare mapInArrow count, 1 million x 8", "seconds": timed["bare"], "ratio": 1.0},
            {"what": "fold, first (encodes and keeps)", "seconds": timed["first"], "ratio": timed["first"] / timed["bare"]},
            {
                "what": "fold, warm",
                "seconds": timed["warm"],
                "ratio": ratio,
                "bar": "1.5 x the bare count",
                "met": ratio <= 1.5,
            },
        ]
        large = run("kmeans", paths[LARGE], "2", "mllib")
        small = run("kmeans", paths[SMALL], "2", "none")
        one = run("kmeans", paths[LARGE], "1", "none")
        results += [
            {"what": "MLlib KMeans(maxIter=5), 20 million x 8, local[2]", "seconds": large["mllib"], "ratio": 1.0},
            {"what": "private k-means, the same rows", "seconds": large["cloister"], "ratio": large["cloister"] / large["mllib"]},
            {"what": "private k-means, local[1]", "seconds": one["cloister"], "ratio": one["cloister"] / large["cloister"],
             "bar": "speed-up from one core to two"},
            {"what": "private k-means, 5 million, local[2]", "seconds": small["cloister"],
             "ratio": large["cloister"] / small["cloister"], "bar": "times for 4 times the rows"},
        ]  # fmt: skip
    show("spark", [{"bar": "", "met": "", **row} for row in results])
    keep("spark", results)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"fold": fold, "kmeans": kmeans}[sys.argv[1]](*sys.argv[2:])))
    else:
        main()
