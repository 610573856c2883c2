"""A table leaves only after its ledger knows of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.anonymization.estimator import TopDownSpecialization
from cloister.anonymization.writing.apply import apply_recoding
from cloister.errors import LedgerError
from cloister.privacy.ledger import Ledger
from cloister.sinks import Staged, certificate_path

ROWS = pa.table({"age": np.arange(100.0) % 10, "city": [("North", "South")[i % 2] for i in range(100)]})


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with an account of the table."""
    made = Ledger(tmp_path / "ledger.sqlite")
    made.create("people", "add-remove", 1)
    return made


def publish(out: Path, ledger: Ledger) -> None:
    """A k-anonymous table."""
    TopDownSpecialization(k=5, quasi=["age", "city"], table="people", ledger=ledger).publish(ROWS, out)


def apply(out: Path, ledger: Ledger) -> None:
    """The rows under a saved recoding."""
    made = TopDownSpecialization(k=5, quasi=["age", "city"])
    made.publish(ROWS, out.with_name("first.parquet"))
    apply_recoding(made.recoding_, ROWS, out, table="people", ledger=ledger)


@pytest.mark.parametrize("leave", [publish, apply])
def test_a_table_that_left_is_in_the_ledger(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, leave: Callable[[Path, Ledger], None]
) -> None:
    """A signal comes as soon as the table is there: the ledger knew of it before."""
    commit = Staged.commit

    def stopped(self: Staged, certificate: str | None = None) -> None:
        commit(self, certificate)
        if self.target.name == "safe.parquet":
            raise KeyboardInterrupt

    monkeypatch.setattr(Staged, "commit", stopped)
    with pytest.raises(KeyboardInterrupt):
        leave(tmp_path / "safe.parquet", ledger)
    assert (tmp_path / "safe.parquet").exists()
    (entry,) = ledger.entries("people")
    assert entry.release_hash


@pytest.mark.parametrize("leave", [publish, apply])
def test_a_ledger_that_cannot_be_told_lets_no_table_leave(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, leave: Callable[[Path, Ledger], None]
) -> None:
    """Its disk is full at the end: nothing is written."""

    def full(*_: Any) -> None:
        raise LedgerError("the disk is full.")

    monkeypatch.setattr(Ledger, "complete", full)
    out = tmp_path / "safe.parquet"
    with pytest.raises(LedgerError):
        leave(out, ledger)
    assert not out.exists()
    assert not certificate_path(out).exists()


KILLED_WHEN_IT_IS_THERE = """
import os, signal, sys
from cloister.sinks import Staged
commit = Staged.commit
def killed(self, certificate=None):
    commit(self, certificate)
    os.kill(os.getpid(), int(sys.argv[1]))
Staged.commit = killed
sys.argv = ["cloister", *sys.argv[2:]]
from cloister.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_between_the_table_and_the_end(tmp_path: Path, ledger: Ledger, number: int) -> None:
    """The command itself, killed when the table has just appeared."""
    pq.write_table(ROWS, tmp_path / "people.parquet")
    argv = ["anonymize", "people.parquet", "--k", "5", "--quasi", "age,city", "--table", "people"]
    argv += ["--ledger", "ledger.sqlite", "--out", "safe.csv"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED_WHEN_IT_IS_THERE, str(int(number)), *argv]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert (tmp_path / "safe.csv").exists(), ended.stderr
    (entry,) = ledger.entries("people")
    assert entry.release_hash
