"""The line on a terminal that says what is running: the step, which of how many, the share that is done, the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["ProgressLine"]

EVERY = 0.1  # seconds between two changes of the line
AFTER = 1.0  # seconds of a pass after which its end can be foretold


class ProgressLine:
    """Words for what is told of the running work, handed on ten times a second at most.

    Parameters
    ----------
    show : takes the words
    clock : seconds
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._show, self._clock = show, clock
        self._step = self._work = ""
        self._number: tuple[int, int] | None = None
        self._share, self._began, self._shown = 0.0, clock(), -1.0

    def begin(self, step: str) -> None:
        """A step begins."""
        self._step, self._work = step, ""
        self._share, self._began = 0.0, self._clock()
        self._update()

    def count_step(self, number: int, steps: int) -> None:
        """It is one of so many."""
        self._number = number, steps
        self._update()

    def count_share(self, share: float, work: str) -> None:
        """So much of the work is done; less than before: something else began."""
        now = self._clock()
        if share < self._share or work != self._work:
            self._began = now
        self._share, self._work = share, work
        if now - self._shown >= EVERY:
            self._update()

    def _update(self) -> None:
        self._shown = self._clock()
        of = "" if self._number is None else f" (step {self._number[0]} of {self._number[1]})"
        self._show(f"{self._work or self._step}{of}{self._rest()}")

    def _rest(self) -> str:
        if not self._share:
            return ""
        elapsed = self._clock() - self._began
        left = f", {duration(elapsed * (1 - self._share) / self._share)} left" if elapsed >= AFTER else ""
        return f": {self._share:.0%}{left}"


def duration(seconds: float) -> str:
    """A time that is left, roughly.

    >>> duration(0.4), duration(59), duration(130), duration(7900)
    ('1 s', '59 s', '2 min', '2 h 12 min')
    """
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
