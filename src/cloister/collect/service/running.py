"""What the pages of one worker process share: the store, the thread that writes to it, and collections that were looked up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from cloister.collect.collection import ID
from cloister.collect.counting import count_answers
from cloister.collect.estimates import CollectionEstimate, estimate
from cloister.collect.service.metrics import Metrics
from cloister.collect.service.problems import HttpProblem
from cloister.collect.service.rate_limit import RateLimit
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.inbox import Hosted, Inbox
from cloister.collect.storing.intake import Intake
from cloister.collect.storing.stored_reports import StoredReports

__all__ = ["Service", "now", "service_of"]

FRESH_SECONDS = 1.0  # for which a collection is not looked up again; whether it is closed is asked at each report
MOST_REMEMBERED = 64
MOST_ESTIMATES = 8
MOST_QUEUED = 8  # estimates that wait or are made
SETTLE_SECONDS = 60.0


class Service:
    """One worker's half of a running service."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.inbox = Inbox(settings.store)
        self.intake = Intake(self.inbox)
        self.metrics = Metrics()
        self._hosted: OrderedDict[str, tuple[float, Hosted]] = OrderedDict()
        self._asking: dict[str, asyncio.Future[Any]] = {}
        rate = max(1, settings.rate // settings.workers) if settings.rate else 0
        self.limit, self.collector_limit = RateLimit(rate), RateLimit(rate)  # reports do not lock the collector out
        self._estimating = threading.Lock()  # one at a time: it takes a core
        self._queue = threading.BoundedSemaphore(MOST_QUEUED)  # they wait in threads that others need
        self._is_well = float("-inf")  # when the store answered last
        self._estimates: OrderedDict[tuple[int, str, bool], CollectionEstimate] = OrderedDict()

    async def hosted(self, id: str) -> Hosted:
        """A collection by its id, as it was at most a second ago; a problem where there is none."""
        known = self._hosted.get(id)
        if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
            return known[1]
        found: Hosted | None = None
        if ID.fullmatch(id):
            found = await self._ask_once(id, lambda: self.inbox.find(id))
        if found is None:
            self.forget(id)
            raise HttpProblem(404, "unknown-collection", "There is no collection of this id.")
        if known is not None and found == known[1]:
            found = known[1]  # with its tables, which take a moment to make
        self._hosted[id] = (time.monotonic(), found)
        self._hosted.move_to_end(id)
        if len(self._hosted) > MOST_REMEMBERED:
            self._hosted.popitem(last=False)
        return found

    async def _ask_once(self, name: str, work: Callable[[], Any]) -> Any:
        """Ask the store once, however many ask the same at the same time."""
        if name not in self._asking:
            asked = self._asking[name] = asyncio.ensure_future(run_in_threadpool(work))
            asked.add_done_callback(lambda _: self._asking.pop(name, None))
        return await asyncio.shield(self._asking[name])

    def forget(self, id: str) -> None:
        """Look a collection up when it is asked for next."""
        self._hosted.pop(id, None)

    def find(self, id: str) -> Hosted:
        """A collection as it is now, for the collector."""
        found = self.inbox.find(id) if ID.fullmatch(id) else None
        if found is None:
            raise HttpProblem(404, "unknown-collection", "There is no collection of this id.")
        return found

    def estimated(self, hosted: Hosted, method: str = "em", *, joint: bool = True) -> CollectionEstimate:
        """The estimate from all reports so far, of each question by itself or of all together; the same one while none comes."""
        with self.one_at_a_time():
            key = (hosted.number, method, joint)
            known = self._estimates.pop(key, None)
            if known is None or known.reports != self.inbox.count(hosted.number):
                reports = StoredReports(self.inbox, hosted)
                known = (
                    estimate(hosted.collection, reports, method=method)
                    if joint
                    else CollectionEstimate(hosted.collection, count_answers(hosted.collection, reports), method)
                )
            self._estimates[key] = known
            if len(self._estimates) > MOST_ESTIMATES:
                self._estimates.popitem(last=False)
            return known

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Hold others back while tables are computed; who would wait behind many is told to come again."""
        if not self._queue.acquire(blocking=False):
            raise HttpProblem(503, "busy", "Several estimates are being made. Ask again in a moment.", {"Retry-After": "2"})
        try:
            with self._estimating:
                yield
        finally:
            self._queue.release()

    async def be_well(self) -> None:
        """Ask the store, at most once a second, whether it answers."""
        if time.monotonic() - self._is_well > FRESH_SECONDS:
            await self._ask_once("/health", self.inbox.has_token)  # no id of a collection has a slash
            self._is_well = time.monotonic()

    async def settle_now_and_then(self) -> None:
        """Close collections whose time is over, and rewrite the tables where that could not be done before."""
        while True:
            with suppress(Exception):  # the store is away, or another worker does it; whatever it is, it is tried again
                await run_in_threadpool(self.inbox.settle_ended, now())
            await asyncio.sleep(SETTLE_SECONDS)


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


def now() -> datetime:
    """The server's clock, which opens and closes collections."""
    return datetime.now(UTC)
