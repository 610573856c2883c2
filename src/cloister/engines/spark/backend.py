"""The way into the Spark engine. Its modules are imported where they are used: they bring pyspark, which is optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoding
from cloister.engines.base import Backend
from cloister.engines.spark.options import Spark, is_spark_frame
from cloister.schema.unit import Unit
from cloister.sources.stated_names import NOTHING_STATED, StatedNames

if TYPE_CHECKING:
    from cloister.engines.spark.engine import SparkEngine
    from cloister.engines.spark.frames import SparkRows

__all__ = ["SparkBackend"]


class SparkBackend(Backend):
    """Rows are read by Spark's workers: of a DataFrame, of a table, or of files."""

    title: ClassVar[str] = "Spark"
    keeps_order: ClassVar[bool] = False
    labels_in_memory: ClassVar[bool] = False
    opens_at_once: ClassVar[bool] = False

    def __init__(self, options: Spark | None = None) -> None:
        self._options = options or Spark()

    @staticmethod
    def claims(data: Any) -> str | None:
        """Spark DataFrames, and those that were opened already."""
        is_claimed = is_spark_frame(data) or is_spark_frame(getattr(data, "frame", None))
        return "a Spark DataFrame" if is_claimed else None

    def open_data(self, data: Any, names: StatedNames = NOTHING_STATED) -> SparkRows:
        """Whatever Spark can read; a DataFrame stays in its own session."""
        from cloister.engines.spark.frames import open_spark

        return open_spark(data, self._options, names.file)

    def make_engine(self, data: SparkRows, encoding: Encoding, unit: Unit | None, once: bool) -> SparkEngine:
        """An engine over a DataFrame. It keeps encoded rows from the first fold on, and none for a count by key alone."""
        from cloister.engines.spark.engine import SparkEngine

        return SparkEngine(data, encoding, unit)

    def cluster_points(
        self, path: str, features: list[str], weight: str, total: float, clusters: int, seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weighted k-means over a file of released points, by MLlib."""
        from cloister.engines.spark.mllib import weighted_kmeans

        return weighted_kmeans(path, features, weight, total, clusters, seed, self._options)
