"""One connection: how long its peer may take, and how many bytes it may send that are no body.

uvicorn bounds the idle time between two requests alone. Methods here are called for each request, so each does little.
"""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["TimedProtocol"]

MOST_HEAD = 2**17  # bytes of a request's head, or of anything else beside its body
MOST_PIPELINED = 8  # requests that wait until the one before them is answered; browsers and proxies send none


class HeadTooLarge(Exception):
    """Stops the parser."""


class TooManyPipelined(Exception):
    """Stops the parser."""


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that a client keeps open, or fills, without asking or reading.

    Attributes
    ----------
    header_seconds, body_seconds : within which the head and the body of a request must come
    write_seconds : within which a client must take some of an answer that waits for it
    """

    header_seconds = 15.0
    body_seconds = 20.0
    write_seconds = 60.0
    _waiting: TimerHandle | None = None  # for a head or a body
    _watching: TimerHandle | None = None  # whether an answer is taken
    _answered: Any = None  # the request that is being answered; uvicorn's `cycle` is the one that came last
    _beside = 0  # bytes since the last head or part of a body ended: a head, trailers, sizes of chunks, blank lines

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait(self.header_seconds)

    def data_received(self, data: bytes) -> None:
        self._beside += len(data)
        super().data_received(data)
        # What ended within this piece has set the count to 0, so that up to one piece (256 KiB) of what follows is not counted.
        if self._beside > MOST_HEAD:
            self.transport.close()
        elif self._waiting is None and self.cycle is not None and self.cycle.response_complete:
            # uvicorn waits no longer for a request once anything came, and a blank line begins none
            self._wait(self.header_seconds)

    def on_message_begin(self) -> None:
        self._wait(self.header_seconds)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if self._beside > MOST_HEAD and self._head_bytes() > MOST_HEAD:
            self.transport.close()
            raise HeadTooLarge
        if len(self.pipeline) >= MOST_PIPELINED:
            self.transport.abort()
            raise TooManyPipelined
        self._beside = 0
        self._wait(self.body_seconds)
        super().on_headers_complete()
        self.headers = []  # trailers would be added to those of the request, which is being answered
        if not self.pipeline:
            self._answered = self.cycle

    def on_body(self, body: bytes) -> None:
        self._beside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._beside = 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._answered, _ = self.pipeline[-1]
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._watching is not None:
            self._watching.cancel()
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True  # else its answer fails at a connection that is gone
            self._answered.message_event.set()
        super().connection_lost(exc)

    def _head_bytes(self) -> int:
        """About how long the head is that has just ended."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _wait(self, seconds: float) -> None:
        """Close the connection after some seconds, unless something is done before."""
        self._stop_waiting()
        self._waiting = self.loop.call_later(seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _watch(self) -> None:
        """Look later whether the client takes what is left of an answer: a closed connection stays until all of it left."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        if left := self.transport.get_write_buffer_size():
            self._watching = self.loop.call_later(self.write_seconds, self._look, left)

    def _look(self, before: int) -> None:
        """End the connection if its client took nothing of what was left before."""
        if self.transport.get_write_buffer_size() == before:
            self.transport.abort()
        else:
            self._watch()
