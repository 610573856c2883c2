"""What all tests share: Spark sessions, and what happens when a test cannot run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres_server import postgres_server
from tests.spark_hosts import KINDS, Cluster, ConnectServer, Host, comes_with_connect, missing

# A busy machine is no failure, and CI draws new examples each time as every other run does: Hypothesis would fix them there.
settings.register_profile("cloister", deadline=None, derandomize=False)
settings.load_profile("cloister")


def pytest_configure(config: pytest.Config) -> None:
    """Sign with a key of the tests' own, here and in the processes that they start: the user's key is left alone."""
    if "CLOISTER_KEY" not in os.environ:
        folder = tempfile.mkdtemp(prefix="cloister-key-")
        os.environ["CLOISTER_KEY"] = str(Path(folder) / "signing.key")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def all_must_run() -> bool:
    """Whether every test must run: in CI one that is skipped is a failure."""
    return os.environ.get("CI", "").lower() == "true"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip Spark tests where Spark is missing, with a line that says how to get it."""
    reason = missing()
    if reason is None:
        return
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.skip(reason=f"Spark tests need more: {reason}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Under CI=true a test that is skipped has failed: Java, PostgreSQL or a data set is missing."""
    outcome = yield
    fail_if_skipped(outcome.get_result())  # type: ignore[attr-defined]


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Under CI=true a file of tests that is skipped has failed."""
    outcome = yield
    fail_if_skipped(outcome.get_result())  # type: ignore[attr-defined]


def fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where all tests must run."""
    if report.skipped and all_must_run() and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
        report.outcome = "failed"
        report.longrepr = f"under CI=true every test must run, and this was skipped: {reason}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line when Spark tests were skipped."""
    reason = missing()
    if reason is not None:
        terminalreporter.write_line(f"Spark tests were skipped: {reason}")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server. Its synchronous commits are off, so that a test can see a store turn them on."""
    with postgres_server("synchronous_commit=off", "max_prepared_transactions=2") as url:
        yield url


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A real standalone cluster on loopback."""
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def hosts(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Host]]:
    """A process with a Spark session of each kind, started when it is first asked for."""
    started: dict[str, Host] = {}

    def host(kind: str) -> Host:
        if kind not in started:
            if kind == "cluster":
                started[kind] = cluster_host(request.getfixturevalue("cluster"))
            else:
                started[kind] = Host(kind, request.getfixturevalue("connect_server") if kind == "connect" else "local[2]")
        return started[kind]

    yield host
    for one in started.values():
        one.close()


@pytest.fixture(scope="session")
def connect_server() -> Iterator[str]:
    """Where Spark Connect is: a server of this pyspark, or of the Python that CONNECT_PYTHON names."""
    if comes_with_connect():
        yield "local[2]"
        return
    if not (python := os.environ.get("CONNECT_PYTHON")):
        pytest.skip("this pyspark comes without a Spark Connect server: set CONNECT_PYTHON to a Python with pyspark 4")
    server = ConnectServer(python)
    yield server.remote
    server.close()


@pytest.fixture(params=KINDS)
def spark(request: pytest.FixtureRequest, hosts: Callable[[str], Host]) -> Host:
    """Spark of every kind: classic, Connect, and on the standalone cluster."""
    return hosts(request.param)


@pytest.fixture
def classic(hosts: Callable[[str], Host]) -> Host:
    """Classic Spark, for what need not be tried on every kind."""
    return hosts("classic")


def cluster_host(cluster: Cluster) -> Host:
    """A session on the cluster, whose workers have a decoy in place of Cloister: the code must come with the session."""
    decoy = cluster.folder / "decoy" / "cloister"
    decoy.mkdir(parents=True, exist_ok=True)
    (decoy / "__init__.py").write_text("raise ImportError('this is not the code that was sent')\n")
    from tests.spark_hosts import ROOT

    paths = [str(decoy.parent), str(ROOT), str(ROOT / "tests" / "engines" / "hiding")]
    conf = {
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(paths),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.cores.max": "2",
        "spark.executor.cores": "1",
        # a straggler is run twice, early: results must not depend on it
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.multiplier": "1.5",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "2s",
    }
    return Host("cluster", cluster.master, conf)
