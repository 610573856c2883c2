"""A service in processes of its own, on a free loopback port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LiveService", "live_service"]

START_SECONDS = 60
STOP_SECONDS = 40


@dataclass(frozen=True)
class LiveService:
    """A service that runs."""

    address: str
    process: subprocess.Popen[str]
    errors: Path  # what it wrote to standard error

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and wait for the end."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def live_service(folder: Path, *arguments: str | Path, rate: int = 0, port: int = 0) -> Iterator[LiveService]:
    """Run ``cloister collect serve`` until the block ends."""
    errors = folder / f"service-{time.monotonic_ns()}.err"
    words = ["collect", "serve", *map(str, arguments), "--port", str(port), "--rate", str(rate), "--json"]
    with errors.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cloister", *words],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # pytest may run in the background
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        address = read_address(process, errors)
        wait_until_it_answers(address, process, errors)
        yield LiveService(address, process, errors)
    finally:
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def read_address(process: subprocess.Popen[str], errors: Path) -> str:
    """What it prints first: JSON with its address."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            break
    if not text:
        raise RuntimeError(f"the service did not start: {errors.read_text()}")
    address: str = json.loads(text)["address"]
    return address


def wait_until_it_answers(address: str, process: subprocess.Popen[str], errors: Path) -> None:
    """The port is taken before the first worker answers."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}/v1/health", timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the service does not answer: {errors.read_text()}")
