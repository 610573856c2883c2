"""A signal, or a ledger that is locked or gone, once a release was paid for: it is kept, and the message says how to get it."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.interrupts import Interrupted
from cloister.privacy.ledger import Ledger
from tests.cli.test_recover_cli import recover, run


@contextmanager
def locked(ledger: Path) -> Iterator[None]:
    """Somebody else writes into the ledger all the time."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
def waits_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for a locked ledger."""
    from cloister.privacy import store_engines

    monkeypatch.setattr(store_engines, "WAIT_SECONDS", 1)


def interrupt(number: int, _: object) -> None:
    """What commands do at a signal."""
    raise Interrupted(number)


@pytest.mark.usefixtures("waits_briefly")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["clusters", "cells.parquet", "table.csv"])
def test_a_signal_while_the_ledger_is_locked_leaves_the_result_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: signal.Signals
) -> None:
    """The noise is drawn, the ledger is locked by somebody, and the user gives up: what was paid for is kept, and told of."""
    from cloister.vault.doors import Vault

    release = Vault.release

    def release_locked(self: Vault, *arguments: Any) -> Any:
        locks.enter_context(locked(home / "ledger.sqlite"))
        timer.start()
        return release(self, *arguments)

    timer = threading.Timer(0.3, os.kill, (os.getpid(), number))
    before = signal.signal(number, interrupt)
    gc.collect()
    gc.disable()  # Python ignores what is raised in a callback of a collection
    try:
        with ExitStack() as locks, monkeypatch.context() as patch:
            patch.setattr(Vault, "release", release_locked)
            stopped = run(home, name)
    finally:
        gc.enable()
        timer.join()
        signal.signal(number, before)
    assert stopped.exit_code == 128 + number
    assert 'Entry 1 of table "points" stays charged: epsilon 1' in stopped.stderr
    assert f"cloister ledger recover 1 --out PATH --ledger {home}" in stopped.stderr
    out = home / f"again{Path(name).suffix}"
    assert recover(home, "1", "--out", str(out)).exit_code == 0
    verified = CliRunner().invoke(app, ["verify", str(out), "--ledger", str(home / "ledger.sqlite")])
    assert verified.exit_code == 0, verified.stderr


@pytest.mark.parametrize("name", ["clusters", "cells.parquet", "table.csv"])
def test_a_signal_once_everything_is_paid_waits_until_the_result_is_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It comes after the last noise was drawn, while what was released is being made into a result."""
    from cloister.vault.doors import Vault

    release = Vault.release

    def release_signalled(self: Vault, *arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return release(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "release", release_signalled)
        stopped = run(home, name)
    assert stopped.exit_code == 130
    assert "ledger recover 1" in stopped.stderr
    assert recover(home, "1", "--out", str(home / f"again{Path(name).suffix}")).exit_code == 0


def test_a_ledger_that_went_away_leaves_the_result_written_and_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is gone when the release is booked: it is not made anew, and the message says what is left to do."""
    from cloister.vault.doors import Vault

    release = Vault.release
    books, away = home / "books", home / "away"
    books.mkdir()
    Ledger(books / "ledger.sqlite").create("points", "add-remove", 10)

    def release_without(self: Vault, *arguments: Any) -> Any:
        books.rename(away)
        return release(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "release", release_without)
        failed = run(home, "clusters", "--ledger", str(books / "ledger.sqlite"))
    assert failed.exit_code == 4
    assert not books.exists()
    assert "cloister ledger recover" in failed.stderr
    assert (home / "clusters" / "release.json").exists()
    away.rename(books)
    told = CliRunner().invoke(app, ["ledger", "recover", "--ledger", str(books / "ledger.sqlite")])
    assert "Nothing is kept" in told.stdout
    verify = ["verify", str(home / "clusters"), "--ledger", str(books / "ledger.sqlite")]
    assert CliRunner().invoke(app, verify).exit_code == 0
