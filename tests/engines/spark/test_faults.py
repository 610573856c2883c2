"""Workers that die, tasks that run twice, drivers that are killed, and what errors say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import cloister as cl
from cloister.engines.local.engine import LocalEngine
from cloister.kernels.exact import open_exact
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from tests.engines import kernels
from tests.engines.spark import jobs
from tests.laws.tables import identity, random_rows, write
from tests.spark_hosts import ROOT, Cluster, Host, wait_until

pytestmark = pytest.mark.spark

ENCODING = identity(2, 50, ())


@pytest.fixture
def rows_path(tmp_path: Path) -> Path:
    return write(tmp_path, "rows", random_rows(6, 400, 2, 50, ()))


@pytest.fixture
def on_cluster(hosts: object) -> Host:
    return hosts("cluster")  # type: ignore[operator]


def expected(path: Path) -> list[int]:
    kernel = kernels.Sums()
    return open_exact(LocalEngine(open_source(path), ENCODING).fold(kernel))["sums"].tolist()


def test_a_worker_killed_in_the_middle_of_a_fold_changes_nothing(
    on_cluster: Host, cluster: Cluster, rows_path: Path, tmp_path: Path
) -> None:
    """One of two workers dies with its cached rows while tasks run; the fold ends with the same sums."""
    marks = tmp_path / "marks"
    marks.mkdir()
    begun = on_cluster.begin(jobs.two_folds, rows_path, ENCODING, kernels.Sums(), kernels.Slow(str(marks), 3.0), 6)
    wait_until(lambda: any(marks.iterdir()), "no task of the slow fold began")
    victim = next(marks.iterdir()).name.partition(".")[0]  # it runs a task that takes long enough to die in the middle
    cluster.kill(victim)
    first, second = begun.result(timeout=240)
    cluster.add_worker("worker-3", "127.0.0.1" if victim == "worker-1" else "127.0.0.2")
    assert first["sums"].tolist() == second["sums"].tolist() == expected(rows_path)
    assert len(list(marks.iterdir())) > 6, "some task ran again"


def test_a_task_that_fails_once_counts_no_row_twice(on_cluster: Host, rows_path: Path, tmp_path: Path) -> None:
    """Tasks that fail at their first attempt are run again, and every row counts once."""
    kernel = kernels.FailsOnce(str(tmp_path))
    outcome = on_cluster(jobs.folds, rows_path, ENCODING, [kernel], None, (3,))
    assert outcome[0][0]["sums"].tolist() == expected(rows_path)
    assert list(tmp_path.glob("failed-*")), "some task failed"


def test_a_task_that_runs_twice_counts_no_row_twice(on_cluster: Host, rows_path: Path, tmp_path: Path) -> None:
    """A straggler is run a second time on the other worker (speculation), and every row counts once."""
    wait_until(lambda: on_cluster(jobs.executors) == 2, "the cluster has no two executors")
    kernel = kernels.Straggler(str(tmp_path), 30.0)
    outcome = on_cluster(jobs.folds, rows_path, ENCODING, [kernel], None, (4,))
    assert outcome[0][0]["sums"].tolist() == expected(rows_path)
    assert len(list(tmp_path.glob("straggler-*"))) >= 2, "the straggler ran twice"


DRIVER = """
import sys
import cloister as cl
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
slow = "id + length(coalesce(java_method('java.lang.Thread', 'sleep', 600000L), '')) * 0.0 AS x"
cl.KMeans(2, 1.0, (0, 10), table="people", ledger=sys.argv[1]).fit(spark.range(10).selectExpr(slow))
"""


def test_a_driver_killed_after_the_charge_leaves_the_charge(tmp_path: Path) -> None:
    """The process dies while Spark reads the first rows; the ledger has the charge."""
    url = str(tmp_path / "ledger.sqlite")
    ledger = cl.Ledger(url)
    ledger.create("people", "add-remove", Fraction(3))
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(ROOT / "src"),
    }
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, url],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: kernels.spent(url) > 0 or driver.poll() is not None, "nothing was charged")
        assert driver.poll() is None, "the driver is in the middle of its work"
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    assert kernels.spent(url) == 1


def test_an_error_on_a_worker_is_told_without_its_values(spark: Host, rows_path: Path) -> None:
    """A kernel that fails with a value in its message: the driver names the kind of error only."""
    kind, message = spark(jobs.attempt, jobs.folds, rows_path, ENCODING, [kernels.Blurts()])
    assert kind == "EngineError"
    assert "ValueError" in message
    assert "forty-two" not in message


def test_an_error_of_spark_itself_is_told_without_its_values(spark: Host, rows_path: Path) -> None:
    """A cast that fails inside Spark quotes the value in its message; Cloister's error does not."""
    kind, message = spark(jobs.attempt, jobs.failing_cast, rows_path)
    assert kind == "EngineError"
    assert "forty-two" not in message


def test_code_is_sent_to_workers_that_have_another(on_cluster: Host, rows_path: Path) -> None:
    """Workers of the cluster have a decoy in place of Cloister; they work with the code that was sent."""
    places = on_cluster(jobs.where_the_code_is, rows_path, ENCODING)
    assert places
    assert all(f"{os.sep}cloister-" in place for place in places)


def test_secret_samples_have_the_right_size(spark: Host, rows_path: Path) -> None:
    """Six samples of 400 rows at a quarter: the sum lies within 10 deviations of 600, and they differ."""
    outcomes = spark(jobs.secret_counts, rows_path, ENCODING, Fraction(1, 4), None, 6)
    total = sum(int(outcome["counts"][0]) for outcome in outcomes)
    assert abs(total - 600) < 10 * np.sqrt(6 * 400 * 3 / 16)
    assert len({tuple(outcome["moments"].tolist()) for outcome in outcomes}) > 1


@pytest.mark.parametrize("unit", [None, Unit("who", 2)], ids=["rows", "people"])
def test_a_task_that_draws_again_draws_the_same(classic: Host, tmp_path: Path, unit: Unit | None) -> None:
    """A secret sample whose tasks are run again holds the same rows, so no run of a task is better than another."""
    path = write(tmp_path, "people", random_rows(6, 400, 2, 50, ()), np.repeat(np.arange(100), 4))
    first, *others = classic(jobs.drawn_again, path, ENCODING, unit)
    assert any(first[part].any() for part in first)
    assert all(np.array_equal(first[part], other[part]) for other in others for part in first)
