"""Spark sessions: the user's own, or one that is started here; with Cloister's code and a check of what workers have."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cloister.engines.spark.fault_messages import missing_on_workers, retold
from cloister.engines.spark.options import Spark
from cloister.engines.spark.shipping import map_in_arrow, packed_code
from cloister.errors import EngineError

__all__ = [
    "find_session",
    "forget_sessions",
    "is_connect",
    "prepare",
    "shuffle_partitions",
    "wants_numpy",
]

OLDEST_JAVA = 17
TIMEOUT = 5  # seconds for a host to answer
GET_JAVA = "Install one (Debian, Ubuntu: apt install openjdk-17-jre-headless) or point JAVA_HOME to it"
TASKS_A_CORE = 4
NEEDED = ("numpy", "pyarrow", "numba")
KERNELS = "spark.cloister.kernels"

_prepared: set[str] = set()  # sessions whose workers have been checked and have the code


def find_session(options: Spark, check: Callable[[], None] = lambda: None) -> Any:
    """The running session, or one that is started as the options say, after `check`, which needs no session, has passed."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError("the Spark engine needs pyspark. Install it: pip install 'cloister[spark]'.") from None
    if not options.master and not options.remote and (running := SparkSession.getActiveSession()):
        return running
    check()
    return start(SparkSession, options)


def start(factory: Any, options: Spark) -> Any:
    """Start a session, with everything checked that would otherwise fail late or silently."""
    where = options.remote or options.master or "local[*]"
    check_address(options)
    if not (options.remote and options.remote.startswith("sc://")):
        check_java()
    check_reachable(where)
    if where.startswith("local"):
        # workers on this machine run this very Python
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = factory.builder.appName("cloister")
    if options.remote:
        check_connect()
        builder = builder.remote(options.remote)
    else:
        if options.master:
            builder = builder.master(options.master)
        quiet = {"spark.ui.showConsoleProgress": "false", "spark.ui.enabled": "false"}
        for name, value in quiet.items():
            builder = builder.config(name, value)
        if where.startswith("local"):
            builder = builder.config("spark.sql.warehouse.dir", no_warehouse())
    for name, value in options.conf:
        builder = builder.config(name, value)
    try:
        with silenced():
            session = builder.getOrCreate()
    except Exception as error:
        raise EngineError(
            f"Spark could not be started at {where} ({type(error).__name__}). Check --master, --remote and --spark-conf."
        ) from None
    return session


@contextmanager
def silenced() -> Iterator[None]:
    """Start Java without its standard error: what Spark logs there may quote values. CLOISTER_DEBUG shows it."""
    if os.environ.get("CLOISTER_DEBUG") or sys.__stderr__ is None:  # a process without standard error passes none on
        yield
        return
    own_stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)  # processes that are started now inherit it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PySpark's, about versions of pandas: no work here touches it
            yield
    finally:
        os.dup2(own_stderr, 2)
        os.close(own_stderr)
        os.close(nowhere)


def check_address(options: Spark) -> None:
    """Refuse an address that Spark would not know what to do with."""
    if options.remote and not re.match(r"sc://|local$|local\[", options.remote):
        raise EngineError("a Spark Connect server is named sc://host:port. Write --remote sc://host:15002.")
    if options.master and not re.match(r"local$|local\[|local-cluster\[|spark://|yarn|k8s://", options.master):
        raise EngineError("--master is local, local[2], spark://host:7077, yarn or k8s://https://host:443.")


def check_java() -> None:
    """Refuse to start Spark without a Java that it runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    if shutil.which(java) is None:
        raise EngineError(f"Spark needs Java {OLDEST_JAVA} or newer, and none was found. {GET_JAVA}.")
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.SubprocessError):
        raise EngineError(f"Java does not run here. {GET_JAVA}.") from None
    if parts := re.search(r'version "(\d+)(?:\.(\d+))?', printed):
        version = int(parts.group(2) or 0) if parts.group(1) == "1" else int(parts.group(1))
        if version < OLDEST_JAVA:
            raise EngineError(f"Spark needs Java {OLDEST_JAVA} or newer, and this is Java {version}. {GET_JAVA}.")


def check_connect() -> None:
    """Spark Connect needs packages that pyspark alone does not bring."""
    for name in ("pandas", "grpc", "grpc_status", "google.rpc"):
        try:
            importlib.import_module(name)
        except ImportError:
            raise EngineError(
                f"Spark Connect needs {name}, which is missing. Install it: pip install 'pyspark[connect]'."
            ) from None


def check_pandas() -> None:
    """Spark asks for pandas before it maps Arrow batches, although none is made."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise EngineError("the Spark engine needs pandas here. Install it: pip install 'cloister[spark]'.") from None


