"""Where the auditor stands (`cloister.testing`): it sees what noise is added to, and may hand out another value in its place.

Privacy: whoever observes sees exact values. An observer comes in only together with seeded noise, so every vault
that was open at any moment meanwhile stamps its release NOT PRIVATE, whenever it is asked for it; a charge that is made meanwhile
says so in the ledger too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import wraps
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.privacy import noise

__all__ = ["Observer", "observable", "observed", "observed_rate", "release_observed"]

T = TypeVar("T")
M = TypeVar("M")
Counts = NDArray[np.int64]

_lock = threading.Lock()
_observer: Observer | None = None


class Observer(Protocol):
    """Who sees every step of a release."""

    def release(self, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """What a step hands out. `exact` is what noise is added to, and `draw` does what happens unobserved."""

    def sample_rate(self, rate: Fraction) -> Fraction:
        """The rate at which a secret sample is drawn in place of its own."""


@contextmanager
def observed(observer: Observer, seed: int) -> Iterator[None]:
    """Let an observer see every step in all threads of this process while the block runs; noise is seeded meanwhile."""
    global _observer
    with noise.seeded(seed):
        with _lock:
            if _observer is not None:
                raise UsageError("an audit runs in this process already. Let it end before another begins.")
            _observer = observer
        try:
            yield
        finally:
            _observer = None


def release_observed(mechanism: Any, exact: Any, draw: Callable[[], T]) -> T:
    """What a step hands out: what it drew, or what an observer puts in its place."""
    observer = _observer
    return draw() if observer is None else observer.release(mechanism, exact, draw)


def observable(apply: Callable[[M, Counts, Counts], T]) -> Callable[[M, Counts, Counts], T]:
    """The `apply` of a keyed mechanism, seen by an observer. Every keyed mechanism is decorated with it."""

    @wraps(apply)
    def applied(mechanism: M, keys: Counts, counts: Counts) -> T:
        return release_observed(mechanism, (keys, counts), lambda: apply(mechanism, keys, counts))

    return applied


def observed_rate(rate: Fraction) -> Fraction:
    """The rate of a secret sample, or what an observer puts in its place."""
    observer = _observer
    return rate if observer is None else observer.sample_rate(rate)
