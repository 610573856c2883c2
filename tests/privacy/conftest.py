"""Ledgers on SQLite and on a real PostgreSQL server when there is one."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from cloister.privacy.ledger import Ledger


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server of our own on a free loopback port, as the URL of its first database."""
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is absent: pip install 'cloister[postgres]'")
    found = shutil.which("initdb") or next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[::-1]), None)
    if found is None:
        pytest.skip("no PostgreSQL server is installed here (initdb not found)")
    folder = Path(tempfile.mkdtemp(prefix="cloister-pg-"))
    # PostgreSQL refuses to run as root; its package brings a user for it.
    user = "postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    if user is not None:
        try:
            shutil.chown(folder, user)
        except LookupError:
            shutil.rmtree(folder)
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        quiet = subprocess.DEVNULL  # a pipe would stay open in the server
        command = [str(Path(found).with_name(program)), *arguments]
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=quiet, stderr=quiet, timeout=120)

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-U", "cloister", "-A", "trust", "-E", "UTF8", "--locale=C")
        # Synchronous commits are off, so that a test can see the store turn them on.
        flags = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        run("pg_ctl", "-D", data, "-w", "-o", f"{flags} -c synchronous_commit=off", "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://cloister@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
