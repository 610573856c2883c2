"""Ledgers on SQLite and on a real PostgreSQL server when there is one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from cloister.privacy.ledger import Ledger


@pytest.fixture
def database(server: str) -> str:
    """A database of the server without a ledger in it."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        names = ", ".join(f"cloister_ledger_{name}" for name in ("entries", "records", "keys", "accounts", "meta"))
        connection.execute(f"DROP TABLE IF EXISTS {names}")
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may be: on each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.sqlite")
    url: str = request.getfixturevalue("database")
    return url


@pytest.fixture
def ledger(place: str) -> Ledger:
    """A ledger with one table of epsilon 3 and delta 1e-6."""
    ledger = Ledger(place)
    ledger.create("students", "add-remove", Fraction(3), "1e-6")
    return ledger
