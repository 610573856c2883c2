"""Who watches is told how far the work is; who does not costs nothing, and who fails stops nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import cloister as cl
from cloister.work_done import counted, is_watched, watched


def seen(work: Any) -> list[tuple[float, str]]:
    """What is told while something is done."""
    told: list[tuple[float, str]] = []
    with watched(lambda share, name: told.append((share, name)), lambda number, steps: None):
        work()
    return told


def test_shares_rise_to_the_whole() -> None:
    """By what each item weighs."""
    assert [share for share, _ in seen(lambda: list(counted([1, 3], 4, float)))] == [0, 0.25, 1]


def test_parts_are_shares_of_what_they_are_parts_of() -> None:
    """Two files of two pieces each: quarters."""
    parts = lambda: [list(counted("ab", 2)) for _ in counted("xy", 2, has_parts=True, name="files")]  # noqa: E731
    told = seen(parts)
    assert sorted({share for share, _ in told}) == [0, 0.25, 0.5, 0.75, 1]
    assert {name for _, name in told} == {"files"}


def test_work_inside_other_work_is_not_told() -> None:
    """Two tables that are read side by side would jump to and fro."""
    assert [share for share, _ in seen(lambda: [list(counted("abc", 3)) for _ in counted("xy", 2)])] == [0, 0.5, 1]


def test_without_a_total_nothing_is_told() -> None:
    """As of a compressed file."""
    assert seen(lambda: list(counted("ab", None))) == []
    assert list(counted("ab", 2)) == ["a", "b"]
    assert not is_watched()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_tells_how_far_its_passes_and_its_plan_are(tmp_path: Path, format: str) -> None:
    """A pass over a file by its size, passes over kept rows by their blocks, and which step of how many."""
    table, path = pa.table({"x": np.arange(200_000) % 100}), tmp_path / f"rows.{format}"
    csv.write_csv(table, path) if format == "csv" else parquet.write_table(table, path)
    shares: list[float] = []
    steps: list[tuple[int, int]] = []
    with watched(lambda share, _: shares.append(share), lambda *step: steps.append(step)):
        cl.KMeans(2, 1, bounds=(0, 100), columns=["x"]).fit(str(path))
    assert any(0 < share < 1 for share in shares)
    assert shares.count(1.0) > 1
    assert all(number <= of for number, of in steps)
    assert steps[-1][0] == steps[-1][1]


def test_a_search_over_columns_tells_how_far_it_is() -> None:
    """`risk` on a wide table spends its time there."""
    rows = np.random.default_rng(0).integers(0, 3, (50, 12))
    told = seen(lambda: cl.risk(pa.table({f"c{j}": rows[:, j] for j in range(12)})))
    searched = [share for share, name in told if name == "comparing combinations of columns"]
    assert len(searched) > 12
    assert searched == sorted(searched)


def test_whoever_fails_is_told_no_more() -> None:
    """A release that was paid for is not lost for a line on a screen."""
    calls = []

    def fail(*told: Any) -> None:
        calls.append(told)
        raise RuntimeError

    with watched(fail, fail):
        release = cl.KMeans(2, 1, bounds=(0, 1)).fit(np.linspace(0, 1, 60).reshape(-1, 1)).release_
    assert release.adds_up()
    assert len(calls) == 1


def test_an_interrupt_is_not_swallowed() -> None:
    """Ctrl-C means the work."""

    def stop(*told: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watched(stop, stop):
        list(counted("ab", 2))
