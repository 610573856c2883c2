"""A ledger file is reached under one name: its newest records lie beside the name by which it was opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cloister.errors import LedgerError
from cloister.privacy import store_names
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
