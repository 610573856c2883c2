"""The databases behind a store: how SQLite and PostgreSQL are connected to, and what a commit means there."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["WAIT_SECONDS", "engine_of"]

WAIT_SECONDS = 30  # how long a transaction waits for another one before it gives up


@lru_cache(maxsize=32)
def engine_of(url: str) -> Engine:
    """Make the engine of a URL; it keeps no connection, so threads share it and a fork does no harm."""
    import sqlalchemy
    from sqlalchemy.pool import NullPool

    if url.startswith("sqlite"):
        # mode=rw: a place that is only looked at does not become an empty file.
        address = Path(url.removeprefix("sqlite:///")).as_uri() + "?mode=rw"
        engine = sqlalchemy.create_engine(
            "sqlite://",
            poolclass=NullPool,
            creator=lambda: sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None),
        )
        sqlalchemy.event.listen(engine, "connect", on_sqlite_connect)
        sqlalchemy.event.listen(engine, "begin", on_sqlite_begin)
        return engine
    in_url = sqlalchemy.make_url(url).query
    defaults = {"connect_timeout": "10", "client_encoding": "utf8"}
    engine = sqlalchemy.create_engine(
        url,
        poolclass=NullPool,
        isolation_level="READ COMMITTED",  # FOR UPDATE then waits and sees the row as the other one left it
        # a plan that was made for a small table is not kept while it grows
        connect_args={"prepare_threshold": None, **{key: value for key, value in defaults.items() if key not in in_url}},
    )
    sqlalchemy.event.listen(engine, "begin", on_postgres_begin)
    return engine


def on_sqlite_connect(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous=FULL")  # a commit returns once the WAL is on the disk
    connection.execute("PRAGMA fullfsync=ON")  # macOS: fsync alone stops at the drive's cache
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten, not only forgotten


def on_sqlite_begin(connection: Connection) -> None:
    # A deferred transaction that reads and then writes can lose its turn in between; IMMEDIATE takes it first.
    write = connection.get_execution_options()["cloister_write"]
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def on_postgres_begin(connection: Connection) -> None:
    if not connection.get_execution_options()["cloister_write"]:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'")
    # Stricter settings than "on" (replicas that have applied it) are the server's to choose, and stay.
    connection.exec_driver_sql(
        "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
    )
