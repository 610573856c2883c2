"""The ledger, on SQLite and on a real PostgreSQL server when there is one.

Run as a script this file is one of the processes that charge a ledger; see `start`.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.errors import BudgetExceeded, LedgerError, UsageError
from cloister.privacy import store_engines
from cloister.privacy.ledger import Account, Ledger
from cloister.privacy.signing import host_key
from cloister.schema.numerals import exact_text, short_decimal

TENTH = Fraction(1, 10)


class TwoTransactions(Ledger):
    """Planted bug: reads in one transaction and writes in the next."""

    def charge(self, table: str, neighbours: str, epsilon: Any, delta: Any, purpose: str) -> int:
        with self._open(table, write=True) as (_, account):
            if epsilon > account.epsilon_left:
                raise BudgetExceeded("the total would be passed")
        time.sleep(0.002)  # so that another process comes in between, even on a slow machine
        with self._chain(write=True) as chain:
            return self._spend(chain, host_key(), account, epsilon, delta, purpose).entry


class LateCommit(Ledger):
    """Planted bug: commits every tenth charge, and reports them all at once."""

    waiting = 0

    def charge(self, table: str, neighbours: str, epsilon: Any, delta: Any, purpose: str) -> int:
        if self.waiting == 0:
            self.transaction = contextlib.ExitStack()
            self.chain, _ = self.transaction.enter_context(self._open(table, write=True))
        entry = self._spend(self.chain, host_key(), self.chain.accounts[table], epsilon, delta, purpose).entry
        time.sleep(0.005)  # a kill during the commit itself may find it done
        self.waiting = (self.waiting + 1) % 10
        if self.waiting == 0:
            self.transaction.close()
        return entry


def work(kind: str, place: str, tries: int) -> None:
    """Charge a tenth `tries` times, from the moment a line comes in, and print each entry once it was charged."""
    ledger = {cls.__name__: cls for cls in (Ledger, TwoTransactions, LateCommit)}[kind](place)
    print("ready", flush=True)
    sys.stdin.readline()
    if tries == 0:
        ledger.create(f"table of {os.getpid()}", "add-remove", 1)
    for _ in range(tries):
        with contextlib.suppress(BudgetExceeded):
            print(ledger.charge("students", "add-remove", TENTH, 0, "storm"), flush=True)


def start(kind: str, place: str, tries: int) -> subprocess.Popen[str]:
    """Start `work` in a process of its own; it waits for a line."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, __file__, kind, place, str(tries)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)


def wait(worker: subprocess.Popen[str]) -> None:
    """Wait until a process is ready to work."""
    if worker.stdout is None or worker.stdout.readline() != "ready\n":
        raise RuntimeError(worker.communicate()[1])


def go(worker: subprocess.Popen[str]) -> None:
    """Let a process work."""
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


def storm(kind: str, place: str, tries: int) -> list[int]:
    """Let 8 processes work at once, and give the entries that they were told of."""
    workers = [start(kind, place, tries) for _ in range(8)]
    for worker in workers:
        wait(worker)
    for worker in workers:
        go(worker)
    told = [worker.communicate(timeout=120) for worker in workers]
    if any(worker.returncode for worker in workers):  # no AssertionError: a planted bug must not pass for caught
        raise RuntimeError(next(error for _, error in told if error))
    return [int(line) for output, _ in told for line in output.split()]


def check_storm(kind: str, place: str) -> None:
    """Fail unless exactly as many charges went through as the total allows."""
    Ledger(place).create("students", "add-remove", "7.05")
    entries = storm(kind, place, tries=12)  # 96 tries of 0.1 for 70 places
    assert len(entries) <= 70, "the total was passed"
    assert len(set(entries)) == 70
    assert Ledger(place).audit("students").epsilon_spent == 7


