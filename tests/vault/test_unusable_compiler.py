"""A numba that cannot be used: the twins do its work, or the process ends before anything is charged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cloister.privacy.ledger import Ledger

FIT = """
import sys
{hide}
import numpy as np
import cloister as cl
from cloister.kernels.loops import choose
choose.MOST_STEPS = 0  # as a large table
from cloister.privacy import noise
noise._effort.most = 0  # as many draws
rows = np.random.default_rng(0).random((200, 2))
for method in {methods}:
    cl.KMeans(2, 1, bounds=(0, 1), method=method, seeding={seeding!r}, table="t", ledger="{ledger}").fit(rows)
"""
METHODS = ["votes", "lloyd", "adaptive-grid", "uniform-grid", "tree"]
HIDE = "sys.modules['numba'] = None"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 100)
    return ledger


def fit(ledger: Ledger, hide: str = "", seeding: str | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    """Fit by every method in a fresh process, on a table and with noise that compiled code is for."""
    code = FIT.format(hide=hide, methods=METHODS if seeding is None else ["tree"], seeding=seeding, ledger=ledger.place)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **settings})


@pytest.mark.parametrize("settings", [{"NUMBA_NUM_THREADS": "0"}, {"hide": HIDE}], ids=str)
def test_the_twins_do_the_work_of_a_numba_that_does_not_load(ledger: Ledger, settings: dict[str, str]) -> None:
    """It failed after the charge."""
    done = fit(ledger, **settings)
    assert done.returncode == 0, done.stderr
    assert [entry.status for entry in ledger.entries("t")] == ["released"] * len(METHODS)


def test_settings_that_end_the_process_do_so_before_the_charge(ledger: Ledger) -> None:
    """A processor that does not exist: LLVM ends the process (where it minds) as soon as anything is compiled."""
    done = fit(ledger, NUMBA_CPU_NAME="bogus", NUMBA_CPU_FEATURES="+bogus")
    assert (done.returncode == 0) == bool(ledger.entries("t")), done.stderr


def test_a_seeding_without_a_twin_is_refused_before_the_charge(ledger: Ledger) -> None:
    """Evolution needs numba."""
    done = fit(ledger, hide=HIDE, seeding="evolution")
    assert 'UsageError: seeding "evolution" needs numba' in done.stderr
    assert ledger.entries("t") == []
