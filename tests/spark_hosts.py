"""Spark for the tests: a process with its own session for each kind, and a real standalone cluster on loopback.

A process holds one Spark session of one kind; so each kind has a process of its own, which runs functions of
`tests.engines.spark.jobs` that tests hand to it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("classic", "connect", "cluster")
START_SECONDS = 120
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.driver.memory": "1g",
    "spark.log.level": "OFF",
}

_session: Any = None  # of this process, when it is a host


def missing() -> str | None:
    """What Spark lacks here, in one line that says how to get it."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install 'pyspark[connect]'"
    home = os.environ.get("JAVA_HOME")
    if shutil.which(str(Path(home) / "bin" / "java") if home else "java") is None:
        return "Java is not installed: apt install openjdk-17-jre-headless (17 or newer)"
    return None


def comes_with_connect() -> bool:
    """Whether this pyspark can start a Spark Connect server: 3.5 comes without one."""
    import pyspark

    return any((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*"))


class Host:
    """A process with a Spark session, which runs functions one after the other."""

    def __init__(self, kind: str, master: str, conf: dict[str, str] | None = None) -> None:
        self.kind = kind
        self.pool = ProcessPoolExecutor(1, get_context("spawn"), start, (kind, master, conf or {}))

    def __call__(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """Run a job there; its exception comes back as it is."""
        return self.pool.submit(job, *arguments).result(timeout=300)

    def begin(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """Begin a job there: a future."""
        return self.pool.submit(job, *arguments)

    def close(self) -> None:
        try:
            self.pool.submit(stop).result(timeout=60)
        finally:
            self.pool.shutdown(wait=True, cancel_futures=True)


def start(kind: str, master: str, conf: dict[str, str]) -> None:
    """In the host: start its session."""
    global _session
    import warnings

    warnings.simplefilter("ignore")
    os.environ.update(worker_environment(sys.executable))
    from pyspark.sql import SparkSession

    settings = {**SETTINGS, "spark.connect.grpc.binding.address": "127.0.0.1", **conf}
    builder = SparkSession.builder.appName("cloister-tests")
    builder = builder.remote(master) if kind == "connect" else builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    _session = builder.getOrCreate()
    if kind != "connect":
        _session.sparkContext.setLogLevel("OFF")


def worker_environment(python: str) -> dict[str, str]:
    """The environment in which workers run that Python and find the kernels that tests define."""
    paths = [str(ROOT), str(ROOT / "tests" / "engines" / "hiding"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(paths)}


def session() -> Any:
    """In the host: its session."""
    return _session


def stop() -> None:
    """In the host: stop its session, and remove what would be removed at the exit that a pool's process never has."""
    from cloister.engines.spark.shipping import packed_code

    if _session is not None:
        _session.stop()
    shutil.rmtree(Path(packed_code()).parent, ignore_errors=True)


class Daemons:
    """Processes of a Spark installation, stopped together."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = Path(tempfile.mkdtemp(prefix="cloister-spark-"))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, name: str, command: str, *words: str, **environment: str) -> None:
        """Start a command of Spark's own; what it says goes to a file."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(self.home / "bin" / command), *words],
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(self.home), **environment},
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=die_with_parent,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """Kill a process and all it started, at once."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)


class Cluster(Daemons):
    """A standalone master and two workers of one core each, on loopback."""

    def __init__(self) -> None:
        import pyspark

        super().__init__(Path(pyspark.__file__).parent)
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self._run("master", "org.apache.spark.deploy.master.Master", *words)
        wait_until(lambda: answers(port), "the master of the test cluster does not answer")
        self.add_worker("worker-1", "127.0.0.1")
        self.add_worker("worker-2", "127.0.0.2")  # another host to Spark, which runs no task twice on the same

    def add_worker(self, name: str, host: str) -> None:
        words = [
            "--host",
            host,
            "--cores",
            "1",
            "--memory",
            "1g",
            "--webui-port",
            "0",
            "--work-dir",
            str(self.folder / name),
        ]
        self._run(name, "org.apache.spark.deploy.worker.Worker", *words, self.master)

    def _run(self, name: str, main: str, *words: str) -> None:
        self.run(name, "spark-class", main, *words, SPARK_DAEMON_MEMORY="256m")


class ConnectServer(Daemons):
    """A Spark Connect server of another Python's pyspark, for a client whose own comes without one."""

    def __init__(self, python: str) -> None:
        find = "import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)"
        super().__init__(
            Path(subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip())
        )
        port = free_port()
        self.remote = f"sc://127.0.0.1:{port}"
        conf = {"spark.connect.grpc.binding.port": str(port), "spark.connect.grpc.binding.address": "127.0.0.1"}
        settings = [word for name, value in {**SETTINGS, **conf}.items() for word in ("--conf", f"{name}={value}")]
        main = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        self.run("server", "spark-submit", "--master", "local[2]", *settings, *main, **worker_environment(python))
        wait_until(lambda: answers(port), "the Spark Connect server does not answer")


def die_with_parent() -> None:
    """Ask the system to end this process when the tests end, however they end; Linux only, elsewhere nothing is asked."""
    import ctypes

    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_until(condition: Callable[[], bool], complaint: str, seconds: float = START_SECONDS) -> None:
    """Wait for a condition, not for a time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(complaint)
        time.sleep(0.05)
