"""Inboxes on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloister.collect.storing.inbox import Inbox
from cloister.collect.storing.inbox_tables import inbox_tables


@pytest.fixture
def postgres_inbox(server: str) -> str:
    """A database of the server without an inbox in it."""
    import psycopg

    names = ", ".join(["cloister_store_meta", *inbox_tables().tables])
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {names}")
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def inbox_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new inbox may be: on each kind of store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'reports.db'}"
    url: str = request.getfixturevalue("postgres_inbox")
    return url


@pytest.fixture
def inbox(inbox_place: str) -> Inbox:
    """An empty inbox."""
    inbox = Inbox(inbox_place)
    inbox.create()
    return inbox
