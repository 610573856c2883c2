"""Where records are kept: places that are refused, and what a SQLite store promises.

What holds on PostgreSQL and under many processes is tested through the ledger.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cloister.errors import LedgerError, UsageError
from cloister.privacy.ledger import Ledger


def test_not_a_database(tmp_path: Path) -> None:
    """A file of another kind is refused and left as it is."""
    file = tmp_path / "people.csv"
    file.write_text("age,sex\n" * 1000)
    with pytest.raises(LedgerError, match="another kind"):
        Ledger(file).create("t", "add-remove", 1)
    assert file.read_text() == "age,sex\n" * 1000


def test_another_programs_database(tmp_path: Path) -> None:
    """Somebody else's SQLite file is refused and left as it is, down to its journal mode."""
    file = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()
    before = file.read_bytes()
    with pytest.raises(LedgerError, match="not a ledger of Cloister"):
        Ledger(file).create("t", "add-remove", 1)
    assert file.read_bytes() == before


def test_missing_folder(tmp_path: Path) -> None:
    """A folder that does not exist is not created for a place that the user named."""
    with pytest.raises(LedgerError, match=r"folder of the ledger .* does not exist"):
        Ledger(tmp_path / "typo" / "ledger.sqlite").create("t", "add-remove", 1)
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize(
    "url", ["", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@h/x", "postgresql://u:secret@h:x/y"]
)
def test_senseless_url(url: str) -> None:
    """A URL that cannot be a ledger is refused without its password."""
    with pytest.raises(UsageError) as refused:
        Ledger(url)
    assert "secret" not in str(refused.value)


def test_password_stays_hidden() -> None:
    """A ledger shows itself without the password of its server."""
    pytest.importorskip("psycopg")
    ledger = Ledger("postgresql://u:secret@localhost:1/x")
    with pytest.raises(LedgerError) as unreachable:
        ledger.accounts()
    assert "secret" not in repr(ledger) + str(unreachable.value) + ledger._repr_html_()


def test_sqlite_commits_to_the_disk(tmp_path: Path) -> None:
    """Every SQLite transaction runs in WAL mode with full synchronous commits."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 1)
    with ledger._store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_import_is_light() -> None:
    """Importing the ledger loads no database library."""
    code = "import sys, cloister.privacy.ledger; sys.exit('sqlalchemy' in sys.modules or 'platformdirs' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_driver_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the PostgreSQL driver the error says how to install it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"cloister\[postgres\]"):
        Ledger("postgresql://localhost/without_a_driver")
