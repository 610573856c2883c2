"""A ledger file is reached under one name: its newest records lie beside the name by which it was opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from cloister.errors import LedgerError
from cloister.privacy import store, store_names
from cloister.privacy.ledger import Ledger


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger file of one table."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).create("students", "add-remove", 1)
    return path


def refuses(path: Path, match: str) -> None:
    """Fail unless every use of the ledger is refused."""
    ledger = Ledger(path)
    for use in (lambda: ledger.charge("students", "add-remove", 1, 0, "x"), ledger.accounts, ledger.verify):
        with pytest.raises(LedgerError, match=match):
            use()


def test_a_hard_link_is_refused_under_both_names(file: Path) -> None:
    """Two processes could charge the whole total each; with one name left it goes on."""
    (file.parent / "folder").mkdir()
    other = file.parent / "folder" / "other.sqlite"
    os.link(file, other)
    refuses(file, "hard link")
    refuses(other, "hard link")
    other.unlink()
    Ledger(file).charge("students", "add-remove", 1, 0, "x")


def test_a_symbolic_link_leads_to_the_one_name(file: Path) -> None:
    """SQLite follows it, so that both see the same log; behind it a hard link is refused too."""
    link = file.parent / "link.sqlite"
    link.symlink_to(file)
    Ledger(link).charge("students", "add-remove", 1, 0, "x")
    assert Ledger(file).account("students").epsilon_left == 0
    os.link(file, file.parent / "other.sqlite")
    refuses(link, "hard link")


def test_a_file_that_is_mounted_by_itself_is_refused(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container is given one; a mounted folder is right."""
    spaced = tmp_path / "my ledger.sqlite"
    file.rename(spaced)
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(store_names, "MOUNTS", mounts)
    line = "36 35 98:0 /host {} rw,noatime - ext4 /dev/sda rw\n"
    mounts.write_text(line.format("/") + line.format(tmp_path) + "damaged\n")
    Ledger(spaced).charge("students", "add-remove", "0.5", 0, "x")
    mounts.write_text(line.format("/") + line.format(str(spaced).replace(" ", "\\040")))
    refuses(spaced, "mounted by itself")


def test_a_maker_that_was_killed_leaves_a_ledger_that_works(file: Path) -> None:
    """Between the link that names a new ledger and the removal of the name under which it was made."""
    folder = file.parent / ".ledger.sqlite.x1.partial"
    folder.mkdir()
    os.link(file, folder / "new")
    Ledger(file).charge("students", "add-remove", 1, 0, "x")
    assert file.stat().st_nlink == 1


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_ledger_that_is_gone_but_for_its_log_is_not_made_anew(tmp_path: Path, ending: str) -> None:
    """Every use says so; SQLite would read the log into the new file."""
    place = tmp_path / "ledger.sqlite"
    place.with_name(place.name + ending).write_bytes(b"")
    for use in (lambda: Ledger(place).create("t", "add-remove", 3), lambda: Ledger(place).accounts()):
        with pytest.raises(LedgerError, match=f"is gone, and ledger.sqlite{ending} is still beside"):
            use()
    assert not place.exists()


@pytest.mark.parametrize("late", [False, True])
def test_a_new_ledger_takes_nothing_over_from_a_removed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """The log of a killed process is left, with an account of the same name; `late`: it appears while the new one is made."""
    place, log = tmp_path / "ledger.sqlite", tmp_path / "ledger.sqlite-wal"
    Ledger(place).create("students", "add-remove", 100)
    with contextlib.closing(sqlite3.connect(place)) as looking:  # so that the log stays
        looking.execute("SELECT * FROM cloister_ledger_accounts").fetchall()
        Ledger(place).charge("students", "add-remove", 50, 0, "x")
        left = log.read_bytes()
    for file in tmp_path.glob("ledger.sqlite*"):
        file.unlink()
    if not late:
        log.write_bytes(left)
    else:
        placed = store.place_new_file

        def leave(finished: Path, path: Path) -> bool:
            log.write_bytes(left)
            return placed(finished, path)

        monkeypatch.setattr(store, "place_new_file", leave)
    with pytest.raises(LedgerError):
        Ledger(place).create("students", "add-remove", 3)
