"""Requests to a service on loopback over kept connections, as many or as often as asked, from a process of its own.

``send`` starts that process. It makes all bodies first, then sends each once: the next one as soon as a connection is free, or
paced, where a request's time counts from the moment at which it was due.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import uvloop

AT_MOST = 150.0  # seconds that the process may take, whatever it was told


@dataclass(frozen=True)
class Load:
    """What is sent: `count` requests for at most `seconds`; `rate` of them a second, or 0: as many as the service takes."""

    port: int
    path: str
    collection: str
    terms: str
    values: dict[str, list[str]]
    count: int
    reports: int = 0  # in a batch; 0: a single report
    connections: int = 32
    seconds: float = 20.0
    rate: float = 0.0


@dataclass
class Outcome:
    """What came of it."""

    answered: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        p50, p99 = (float(np.quantile(self.times, q)) if self.times else float("nan") for q in (0.5, 0.99))
        return {"answered": self.answered, "seconds": self.seconds, "statuses": self.statuses, "p50": p50, "p99": p99}


def send(load: Load) -> dict[str, Any]:
    """Send a load, and give how many were answered, the seconds, the quantiles of times; all must have been stored."""
    words = [sys.executable, "-m", "bench.service_load", json.dumps(asdict(load))]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, timeout=AT_MOST)
    facts: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if not facts["answered"] or set(facts["statuses"]) != {"201"}:
        raise RuntimeError(f"not all that was sent to {load.path} was stored: {facts['statuses']}")
    return facts


def bodies(load: Load) -> list[bytes]:
    """Whole requests: random ids and random answers, which cost as much as perturbed ones."""
    size = max(1, load.reports)
    random = np.random.default_rng()
    picks = [random.integers(0, len(values), load.count * size).tolist() for values in load.values.values()]
    questions = list(load.values.items())

    def posted(place: int) -> dict[str, Any]:
        answers = {name: values[pick[place]] for (name, values), pick in zip(questions, picks, strict=True)}
        report = {"version": 1, "collection": load.collection, "terms": load.terms, "report": os.urandom(16).hex()}
        return {"report": {**report, "answers": answers}}

    def request(number: int) -> bytes:
        some = [posted(number * size + place) for place in range(size)]
        body = json.dumps({"reports": some} if load.reports else some[0]).encode()
        head = (
            f"POST {load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        return head.encode() + b"\r\n\r\n" + body

    return [request(number) for number in range(load.count)]


class Sender:
    """Hands requests to connections, and knows when it is over."""

    def __init__(self, load: Load) -> None:
        self.load, self.outcome = load, Outcome()
        self.left = deque(bodies(load))
        self.due: deque[float] = deque()  # when requests were due that wait for a connection
        self.idle: list[Connection] = []
        self.is_over = asyncio.Event()

    async def run(self) -> Outcome:
        loop = asyncio.get_running_loop()
        for _ in range(self.load.connections):
            _, connection = await loop.create_connection(lambda: Connection(self), "127.0.0.1", self.load.port)
            self.idle.append(connection)
        begun = time.perf_counter()
        pacing = asyncio.ensure_future(self.pace()) if self.load.rate else None
        if pacing is None:
            while self.idle and self.left:
                self.idle.pop().send(self.left.popleft(), time.perf_counter())
        try:
            await asyncio.wait_for(self.is_over.wait(), self.load.seconds)
        except TimeoutError:
            pass
        finally:
            if pacing is not None:
                pacing.cancel()
        self.outcome.seconds = time.perf_counter() - begun
        return self.outcome

    async def pace(self) -> None:
        """Let requests fall due at even distances, whether or not the ones before were answered."""
        begun, count = time.perf_counter(), 0
        while count < self.load.count:
            now = time.perf_counter()
            while count < self.load.count and begun + count / self.load.rate <= now:
                self.due.append(begun + count / self.load.rate)
                count += 1
            while self.due and self.idle:
                self.idle.pop().send(self.left.popleft(), self.due.popleft())
            await asyncio.sleep(max(0.0, begun + count / self.load.rate - time.perf_counter()))

    def answered(self, connection: Connection, status: str, took: float) -> None:
        self.outcome.answered += 1
        self.outcome.statuses[status] += 1
        self.outcome.times.append(took)
        if self.outcome.answered >= self.load.count:
            self.is_over.set()
        elif self.left and (self.due or not self.load.rate):
            connection.send(self.left.popleft(), self.due.popleft() if self.load.rate else time.perf_counter())
        else:
            self.idle.append(connection)

    def lost(self) -> None:
        self.outcome.statuses["connection lost"] += 1
        self.is_over.set()


class Connection(asyncio.Protocol):
    """One kept connection: one request at a time, answers told apart by their length."""

    def __init__(self, sender: Sender) -> None:
        self.sender, self.read, self.since = sender, b"", 0.0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def send(self, request: bytes, since: float) -> None:
        self.since = since
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.read += data
        head, end, body = self.read.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(body) >= length:
            self.read = b""
            self.sender.answered(self, head[9:12].decode(), time.perf_counter() - self.since)

    def connection_lost(self, exc: Exception | None) -> None:
        self.sender.lost()


async def run(load: Load) -> dict[str, Any]:
    """Send it, in this process."""
    return (await Sender(load).run()).facts()


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(Load(**json.loads(sys.argv[1]))))))
