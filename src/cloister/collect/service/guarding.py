"""What stands before every page: rates, headers, time and size of bodies, errors without a word of what was sent.

Plain ASGI: each request passes here, so it is kept short.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from math import ceil
from typing import Any

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from cloister.collect.service.metrics import Metrics
from cloister.collect.service.problems import HttpProblem, problem_response
from cloister.collect.service.rate_limit import RateLimit
from cloister.collect.service.settings import ServiceSettings
from cloister.errors import SourceError
from cloister.schema.strict_json import read_json

__all__ = ["CLIENT", "RequestGuard", "charge", "read_body"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Tell = Callable[[Message, Response], Response]  # a problem in the form that was asked for

LOG = logging.getLogger("cloister.collect")
HEALTH = "/v1/health"
CLIENT = "/client"  # files of pages, which are small, in memory, and not counted
MOST_AT_ONCE = 2**16  # bytes of JSON that are read while others wait: a millisecond; larger ones count as several requests
DEBUG = bool(os.environ.get("CLOISTER_DEBUG"))  # for whoever debugs with made-up data
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
SHARED = {  # what other pages may load and send: the client, facts of collections, reports
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}
FOR_PAGES = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
FOR_OTHERS = [(name.encode(), value.encode()) for name, value in {**HEADERS, **SHARED}.items()]
PREFLIGHT = {
    **SHARED,
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
}


class RequestGuard:
    """Stands before an application."""

    def __init__(
        self,
        app: App,
        settings: ServiceSettings,
        metrics: Metrics,
        limit: RateLimit,
        collector_limit: RateLimit,
        tell: Tell,
    ) -> None:
        self.app, self.settings, self.metrics, self.tell = app, settings, metrics, tell
        self.limit, self.collector_limit = limit, collector_limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        is_shared = is_for_others(scope)
        status = 500

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                names = {name for name, _ in message["headers"]}
                more = FOR_OTHERS if is_shared else FOR_PAGES
                message["headers"] = [*message["headers"], *(header for header in more if header[0] not in names)]
            await send(message)

        try:
            if seconds := self.seconds_to_wait(scope, is_shared):
                await self.tell(scope, problem_response(too_many(seconds)))(scope, receive, send_guarded)
            elif scope["method"] == "OPTIONS" and is_shared:
                headers = [(name.encode(), value.encode()) for name, value in PREFLIGHT.items()]
                await send_guarded({"type": "http.response.start", "status": 204, "headers": headers})
                await send_guarded({"type": "http.response.body", "body": b""})
            else:
                await self.app(scope, receive, send_guarded)
        except ClientDisconnect:  # nobody is there to be told
            status = 499
        except Exception as error:  # its words may hold what was sent: only its kind is told and logged
            LOG.error("an unexpected %s at %s", type(error).__name__, kind_of(scope), exc_info=DEBUG)
            problem = HttpProblem(
                500, "failed", "The server failed. What was sent may be sent again: a report is stored once."
            )
            if status == 500:
                await self.tell(scope, problem_response(problem))(scope, receive, send_guarded)
        finally:
            self.metrics.answered(status)
            if self.settings.access_log:
                took = 1000 * (time.perf_counter() - started)
                LOG.info("%s %s %d %.0f ms", scope["method"], kind_of(scope), status, took)

    def seconds_to_wait(self, scope: Message, is_shared: bool) -> float:
        """Count a request in a bucket of its address: the collector has one that people who answer cannot empty."""
        path: str = scope["path"]
        if path.startswith(f"{CLIENT}/"):
            return 0.0
        is_collectors = not is_shared and path.startswith(("/admin", "/v1/"))
        limit = scope["cloister.limit"] = self.collector_limit if is_collectors else self.limit
        return limit.seconds_to_wait(address_of(scope))


def too_many(seconds: float) -> HttpProblem:
    """What an address is told that must wait."""
    wait = ceil(seconds)
    detail = f"Too many requests from one address. Try again in {wait:,} second{'s' if wait > 1 else ''}."
    return HttpProblem(429, "rate", detail, {"Retry-After": str(wait)})


def charge(request: Request, cost: float) -> None:
    """Count a request as several more, once it is known to be so; refuse it where others have left its address in debt."""
    scope = request.scope
    limit: RateLimit = scope["cloister.limit"]
    paid: float = scope.get("cloister.paid", 0.0)
    if seconds := limit.charge(address_of(scope), cost, paid):
        raise too_many(seconds)
    scope["cloister.paid"] = paid + cost


def address_of(scope: Message) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0] or "") if client else ""


def is_for_others(scope: Message) -> bool:
    """Whether pages from elsewhere may ask this: no token opens anything there."""
    parts = scope["path"].split("/")
    if parts[1:2] == ["client"] or scope["path"] == HEALTH:
        return True
    is_public = parts[1:3] == ["v1", "collections"] and len(parts) >= 4
    return is_public and parts[4:] in ([], ["file"], ["reports"], ["reports", "batch"])


def kind_of(scope: Message) -> str:
    """The kind of page that was asked for, without anything that a user typed."""
    if scope["path"].startswith(f"{CLIENT}/"):
        return CLIENT
    route = scope.get("route")
    return str(getattr(route, "path", None) or "an unknown page")


def strict_json(text: bytes) -> Any:
    """The JSON of a request, which cannot be read in two ways."""
    return read_json(text, "the request")


async def read_body(
    request: Request, settings: ServiceSettings, most: int | None = None, parse: Callable[[bytes], Any] = strict_json
) -> Any:
    """The JSON of a request: of a bounded size, and within a bounded time."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpProblem(415, "media-type", "A request here holds JSON: send it with Content-Type: application/json.")
    most = settings.body_bytes if most is None else min(most, settings.body_bytes)
    too_large = HttpProblem(413, "size", f"A request here has at most {most:,} bytes.", {"Connection": "close"})
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > most):
        raise too_large
    read = bytearray()
    if await read_part(request, read, too_large, most):  # the first part is nearly always all of it
        try:
            async with asyncio.timeout(settings.body_seconds):
                while await read_part(request, read, too_large, most):
                    pass
        except TimeoutError:
            raise HttpProblem(408, "slow", "The request took too long to arrive.", {"Connection": "close"}) from None
    try:
        if len(read) <= MOST_AT_ONCE:
            return parse(bytes(read))
        charge(request, len(read) / MOST_AT_ONCE)
        return await run_in_threadpool(parse, bytes(read))
    except SourceError as error:  # what is wrong is said without repeating it
        raise HttpProblem(400, "json", str(error)[:1].upper() + str(error)[1:]) from None


async def read_part(request: Request, read: bytearray, too_large: HttpProblem, most: int) -> bool:
    """Add what came of a body; whether more is to come. Who sends nothing at all is cut off by `TimedProtocol`."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    read += message.get("body", b"")
    if len(read) > most:
        raise too_large
    return bool(message.get("more_body"))
