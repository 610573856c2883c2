"""Compiled loops run where nothing can be kept on disk: after a charge it is too late to say so."""

from __future__ import annotations

import errno
from pathlib import Path

import numba as nb
import numpy as np
import pytest
from numba.core import caching

import cloister
from cloister.kernels.loops.compiled import compiled


def add_up(numbers: np.ndarray) -> int:
    """A loop to compile."""
    total = 0
    for number in numbers:
        total += number
    return total


def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and a package that are both read-only."""
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])


def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that takes no more bytes."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", fail)


def damaged_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that does not read."""

    def fail(*_: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_load_index", fail)


@pytest.mark.parametrize("fault", [no_folder, full_disk, damaged_file])
def test_a_loop_runs_although_it_cannot_be_kept(fault: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault stops numba's own caching, and only costs time here."""
    fault(monkeypatch)  # type: ignore[operator]
    numbers = np.arange(10)
    with pytest.raises((RuntimeError, OSError, EOFError)):
        nb.njit(cache=True)(add_up)(numbers)
    assert compiled()(add_up)(numbers) == 45


def test_every_loop_is_compiled_that_way() -> None:
    """numba's own decorator is used in one place."""
    package = Path(cloister.__file__).parent
    users = [path.name for path in package.rglob("*.py") if "njit(" in path.read_text(encoding="utf-8")]
    assert users == ["compiled.py"]
