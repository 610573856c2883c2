"""Rounds of k-means over partitions that worker processes hold, as section 6.2 of paper 003 lays them out on Spark.

Each worker holds its rows for good (the cached RDD), takes the centres of a round, and gives back the sum and the number of its
rows in each cluster (map and join); the parent adds them up (reduce by key). Noise is added by the parent: it takes no time.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from time import perf_counter
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = ["Workers", "partial_sums", "serial_seconds"]

Floats = NDArray[np.float64]
CODE = "from cloister.papers.dedp_kmeans.partition_workers import serve; serve()"
ENDING = 10.0  # seconds that a worker has to end by itself
ROWS_AT_ONCE = 16_384


def partial_sums(rows: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """The sum (k, d) and the number (k,) of rows (n, d) that are nearest to each centre: results of partitions add up."""
    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    lengths = (centers**2).sum(axis=1)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        block = rows[first : first + ROWS_AT_ONCE]
        chosen = ((lengths - 2 * block @ centers.T).argmin(axis=1)[:, None] == np.arange(len(centers))).astype(np.float64)
        sums += chosen.T @ block
        counts += chosen.sum(axis=0)
    return sums, counts


def serve() -> None:
    """A worker: take a partition from the standard input, then answer centres with partial sums, until None comes."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    rows: Floats = pickle.load(asked)
    with threadpool_limits(1):
        send(answers, "ready")
        while (centers := pickle.load(asked)) is not None:
            send(answers, partial_sums(rows, centers))


def send(stream: IO[bytes], message: object) -> None:
    """Write a message at once."""
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


class Workers:
    """Processes that hold a partition each. A context: they end with it.

    They are started by their own command, not by `multiprocessing`, which would run the main module of this process again.
    """

    def __init__(self, rows: Floats, workers: int) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._processes: list[subprocess.Popen[bytes]] = []
        begun = perf_counter()
        try:
            for _ in range(workers):
                self._processes.append(
                    subprocess.Popen(
                        [sys.executable, "-c", CODE],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        env=environment,
                    )
                )
            self._ask(np.array_split(rows, workers))
            self._answers()
        except BaseException:
            self._stop()
            raise
        self.start_seconds = perf_counter() - begun

    def round(self, centers: Floats) -> tuple[Floats, Floats]:
        """Sums and counts of all partitions."""
        self._ask([centers] * len(self._processes))
        parts = self._answers()
        return np.sum([part[0] for part in parts], axis=0), np.sum([part[1] for part in parts], axis=0)

    def seconds(self, centers: Floats, rounds: int) -> float:
        """The fastest of some rounds: whatever else runs on the machine only adds to it."""
        taken = []
        for _ in range(rounds):
            begun = perf_counter()
            self.round(centers)
            taken.append(perf_counter() - begun)
        return min(taken)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def _ask(self, messages: list[Floats]) -> None:
        for process, message in zip(self._processes, messages, strict=True):
            assert process.stdin is not None
            send(process.stdin, message)

    def _answers(self) -> list[tuple[Floats, Floats]]:
        """An answer of each; EOFError: one of them has died."""
        streams = [process.stdout for process in self._processes]
        return [pickle.load(stream) for stream in streams if stream is not None]

    def _stop(self) -> None:
        """Ask each to end, and end those that do not."""
        for process in self._processes:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):  # it is gone already
                send(process.stdin, None)
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def serial_seconds(rows: Floats, centers: Floats, rounds: int) -> float:
    """The same round in this process alone, without any worker: the fastest of some."""
    taken = []
    with threadpool_limits(1):
        for _ in range(rounds):
            begun = perf_counter()
            partial_sums(rows, centers)
            taken.append(perf_counter() - begun)
    return min(taken)
