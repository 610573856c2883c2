"""Damaged files, texts and wrong types: one `CloisterError` or success, never a raw error, a hang or a crash.

In CI the same 1,000 cases each time: the number of a case is its seed. ``CLOISTER_FUZZ=20000``
runs as many. A case that fails is run again with ``python -m tests.fuzz.worker FOLDER NUMBER NUMBER+1``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.mutations import damaged
from tests.fuzz.worker import SECONDS

CASES = int(os.environ.get("CLOISTER_FUZZ", "1000"))
BATCH_SECONDS = 600


def run_cases(folder: Path, first: int, last: int) -> list[str]:
    """The faults of these cases, run in a process of their own; one that dies is followed by another."""
    folder.mkdir(parents=True, exist_ok=True)
    faults = []
    environment = {**os.environ, "CLOISTER_LEDGER": str(folder / "ledger.sqlite"), "TMPDIR": str(folder)}
    while first < last:
        command = [sys.executable, "-m", "tests.fuzz.worker", str(folder), str(first), str(last)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=BATCH_SECONDS)
            if done.returncode == 0:
                break
            verdict = f"ended the process ({done.returncode}): {done.stderr[-300:]}"
        except subprocess.TimeoutExpired:
            verdict = "hangs"
        first = int((folder / "running").read_text())
        faults.append(f"{first} {verdict}")
        first += 1
    written = folder / "faults"
    return faults + (written.read_text().splitlines() if written.exists() else [])


def test_no_damage_gives_a_raw_error_a_hang_or_a_crash(tmp_path: Path) -> None:
    """Every parser and every public call, in batches, each in a process of its own."""
    faults = []
    for first in range(0, CASES, 2000):
        faults += run_cases(tmp_path / str(first), first, min(first + 2000, CASES))
    assert not faults, f"{len(faults)} of {CASES} cases:\n" + "\n".join(faults[:40])


def test_a_planted_crash_a_hang_and_a_raw_error_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness finds each of the three: a worker whose cases do nothing else."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, tests.fuzz.worker as worker\n"
        "def plant(number, parsers, folder):\n"
        "    if number == 1: os.abort()\n"
        "    if number == 2: raise KeyError('raw')\n"
        "    if number == 3: raise worker.TooLong\n"
        "worker.run_case = plant\n"
    )
    driver = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import sitecustomize, pathlib, tests.fuzz.worker as w;"
        "w.make_parsers = lambda folder: {}; w.main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))"
    )
    real = subprocess.run

    def planted(command: list[str], **options: object) -> object:
        return real([sys.executable, "-c", driver, str(tmp_path), *command[3:]], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", planted)
    faults = run_cases(tmp_path / "cases", 0, 5)
    assert [fault.split()[0] for fault in faults] == ["1", "2", "3"]
    assert "ended the process" in faults[0]
    assert "KeyError" in faults[1]
    assert "TooLong" in faults[2]


def test_damage_changes_most_files() -> None:
    """Mutations are no mutations if they leave the file as it was."""
    import random

    raw = bytes(range(256)) * 4
    changed = sum(damaged(raw, random.Random(seed)) != raw for seed in range(200))
    assert changed > 150
    assert SECONDS == 5
