"""Sending a report from Python: to the service that was named alone, and believed only where it says what a service says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cloister.collect import Client, Report, send
from cloister.collect.sending import NotReceived
from cloister.errors import UsageError
from tests.collect.survey import survey

Answer = Callable[[dict[str, object]], tuple[int, dict[str, str], bytes]]


@contextmanager
def answering(answer: Answer) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """A server that answers so, its address, and what was sent to it."""
    seen: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            status, headers, content = answer(body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            seen.append({"path": self.path})
            self.send_response(201)
            self.end_headers()
            self.wfile.write(b'{"status": "stored"}')

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def report() -> Report:
    """A report of the small survey."""
    return Client(survey()).report({"smokes": "no", "year": 1, "likes": "tea"})


def test_what_is_sent(report: Report) -> None:
    """The report, and the code where there is one, by itself or in the link of an invitation."""
    told = {"report": report.id, "status": "stored"}
    with answering(lambda _: (201, {}, json.dumps(told).encode())) as (address, seen):
        assert send(report, address) == "stored"
        assert send(report, f"{address}/", code="x") == "stored"
        assert send(report, f"{address}/c/{report.collection}#x") == "stored"
        assert send(report, f"{address}/c/{report.collection}#y", code="x") == "stored"
    assert seen == [{"report": report.as_dict()}, *[{"code": "x", "report": report.as_dict()}] * 3]


def test_proxies_do_not_get_what_is_for_this_machine(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over http a proxy would read the report and the code in clear: what is for this machine goes there directly."""
    told = {"report": report.id, "status": "stored"}
    with (
        answering(lambda _: (201, {}, json.dumps(told).encode())) as (proxy, read),
        answering(lambda _: (201, {}, json.dumps(told).encode())) as (address, seen),
    ):
        monkeypatch.setenv("http_proxy", proxy)
        assert send(report, address) == "stored"
    assert (len(read), len(seen)) == (0, 1)


def test_redirects_are_not_followed(report: Report) -> None:
    """Another host that says "stored" has stored nothing."""
    with (
        answering(lambda _: (201, {}, b"{}")) as (other, seen),
        answering(lambda _: (303, {"Location": f"{other}/x"}, b"")) as (address, _),
        pytest.raises(NotReceived, match="303"),
    ):
        send(report, address)
    assert seen == []


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b'{"report": "%s", "status": "stored"}'),
        (201, b'{"report": "0", "status": "stored"}'),
        (201, b'{"report": "%s", "status": "kept"}'),
        (201, b"[]"),
        (201, b"<html>"),
        (204, b""),
    ],
)
def test_only_a_service_is_believed(report: Report, status: int, content: bytes) -> None:
    """A page of a proxy, another status or another report is no acknowledgement."""
    told = content.replace(b"%s", report.id.encode())
    with answering(lambda _: (status, {}, told)) as (address, _), pytest.raises(NotReceived):
        send(report, address)


@pytest.mark.parametrize(
    "address",
    [
        "http://survey.example",
        "survey.example",
        "https://ex ample",
        "https://[x",
        "https://",
        "ftp://x",
        "",
        None,
        "https://a\nb",
        "https://survey.example?to=x",
        "http://evil.example\\@127.0.0.1/",
    ],
)
def test_addresses_that_are_none(report: Report, address: str) -> None:
    """Each is one sentence."""
    with pytest.raises(UsageError, match="https"):
        send(report, address)


def test_nobody_there(report: Report) -> None:
    """The same report may be sent again later."""
    with pytest.raises(NotReceived, match="again later"):
        send(report, "http://127.0.0.1:1")


def test_a_refusal_that_breaks_off(report: Report) -> None:
    """What a service began to say and did not end is no reason to lose the report in a fault."""
    broken = {"Transfer-Encoding": "chunked"}
    with (
        answering(lambda _: (503, broken, b"5\r\nab")) as (address, _),
        pytest.raises(NotReceived, match="503"),
    ):
        send(report, address)
