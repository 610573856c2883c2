"""The start of a ledger: its maker may be killed at any moment, and other hosts may go on from there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cloister.errors import LedgerError
from cloister.privacy import store
from cloister.privacy.ledger import Ledger
from cloister.privacy.ledger.chain import Chain
from cloister.privacy.ledger.stored_records import first_record, records_table
from cloister.privacy.new_files import place_new_file
from cloister.privacy.signing import host_key
from tests.privacy.forgery import forger

KILLED = """
import os, signal, sys
from cloister.privacy.ledger import Ledger
from cloister.privacy.ledger.chain import Chain
append = Chain.append
def killed(self, key, kind, **facts):
    record = append(self, key, kind, **facts)
    if kind == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return record
Chain.append = killed
Ledger(sys.argv[1]).create("first", "add-remove", 1)
"""


@pytest.mark.parametrize("moment", ["start", "key", "account"])
def test_a_maker_that_is_killed_leaves_no_ledger(place: str, moment: str, tmp_path: Path) -> None:
    """Tables, start, key and first account appear together: another host finds nothing, and makes its own."""
    maker = {**os.environ, "CLOISTER_KEY": str(tmp_path / "maker.key")}
    process = subprocess.run([sys.executable, "-c", KILLED, place, moment], env=maker, check=False, timeout=120)
    assert process.returncode == -signal.SIGKILL
    ledger = Ledger(place)
    assert ledger.accounts() == []
    assert ledger.keys() == []
    assert ledger.verify().records == 0
    ledger.create("second", "add-remove", 1)
    assert ledger.verify().signed == {host_key().public: 3}


def half_made(place: str) -> Ledger:
    """A ledger whose maker, another host, was killed between its start and its first account, which were two steps before."""
    ledger = Ledger(place)
    ledger._store.create(lambda connection: Chain(connection).append(forger(), "start"))
    return ledger


def test_a_ledger_that_another_host_only_started_is_not_damaged(place: str) -> None:
    """It holds nothing yet, and whoever goes on with it can look at it."""
    ledger = half_made(place)
    assert ledger.carried_over() is None
    ledger.create("second", "add-remove", 1)
    assert ledger.carried_over() is None
    assert [account.table for account in ledger.accounts()] == ["second"]
    assert ledger.verify().signed == {forger().public: 1, host_key().public: 2}


def test_a_start_that_was_exchanged_is_found(place: str) -> None:
    """Anybody can sign a start: one by a stranger must be what the record after it follows."""
    ledger = half_made(place)
    for table in ("second", "third", "fourth", "fifth"):  # the end of the chain, which every use checks, is far away
        ledger.create(table, "add-remove", 1)
    with ledger._connection(write=True) as connection:
        start, records = first_record(connection), records_table()
        other = replace(start, body=start.body.replace('"when":"20', '"when":"19')).sealed(forger())
        assert other.digest != start.digest
        values = {"body": other.body, "digest": other.digest, "signature": other.signature}
        connection.execute(records.update().where(records.c.number == 1).values(**values))
    with pytest.raises(LedgerError):
        ledger.carried_over()


def test_of_two_hosts_that_make_a_ledger_at_once_both_have_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the first one is kept, and the second one goes on in it: what it made beside it was for nothing."""
    place = tmp_path / "ledger.sqlite"

    def overtaken(finished: Path, path: Path) -> bool:
        monkeypatch.setattr(store, "place_new_file", place_new_file)
        Ledger(place).create("first", "add-remove", 1)
        return place_new_file(finished, path)

    monkeypatch.setattr(store, "place_new_file", overtaken)
    Ledger(place).create("second", "add-remove", 1)
    assert [account.table for account in Ledger(place).accounts()] == ["first", "second"]
    assert Ledger(place).verify().records == 4
