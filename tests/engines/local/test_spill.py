"""Encoded rows that are kept in a file between folds."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cloister.engines.local import encoded_rows, spill
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import Histogram
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from cloister.privacy.secret_draws import SecretDraw
from cloister.sources import columnar
from cloister.sources.opening import open_source
from tests.laws.tables import identity, random_rows, write

KERNEL = Histogram(((0,), (-10, 10)), (3, 2))
DRAW = SecretDraw(Fraction(1, 4), bytes(range(32)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, "rows", random_rows(6, 5_000, 2, 50, (3, 2)))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for a few hundred rows, in batches of fifty."""
    monkeypatch.setattr(encoded_rows, "CACHE_BYTES", 10_000)
    monkeypatch.setattr(columnar, "BATCH_ROWS", 50)


def engine(path: Path) -> LocalEngine:
    return LocalEngine(open_source(path), identity(2, 50, (3, 2)))


def passes(made: LocalEngine) -> list[np.ndarray]:
    """Everything that reads rows, twice."""
    found = []
    for _ in range(2):
        found += [
            open_exact(made.fold(KERNEL))["counts"],
            open_exact(made.fold_by_key(RowKeys(4))).keys,
            open_exact(made.sample(DRAW.keep).fold(KERNEL))["counts"],
            np.concatenate([rows.numbers for rows in made.rows.each(lambda rows: rows)]),
        ]
    return found


def open_files() -> int:
    """How many files without a name this process has open."""
    places = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    return sum("(deleted)" in place for place in places)


def test_rows_in_a_file_are_the_rows_in_memory(path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds, keys, samples and the order of rows are the same, and the source is read once."""
    made = engine(path)
    found = passes(made)
    assert made.rows.spilled_blocks == 100
    monkeypatch.setattr(made.rows, "_source", None)
    assert np.array_equal(open_exact(made.fold(KERNEL))["counts"], found[0])
    monkeypatch.setattr(encoded_rows, "CACHE_BYTES", 2**30)
    assert all(np.array_equal(one, other) for one, other in zip(found, passes(engine(path)), strict=True))


def test_a_full_disk_only_costs_time(path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without room the source is read again each time, with the same result, and no file stays open."""
    monkeypatch.setattr(spill, "LEAST_FREE", 2**80)
    before = open_files()
    made = engine(path)
    found = passes(made)
    assert made.rows.spilled_blocks == 0
    assert open_files() == before
    monkeypatch.setattr(encoded_rows, "CACHE_BYTES", 2**30)
    assert all(np.array_equal(one, other) for one, other in zip(found, passes(engine(path)), strict=True))


def test_a_pass_that_is_left_leaves_no_file(path: Path, small: None) -> None:
    """Neither a pass that nobody reads to its end nor a closed engine keeps the file."""
    before = open_files()
    made = engine(path)
    left = made.rows.each(lambda rows: rows)
    for _ in range(60):
        next(left)
    assert open_files() == before + 1
    left.close()  # type: ignore[attr-defined]
    assert open_files() == before
    made.fold(KERNEL)
    assert open_files() == before + 1
    made.close()
    assert open_files() == before


def test_the_file_has_no_name(path: Path, small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody finds the rows in a folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    made = engine(path)
    made.fold(KERNEL)
    assert made.rows.spilled_blocks
    assert not list((tmp_path / "empty").iterdir())


def test_a_write_that_fails_is_not_taken_for_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread fails to write, another one that succeeds does not make the first look well."""
    made = spill.open_spill((2, 0))
    assert made is not None
    rows = random_rows(1, 1_000, 2, 50, ())
    failing, succeeded = threading.Event(), threading.Event()
    write = os.pwritev

    def slow(file: int, buffers: list[memoryview], start: int) -> int:
        if threading.current_thread() is threading.main_thread():  # fails, and is told so only after the other is done
            failing.set()
            succeeded.wait(10)
            return 7
        failing.wait(10)
        return write(file, buffers, start)

    monkeypatch.setattr(os, "pwritev", slow)
    found: list[object] = []

    def other() -> None:
        found.append(made.write(rows))
        succeeded.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert made.write(rows) is None
    thread.join()
    assert found != [None]
    assert made.write(rows) is None, "full for good"