def check_reachable(where: str) -> None:
    """Refuse a master or server that does not answer: Spark itself would try for minutes."""
    hosts = re.match(r"(?:spark|sc)://([^/;]+)", where)
    if hosts is None:
        return
    default = 7077 if where.startswith("spark") else 15002
    for host in hosts.group(1).split(","):
        name, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", str(default))
        try:
            with socket.create_connection((name, int(port)), TIMEOUT):
                return
        except OSError:
            continue
    raise EngineError(f"nothing answers at {where}. Check the address, and that Spark is running there.")


def is_connect(session: Any) -> bool:
    """Whether a session speaks to a Spark Connect server."""
    return ".connect." in f"{type(session).__module__}."


def wants_numpy(session: Any) -> bool:
    """Whether the user asked for the NumPy kernels on the workers."""
    return str(session.conf.get(KERNELS, "compiled")).lower() == "numpy"


def shuffle_partitions(session: Any) -> int:
    """Into how many partitions rows are put by person and kept: as the session says, but few on a single machine.

    Spark joins small partitions when it can, but not those that it keeps, and on a few cores a pass over 200 takes seconds.
    """
    wanted = int(session.conf.get("spark.sql.shuffle.partitions"))
    if not str(session.conf.get("spark.master", "")).startswith("local"):
        return wanted
    from pyspark.sql import functions

    cores = session.range(1_000).select(functions.spark_partition_id()).distinct().count()
    return max(1, min(wanted, TASKS_A_CORE * int(cores)))


def prepare(session: Any) -> None:
    """Once a session: check what its workers have, and send them Cloister's code; before anything is charged."""
    plain = wants_numpy(session)
    context = None if is_connect(session) else session.sparkContext
    name = f"{session.session_id if context is None else context.applicationId} {plain}"
    if name in _prepared:
        return
    check_pandas()
    with retold("looking at the workers"):
        lines = map_in_arrow(session.range(0, 4, 1, 4), make_probe(), "modules string").collect()
    workers = [json.loads(line["modules"]) for line in lines]
    for module in NEEDED:
        if not all(worker[module] for worker in workers) and not (module == "numba" and plain):
            raise missing_on_workers(module)
    own_code = str(Path(__file__).resolve().parents[2] / "__init__.py")
    if not all(worker["cloister"] == own_code for worker in workers):
        with retold("sending Cloister's code to the workers"):
            if context is None:
                session.addArtifacts(packed_code(), pyfile=True)
            else:
                context.addPyFile(packed_code())
    _prepared.add(name)


def forget_sessions() -> None:
    """Check the workers of every session anew when it is used next, for workers that have changed since."""
    _prepared.clear()


def make_probe() -> Any:
    """What a worker has. A function inside a function travels whole: it needs nothing of Cloister where it runs."""

    def probe(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib.util
        import json as texts

        import pyarrow

        for batch in batches:
            specs = {name: importlib.util.find_spec(name) for name in ("numpy", "pyarrow", "numba", "cloister")}
            is_there = {name: spec is not None for name, spec in specs.items()}
            home = specs["cloister"].origin if specs["cloister"] else None
            line = texts.dumps({**is_there, "cloister": home})
            yield pyarrow.RecordBatch.from_pydict({"modules": [line] * batch.num_rows})

    return probe


@cache
def no_warehouse() -> str:
    """An empty folder for tables: without one Spark would create its own where the user works."""
    folder = tempfile.mkdtemp(prefix="cloister-warehouse-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
