"""The service as processes: kills under load, several workers and servers, a graceful end, slow clients, and silent logs."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cloister.collect import Collection
from cloister.collect.storing.inbox import Hosted, Inbox
from tests.collect.service.live_service import LiveService, live_service
from tests.collect.survey import survey

KILLS = 20
LOADERS = 4
MOST_SECONDS = 150  # of a whole test: no load loop runs longer


def place_of(inbox: Inbox) -> str:
    """The place of an inbox as the command line takes it."""
    return str(inbox.store.path or inbox.store.url)


def body_of(collection: Collection, id: str) -> dict[str, Any]:
    """A report under an id."""
    answers = {"smokes": "no", "year": "1", "likes": ""}
    report = {"version": 1, "collection": collection.id, "terms": collection.terms, "report": id, "answers": answers}
    return {"report": report}


class Load:
    """Clients that send reports, each until it is acknowledged, and note which were."""

    def __init__(self, addresses: list[str], collection: Collection, batch: int = 1) -> None:
        self.addresses, self.collection, self.batch = addresses, collection, batch
        self.sent: set[str] = set()
        self.acknowledged: list[str] = []
        self.is_over = threading.Event()
        self.deadline = time.monotonic() + MOST_SECONDS
        self.threads = [threading.Thread(target=self.send, args=(place,)) for place in range(LOADERS)]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def send(self, place: int) -> None:
        """One client: a new report after each acknowledgement, the same one again while there is none."""
        address = urlsplit(self.addresses[place % len(self.addresses)])
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
        while not self.is_over.is_set() and time.monotonic() < self.deadline:
            ids = [secrets.token_hex(16) for _ in range(self.batch)]
            self.sent.update(ids)
            bodies = [body_of(self.collection, id) for id in ids]
            path, body = ("/reports", bodies[0]) if self.batch == 1 else ("/reports/batch", {"reports": bodies})
            while not self.is_over.is_set() and time.monotonic() < self.deadline:
                try:
                    connection.request(
                        "POST",
                        f"/v1/collections/{self.collection.id}{path}",
                        json.dumps(body),
                        {"Content-Type": "application/json"},
                    )
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status == 201:
                        self.acknowledged += ids
                        break
                    assert answer.status == 503
                except (OSError, http.client.HTTPException):
                    connection.close()
                    time.sleep(0.02)


def stored_ids(inbox: Inbox, hosted: Hosted) -> list[str]:
    """The ids of all reports."""
    with inbox.store.reading() as connection:
        rows = connection.exec_driver_sql(f"SELECT report FROM cloister_reports WHERE collection = {hosted.number}").all()
    return [bytes(row[0]).hex() for row in rows]


@contextmanager
def restarted(folder: Path, store: str, port: int, *flags: str) -> Iterator[LiveService]:
    """A service on a port that another one had a moment ago."""
    with live_service(folder, "--store", store, *flags, port=port) as service:
        yield service


@pytest.mark.slow
def test_kills_under_load_lose_nothing(inbox: Inbox, tmp_path: Path) -> None:
    """kill -9 of the server, 20 times: what was acknowledged is there, once; what is there was sent."""
    hosted = inbox.add(survey())
    with live_service(tmp_path, "--store", place_of(inbox)) as first:
        port = urlsplit(first.address).port or 0
        first.stop(signal.SIGKILL)
    kills = KILLS if inbox.store.path is not None else 3
    with Load([f"http://127.0.0.1:{port}"], hosted.collection) as load:
        for number in range(kills):
            before = len(load.acknowledged)
            with restarted(tmp_path, place_of(inbox), port) as service:
                end = time.monotonic() + 10
                while len(load.acknowledged) < before + 20 and time.monotonic() < end:
                    time.sleep(0.005 * (1 + number % 5))
                service.stop(signal.SIGKILL)
    found = stored_ids(inbox, hosted)
    assert len(load.acknowledged) >= 20 * kills
    assert len(set(load.acknowledged)) == len(load.acknowledged)
    assert len(found) == len(set(found))
    assert set(load.acknowledged) <= set(found) <= load.sent


@pytest.mark.slow
def test_two_servers_with_two_workers_on_one_database(postgres_inbox: str, tmp_path: Path) -> None:
    """Batches to both, a worker killed: nothing is lost, and a collection that one closes is closed on the other at once."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    hosted = inbox.add(survey())
    with (
        live_service(tmp_path, "--store", postgres_inbox, "--workers", "2") as one,
        live_service(tmp_path, "--store", postgres_inbox, "--workers", "2") as other,
    ):
        with Load([one.address, other.address], hosted.collection, batch=10) as load:
            end = time.monotonic() + 30
            while len(load.acknowledged) < 500 and time.monotonic() < end:
                time.sleep(0.02)
            os.kill(workers_of(one)[0], signal.SIGKILL)
            while len(load.acknowledged) < 2_000 and time.monotonic() < end:
                time.sleep(0.02)
        found = stored_ids(inbox, hosted)
        assert len(load.acknowledged) >= 2_000
        assert len(found) == len(set(found))
        assert set(load.acknowledged) <= set(found) <= load.sent
        inbox.close("students")
        for service in (one, other):
            assert post(service, body_of(hosted.collection, secrets.token_hex(16))).status == 410
            assert post(service, body_of(hosted.collection, load.acknowledged[0])).status == 201
        assert (one.stop(), other.stop()) == (0, 0)
    assert not still_listening(one)


