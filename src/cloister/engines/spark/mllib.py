"""MLlib's weighted k-means over a file of released points, for a synopsis too large for one machine.

The points are released already: nothing here touches a row of a table, and nothing is charged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.engines.spark.fault_messages import retold
from cloister.engines.spark.options import Spark
from cloister.engines.spark.session import find_session
from cloister.errors import UsageError

__all__ = ["weighted_kmeans"]

RESTARTS = 3  # seedings, of which the best is kept
BUCKETS = 64  # between a weight and twice that weight


def weighted_kmeans(
    path: str, features: list[str], weight: str, total: float, clusters: int, seed: int, options: Spark
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Centres (k, d), their weights (k,) and the weighted squared error, by MLlib's KMeans with k-means|| seeding.

    Of the points those with the largest weights are kept, as many as `total` explains, to about a hundredth.
    """
    with retold("clustering a synopsis"):
        session = find_session(options)
        from pyspark.ml.clustering import KMeans
        from pyspark.ml.feature import VectorAssembler

        points = session.read.parquet(path).select(*[f"`{name}`" for name in features], weight).where(f"`{weight}` > 0")
        kept = points.where(f"`{weight}` >= {least_kept(points, weight, total)!r}")
        vectors = (
            VectorAssembler(inputCols=features, outputCol="features").transform(kept).select("features", weight).cache()
        )
        cells = vectors.count()
        if clusters > cells:
            raise UsageError(
                f"{clusters} clusters were asked for, and the synopsis has {cells:,} cells that are not empty. Ask for fewer."
            )
        seeds = [(seed + i) % 2**31 for i in range(RESTARTS)]
        models = [
            KMeans(k=clusters, weightCol=weight, seed=s, initMode="k-means||", maxIter=100).fit(vectors) for s in seeds
        ]
        best = min(models, key=lambda model: model.summary.trainingCost)
        centers = np.array([np.asarray(center) for center in best.clusterCenters()], dtype=np.float64)
        sizes = np.zeros(len(centers))
        for row in best.transform(vectors).groupBy("prediction").agg({weight: "sum"}).collect():
            sizes[row[0]] = float(row[1])
        loss = float(best.summary.trainingCost)
        vectors.unpersist()
    return centers, sizes, loss


def least_kept(points: Any, weight: str, total: float) -> float:
    """The smallest weight to keep, such that the kept ones add up to about the total: read from buckets of weights."""
    from pyspark.sql import functions

    bucket = functions.floor(functions.log2(functions.col(weight)) * BUCKETS)
    rows = points.groupBy(bucket.alias("bucket")).agg(functions.sum(weight).alias("held")).collect()
    weight_so_far = 0.0
    for row in sorted(rows, key=lambda row: -row["bucket"]):
        weight_so_far += float(row["held"])
        if weight_so_far >= total:
            return float(2.0 ** (row["bucket"] / BUCKETS))
    return 0.0
