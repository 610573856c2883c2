"""Signals end a command in order, and wait for blocks that must not be cut in two."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cloister.interrupts import Interrupted, deferred, handle_interrupts

LONG = """
import sys, time
from cloister.cli import schema
from cloister.sinks import stage
def slow(data, said, out, as_json):
    with stage(out, directory=True) as staged:
        (staged.path / "rows").write_text("half")
        print("writing", flush=True)
        time.sleep(60)
schema.write_draft = slow
from cloister.__main__ import main
sys.argv = ["cloister", "schema", "x.csv", "-o", sys.argv[1]]
main()
"""


def test_a_signal_waits_for_the_end_of_the_block() -> None:
    """In a nested block too; the rest of the block runs, and then it is raised."""
    done = []

    def work() -> None:
        with deferred():
            with deferred():
                os.kill(os.getpid(), signal.SIGINT)
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    with pytest.raises(KeyboardInterrupt):  # the handler is back
        os.kill(os.getpid(), signal.SIGINT)


def test_other_threads_are_not_touched() -> None:
    """Signals are handled in the main thread: elsewhere the block just runs."""
    done = []

    def work() -> None:
        with deferred():
            done.append("here")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["here"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_handled_signals_raise(name: str) -> None:
    """All three raise the same error, which knows the exit code; one that was ignored stays ignored."""
    number = getattr(signal, name)
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        handle_interrupts()
        with pytest.raises(Interrupted) as told:
            os.kill(os.getpid(), number)
        assert told.value.exit_code == 128 + number
        signal.signal(number, signal.SIG_IGN)
        handle_interrupts()
        os.kill(os.getpid(), number)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_stopped_cleans_up(tmp_path: Path, number: signal.Signals) -> None:
    """What was half-written goes, the exit code is that of the signal, and one line says so."""
    command = [sys.executable, "-c", LONG, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == 128 + number
    assert said.startswith("Stopped.")
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


BEGINNING = """
import sys
from cloister import __main__
handle = __main__.handle_interrupts
__main__.handle_interrupts = lambda: handle() or print("begun", flush=True)
sys.argv = ["cloister", "ledger", "show"]
__main__.main()
"""


def test_ctrl_c_while_a_command_loads_shows_no_traceback() -> None:
    """At no time in the fifth of a second in which the command line is loaded."""
    codes = set()
    for delay in (0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2):
        command = [sys.executable, "-c", BEGINNING]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        assert "Traceback" not in said, (delay, said)
        codes.add(process.returncode)
    assert 130 in codes
