"""How far the running work is: which share of a pass over rows or of a search is done, for whoever watches.

A command on a terminal watches; otherwise nothing is counted. What is told goes to the screen of whoever holds the rows: it is
derived from sizes of files and numbers of steps, and is neither logged nor part of a result. Whoever watches and fails is told no
more, and the work goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["counted", "is_watched", "tell_step", "watched"]

T = TypeVar("T")
TellShare = Callable[[float, str], None]
TellStep = Callable[[int, int], None]


@dataclass(slots=True, eq=False)
class _Work:
    """Something that is gone through: how much of it is done, and how much what is looked at now will add."""

    total: float
    name: str
    has_parts: bool
    done: float = 0.0
    current: float = 0.0

    def share(self, of_current: float = 0.0) -> float:
        return min((self.done + self.current * of_current) / self.total, 1.0)


@dataclass(slots=True, eq=False)
class _Watch:
    tell_share: TellShare
    tell_step: TellStep
    under_way: list[_Work]

    def takes(self) -> bool:
        """Whether work that begins now is what is told of: the outermost, and parts of it where it has some."""
        return all(work.has_parts for work in self.under_way)

    def tell(self) -> None:
        share = 0.0
        for work in reversed(self.under_way):
            share = work.share(share)
        name = next((work.name for work in self.under_way if work.name), "")
        _call(lambda: self.tell_share(share, name))


_watch: _Watch | None = None


@contextmanager
def watched(tell_share: TellShare, tell_step: TellStep) -> Iterator[None]:
    """Tell which share of the running work is done and what it is called, and which step of how many is taken."""
    global _watch
    before, _watch = _watch, _Watch(tell_share, tell_step, [])
    try:
        yield
    finally:
        _watch = before


def is_watched() -> bool:
    """Whether anybody is told: sizes that cost something to find out are found out for them alone."""
    return _watch is not None


def tell_step(number: int, steps: int) -> None:
    """Tell that a step of a plan begins."""
    if (watch := _watch) is not None:
        _call(lambda: watch.tell_step(number, steps))


def counted(
    items: Iterable[T],
    total: float | None,
    weight: Callable[[T], float] = lambda _: 1.0,
    *,
    name: str = "",
    has_parts: bool = False,
) -> Iterator[T]:
    """The same items, of which it is told how much was gone through.

    Parameters
    ----------
    total : what all weigh together; None: it is not known, and nothing is told
    weight : what an item weighs
    name : what the work is called, if not as the step that it is in
    has_parts : whether going through an item is counted itself
    """
    watch = _watch
    if watch is None or not total or not watch.takes():
        yield from items
        return
    work = _Work(total, name, has_parts)
    watch.under_way.append(work)
    try:
        for item in items:
            work.current = weight(item)
            watch.tell()
            yield item
            work.done += work.current
            work.current = 0.0
        watch.tell()
    finally:
        watch.under_way.remove(work)


def _call(tell: Callable[[], None]) -> None:
    global _watch
    try:
        tell()
    except Exception:  # an interrupt is none of them, and ends the work
        _watch = None
