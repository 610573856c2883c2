"""A command that is stopped says one sentence, whenever it is: what was charged, and how to get what was paid for."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.interrupts import handle_interrupts
from cloister.privacy.ledger import Ledger
from tests.cli.test_recover_cli import run

SIGNALS = [signal.SIGINT, signal.SIGTERM]

# A signal comes when a module is looked for, or a function of a module is called.
LOADING = """
import os, sys
module, number = sys.argv[1], int(sys.argv[2])
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Stop())
from cloister.__main__ import main
sys.argv = ["cloister", "ledger", "show", "--ledger", "none.sqlite"]
main()
"""
CALLING = """
import os, sys
import cloister.cli
name, number = sys.argv[1], int(sys.argv[2])
call = getattr(cloister.cli.Verbs, name)
def stopped(self, *arguments, **named):
    os.kill(os.getpid(), number)
    return call(self, *arguments, **named)
setattr(cloister.cli.Verbs, name, stopped)
from cloister.__main__ import main
sys.argv = ["cloister", "ledger", "show", "--ledger", "none.sqlite"]
main()
"""


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    """Signals are handled as in a command."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    handle_interrupts()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def stop_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int, *, after: bool = False) -> None:
    """Send a signal when a function is called, or when it has done its work."""
    function = getattr(owner, name)

    def stopped(*arguments: Any, **named: Any) -> Any:
        if not after:
            os.kill(os.getpid(), number)
        value = function(*arguments, **named)
        if after:
            os.kill(os.getpid(), number)
        return value

    monkeypatch.setattr(owner, name, stopped)


def process(script: str, *words: object) -> tuple[int, str]:
    """Exit code and standard error of a command that is stopped."""
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", ["cloister.interrupts", "threading", "cloister.cli", "typer", "cloister.cli.verify"])
def test_ctrl_c_while_modules_load(module: str) -> None:
    """From the first module on: before that Python itself is loading."""
    code, said = process(LOADING, module, int(signal.SIGINT))
    assert (code, said) == (130, "Stopped. Nothing was charged, and nothing half-written is left.\n")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("name", ["make_context", "invoke"])
def test_a_signal_around_the_command_itself(name: str, number: int) -> None:
    """The parser of the command line has its own way with Ctrl-C: no word, and 130 whatever the signal was."""
    code, said = process(CALLING, name, int(number))
    assert (code, said) == (128 + number, "Stopped. Nothing was charged, and nothing half-written is left.\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_before_the_charge(home: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Nothing was charged, and that is said."""
    from cloister.vault.doors import Vault

    stop_at(monkeypatch, Vault, "open", number)
    stopped = run(home, "table.csv")
    assert (stopped.exit_code, stopped.stderr) == (
        128 + number,
        "Stopped. Nothing was charged, and nothing half-written is left.\n",
    )
    assert not Ledger(home / "ledger.sqlite").entries("points")


CHARGED = (
    'Stopped. What was charged stays charged: epsilon 1, table "points", ledger entry 1. No result of it was made, and '
)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("after", [False, True])
def test_during_the_charge(home: Path, monkeypatch: pytest.MonkeyPatch, number: int, after: bool) -> None:
    """The charge is finished first, so that it is known; then the command stops, and says it."""
    stop_at(monkeypatch, Ledger, "book_charge", number, after=after)
    stopped = run(home, "table.csv")
    assert (stopped.exit_code, stopped.stderr) == (128 + number, f"{CHARGED}nothing half-written is left.\n")
    assert len(Ledger(home / "ledger.sqlite").entries("points")) == 1


def test_while_rows_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The charge is said once."""
    from cloister.vault.doors import Vault

    stop_at(monkeypatch, Vault, "follow", signal.SIGINT)
    stopped = run(home, "clusters")
    assert (stopped.exit_code, stopped.stderr) == (130, f"{CHARGED}nothing half-written is left.\n")


def test_without_a_ledger_the_spend_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else keeps it."""
    from cloister.vault.doors import Vault

    stop_at(monkeypatch, Vault, "follow", signal.SIGINT)
    stopped = run(home, "clusters", ledgered=False)
    assert stopped.stderr == (
        "Stopped. Rows may have been read: count epsilon 1 as spent, which no ledger keeps. No result of it was made, and "
        "nothing half-written is left.\n"
    )


@pytest.mark.parametrize("moment", ["printing", "leaving"])
@pytest.mark.parametrize("name", ["clusters", "cells.parquet", "table.csv"])
def test_once_the_result_is_written(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, moment: str) -> None:
    """What was charged is said, and that the result is there, also when its name is no longer held."""
    from typer.core import TyperGroup

    from cloister.cli import output

    with monkeypatch.context() as patch:
        if moment == "printing":
            stop_at(patch, output, "print_release", signal.SIGINT)
        else:
            stop_at(patch, TyperGroup, "invoke", signal.SIGINT, after=True)
        stopped = run(home, name)
    charged = 'What was charged stays charged: epsilon 1, table "points", ledger entry 1.'
    assert (stopped.exit_code, stopped.stderr) == (
        130,
        f"Stopped. {charged} Nothing half-written is left.\n{home / name} was written before that, and is whole.\n",
    )
    assert CliRunner().invoke(app, ["verify", str(home / name)]).exit_code == 0


@pytest.mark.parametrize("name", ["people.csv", "discharged.csv"])
def test_the_name_of_an_output_is_no_word_about_a_charge(home: Path, name: str) -> None:
    """Ctrl-C in front of a pager that does not read on: the charge is said, whatever the output is called."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writing, b"x" * 4096):
            pass
    os.set_blocking(writing, True)
    argv = [sys.executable, "-m", "cloister", "tabulate", str(home / "points.csv"), "--schema", str(home / "points.toml")]
    argv += ["--by", "x", "--bins", "x=4", "--epsilon", "1", "--ledger", str(home / "ledger.sqlite")]
    running = subprocess.Popen([*argv, "--out", str(home / name)], stdout=writing, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (home / name).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)  # it prints by now, and waits
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    os.close(reading)
    os.close(writing)
    charged = 'What was charged stays charged: epsilon 1, table "points", ledger entry 1.'
    assert (running.returncode, said) == (
        130,
        f"Stopped. {charged} Nothing half-written is left.\n{home / name} was written before that, and is whole.\n",
    )


def test_the_next_command_of_a_process_knows_nothing_of_the_last(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it charged was said."""
    from cloister.vault.doors import Vault

    assert run(home, "table.csv").exit_code == 0
    stop_at(monkeypatch, Vault, "open", signal.SIGINT)
    assert "Nothing was charged" in run(home, "clusters").stderr


def test_a_use_of_the_holder_is_no_charge_but_stays_in_the_ledger(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ledger show` lists it as begun."""
    stop_at(monkeypatch, Ledger, "book_holder", signal.SIGINT, after=True)
    words = ["risk", str(home / "points.csv"), "--quasi", "x", "--table", "points", "--ledger", str(home / "ledger.sqlite")]
    stopped = CliRunner().invoke(app, words)
    assert (stopped.exit_code, stopped.stderr) == (
        130,
        'Stopped. Nothing was charged, and nothing half-written is left. Entry 1 of table "points" stays in the ledger: its rows '
        "may have been read.\n",
    )
