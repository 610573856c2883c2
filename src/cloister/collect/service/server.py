"""Running the service: one socket, one or several worker processes, and an end that loses nothing.

Each worker is a process of its own with the same listening socket. One that dies is started again; all end when the first process
is told to, or dies.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import multiprocessing.connection
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import uvicorn

from cloister.collect.service.app import make_app
from cloister.collect.service.settings import ServiceSettings, proxy_networks
from cloister.collect.service.timed_protocol import TimedProtocol
from cloister.errors import EngineError, UsageError
from cloister.interrupts import NUMBERS

__all__ = ["run_service"]

GRACE_SECONDS = 20  # for requests that are being answered when the service is told to end
KEEP_ALIVE_SECONDS = 30
MOST_CONNECTIONS = 4_000  # a worker, where the system lets it open so many files
OTHER_FILES = 200  # that a worker needs beside connections
ANSWER_SECONDS = 5.0  # between the time-out that is told and the one that cuts off
BACKLOG = 2_048
SWITCH_SECONDS = 0.0002  # for which a thread may keep Python: the one that stores reports asks for it again and again
GARBAGE = 10_000  # objects between two looks for rings of them; a batch makes some thousand, all of which go by themselves
RESTARTS, WITHIN_SECONDS = 10, 60.0  # more deaths of workers than that: something is wrong for good
LOG = logging.getLogger("cloister.collect")


def run_service(settings: ServiceSettings, started: Callable[[str], None]) -> None:
    """Serve until told to end; `started` gets the address once the port is taken."""
    listening = listen(settings)
    host, port = listening.getsockname()[:2]
    started(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    try:
        if settings.workers == 1:
            serve(settings, listening)
        else:
            supervise(settings, listening)
    finally:
        listening.close()


def listen(settings: ServiceSettings) -> socket.socket:
    """Take the port, or say why it cannot be had."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.set_inheritable(True)
    except OSError as error:
        raise UsageError(
            f"port {settings.port} of {settings.host} cannot be listened on ({error.strerror}). Choose others: --host, --port."
        ) from None
    return listening


def serve(
    settings: ServiceSettings, listening: socket.socket, ends: Callable[[uvicorn.Server], object] = lambda _: None
) -> None:
    """One worker: serve until a signal comes."""
    log_to_stderr()
    sys.setswitchinterval(SWITCH_SECONDS)
    limits = {"header_seconds": settings.header_seconds, "body_seconds": settings.body_seconds + ANSWER_SECONDS}
    config = uvicorn.Config(
        make_app(settings),
        http=type("Protocol", (TimedProtocol,), limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # its lines would hold addresses
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=proxy_networks(settings.trusted_proxies),
        server_header=False,
        limit_concurrency=raise_file_limit(),
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    ends(server)
    gc.collect()
    gc.freeze()  # what is loaded stays: looking through it again and again would keep reports waiting
    gc.set_threshold(GARBAGE)
    server.run(sockets=[listening])
    if not server.started:
        raise EngineError("the service could not start.")


def raise_file_limit() -> int:
    """Let the process open as many files as it may, and say how many connections that allows."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(50, min(MOST_CONNECTIONS, allowed - OTHER_FILES))


def log_to_stderr() -> None:
    """Lines of the service alone; libraries may quote addresses and what was sent."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.disable(logging.NOTSET)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio", "sqlalchemy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    LOG.handlers[:], LOG.propagate = [handler], False
    LOG.setLevel(logging.INFO)


def supervise(settings: ServiceSettings, listening: socket.socket) -> None:
    """Start workers and keep as many of them alive until a signal comes."""
    log_to_stderr()
    spawn = multiprocessing.get_context("spawn")
    alive, others = spawn.Pipe(duplex=False)  # the workers' end closes when this process dies

    def start() -> Any:
        process = spawn.Process(target=work, args=(settings, listening, alive), daemon=True)
        process.start()
        return process

    asked = threading.Event()
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in NUMBERS}
    deaths: list[float] = []
    workers = [start() for _ in range(settings.workers)]
    try:
        while not asked.is_set():
            multiprocessing.connection.wait([worker.sentinel for worker in workers], timeout=0.2)
            for place, worker in enumerate(workers):
                if worker.exitcode is None or asked.is_set():
                    continue
                now = time.monotonic()
                deaths = [*(each for each in deaths if now - each < WITHIN_SECONDS), now]
                if len(deaths) > RESTARTS:
                    raise EngineError("workers of the service keep dying. Look at what was written above.")
                LOG.warning("a worker ended with %s; another one is started", worker.exitcode)
                workers[place] = start()
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(GRACE_SECONDS + 5)
            if worker.exitcode is None:
                worker.kill()
        others.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def work(settings: ServiceSettings, listening: socket.socket, alive: Any) -> None:
    """One worker of several: ends when it is told to, or when the first process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the first process tells the others

    def ends(server: uvicorn.Server) -> None:
        def watch() -> None:
            try:
                alive.recv_bytes()
            except (EOFError, OSError):
                server.should_exit = True

        threading.Thread(target=watch, daemon=True).start()

    serve(settings, listening, ends)
