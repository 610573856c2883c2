"""Who reads the rows, as a user says it. Nothing here loads an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cloister.errors import UsageError

__all__ = ["Spark", "chosen", "is_spark_frame"]


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

    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.master and self.remote:
            raise UsageError("--master starts Spark and --remote connects to one that runs. Give one of them.")


def chosen(engine: Any, data: Any) -> Spark | None:
    """The Spark that was asked for, or None: the local engine. A Spark DataFrame asks by itself."""
    if isinstance(engine, Spark):
        return engine
    if engine not in (None, "local", "spark"):
        raise UsageError(f'engine must be "local" or "spark", not "{engine}".')
    on_spark = is_spark_frame(data) or is_spark_frame(getattr(data, "frame", None))
    if engine == "local" and on_spark:
        raise UsageError('a Spark DataFrame is read by the Spark engine. Drop engine="local".')
    return Spark() if engine == "spark" or on_spark else None


def is_spark_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect; pyspark is not loaded to find out."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(type(data), "mapInArrow")
