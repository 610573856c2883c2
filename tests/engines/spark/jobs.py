"""What tests ask a Spark host to do: functions that run in its process, beside its session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from cloister.encode import Encoding
from cloister.engines.base import Shuffle
from cloister.engines.spark import files_of_rows
from cloister.engines.spark.engine import SparkEngine
from cloister.engines.spark.frames import open_spark
from cloister.engines.spark.options import Spark
from cloister.kernels import Kernel, Moments, Rows
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import Keyed, KeyedKernel
from cloister.kernels.row_maps import RowMap
from cloister.privacy import noise
from cloister.privacy.secret_draws import secret_draw
from cloister.schema.unit import Unit
from cloister.testing import seeded_noise
from tests.spark_hosts import session

Parts = dict[str, np.ndarray]
Cut = int | tuple[int, str]  # into so many partitions, or so many by a column


def frame(path: Path | str, cut: Cut = 3) -> Any:
    """The rows of a Parquet file, cut into partitions."""
    rows = session().read.parquet(str(path))
    return rows.repartition(*cut) if isinstance(cut, tuple) else rows.repartition(cut)


def engine(path: Path | str, encoding: Encoding, unit: Unit | None = None, cut: Cut = 3) -> SparkEngine:
    return SparkEngine(open_spark(frame(path, cut), Spark()), encoding, unit)


def folds(
    path: Path, encoding: Encoding, kernels: Sequence[Kernel], unit: Unit | None = None, cuts: Sequence[Cut] = (3,)
) -> list[list[Parts]]:
    """The summaries of kernels under several partitionings."""
    outcomes = []
    for cut in cuts:
        made = engine(path, encoding, unit, cut)
        outcomes.append([dict(open_exact(made.fold(kernel)).parts) for kernel in kernels])
        made.close()
    return outcomes


def by_key(path: Path, encoding: Encoding, kernel: KeyedKernel, unit: Unit | None, person: str | None, cut: Cut) -> Keyed:
    made = engine(path, encoding, unit, cut)
    found = open_exact(made.fold_by_key(kernel, person))
    made.close()
    return found


def seeded_samples(
    path: Path, encoding: Encoding, kernel: Kernel, rate: Fraction, unit: Unit | None, cuts: Sequence[Cut]
) -> list[Parts]:
    """The summary of the sample that a seed draws, under several partitionings."""
    outcomes = []
    for cut in cuts:
        made = engine(path, encoding, unit, cut)
        with seeded_noise(5):
            outcomes.append(dict(open_exact(made.sample(secret_draw(rate).keep).fold(kernel)).parts))
        made.close()
    return outcomes


def ranked(path: Path, encoding: Encoding, order: KeyedKernel, unit: Unit | None, cut: Cut) -> Keyed:
    made = engine(path, encoding, unit, cut)
    found = open_exact(made.rank(order))
    made.close()
    return found


def distinct_values(path: Path, encoding: Encoding, kernel: DistinctValues, cut: Cut) -> list[dict[str, Any]]:
    return open_exact(engine(path, encoding, None, cut).distinct(kernel)).to_pylist()


def drawn_again(path: Path, encoding: Encoding, unit: Unit | None) -> list[Parts]:
    """Moments of what one draw keeps, asked for three times."""
    made = engine(path, encoding, unit)
    draw = secret_draw(Fraction(1, 4))
    outcomes = [dict(open_exact(made.sample(draw.keep).fold(Moments_of(encoding))).parts) for _ in range(3)]
    made.close()
    return outcomes


def secret_counts(path: Path, encoding: Encoding, rate: Fraction, unit: Unit | None, times: int) -> list[Parts]:
    """Moments and sizes of samples drawn with the system's randomness."""
    made = engine(path, encoding, unit)
    outcomes = []
    for _ in range(times):
        sample = made.sample(secret_draw(rate).keep)
        once = open_exact(sample.fold(Rows()))["counts"]
        assert np.array_equal(once, open_exact(sample.fold(Rows()))["counts"]), "a sample is drawn once"
        outcomes.append({"counts": once, "moments": open_exact(sample.fold(Moments_of(encoding)))["sums"]})
    made.close()
    return outcomes


def Moments_of(encoding: Encoding) -> Moments:  # noqa: N802
    from cloister.kernels import BoxClip

    return Moments(BoxClip(tuple(grid.half for grid in encoding.numbers)), len(encoding.numbers))