def check_kills(kind: str, place: str, kills: int) -> None:
    """Fail unless every charge that a killed process was told of is in the ledger."""
    ledger = Ledger(place)
    ledger.create("students", "add-remove", 10**6)
    charged = 0
    for _ in range(kills):
        worker = start(kind, place, tries=10**6)
        wait(worker)
        go(worker)
        assert worker.stdout is not None
        first = worker.stdout.readline()  # on a slow machine the first charge may take its time
        time.sleep(random.uniform(0.0, 0.3))
        worker.kill()
        output = first + worker.communicate()[0]
        told = {int(line) for line in output.splitlines(keepends=True) if line.endswith("\n")}
        # Looked at before the next process starts: a number whose charge was undone may be given again.
        assert told <= {entry.id for entry in ledger.entries("students")}, "a charge was lost"
        ledger.audit("students")
        charged += len(told)
    assert charged, "no process lived long enough to charge: the test shows nothing"


def test_new_account(ledger: Ledger) -> None:
    """A new account has its whole total left."""
    (account,) = ledger.accounts()
    wanted = ("students", "add-remove", Fraction(3), Fraction(1, 10**6), Fraction(0), Fraction(0), 0, 0)
    assert account == Account(*wanted, created=account.created)
    assert (account.epsilon_left, account.delta_left) == (Fraction(3), Fraction(1, 10**6))


def test_create_twice(ledger: Ledger) -> None:
    """An account that exists is neither replaced nor raised."""
    with pytest.raises(UsageError, match="already"):
        ledger.create("students", "add-remove", 30)
    assert ledger.account("students").epsilon_total == 3


def test_tenths_fill_one(place: str) -> None:
    """Ten charges of 0.1 fill a total of 1 exactly, and the eleventh is refused."""
    ledger = Ledger(place)
    ledger.create("t", "replace-one", 1.0)
    for _ in range(10):
        ledger.charge("t", "replace-one", 0.1, 0, "release")
    assert ledger.account("t").epsilon_left == 0
    with pytest.raises(BudgetExceeded, match="0 of 1 is left"):
        ledger.charge("t", "replace-one", 0.1, 0, "release")


def test_refusal_says_what_to_do(ledger: Ledger) -> None:
    """A refused charge says what it needs, what is left, and what to do."""
    ledger.charge("students", "add-remove", "2.8", 0, "release")
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge("students", "add-remove", "0.5", 0, "release")
    assert str(refused.value) == (
        'this release needs epsilon 0.5, and 0.2 of 3 is left for table "students". Lower epsilon to 0.2 or less.'
    )


def test_refusal_of_delta(ledger: Ledger) -> None:
    """Delta has a total of its own, and a refusal names it."""
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge("students", "add-remove", 1, "2e-6", "release")
    assert str(refused.value) == (
        'this release needs delta 2e-6, and 1e-6 of 1e-6 is left for table "students". Lower delta to 1e-6 or less.'
    )


def test_refusal_charges_nothing(ledger: Ledger) -> None:
    """A refused charge leaves no trace in the account or its entries."""
    before = ledger.account("students")
    with pytest.raises(BudgetExceeded, match="it needs delta"):
        ledger.charge("students", "add-remove", 4, 1, "release")
    assert (ledger.account("students"), ledger.entries("students")) == (before, [])


def test_relation_differs(ledger: Ledger) -> None:
    """A table is charged under one neighbour relation only."""
    with pytest.raises(UsageError, match=r"replace-one neighbours.*kept under add-remove"):
        ledger.charge("students", "replace-one", 1, 0, "release")
    assert ledger.account("students").epsilon_spent == 0


