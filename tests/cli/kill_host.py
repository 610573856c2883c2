"""A process that has everything loaded and runs commands in forks of itself, each of which may be sent a signal at a file event.

It reads jobs from standard input, a line of JSON each, and answers each with a line. Started by `test_kills`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
from typing import Any

EVENTS = {
    "open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.truncate", "os.scandir", "shutil.rmtree",
    "shutil.copyfile", "shutil.copytree", "tempfile.mkdtemp", "tempfile.mkstemp", "sqlite3.connect",
}  # fmt: skip


def run(argv: list[str]) -> int:
    """Run one command as the shell would; its exit code."""
    from cloister.__main__ import main

    sys.argv = ["cloister", *argv]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def watch_events(folder: str, at: int | None, number: int, report: int) -> None:
    """Count the file events below a folder, and at one of them send this process a signal: it comes before the event."""
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event not in EVENTS:
            return
        is_relative = event in ("os.remove", "os.rmdir") and arguments[1] >= 0  # to a folder that is being removed
        if is_relative or any(folder in str(part) for part in arguments[:2]):
            count += 1
            os.pwrite(report, f"{count:8d}".encode(), 0)
            if count == at:
                os.kill(os.getpid(), number)

    sys.addaudithook(hook)


def run_and_leave(job: dict[str, Any], said: int, report: int) -> None:
    """What the fork does."""
    os.dup2(said, 1)
    os.dup2(said, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(job["environment"])
    watch_events(job["folder"], job["at"], job["signal"], report)
    code = run(job["argv"])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if job["warm"]:
        os.pwrite(report, json.dumps(sorted(sys.modules)).encode(), 8)
    os._exit(code)


def serve(job: dict[str, Any]) -> dict[str, Any]:
    """Run the command of a job in a fork: its exit code, how many events there were, and what it said."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as report:
        child = os.fork()
        if child == 0:
            run_and_leave(job, said.fileno(), report.fileno())
        _, status = os.waitpid(child, 0)
        said.seek(0)
        report.seek(0)
        events, modules = report.read(8), report.read()
        answer = {"code": os.waitstatus_to_exitcode(status), "events": int(events or 0), "said": said.read().decode()}
    if job["warm"]:  # what the command loaded is loaded here: later forks have it
        for name in json.loads(modules):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    return answer


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(serve(json.loads(line))), flush=True)
