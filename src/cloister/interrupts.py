"""Ctrl-C, SIGTERM and SIGHUP: all three end a command in the same orderly way, and none in the middle of a commit."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "Interrupted",
    "deferred",
    "handle_interrupts",
    "hold_interrupts",
    "holdable",
    "ignore_interrupts",
    "let_interrupts_go",
]

NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(KeyboardInterrupt):
    """A signal asked this process to end; exit codes of such ends are 128 and the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def handle_interrupts() -> None:
    """Let each signal raise `Interrupted`, so that what is half-written is removed; one that is ignored (nohup) stays so."""
    for number in NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def ignore_interrupts() -> None:
    """From here on nothing is left to stop: the command is over, and its exit code stands."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def deferred() -> Iterator[None]:
    """Run a short block that no signal interrupts; one that came meanwhile is handled when the block has ended.

    Signals that end the process without asking Python (SIGKILL, or SIGTERM in a program that does not handle it) still do.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are handled in the main thread alone
        yield
        return
    waiting: list[int] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    try:
        for number in NUMBERS:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda number, _: waiting.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if waiting:
            handlers[waiting[0]](waiting[0], None)


class _Hold:
    """Whether signals wait for the rest of a block, and which one does."""

    def __init__(self) -> None:
        self.is_on = False
        self.waiting: int | None = None
        self.handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Let the first signal wait; a second one, of somebody who cannot wait, is handled at once."""
        if self.is_on and self.waiting is None:
            self.waiting = number
        else:
            self.handlers[number](number, frame)

    def let_go(self) -> None:
        self.is_on = False
        if self.waiting is not None:
            number, self.waiting = self.waiting, None
            self.handlers[number](number, None)


_current: _Hold | None = None


@contextmanager
def holdable() -> Iterator[None]:
    """A block in which signals wait from `hold_interrupts` on, until `let_interrupts_go` or the end of the block."""
    global _current
    if threading.current_thread() is not threading.main_thread() or _current is not None:
        yield
        return
    hold = _current = _Hold()
    try:
        for number in NUMBERS:
            handler = signal.getsignal(number)
            if callable(handler):
                hold.handlers[number] = handler
                signal.signal(number, hold.receive)
        yield
    finally:
        _current = None
        for number, handler in hold.handlers.items():
            signal.signal(number, handler)
    hold.let_go()


def hold_interrupts() -> None:
    """Let a signal wait from here on; does nothing outside a `holdable` block."""
    if _current is not None:
        _current.is_on = True


def let_interrupts_go() -> None:
    """Handle a signal that waits, here, and let none wait any longer."""
    if _current is not None:
        _current.let_go()


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    raise Interrupted(number)
