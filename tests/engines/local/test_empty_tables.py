"""A table without rows runs the same loops as any other: compiled ones stay on disk, where anybody can see them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister.encode import Encoding, Grid
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import BoxClip, ClippedSums, DistanceBands, cells, centers, clipped, morton, per_unit
from cloister.kernels.cells import GridCells
from cloister.kernels.loops import intervals_numpy, nearest_numpy, owned_rows_numpy
from cloister.kernels.morton import LeafSums, MortonKeys
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source

HALF = 50
CENTERS, WITHIN = np.zeros((1, 1), np.int32), BoxClip((HALF,))
FIVES = np.full(len(CENTERS), 5)
ORDER = MortonKeys((HALF,), 4)
PASSES: dict[str, Callable[[LocalEngine], Any]] = {
    "sums": lambda engine: engine.fold(ClippedSums(CENTERS, FIVES, False, FIVES, WITHIN)),
    "bands": lambda engine: engine.fold(DistanceBands(CENTERS, 10_000, WITHIN)),
    "leaves": lambda engine: engine.fold(LeafSums(ORDER, np.array([0]), np.array([0]))),
    "cells": lambda engine: engine.fold(GridCells((HALF,), (3,))),
    "keys": lambda engine: engine.fold_by_key(ORDER),
    "keys of people": lambda engine: engine.fold_by_key(ORDER, "who"),
    "empty sample": lambda engine: engine.sample(lambda hashes, block: np.zeros(len(hashes), np.bool_)).fold(
        DistanceBands(CENTERS, 10_000, WITHIN)
    ),
}


class Recorded:
    """The loops of a module, whose names are written down when they are called."""

    def __init__(self, loops: ModuleType, called: list[str]) -> None:
        self._loops, self._called = loops, called

    def __getattr__(self, name: str) -> Any:
        self._called.append(name)
        return getattr(self._loops, name)


@pytest.mark.parametrize("unit", [None, Unit("who", 2)], ids=["rows", "people"])
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_runs_the_same_loops_whether_or_not_there_is_a_row(
    name: str, unit: Unit | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of compiled code would say that a table, or a secret sample of it, was empty."""
    called: list[str] = []
    for module in (centers, clipped):
        monkeypatch.setattr(module, "nearest_loops", lambda numbers: Recorded(nearest_numpy, called))
    for module in (cells, morton):
        monkeypatch.setattr(module, "interval_loops", lambda numbers: Recorded(intervals_numpy, called))
    monkeypatch.setattr(per_unit, "owner_loops", lambda: Recorded(owned_rows_numpy, called))
    seen = []
    for rows in (0, 3):
        called.clear()
        table = pa.table({"x": pa.array([1.0] * rows, pa.float64()), "who": pa.array(["a"] * rows, pa.string())})
        PASSES[name](LocalEngine(open_source(table), Encoding((Grid("x", 0.0, 1.0, HALF),)), unit))
        seen.append(set(called))
    assert seen[0] == seen[1] != set()
