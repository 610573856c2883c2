"""Reading rows without a word: what a library warns of while it reads a row tells of that row, before any noise."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import numpy as np

__all__ = ["silent_steps", "silently"]

T = TypeVar("T")
_EVERY_MESSAGE = "(?s:.*)"  # written as nobody else would: the filter is taken away again, and must be our own


@contextmanager
def silently() -> Iterator[None]:
    """Let no warning of Python or NumPy be shown, or raised as an error, while a step is done.

    Not around a `yield`: whoever takes the steps may warn.
    """
    _SILENCE.begin()
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _SILENCE.end()


def silent_steps(items: Iterable[T]) -> Iterator[T]:
    """The same items, each of which is made silently."""
    iterator = iter(items)
    while True:
        with silently():
            item = next(iterator, _END)
        if item is _END:
            return
        yield item  # type: ignore[misc]


class _Silence:
    """A filter before all others, as long as any thread reads.

    Filters of warnings belong to the whole process. Ours is taken out of the list that it was put into, so that filters which
    other threads set meanwhile stay as they are.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._filters: list[Any] = []

    def begin(self) -> None:
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                warnings.filterwarnings("ignore", _EVERY_MESSAGE)
                self._filters = warnings.filters  # type: ignore[assignment]

    def end(self) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                self._filters[:] = [entry for entry in self._filters if getattr(entry[1], "pattern", None) != _EVERY_MESSAGE]
                self._filters = []


_END = object()
_SILENCE = _Silence()
