"""What ``cloister ledger`` answers where there is not what it was asked for: what there is, and what to type."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cloister.privacy.ledger import Ledger
from cloister.sinks import Staged
from tests.cli.test_recover_cli import fill_disk, recover
from tests.cli.test_recover_cli import run as release
from tests.cli.test_verify_cli import run, tabulate_levels


def other_database(path: Path) -> None:
    """A SQLite file of another program."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")


def newer(path: Path) -> None:
    """A ledger of a Cloister to come."""
    Ledger(path).create("students", "add-remove", 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE cloister_ledger_meta SET value = '99'")


def cut(path: Path) -> None:
    """A ledger whose pages are gone."""
    Ledger(path).create("students", "add-remove", 1)
    path.write_bytes(path.read_bytes()[:6000])


def trigger(path: Path) -> None:
    """A ledger in which something drops what is written."""
    Ledger(path).create("students", "add-remove", 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TRIGGER t BEFORE INSERT ON cloister_ledger_keys BEGIN SELECT RAISE(IGNORE); END")


NO_LEDGERS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("a note of more than sixteen letters"),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "another database": other_database,
    "a folder": Path.mkdir,
    "newer": newer,
}
CHANGED: dict[str, Callable[[Path], object]] = {"nothing": Path.touch, "cut": cut, "trigger": trigger}


@pytest.mark.parametrize("name", [*NO_LEDGERS, *CHANGED])
def test_what_is_no_ledger_is_not_checked_and_a_damaged_one_does_not_hold(folder: Path, name: str) -> None:
    """Exit code 4 says that nothing was checked, and 5 that it does not hold: of the ledger, and of a release in it."""
    place, out = folder / "asked.sqlite", folder / "t.csv"
    (NO_LEDGERS | CHANGED)[name](place)
    tabulate_levels(folder, out)
    code = 4 if name in NO_LEDGERS else 5
    alone = run("ledger", "verify", "--ledger", place, code=code)
    assert alone.startswith("LedgerNotAsked: " if code == 4 else "BrokenChain: ")
    assert ("nothing was verified" in alone) == (code == 4)
    run("verify", out, "--ledger", place, code=code)


def test_a_folder_that_is_not_there_holds_no_ledger_to_check(folder: Path) -> None:
    """A slip in the path says nothing about any ledger."""
    assert "nothing was verified" in run("ledger", "verify", "--ledger", folder / "no" / "l.sqlite", code=4)


def test_a_table_that_is_not_there_is_answered_with_those_that_are(folder: Path) -> None:
    """By name, up to five of them; a ledger without any says that."""
    place = folder / "ledger.sqlite"
    assert "which holds no table yet" in run("ledger", "show", "nix", "--ledger", place, code=4)
    for table in "fedcba":
        Ledger(place).create(table, "add-remove", 1)
        shown = run("ledger", "show", "nix", "--ledger", place, code=4)
    assert 'which holds "a", "b", "c", "d", "e" and 1 more. ' in shown
    assert "cloister ledger create nix --epsilon TOTAL" in shown


def test_recover_says_which_entries_are_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is not kept, and one that is without a place for it, are both answered with what to type."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("table.csv"))
        release(home, "table.csv")
    for words in (("abc",), ("abc", "--out", "x"), ("abc", "--drop")):
        told = recover(home, *words)
        assert told.exit_code == 2
        assert "no release of entry abc is kept" in told.stderr
        assert f"Kept is entry 1: cloister ledger recover 1 --out PATH --ledger {home}" in told.stderr
    told = recover(home, "1")
    assert told.exit_code == 2
    assert f"cloister ledger recover 1 --out PATH --ledger {home}" in told.stderr
    listed = recover(home)
    assert (listed.exit_code, listed.stdout.split()[0]) == (0, "1")
    assert f"recover ENTRY --out PATH --ledger {home}" in listed.stdout
    assert recover(home, "1", "--out", str(home / "again.csv")).exit_code == 0
    told = recover(home, "abc")
    assert told.exit_code == 2
    assert "nothing is kept" in told.stderr
