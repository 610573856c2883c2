"""A progress function of the user's that fails, inside a release that was paid for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.clustering.methods import METHODS
from cloister.clustering.synopsis.shapes import SHAPES

ROWS = pa.table({"x0": np.linspace(0, 1, 60), "x1": np.linspace(1, 0, 60)})
RELEASES: dict[str, Callable[..., Any]] = {
    **{
        f"clusters, {method}": lambda where, progress, method=method: (
            cl.KMeans(2, 1, bounds=(0, 1), method=method, **where).fit(ROWS, progress=progress).release_
        )
        for method in METHODS
    },
    "clusters without bounds": lambda where, progress: (
        cl.KMeans(2, 1, count_missing=True, **where).fit(ROWS, progress=progress).release_
    ),
    **{
        f"cells, {method}": lambda where, progress, method=method: (
            cl.synopsis(ROWS, 1, (0, 1), method, progress=progress, **where).release_
        )
        for method in SHAPES
    },
    "table": lambda where, progress: (
        cl.tabulate(ROWS, ["x0"], 1, bounds={"x0": (0, 1)}, bins={"x0": 2}, progress=progress, **where).release_
    ),
    "choice": lambda where, progress: (
        cl.choose(ROWS, "x0", 1, quantile=0.5, bounds=(0, 1), count_rows=True, progress=progress, **where).release_
    ),
}


@pytest.fixture
def where(tmp_path: Path) -> dict[str, Any]:
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(100))
    return {"table": "t", "ledger": ledger}


@pytest.mark.parametrize("name", RELEASES)
def test_a_failing_progress_function_takes_no_release_away(name: str, where: dict[str, Any]) -> None:
    """It is called no more, and a warning says so without what it said, which may hold anything."""
    calls = []

    def progress(step: str) -> None:
        calls.append(step)
        raise RuntimeError("a secret of the caller")

    with pytest.warns(UserWarning, match="progress") as warned:
        release = RELEASES[name](where, progress)
    assert release.adds_up()
    assert len(calls) == 1
    (warning,) = [warning for warning in warned if "progress" in str(warning.message)]
    assert "RuntimeError" in str(warning.message)
    assert "secret" not in str(warning.message)


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_the_release_is_there_all_the_same(where: dict[str, Any]) -> None:
    """Under -W error the warning would take the release away instead."""

    def progress(step: str) -> None:
        raise ValueError

    assert RELEASES["table"](where, progress).adds_up()


def test_an_interrupt_inside_a_progress_function_is_an_interrupt(where: dict[str, Any]) -> None:
    """Whoever presses Ctrl-C means the release, wherever it happens to be."""

    def progress(step: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RELEASES["table"](where, progress)


def test_a_k_anonymous_table_does_not_fail_of_it_either(tmp_path: Path, where: dict[str, Any]) -> None:
    """The ledger has it as a table that left."""

    def progress(step: str) -> None:
        raise RuntimeError

    rows = pa.table({"age": [30, 31, 32, 33] * 10, "sex": ["f", "m"] * 20})
    model = cl.TopDownSpecialization(k=4, quasi=["age", "sex"], **where)
    with pytest.warns(UserWarning, match="progress"):
        model.publish(rows, tmp_path / "out.csv", progress=progress)
    assert (tmp_path / "out.csv").exists()