def test_unknown_table(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge to a table without an account shows the command that opens one."""
    monkeypatch.setenv("CLOISTER_LEDGER", ledger._store.url)
    with pytest.raises(LedgerError) as unknown:
        ledger.charge("my pupils", "add-remove", 1, 0, "release")
    assert str(unknown.value).endswith("cloister ledger create 'my pupils' --epsilon TOTAL")


def test_nothing_written_yet(place: str) -> None:
    """Looking at a ledger that does not exist neither fails nor creates it."""
    ledger = Ledger(place)
    assert ledger.accounts() == []
    with pytest.raises(LedgerError, match="ledger create students --epsilon TOTAL --neighbours replace-one --ledger"):
        ledger.charge("students", "replace-one", 1, 0, "release")
    with pytest.raises(LedgerError, match="no entry 1"):
        ledger.complete(1, "abc")
    assert "://" in place or not Path(place).exists()


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (1, -1), (0, 0), ("nan", 0), (float("inf"), 0), (True, 0)])
def test_senseless_charge(ledger: Ledger, epsilon: object, delta: object) -> None:
    """A charge that is negative, nothing or not a number is refused, so no refund is possible."""
    with pytest.raises(UsageError):
        ledger.charge("students", "add-remove", epsilon, delta, "release")  # type: ignore[arg-type]
    assert ledger.account("students").epsilon_spent == 0


@pytest.mark.parametrize("total", [0, -1, "x", "1e999999999", "1/0", None])
def test_senseless_total(tmp_path: Path, total: object) -> None:
    """A total that is not a number above 0 is refused before a file is made."""
    with pytest.raises(UsageError, match="epsilon"):
        Ledger(tmp_path / "new.sqlite").create("t", "add-remove", total)  # type: ignore[arg-type]
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "\x1b[31m", " students", None])
def test_senseless_name(tmp_path: Path, name: object) -> None:
    """A table's name is 1 to 200 printable characters."""
    with pytest.raises(UsageError, match="1 to 200 printable"):
        Ledger(tmp_path / "new.sqlite").create(name, "add-remove", 1)  # type: ignore[arg-type]


def test_names_that_look_alike(place: str) -> None:
    """Two spellings of an accent are one table, which has one total."""
    ledger = Ledger(place)
    ledger.create("\u00e9l\u00e8ves", "add-remove", 1)
    ledger.charge("e\u0301le\u0300ves", "add-remove", 1, 0, "release")
    assert [account.epsilon_left for account in ledger.accounts()] == [0]


@pytest.mark.parametrize("entry", [1.0, True, np.float64(1), np.True_, Fraction(1), "1", None, [1]])
def test_an_entry_is_a_whole_number(ledger: Ledger, entry: Any) -> None:
    """What equals 1 and is none has another digest than the 1 that the database keeps: the ledger would be lost."""
    ledger.charge("students", "add-remove", 1, 0, "cluster")
    with pytest.raises(UsageError, match="whole number"):
        ledger.complete(entry, "abc")
    assert ledger.entries("students")[0].status == "charged"
    ledger.complete(np.int64(1), "abc")  # type: ignore[arg-type]
    assert ledger.audit("students").releases == 1


@pytest.mark.parametrize("entry", [2**70, 2**63, -1, 0])
def test_a_number_that_no_entry_has(ledger: Ledger, entry: int) -> None:
    """Told as any other entry that is not there."""
    with pytest.raises(LedgerError, match=f"has no entry {entry}"):
        ledger.complete(entry, "abc")


@pytest.mark.parametrize("kind", [float, bool])
def test_what_the_database_keeps_in_another_type_is_undone(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    """Whatever door it came through: what is read back must be what was signed, not only equal to it."""
    from cloister.privacy.ledger import book

    ledger.charge("students", "add-remove", 1, 0, "cluster")
    with monkeypatch.context() as patch:
        patch.setattr(book, "read_entry", kind)
        with pytest.raises(LedgerError):
            ledger.complete(1, "abc")
    assert ledger.audit("students").releases == 0


@pytest.mark.parametrize("unit", [b"row", 7, "\ud800", "", " row", "row\nX", None])
def test_a_unit_is_a_line_of_text(ledger: Ledger, unit: Any) -> None:
    """Anything else is refused in a sentence, and nothing is charged."""
    with pytest.raises(UsageError, match="a unit is a line of text"):
        ledger.charge("students", "add-remove", 1, 0, "cluster", unit)
    assert (ledger.account("students").epsilon_left, ledger.account("students").unit) == (3, "")


def test_complete(ledger: Ledger) -> None:
    """Completing an entry marks it once, ties it to one release, and spends nothing."""
    entry = ledger.charge("students", "add-remove", 1, 0, "release")
    ledger.charge("students", "add-remove", 1, 0, "killed before its release")
    ledger.complete(entry, "abc")
    ledger.complete(entry, "abc")
    assert [item.status for item in ledger.entries("students")] == ["released", "charged"]
    account = ledger.audit("students")
    assert (account.releases, account.epsilon_spent) == (1, Fraction(2))
    with pytest.raises(LedgerError, match="another release"):
        ledger.complete(entry, "abd")


def test_complete_knows_the_charge_by_its_digest(ledger: Ledger) -> None:
    """Numbers of entries are given again after a restore; the digest of a charge is not."""
    receipt = ledger.book_charge("students", "add-remove", 1, 0, "release")
    for head in ("", "ab" * 32):
        with pytest.raises(LedgerError, match="does not hold the charge"):
            ledger.complete(receipt.entry, "abc", head)
    ledger.complete(receipt.entry, "abc", receipt.head)
    assert ledger.entries("students")[0].status == "released"


def test_holder(ledger: Ledger) -> None:
    """Exact results for the holder cost nothing and are written down."""
    entry = ledger.record_holder("students", "k-anonymous table")
    ledger.complete(entry, "abc")
    account = ledger.audit("students")
    assert (account.holder_uses, account.releases, account.epsilon_spent) == (1, 0, Fraction(0))
    (written,) = ledger.entries("students")
    assert (written.kind, written.purpose, written.release_hash) == ("holder", "k-anonymous table", "abc")


def test_audit_finds_a_change(ledger: Ledger) -> None:
    """An account that somebody lowered by hand passes neither the audit nor the next charge."""
    ledger.charge("students", "add-remove", 1, 0, "release")
    with ledger._store.writing() as connection:
        connection.exec_driver_sql("UPDATE cloister_ledger_accounts SET epsilon_spent = '0.5'")
    for use in (lambda: ledger.audit("students"), lambda: ledger.charge("students", "add-remove", 1, 0, "release")):
        with pytest.raises(LedgerError, match="damaged"):
            use()
    with pytest.raises(LedgerError, match="not those that its records add up to"):
        ledger.verify()


def test_long_fractions(ledger: Ledger) -> None:
    """Amounts stay exact up to the 60 digits that one may have (`test_long_amounts`)."""
    tiny = Fraction(2**180, 3**120)
    ledger.charge("students", "add-remove", tiny, 0, "release")
    ledger.charge("students", "add-remove", 3 - tiny, 0, "release")
    assert ledger.audit("students").epsilon_left == 0


@given(st.lists(st.fractions(min_value=Fraction(1, 10**6), max_value=2, max_denominator=10**6), max_size=12))
@settings(max_examples=15, deadline=None)
def test_sums_are_exact(charges: list[Fraction]) -> None:
    """What is spent is the exact sum of the charges that fit, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(f"{folder}/ledger.sqlite")
        ledger.create("t", "add-remove", 5)
        spent = Fraction(0)
        for charge in charges:
            if spent + charge <= 5:
                ledger.charge("t", "add-remove", charge, 0, "release")
                spent += charge
            else:
                with pytest.raises(BudgetExceeded):
                    ledger.charge("t", "add-remove", charge, 0, "release")
        assert ledger.audit("t").epsilon_spent == spent


@given(st.fractions(min_value=0))
def test_decimals_never_promise_more(value: Fraction) -> None:
    """Text for the store loses nothing, and text for people brackets the value."""
    assert Fraction(exact_text(value)) == value
    assert Fraction(short_decimal(value)) <= value <= Fraction(short_decimal(value, up=True))


def test_newer_ledger(ledger: Ledger) -> None:
    """A ledger of a newer version is refused with the way out."""
    with ledger._store.writing() as connection:
        connection.exec_driver_sql("UPDATE cloister_ledger_meta SET value = '3'")
    with pytest.raises(LedgerError, match=r"newer Cloister \(version 3.*knows 2\). Upgrade"):
        ledger.charge("students", "add-remove", 1, 0, "release")


def test_default_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default ledger is in the user's data folder, which is created when there is something to write."""
    import platformdirs

    def data_path(name: str, **_: object) -> Path:
        return tmp_path / "data" / name

    monkeypatch.setattr(platformdirs, "user_data_path", data_path)
    monkeypatch.delenv("CLOISTER_LEDGER", raising=False)
    assert Ledger.default().accounts() == []
    assert not (tmp_path / "data").exists()
    Ledger.default().create("t", "add-remove", 1)
    assert (tmp_path / "data" / "cloister" / "ledger.sqlite").exists()


def test_default_from_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLOISTER_LEDGER names the default ledger."""
    monkeypatch.setenv("CLOISTER_LEDGER", f"sqlite:///{tmp_path}/mine.sqlite")
    assert Ledger.default().place == str(tmp_path / "mine.sqlite")


def test_html_is_escaped(ledger: Ledger) -> None:
    """A table's name is text in a notebook, whatever is in it."""
    ledger.create("<script>", "add-remove", 1)
    assert "&lt;script&gt;" in ledger._repr_html_()
    assert "<script>" not in ledger._repr_html_()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda ledger: pickle.loads(pickle.dumps(ledger))])
