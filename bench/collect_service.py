"""The collection service beside a bare handler, in one run on loopback: ``python -m bench collect_service [part ...]``.

The bare handler (`bare_service`) parses a body and commits its rows durably under the same uvicorn: what no service of this kind
can leave out. Both are started together and measured in turns, since others may use the machine.
"""

from __future__ import annotations

import contextlib
import glob
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.postgres_server import postgres_server

from bench.measure import keep, show
from bench.service_load import Load, send
from cloister.collect import Collection

VALUES = {
    "year": ["1", "2", "3", "4"],
    "works": ["no", "yes"],
    "smokes": ["no", "sometimes", "yes"],
    "housing": ["alone", "family", "shared"],
}
SINGLES, BATCHES, BATCH = 5_000, 300, 100  # requests of a load, and reports of a batch
LOAD_SECONDS, PACED_SECONDS, FILL_SECONDS = 15.0, 10.0, 120.0
ROUNDS = 3
WARM, LATER = 10_000, 200_000  # reports after which memory is read
ESTIMATED = 100_000
RATE_BAR, LATENCY_BAR, GROWTH_BAR, ESTIMATE_BAR = 0.5, 5.0, 0.10, 1.0
START_SECONDS, STOP_SECONDS = 60.0, 30.0

Row = dict[str, Any]


