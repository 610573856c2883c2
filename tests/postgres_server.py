"""A real PostgreSQL server for tests of stores."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["postgres_server"]


@contextmanager
def postgres_server(*settings: str) -> Iterator[str]:
    """A PostgreSQL server of our own on a free loopback port, as the URL of its first database; skips where there is none."""
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
        own = ("listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={folder}")
        flags = " ".join(f"-c {setting}" for setting in (*own, *settings))
        run("pg_ctl", "-D", data, "-w", "-o", flags, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://cloister@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
