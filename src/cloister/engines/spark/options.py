"""The Spark engine, as a user chooses it. Nothing here loads pyspark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoding
from cloister.errors import UsageError
from cloister.kernels.per_unit import Unit

if TYPE_CHECKING:
    from cloister.engines.spark.engine import SparkEngine
    from cloister.engines.spark.frames import SparkRows

__all__ = ["Spark", "is_spark_frame"]


@dataclass(frozen=True, slots=True)
class Spark:
    """Read rows with Spark: the running session, or one that is started for it.

    Parameters
    ----------
    master : str, optional
        Where to start a session: ``local[*]``, ``spark://host:7077``, ``yarn``, ``k8s://...``. Default: as Spark is set up.
    remote : str, optional
        Instead: a Spark Connect server, ``sc://host:15002``.
    conf : tuple of pairs
        Settings of the session, such as ``("spark.executor.memory", "8g")``.
    """

    title: ClassVar[str] = "Spark"
    keeps_order: ClassVar[bool] = False

    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.master and self.remote:
            raise UsageError("--master starts Spark and --remote connects to one that runs. Give one of them.")

    @staticmethod
    def claims(data: Any) -> str | None:
        """Spark DataFrames, and those that were opened already."""
        is_claimed = is_spark_frame(data) or is_spark_frame(getattr(data, "frame", None))
        return "a Spark DataFrame" if is_claimed else None

    # The engine's modules are imported where they are used: they bring pyspark, which is optional.

    def open_data(self, data: Any) -> SparkRows:
        """Whatever Spark can read; a DataFrame stays in its own session."""
        from cloister.engines.spark.frames import open_spark

        return open_spark(data, self)

    def make_engine(self, data: SparkRows, encoding: Encoding, unit: Unit | None, once: bool) -> SparkEngine:
        """An engine over a DataFrame; it keeps encoded rows only when they are gone through again, so `once` says nothing."""
        from cloister.engines.spark.engine import SparkEngine

        return SparkEngine(data, encoding, unit)

    def cluster_points(
        self, path: str, features: list[str], weight: str, total: float, clusters: int, seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weighted k-means over a file of released points, by MLlib."""
        from cloister.engines.spark.mllib import weighted_kmeans

        return weighted_kmeans(path, features, weight, total, clusters, seed, self)


def is_spark_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect; pyspark is not loaded to find out."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(type(data), "mapInArrow")