@dataclass(frozen=True)
class Server:
    """A service that listens."""

    process: subprocess.Popen[str]
    port: int
    prefix: str  # of the paths where reports are sent
    collection: Collection

    def load(self, count: int, reports: int = 0, **more: Any) -> Row:
        """Send it reports: `count` requests, of `reports` each or of a single one."""
        path = f"{self.prefix}/reports" + ("/batch" if reports else "")
        asked = self.collection
        return send(Load(self.port, path, asked.id, asked.terms, VALUES, count, reports, **more))

    def fill(self, reports: int) -> None:
        """Send it so many reports in batches, all of which must be stored in time."""
        done = self.load(reports // BATCH, BATCH, seconds=FILL_SECONDS)
        if done["answered"] < reports // BATCH:
            raise RuntimeError(f"{done['answered'] * BATCH:,} of {reports:,} reports were stored in {FILL_SECONDS:g} s")

    @property
    def processor_seconds(self) -> float:
        """What it and its workers have used so far: all processes of its session."""
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                after_name = Path(path).read_text().rpartition(")")[2].split()
                if int(after_name[3]) == self.process.pid:
                    ticks += int(after_name[11]) + int(after_name[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Resident memory of its process in MB; with one worker that is the worker."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextlib.contextmanager
def running(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with all its workers, whatever happens."""
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own session: the service and its workers
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def wait_for(process: subprocess.Popen[str], port: int, path: str) -> None:
    """Wait until a service answers."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            ask(port, path)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("a service did not start")


def ask(port: int, path: str, token: str = "") -> tuple[int, bytes]:
    """The status and the body of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@contextlib.contextmanager
def our_service(folder: Path, store: str, workers: int, name: str) -> Iterator[Server]:
    """`cloister collect serve` with a survey of four questions."""
    collection = Collection(name, VALUES, epsilon=1)
    path = Path(tempfile.mkdtemp(dir=folder)) / f"{name}.json"
    collection.save(path)
    flags = ["--store", store, "--port", "0", "--workers", str(workers), "--rate", "0", "--json"]
    with running(["-m", "cloister", "collect", "serve", str(path), *flags]) as process:
        assert process.stdout is not None
        text = process.stdout.readline()
        while text.count("{") > text.count("}") and (line := process.stdout.readline()):
            text += line
        port = int(json.loads(text)["address"].rpartition(":")[2])
        wait_for(process, port, "/v1/health")
        yield Server(process, port, f"/v1/collections/{name}", collection)


@contextlib.contextmanager
def bare_service(store: str, workers: int) -> Iterator[Server]:
    """The bare handler."""
    port = free_port()
    place = store.removeprefix("sqlite:///")
    with running(["-m", "bench.bare_service", place, str(port), str(workers)]) as process:
        wait_for(process, port, "/")
        time.sleep(1.0 if workers > 1 else 0.0)  # for the other workers
        yield Server(process, port, "", Collection("bare", VALUES, epsilon=1))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Database:
    """A kind of store: a folder for files, the URL of a store by its name, and how many workers it is for."""

    name: str
    folder: Path
    url_of: Callable[[str], str]
    workers: int


@contextlib.contextmanager
def sqlite() -> Iterator[Database]:
    """Stores that are files, for one worker."""
    with tempfile.TemporaryDirectory(prefix="cloister-bench-") as folder:
        yield Database("SQLite, 1 worker", Path(folder), lambda store: f"sqlite:///{folder}/{store}.sqlite", 1)


@contextlib.contextmanager
def postgresql() -> Iterator[Database]:
    """A store on a server, for two workers."""
    with tempfile.TemporaryDirectory(prefix="cloister-bench-") as folder, postgres_server("synchronous_commit=on") as url:
        yield Database("PostgreSQL, 2 workers", Path(folder), lambda _: url, 2)


@dataclass
class Measured:
    """Requests a second of a service, a figure a round, and the processor's milliseconds that one took."""

    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def measure(self, server: Server, count: int, reports: int) -> None:
        """One round."""
        before = server.processor_seconds
        done = server.load(count, reports, seconds=LOAD_SECONDS)
        self.rates.append(done["answered"] / done["seconds"])
        self.costs.append(1000 * (server.processor_seconds - before) / done["answered"])


def rate_row(what: str, ours: Measured, bare: Measured, each: int) -> Row:
    """The best rate of each in reports a second, and the ratio of the medians; beside it what requests cost the processor."""
    ratio = median(ours.rates) / median(bare.rates)
    rates = {"ours, reports/s": max(ours.rates) * each, "bare, reports/s": max(bare.rates) * each}
    spread = " ".join(f"{a / b:.2f}" for a, b in zip(ours.rates, bare.rates, strict=True))
    costs = {"ours, CPU ms": min(ours.costs), "bare, CPU ms": min(bare.costs)}
    row = {"what": what, **rates, **costs, "ours / bare": ratio, "rounds": spread}
    return {**row, "bar": f">= {RATE_BAR}", "met": ratio >= RATE_BAR}


def load_rows(database: Database) -> list[Row]:
    """Rates with 32 connections, and p99 of paced single reports, ours and bare in turns."""
    with (
        our_service(database.folder, database.url_of("ours"), database.workers, "load") as ours,
        bare_service(database.url_of("bare"), database.workers) as bare,
    ):
        servers = {"ours": ours, "bare": bare}
        for server in servers.values():  # warm
            server.load(500, seconds=LOAD_SECONDS)
            server.load(20, BATCH, seconds=LOAD_SECONDS)
        singles, batches = ({name: Measured() for name in servers} for _ in range(2))
        for _ in range(ROUNDS):
            for name, server in servers.items():
                singles[name].measure(server, SINGLES, 0)
            for name, server in servers.items():
                batches[name].measure(server, BATCHES, BATCH)
        return [
            rate_row(f"{database.name}: single reports", singles["ours"], singles["bare"], 1),
            rate_row(f"{database.name}: batches of 100", batches["ours"], batches["bare"], BATCH),
            latency_row(database.name, servers, median(singles["bare"].rates) / 2),
        ]


def sqlite_part() -> list[Row]:
    """Reports a second from 32 connections, and p99 of single reports paced at half of the bare handler's rate: SQLite."""
    with sqlite() as database:
        return load_rows(database)


def postgresql_part() -> list[Row]:
    """Reports a second from 32 connections, and p99 of single reports paced at half of the bare handler's rate: PostgreSQL."""
    with postgresql() as database:
        return load_rows(database)


def latency_row(where: str, servers: dict[str, Server], rate: float) -> Row:
    """The p99 of single reports that fall due at even distances, median of the rounds."""
    found: dict[str, list[Row]] = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            found[name].append(server.load(int(rate * PACED_SECONDS), rate=rate, seconds=2 * PACED_SECONDS))
    p99 = {name: median(each["p99"] for each in rounds) for name, rounds in found.items()}
    p50 = {name: median(each["p50"] for each in rounds) for name, rounds in found.items()}
    ratio = p99["ours"] / p99["bare"]
    figures = {f"{name}, {q} ms": 1000 * of[name] for name in servers for q, of in (("p50", p50), ("p99", p99))}
    spread = " ".join(f"{a['p99'] / b['p99']:.2f}" for a, b in zip(found["ours"], found["bare"], strict=True))
    row = {"what": f"{where}: latency at {rate:.0f} reports/s", **figures, "ours / bare": ratio, "rounds": spread}
    return {**row, "bar": f"<= {LATENCY_BAR:g}", "met": ratio <= LATENCY_BAR}


def memory_part() -> list[Row]:
    """Resident memory of the one worker after 10,000 reports and after 200,000 more, in batches of 100 on SQLite."""
    with sqlite() as database, our_service(database.folder, database.url_of("memory"), 1, "memory") as ours:
        ours.fill(WARM)
        warm = ours.memory
        ours.fill(LATER)
        later = ours.memory
    growth = later / warm - 1
    row = {"what": "VmRSS", f"MB after {WARM:,}": warm, f"MB after {LATER:,} more": later, "growth": growth}
    return [{**row, "bar": f"< {GROWTH_BAR:.0%}", "met": growth < GROWTH_BAR}]


def estimate_part() -> list[Row]:
    """The live estimate of 100,000 reports: seconds of the request, each time after a new report, so that nothing is kept."""
    rows = []
    for opened in (sqlite, postgresql):
        with opened() as database:
            times = estimate_times(database)
        row = {"what": f"{database.name}: estimate", "first, s": times[0], "later, s": median(times[1:])}
        rows.append({**row, "worst, s": max(times), "bar": f"< {ESTIMATE_BAR:g} s", "met": max(times) < ESTIMATE_BAR})
    return rows


def estimate_times(database: Database) -> list[float]:
    """Seconds of the first request for an estimate since the service started, and of some later ones."""
    store = database.url_of("estimate")
    with our_service(database.folder, store, database.workers, "estimate") as ours:
        words = ["-m", "cloister", "collect", "serve", "--new-token", "--store", store, "--json"]
        told = subprocess.run([sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        token = json.loads(told.stdout)["token"]
        ours.fill(ESTIMATED)
        times: list[float] = []
        for _ in range(1 + ROUNDS):
            ours.load(1, connections=1)
            begun = time.perf_counter()
            status, body = ask(ours.port, f"{ours.prefix}/estimate", token)
            times.append(time.perf_counter() - begun)
            if status != 200 or json.loads(body)["reports"] != ESTIMATED + len(times):
                raise RuntimeError(f"no estimate of all reports: {status}")
        return times


PARTS: dict[str, Callable[[], list[Row]]] = {
    "sqlite": sqlite_part,
    "postgresql": postgresql_part,
    "memory": memory_part,
    "estimate": estimate_part,
}


def main() -> None:
    """Every part, or those that are named after the benchmark."""
    kept: list[Row] = []
    for name in [name for name in sys.argv[2:] if name in PARTS] or list(PARTS):
        rows = PARTS[name]()
        columns = dict.fromkeys(column for row in rows for column in row)
        order = [*(column for column in columns if column not in ("bar", "met")), "bar", "met"]
        show(PARTS[name].__doc__ or name, [{column: row.get(column) for column in order} for row in rows])
        kept += [{"part": name, **row} for row in rows]
    keep("collect_service", kept)
