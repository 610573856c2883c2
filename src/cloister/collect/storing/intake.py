"""Reports on their way to the disk: one thread commits what came meanwhile in one transaction, and tells its senders then.

While a transaction waits for the disk the next reports gather, so that the rate is not one report a disk write; nobody is told
"stored" before the disk has it. What waits is bounded: beyond that new reports are turned away, to be sent again.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from cloister.collect.storing.inbox import Inbox, InboxError
from cloister.collect.storing.recording import Incoming, Outcome, record
from cloister.errors import CloisterError
from cloister.privacy.store import StoreMissing

__all__ = ["Intake", "Overloaded"]

MOST_WAITING = 20_000  # reports: a few seconds of a slow disk
MOST_AT_ONCE = 2_000  # reports in one transaction
TRIES = 3  # of a transaction that another server's stands in the way of, or whose connection broke
PAUSE = 0.05  # seconds before the second try; longer before the third


class Overloaded(Exception):
    """More reports wait for the disk than may."""


@dataclass(slots=True)
class Waiting:
    """Reports of one request, and who is to be told."""

    reports: Sequence[Incoming]
    told: asyncio.Future[list[Outcome]]


class Intake:
    """Hands reports from the event loop to the thread that stores them.

    Use it in one event loop: ``start``, then ``await take(reports)`` as often as needed, then ``stop``.
    """

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self._waiting: deque[Waiting] = deque()
        self._count = 0  # of reports that wait
        self._group: list[Waiting] = []  # what the thread is storing, which it may have to try again
        self._tries = 0
        self._changed = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="cloister-intake", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to store reports; to be called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Store what waits, then end."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    async def take(self, reports: Sequence[Incoming]) -> list[Outcome]:
        """Store reports and say what became of each, once that is on the disk.

        `Overloaded`: too many wait. A `CloisterError`: the store failed, and nobody knows whether they are stored; they may be
        sent again.
        """
        told: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._count + len(reports) > MOST_WAITING or self._is_stopping:
                raise Overloaded
            self._waiting.append(Waiting(reports, told))
            self._count += len(reports)
            self._changed.notify()
        return await told

    # The thread.

    def _run(self) -> None:
        while self._group or self._next():
            try:
                with self.inbox.store.kept_open() as connection:
                    file = file_of(self.inbox)
                    while self._group or self._next():
                        if file_of(self.inbox) != file:  # moved away: what is written would be in no file that has a name
                            break
                        reports = [report for each in self._group for report in each.reports]
                        self._tell(record(connection, reports), None)
            except StoreMissing:
                self._fail(InboxError(f"there is no store at {self.inbox.store.shown} any more."))
            except CloisterError as why:
                self._fail(why)
            except Exception as why:  # a bug must not end the thread, or nobody would ever be told anything again
                self._fail(InboxError(f"an unexpected {type(why).__name__} in the store."))

    def _next(self) -> bool:
        """Take what waits, as much as one transaction takes; False: it is over."""
        with self._changed:
            while not self._waiting and not self._is_stopping:
                self._changed.wait()
            size = 0
            while self._waiting and (not self._group or size + len(self._waiting[0].reports) <= MOST_AT_ONCE):
                self._group.append(self._waiting.popleft())
                size += len(self._group[-1].reports)
            self._count -= size
            return bool(self._group)

    def _fail(self, why: CloisterError) -> None:
        """Let the group be tried again, or tell it why not."""
        self._tries += 1
        if self._tries >= TRIES:
            self._tell([], why)
        time.sleep(PAUSE * self._tries)

    def _tell(self, outcomes: list[Outcome], fault: CloisterError | None) -> None:
        group, self._group, self._tries = self._group, [], 0
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(tell, group, outcomes, fault)


def tell(group: list[Waiting], outcomes: list[Outcome], fault: CloisterError | None) -> None:
    """Tell each sender of a group what became of its reports; one that has hung up is not told."""
    done = iter(outcomes)
    for each in group:
        own = list(islice(done, len(each.reports)))
        if each.told.done():
            continue
        if fault is None:
            each.told.set_result(own)
        else:
            each.told.set_exception(fault)


def file_of(inbox: Inbox) -> tuple[int, int] | None:
    """Which file the name of a SQLite store stands for now; None where it is no file."""
    if inbox.store.path is None:
        return None
    try:
        found = os.stat(inbox.store.path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