def workers_of(service: LiveService) -> list[int]:
    """The worker processes of a service."""
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
    tracker = [pid for pid in children if b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [int(pid) for pid in children if pid not in tracker]


def post(service: LiveService, body: Any, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    """Send one report."""
    address = urlsplit(service.address)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    named = {"Content-Type": "application/json", **(headers or {})}
    connection.request("POST", "/v1/collections/students/reports", json.dumps(body), named)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def still_listening(service: LiveService) -> bool:
    """Whether anybody answers at the port of a service."""
    address = urlsplit(service.address)
    with suppress(OSError), socket.create_connection((address.hostname, address.port), timeout=1):
        return True
    return False


def test_workers_end_when_the_first_process_is_killed(tmp_path: Path) -> None:
    """Nobody holds the port and the store for a service that is gone."""
    Inbox(tmp_path / "reports.db").create()
    with live_service(tmp_path, "--store", tmp_path / "reports.db", "--workers", "2") as service:
        pids = workers_of(service)
        assert len(pids) == 2
        service.stop(signal.SIGKILL)
        end = time.monotonic() + 20
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not still_listening(service)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_that_loses_nothing(tmp_path: Path, number: int) -> None:
    """Told to end, it answers what it has begun, and ends with code 0."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    with live_service(tmp_path, "--store", tmp_path / "reports.db") as service:
        with Load([service.address], hosted.collection) as load:
            end = time.monotonic() + 20
            while len(load.acknowledged) < 20 and time.monotonic() < end:
                time.sleep(0.01)
            assert service.stop(number) == 0
        assert set(load.acknowledged) <= set(stored_ids(inbox, hosted))
        assert len(load.acknowledged) >= 20
        assert "Traceback" not in service.errors.read_text()


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveService, Hosted]]:
    """A service that lets an address ask 30 times a minute, and writes an access log."""
    folder = tmp_path_factory.mktemp("limited")
    inbox = Inbox(folder / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    with live_service(folder, "--store", folder / "reports.db", "--access-log", rate=30) as service:
        yield service, hosted


def test_rates_and_logs(limited: tuple[LiveService, Hosted]) -> None:
    """The 31st request of an address waits; others do not; and no log holds an address, an id or an answer."""
    service, hosted = limited
    secret = secrets.token_hex(16)
    body = body_of(hosted.collection, secret)
    statuses = [post(service, body, {"X-Forwarded-For": "203.0.113.7"}).status for _ in range(32)]
    assert statuses == [201] * 30 + [429] * 2
    refused = post(service, body, {"X-Forwarded-For": "203.0.113.7"})
    assert int(refused.headers["Retry-After"]) >= 1
    assert post(service, body, {"X-Forwarded-For": "203.0.113.8"}).status == 201
    assert post(service, {"report": "sEcReT"}, {"X-Forwarded-For": "203.0.113.9"}).status == 422
    log = service.errors.read_text()
    assert "POST /v1/collections/{id}/reports 201" in log
    for word in ("203.0.113", "127.0.0.1", secret, "sEcReT", "smokes", "students"):
        assert word not in log


def test_slow_clients_are_cut_off(limited: tuple[LiveService, Hosted]) -> None:
    """A connection on which no head of a request comes is closed, and so is one whose body does not end, whatever it asks."""
    address = urlsplit(limited[0].address)

    def begun(text: bytes) -> socket.socket:
        connection = socket.create_connection((address.hostname, address.port))
        connection.settimeout(40)
        connection.sendall(text)
        return connection

    more = b"Host: x\r\nX-Forwarded-For: 203.0.113.20\r\nContent-Length: 100\r\n"
    cut = [
        begun(b""),
        begun(b"POST /v1/collections/students/reports HTTP/1.1\r\nHost: x\r\nX: "),
        begun(b"POST /admin/login HTTP/1.1\r\n" + more + b"\r\nt"),
        begun(b"GET /c/students HTTP/1.1\r\n" + more + b"\r\n"),
    ]
    told = begun(b"POST /v1/collections/students/reports HTTP/1.1\r\n" + more + b"Content-Type: application/json\r\n\r\n{")
    assert told.recv(12) == b"HTTP/1.1 408"
    for connection in [*cut, told]:
        while connection.recv(2**16):
            pass
        connection.close()


def test_huge_heads_are_cut_off(limited: tuple[LiveService, Hosted]) -> None:
    """A head of a request is held in memory: it has a size."""
    address = urlsplit(limited[0].address)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(b"GET /c/students HTTP/1.1\r\nHost: x\r\n")
        with suppress(OSError):  # reset, or a broken pipe
            for _ in range(1_000):
                connection.sendall(b"X-Long: " + b"x" * 1_000 + b"\r\n")
                time.sleep(0.0005)
            pytest.fail("a head of a megabyte was taken")
