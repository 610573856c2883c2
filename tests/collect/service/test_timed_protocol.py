"""One connection: who keeps it open, or fills it, without asking or reading is cut off, and nobody else is."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import uvicorn

from cloister.collect.service.timed_protocol import MOST_HEAD, MOST_PIPELINED, TimedProtocol

HEADER_SECONDS, WRITE_SECONDS = 0.5, 0.4
MOST_SECONDS = 10.0  # of anything that is waited for
LARGE = 4 * 2**20
GET = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


class ShortProtocol(TimedProtocol):
    header_seconds = HEADER_SECONDS
    write_seconds = WRITE_SECONDS


class Server:
    """A server of its own thread, and what its application saw."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.answered = 0
        self.listening = socket.socket()
        self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**16)  # connections have it from here
        self.listening.bind(("127.0.0.1", 0))
        self.listening.listen()
        config = uvicorn.Config(
            self.answer, http=ShortProtocol, ws="none", lifespan="off", interface="asgi3", log_config=None
        )
        self.server = uvicorn.Server(config)

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the body, and tell how long it is; /slow, /block and /large do what they say, /early reads nothing."""
        try:
            length, more = 0, scope["path"] != "/early"
            while more:
                message = await receive()
                length += len(message.get("body", b""))
                more = message.get("more_body", False)
            if scope["path"] == "/slow":
                await asyncio.sleep(0.3)
            if scope["path"] == "/block":
                time.sleep(0.3)  # the whole server waits, so that what is sent meanwhile is read in one piece
            body = b"x" * LARGE if scope["path"] == "/large" else b"%d %d" % (length, len(scope["headers"]))
            size = str(len(body)).encode()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", size)]})
            for start in range(0, len(body), 2**16):
                end = start + 2**16
                await send({"type": "http.response.body", "body": body[start:end], "more_body": end < len(body)})
            self.answered += 1
        except BaseException as error:
            self.failures.append(error)
            raise

    def open(self, *, buffer: int | None = None) -> socket.socket:
        """Connect, and wait until the server knows."""
        before = len(self.server.server_state.connections)
        connection = socket.socket()
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(MOST_SECONDS)
        connection.connect(self.listening.getsockname())
        end = time.monotonic() + MOST_SECONDS
        while len(self.server.server_state.connections) <= before and time.monotonic() < end:
            time.sleep(0.01)
        return connection

    def connections(self, wanted: int = 0, seconds: float = MOST_SECONDS) -> int:
        """How many connections there are once there are no more than wanted, or some seconds have passed."""
        end = time.monotonic() + seconds
        while len(self.server.server_state.connections) > wanted and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.server.server_state.connections)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.server.run, kwargs={"sockets": [made.listening]})
    thread.start()
    try:
        end = time.monotonic() + MOST_SECONDS
        while not made.server.started and time.monotonic() < end:
            time.sleep(0.01)
        yield made
    finally:
        made.server.should_exit = made.server.force_exit = True
        thread.join(MOST_SECONDS)
        made.listening.close()


@contextmanager
def is_cut_off() -> Iterator[None]:
    """What is sent here is not taken to its end."""
    with suppress(ConnectionError):  # reset, or a broken pipe
        yield
        pytest.fail("all of it was taken")


def read_to_end(connection: socket.socket) -> bytes:
    """All that comes until the connection is closed."""
    read = bytearray()
    with suppress(ConnectionError):
        while part := connection.recv(2**16):
            read += part
    return bytes(read)


@pytest.mark.parametrize("trailers", [b"a: x\r\n" * 10_000, b"y" * 60_000], ids=["many", "one"])
def test_trailers_are_bounded(server: Server, trailers: bytes) -> None:
    """What follows a body in chunks is held in memory as a head is."""
    with server.open() as connection:
        connection.sendall(CHUNKED + b"2\r\n{}\r\n0\r\nfirst: ")
        with is_cut_off():
            for _ in range(300):
                connection.sendall(trailers)
    assert server.connections() == 0


def test_extensions_of_chunks_are_bounded(server: Server) -> None:
    """Nobody needs them either."""
    with server.open() as connection:
        connection.sendall(CHUNKED + b"2;")
        with is_cut_off():
            for _ in range(300):
                connection.sendall(b"y" * 60_000)


def test_trailers_are_no_headers(server: Server) -> None:
    """A few are taken and forgotten: what a request says of itself stands before its body."""
    with server.open() as connection:
        connection.sendall(CHUNKED + b"2\r\n{}\r\n0\r\nAuthorization: x\r\nX-Forwarded-For: x\r\n\r\n")
        assert connection.recv(1_000).endswith(b"\r\n\r\n2 2")
        connection.sendall(GET % b"")
        assert connection.recv(1_000).endswith(b"\r\n\r\n0 1")


@pytest.mark.parametrize(("size", "count"), [(1, 100_000), (1_000, 1_000), (2**20, 1)])
def test_chunks_of_any_size_are_taken(server: Server, size: int, count: int) -> None:
    """A body is bounded elsewhere; what its chunks say of their size is not counted with what is beside it."""
    chunk = b"%x\r\n%s\r\n" % (size, b"x" * size)
    with server.open() as connection:
        for _ in range(2):
            connection.sendall(CHUNKED + chunk * count + b"0\r\n\r\n")
            assert connection.recv(1_000).endswith(b"\r\n\r\n%d 2" % (size * count))


def test_a_body_may_come_together_with_its_head(server: Server) -> None:
    """Also where the server was busy, and reads more at once than a head may have."""
    body = b"x" * 2**20
    with server.open() as blocking, server.open() as connection:
        blocking.sendall(GET % b"block")
        time.sleep(0.1)
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert connection.recv(1_000).endswith(b"\r\n\r\n%d 2" % len(body))


def test_a_huge_head_in_one_piece(server: Server) -> None:
    """It is refused even if it was there before anybody could count."""
    with server.open() as blocking, server.open() as connection:
        blocking.sendall(GET % b"block")
        time.sleep(0.1)
        with is_cut_off():
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n" % (b"x" * (MOST_HEAD + 1_000)))
            assert connection.recv(1_000) == b""
            raise ConnectionError


@pytest.mark.parametrize("late", [b"\r\n", b"\r\n\r\n", b"GET"])
def test_a_blank_line_is_no_request(server: Server, late: bytes) -> None:
    """A connection on which something came that is no request is closed as one on which a head does not end."""
    with server.open() as quiet, server.open() as connection:
        for each in (quiet, connection):
            each.sendall(GET % b"")
            assert each.recv(1_000).endswith(b"0 1")
        connection.sendall(b"\r\n" + GET % b"")  # some clients send one behind a body
        assert connection.recv(1_000).endswith(b"0 1")
        started = time.monotonic()
        connection.sendall(late)
        assert server.connections(1, 4 * HEADER_SECONDS) == 1
        assert time.monotonic() - started > HEADER_SECONDS / 2
        quiet.sendall(GET % b"")  # it keeps its time between two requests
        assert quiet.recv(1_000).endswith(b"0 1")


def test_a_body_that_ends_after_its_answer(server: Server) -> None:
    """Nothing waits for the next request then, unless this does."""
    with server.open() as connection:
        connection.sendall(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
        assert connection.recv(1_000).endswith(b"0 2")
        connection.sendall(b"{}")
        assert server.connections(0, 4 * HEADER_SECONDS) == 0


def test_a_few_pipelined_requests_are_answered(server: Server) -> None:
    """One after another, as many as may wait beside the one that is being answered."""
    with server.open() as connection:
        connection.sendall(GET % b"slow" + (GET % b"") * MOST_PIPELINED)
        read = b""
        while read.count(b"\r\n\r\n0 1") < MOST_PIPELINED + 1 and (part := connection.recv(10_000)):
            read += part
        assert read.count(b"200 OK") == MOST_PIPELINED + 1
        connection.sendall(GET % b"")  # the connection is as good as before
        assert connection.recv(1_000).endswith(b"0 1")


@pytest.mark.parametrize("first", [b"slow", b"large"])
def test_many_pipelined_requests_are_not(server: Server, first: bytes) -> None:
    """They would all wait in memory; what is being answered ends without an error."""
    with server.open(buffer=2**12) as connection:
        with suppress(ConnectionError):
            connection.sendall(GET % first + (GET % b"") * 3_000)
            assert connection.recv(1) == b"" or first == b"large"
        assert server.connections() == 0
    time.sleep(0.4)
    assert server.answered <= 1
    assert server.failures == []


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_who_does_not_read_is_cut_off(server: Server, more: bytes) -> None:
    """Whether the answer waits to be written, or all of it was and the connection is closed."""
    with server.open(buffer=2**12) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n")
        assert server.connections(0, 10 * WRITE_SECONDS) == 0
        assert len(read_to_end(connection)) < LARGE
    assert server.failures == []


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_a_whole_answer_that_is_not_read(server: Server, more: bytes) -> None:
    """What does not hold up the application, which is done, holds the connection all the same."""
    with server.open(buffer=2**12) as connection:
        (protocol,) = server.server.server_state.connections
        protocol.transport.set_write_buffer_limits(high=2 * LARGE)  # so that writing is never paused
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n")
        assert server.connections(0, 10 * WRITE_SECONDS) == 0
        assert server.answered == 1
        assert len(read_to_end(connection)) < LARGE


def test_who_reads_slowly_gets_all_of_it(server: Server) -> None:
    """An answer may take much longer than the time within which some of it must be taken."""
    with server.open(buffer=2**14) as connection:
        connection.sendall(GET % b"large")
        started, read = time.monotonic(), 0
        while read < LARGE and (part := connection.recv(2**16)):
            read += len(part)
            time.sleep(4 * WRITE_SECONDS * len(part) / LARGE)
        assert read > LARGE
        assert time.monotonic() - started > 3 * WRITE_SECONDS