def kmeans(path: Path, settings: dict[str, Any], cut: Cut, form: str = "frame") -> tuple[np.ndarray, str, list[str]]:
    """Centres of a seeded fit, its guarantee and its notes; from a DataFrame, a path or a table's name."""
    import cloister as cl

    data: Any = frame(path, cut)
    if form == "table":
        data.createOrReplaceTempView("people")
        data = "people"
    elif form == "path":
        data = str(path)
    engine = None if form == "frame" else "spark"
    with seeded_noise(9):
        model = cl.KMeans(**settings, engine=engine).fit(data)
    return model.cluster_centers_, str(model.release_.guarantee), list(model.release_.notes)


def prototypes(path: Path, settings: dict[str, Any], cut: Cut) -> tuple[list[Any], dict[Any, int]]:
    """The prototypes of a seeded fit, and the label of each row by its id."""
    import cloister as cl

    rows = frame(path, cut)
    with seeded_noise(9):
        model = cl.KPrototypes(**settings).fit(rows)
    labelled = model.predict(rows).select("id", "cluster").collect()
    return model.cluster_centers_.tolist(), {row["id"]: row["cluster"] for row in labelled}


def predict(path: Path, settings: dict[str, Any]) -> tuple[list[str], dict[Any, int], int]:
    """Fit, label; the columns, the label of each row by its id, and how many jobs labelling began before it was read."""
    import cloister as cl

    rows = frame(path, 4)
    with seeded_noise(9):
        model = cl.KMeans(**settings).fit(rows)
    before = jobs_begun()
    labelled = model.predict(rows)
    begun = jobs_begun() - before
    return labelled.columns, {row["id"]: row["cluster"] for row in labelled.select("id", "cluster").collect()}, begun


def scores(path: Path, settings: dict[str, Any], truth: str) -> dict[str, Any]:
    """The scores of what a seeded fit finds."""
    import cloister as cl

    with seeded_noise(9):
        model = cl.KMeans(**settings).fit(frame(path, 4))
    return model.score_report(frame(path, 3), truth).as_dict()


def jobs_begun() -> int:
    """How many jobs this session has begun, where it can be asked."""
    try:
        return len(session().sparkContext.statusTracker().getJobIdsForGroup(None))
    except Exception:  # Spark Connect has no such tracker
        return 0


def rewrite(
    path: Path, encoding: Encoding, row_map: RowMap, target: str, format: str, cut: Cut = 3, files: int | None = None
) -> None:
    """Rewrite a table; shuffled, if a number of files is given."""
    shuffle = None if files is None else Shuffle(files * files_of_rows.ROWS_A_FILE, noise.integers, noise.permutation)
    engine(path, encoding, None, cut).rewrite(row_map, target, format, shuffle)


def rewrite_into_files(
    path: Path, encoding: Encoding, row_map: RowMap, target: str, format: str, cut: Cut, rows: int
) -> None:
    """Rewrite a table into files of so many rows."""
    usual, files_of_rows.ROWS_A_FILE = files_of_rows.ROWS_A_FILE, rows
    try:
        rewrite(path, encoding, row_map, target, format, cut)
    finally:
        files_of_rows.ROWS_A_FILE = usual


