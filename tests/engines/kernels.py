"""Kernels that go wrong, for tests of what happens then. Workers import this module."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from cloister.encode import Encoded
from cloister.kernels import Rows, Summary


class Sums:
    """The sum of each column."""

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"sums": (2,)}

    def fold(self, rows: Encoded) -> Summary:
        return Summary({"sums": rows.numbers.sum(axis=0, dtype=np.int64)})

    def sensitivity(self, neighbours: Any) -> Any:
        return Rows().sensitivity(neighbours)


def task() -> Any:
    from pyspark import TaskContext

    return TaskContext.get()


def mark(folder: str, name: str) -> bool:
    """Leave a mark; whether it is the first of its name."""
    try:
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


@dataclass
class Slow(Sums):
    """Takes its time, and marks each task that begins with the worker that runs it."""

    folder: str
    seconds: float

    def fold(self, rows: Encoded) -> Summary:
        # the work folder of a test cluster's executor lies in that of its worker
        worker = next((part for part in Path.cwd().parts if part.startswith("worker-")), "here")
        mark(self.folder, f"{worker}.{uuid.uuid4().hex}")
        time.sleep(self.seconds)
        return super().fold(rows)


@dataclass
class FailsOnce(Sums):
    """Fails in the first attempt of each task."""

    folder: str

    def fold(self, rows: Encoded) -> Summary:
        if mark(self.folder, f"failed-{task().partitionId()}"):
            raise RuntimeError("the first attempt")
        return super().fold(rows)


@dataclass
class Straggler(Sums):
    """The first run of one task takes very long."""

    folder: str
    seconds: float

    def fold(self, rows: Encoded) -> Summary:
        if task().partitionId() == 0:
            first = mark(self.folder, "straggler-first")
            if first:
                time.sleep(self.seconds)
            else:
                mark(self.folder, f"straggler-{uuid.uuid4().hex}")
        return super().fold(rows)


@dataclass(frozen=True)
class FromCorner:
    """A public order: how far a row is from a corner, its steps counted."""

    width: int = 1

    def keys(self, rows: Encoded) -> np.ndarray:
        return np.abs(rows.numbers.astype(np.int64) + 3).sum(axis=1, keepdims=True)


class Blurts(Sums):
    """Fails with a value in its message."""

    def fold(self, rows: Encoded) -> Summary:
        raise ValueError("the value was forty-two")


def spent(url: str) -> Fraction:
    """What a ledger has charged to the table of these tests."""
    import cloister as cl

    return cl.Ledger(url).account("people").epsilon_spent
