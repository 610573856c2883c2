"""Reports on their way to an inbox, for tests."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from cloister.collect.storing.inbox import Hosted, Inbox
from cloister.collect.storing.recording import Incoming, Outcome, record

__all__ = ["incoming", "stored"]


def incoming(hosted: Hosted, answers: bytes = b"\0\1\2", **changes: Any) -> Incoming:
    """A new report of the small survey."""
    made = Incoming(hosted.number, secrets.token_bytes(16), answers)
    return replace(made, **changes)


def stored(inbox: Inbox, *reports: Incoming) -> list[Outcome]:
    """What becomes of reports in one transaction."""
    with inbox.store.kept_open() as connection:
        return record(connection, reports)