class Logged(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


def spark_logger(name: str) -> Any:
    """A logger of PySpark 4's; one that nobody uses with 3.5."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(f"unused {name}")
    return PySparkLogger.getLogger(name)


def attempt(job: Callable[..., Any], *arguments: Any) -> tuple[str, str]:
    """The type and message of the error that a job ends in, of what hangs on it, and of what was logged meanwhile."""
    logged = Logged()
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        spark_logger(name).addHandler(logged)
    try:
        job(*arguments)
    except Exception as error:
        return type(error).__name__, f"{error}{error.__context__ or ''}{error.__cause__ or ''}{''.join(logged.told)}"
    return "", ""


def where_the_code_is(path: Path, encoding: Encoding) -> list[str]:
    """Where the workers found Cloister."""
    made = engine(path, encoding)
    made.fold(Rows())
    made.close()

    def look(batches: Any) -> Any:
        import pyarrow as pa

        import cloister

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"place": [cloister.__file__]})

    return [row["place"] for row in frame(path).mapInArrow(look, "place string").collect()]


def set_conf(name: str, value: str | None) -> None:
    session().conf.unset(name) if value is None else session().conf.set(name, value)


def hide(*modules: str) -> None:
    """Hide modules from the workers that are started from now on."""
    from cloister.engines.spark.session import forget_sessions

    forget_sessions()
    session().sparkContext.environment["CLOISTER_TEST_HIDE"] = ",".join(modules)


class WideCounts:
    """A kernel with a large summary: each row counts in a cell far away from others."""

    def __init__(self, cells: int) -> None:
        self.cells = cells

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        return {"counts": (self.cells,)}

    def fold(self, rows: Any) -> Any:
        from cloister.kernels import Summary

        cells = (rows.numbers[:, 0].astype(np.int64) * 7919 + rows.numbers[:, 1]) % self.cells
        return Summary({"counts": np.bincount(cells, minlength=self.cells).astype(np.int64)})

    def sensitivity(self, neighbours: Any) -> Any:
        return Rows().sensitivity(neighbours)


def leaky_folds(*arguments: Any) -> list[list[Parts]]:
    """As `folds`, with a planted bug: one partition keeps all rows of its people."""
    from cloister.engines.spark import work as spark_work

    proper, own = spark_work.Bound, spark_work.Own
    spark_work.Bound, spark_work.Own = LeakyBound, LeakyOwn  # type: ignore[misc, assignment]
    try:
        return folds(*arguments)
    finally:
        spark_work.Bound, spark_work.Own = proper, own  # type: ignore[misc]


class LeakyOwn:
    """Hands on every row: the bound is left to the partition where a person's rows meet."""

    def __init__(self, encoding: Encoding, unit: Unit) -> None:
        self.encoding, self.unit = encoding, Unit(unit.column, 10**6)

    def __call__(self, batches: Any) -> Any:
        from cloister.engines.spark.work import Own

        return Own(self.encoding, self.unit)(batches)


class LeakyBound:
    """Forgets the bound in every second partition."""

    def __init__(self, unit: Unit, columns: tuple[int, int]) -> None:
        self.unit, self.columns = unit, columns

    def __call__(self, batches: Any) -> Any:
        from pyspark import TaskContext

        from cloister.engines.spark.work import Bound

        forgets = TaskContext.get().partitionId() % 2 == 0
        return Bound(Unit(self.unit.column, 10**6) if forgets else self.unit, self.columns)(batches)


def two_folds(path: Path, encoding: Encoding, first: Kernel, second: Kernel, cut: Cut) -> list[Parts]:
    """Two folds over rows that are kept between them."""
    made = engine(path, encoding, None, cut)
    outcomes = [dict(open_exact(made.fold(kernel)).parts) for kernel in (first, second)]
    made.close()
    return outcomes


def failing_cast(path: Path) -> None:
    """Rows whose computation fails inside Spark, with a value in its message."""
    from tests.laws.tables import identity

    session().conf.set("spark.sql.ansi.enabled", "true")
    rows = frame(path).selectExpr("cast(concat('forty-two', id) as int) AS n0", "n1")
    SparkEngine(open_spark(rows, Spark()), identity(2, 50, ())).fold(Rows())


def executors() -> int:
    """How many executors the session has by now."""
    return int(session().sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def charged_fit(path: Path, columns: str, settings: dict[str, Any], url: str) -> tuple[str, str]:
    """The error of a fit of a named table on columns of these rows."""
    import cloister as cl

    rows = frame(path).selectExpr(*columns.split(";"))
    return attempt(cl.KMeans(2, 1.0, **settings, table="people", ledger=url).fit, rows)


def misused(case: str, path: Path) -> tuple[str, str]:
    """Data and engines that do not go together."""
    import cloister as cl

    rows = frame(path)
    model = cl.KMeans(2, 1.0, (-50, 50), engine="local" if case == "frame locally" else "spark")
    data = {"frame locally": rows, "array on Spark": np.zeros((3, 2)), "missing path": f"{path}.absent.parquet",
            "missing table": "no_such_table", "empty CSV": str(path.parent / "empty.csv")}[case]  # fmt: skip
    return attempt(model.fit, data)


def csv_columns(path: str) -> tuple[tuple[str, ...], list[Any]]:
    """The columns of a CSV file as Spark reads it, and its rows."""
    rows = open_spark(path, Spark())
    return rows.names, [tuple(row) for row in rows.frame.collect()]


def predict_named_cluster(path: Path) -> None:
    """Label rows that have a column of the label's name."""
    import cloister as cl

    rows = frame(path)
    with seeded_noise(9):
        model = cl.KMeans(2, 1.0, (-50, 50), columns=["n0", "n1"], method="lloyd").fit(rows)
    model.predict(rows.withColumnRenamed("id", "cluster"))