def test_copies_share_the_account(ledger: Ledger, clone: object) -> None:
    """A copied or pickled ledger charges the same account."""
    clone(ledger).charge("students", "add-remove", 1, 0, "release")  # type: ignore[operator]
    assert ledger.account("students").epsilon_spent == 1


def test_postgres_commits_to_the_disk(database: str) -> None:
    """A server with synchronous commits off has them on for a charge."""
    ledger = Ledger(database)
    ledger.create("t", "add-remove", 1)
    with ledger._store.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "off"
    with ledger._store.writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_busy(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that another process holds for too long is told as that."""
    monkeypatch.setattr(store_engines, "WAIT_SECONDS", 1)
    ledger = Ledger(place)
    ledger.create("students", "add-remove", 1)
    with ledger._open("students", write=True), pytest.raises(LedgerError, match="in use by another process"):
        Ledger(place).charge("students", "add-remove", 1, 0, "release")


def test_created_by_many_at_once(place: str) -> None:
    """Eight processes that all make the same new ledger end up with one."""
    storm("Ledger", place, tries=0)
    assert len(Ledger(place).accounts()) == 8


def test_charged_by_many_at_once(place: str) -> None:
    """Eight processes that charge at once get exactly as many charges as fit the total."""
    check_storm("Ledger", place)


def test_storm_catches_two_transactions(place: str) -> None:
    """The storm catches a ledger that reads and writes in two transactions."""
    with pytest.raises(AssertionError, match="the total was passed"):
        check_storm("TwoTransactions", place)


@pytest.mark.slow
def test_killed_at_random(place: str) -> None:
    """No charge that was reported is lost when its process is killed at any moment."""
    check_kills("Ledger", place, kills=15)


@pytest.mark.slow
def test_kills_catch_late_commits(place: str) -> None:
    """The kills catch a ledger that reports charges before they are committed."""
    with pytest.raises(AssertionError, match="a charge was lost"):
        check_kills("LateCommit", place, kills=15)  # each kill catches it unless it comes right at a commit


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], int(sys.argv[3]))
