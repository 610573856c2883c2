"""How Spark is found and set up, as a user says it. Nothing here loads pyspark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cloister.engines.base import EngineOptions
from cloister.errors import UsageError

__all__ = ["Spark", "is_spark_frame"]


@dataclass(frozen=True, slots=True)
class Spark(EngineOptions):
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

    engine: ClassVar[str] = "spark"

    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.master and self.remote:
            raise UsageError("--master starts Spark and --remote connects to one that runs. Give one of them.")


def is_spark_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect; pyspark is not loaded to find out."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(type(data), "mapInArrow")
