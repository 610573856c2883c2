"""What Spark says, retold: in the user's words, with what to do next, and without any value of the data."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from cloister.errors import CloisterError, EngineError, SinkError, SourceError, raise_alone

__all__ = ["missing_on_workers", "retold", "retold_opening"]

ENVIRONMENT = (
    "Give the workers a Python environment with numpy, pyarrow and numba: pack one with venv-pack or conda-pack and pass "
    "it with spark.archives (docs/on-a-cluster.md shows how)"
)
_NO_MODULE = re.compile(r"(?:No module named '|\[cloister:missing:|import of )([A-Za-z0-9_]+)(?:'|\]|\.| halted)")
_OURS = re.compile(r"\[cloister:error:(.*?)\](?:\s|$)", re.DOTALL)
_KIND = re.compile(r"\[cloister:kind:([A-Za-z0-9_]+)\]")


def missing_on_workers(module: str) -> EngineError:
    """One clear error about a module that the workers do not have."""
    plain = (
        " Or run the slower NumPy kernels, which give the same result: --spark-conf spark.cloister.kernels=numpy."
        if module == "numba"
        else ""
    )
    return EngineError(f"the Spark workers have no {module}. {ENVIRONMENT}.{plain}")


def retold(doing: str) -> AbstractContextManager[None]:
    """Replace an error that Spark raises while it works on rows by one of Cloister's, which quotes no value."""
    return retelling(lambda error: from_workers(str(error), condition(error), doing))


def retold_opening(shown: str) -> AbstractContextManager[None]:
    """The same while Spark looks for data; no row is read there."""
    return retelling(lambda error: SourceError(f"{shown}: {why_not_opened(str(error), condition(error))}"))


@contextmanager
def retelling(meaning: Callable[[Exception], CloisterError]) -> Iterator[None]:
    """Raise what an error of Spark's means in its place, and nothing of its own message."""
    try:
        with unlogged():
            yield
    except CloisterError:
        raise
    except Exception as error:
        raise_alone(meaning(error))


def error_loggers() -> list[logging.Logger]:
    """What PySpark 4 prints errors with; PySpark 3.5 prints none."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return []
    return [PySparkLogger.getLogger(name) for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger")]


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep PySpark 4 from printing the messages of errors, which may quote a value."""
    loggers = error_loggers()
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def from_workers(text: str, kind: str, doing: str) -> CloisterError:
    """The error that a failed job means; only known marks of the text are read, never shown as it is."""
    if kind == "PATH_ALREADY_EXISTS":
        return SinkError("the output exists already. Choose another name, or remove it first.")
    if module := _NO_MODULE.search(text):
        return missing_on_workers(module.group(1))
    if "PACKAGE_NOT_INSTALLED" in text or "PyArrow >=" in text:
        return missing_on_workers("pyarrow")
    if "PYTHON_VERSION_MISMATCH" in text:
        return EngineError(
            "the Spark workers run another Python version than this process. Point PYSPARK_PYTHON (or spark.pyspark.python) "
            "to the same version."
        )
    if ours := _OURS.search(text):
        return EngineError(ours.group(1))
    if type_name := _KIND.search(text):
        return EngineError(f"{doing} failed on a worker ({type_name.group(1)}). Nothing was released.")
    return EngineError(
        f"Spark gave up during {doing} ({kind}). Nothing was released; Spark's own log says why "
        "(with CLOISTER_DEBUG=1 it is printed here, and may quote values)."
    )


def why_not_opened(text: str, kind: str) -> str:
    """What an error means that Spark gave while it looked for data."""
    if "PATH_NOT_FOUND" in kind or "does not exist" in text:
        return "Spark finds no such file or table. Check the name."
    if "UNABLE_TO_INFER_SCHEMA" in kind:
        return "Spark finds no rows there that it can read. Check the name and format."
    return f"Spark cannot open it ({kind}). Check the name, the format and your rights."


def condition(error: Exception) -> str:
    """The name that Spark gives to an error, or its type: neither holds data."""
    for name in ("getCondition", "getErrorClass"):
        try:
            if spark_name := getattr(error, name)():
                return str(spark_name)
        except Exception:  # older versions lack the one or the other
            continue
    return type(error).__name__
