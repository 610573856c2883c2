"""The chain of a ledger: records that were changed, removed, put in or cut off are found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cloister.errors import BrokenChain, LedgerError, UsageError
from cloister.privacy.ledger import Account, Ledger
from cloister.privacy.ledger.chain import CHECKED
from cloister.privacy.ledger.chain_records import Record
from cloister.privacy.ledger.replay import replay
from cloister.privacy.ledger.stored_records import last_records, read_accounts, read_keys, select_records, write_record
from cloister.privacy.signing import host_key
from tests.privacy.forgery import forger
from tests.privacy.test_ledger import storm

LEDGER_V1 = Path(__file__).parent / "ledgers_v1" / "ledger.sql"


@pytest.fixture
def used(ledger: Ledger) -> Ledger:
    """A ledger with charges, a release and holder's uses of two tables."""
    ledger.create("pupils", "replace-one", 1)
    entry = ledger.charge("students", "add-remove", 1, "1e-7", "k-means")
    ledger.charge("pupils", "replace-one", "0.25", 0, "table", 'person (column "id")')
    ledger.complete(entry, "ab" * 32)
    ledger.complete(ledger.record_holder("students", "k-anonymous table"), "cd" * 32)
    ledger.charge("students", "add-remove", "0.5", 0, "killed")
    return ledger


def edit(ledger: Ledger, *statements: str) -> None:
    """Change the database by hand."""
    with ledger._store.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_a_ledger_in_order_verifies(used: Ledger) -> None:
    """All records are counted, and all of them are signed by this host."""
    report = used.verify()
    assert report.signed == {host_key().public: report.records}
    assert [entry.status for entry in report.entries] == ["released", "charged", "released", "charged"]
    assert used.keys() == [host_key().public]


def test_nothing_is_updated_but_the_accounts(used: Ledger) -> None:
    """Completing an entry appends a record; those before stay as they were."""
    with used._connection() as connection:
        before = select_records(connection)
    used.complete(4, "ef" * 32)
    with used._connection() as connection:
        after = select_records(connection)
    assert after[:-1] == before
    assert (after[-1].kind, after[-1].entry, after[-1].previous) == ("release", 4, before[-1].digest)


def stored(ledger: Ledger) -> tuple[list[Record], dict[str, Account], set[str]]:
    """Everything that `replay` goes through."""
    with ledger._connection() as connection:
        return select_records(connection), read_accounts(connection), read_keys(connection)


def test_a_changed_record_is_found(used: Ledger) -> None:
    """Whichever it is, and whatever was changed in it: 90 changes."""
    records, accounts, keys = stored(used)
    assert len(records) == 10
    for place, record in enumerate(records):
        for name in ("kind", "table", "body", "previous", "state", "signer", "digest", "signature", "entry"):
            value = getattr(record, name)
            changed = replace(record, **{name: value + 1 if isinstance(value, int) else value[:-1] + "~"})
            with pytest.raises(LedgerError, match=f"record {record.number} of the ledger was changed"):
                replay([*records[:place], changed, *records[place + 1 :]], accounts, keys)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO cloister_ledger_meta (key, value) VALUES ('note', 'rows')",
        "UPDATE cloister_ledger_meta SET value = '0000' || value",
    ],
)
def test_nothing_stands_beside_the_version(used: Ledger, statement: str) -> None:
    """No record covers it."""
    edit(used, statement)
    with pytest.raises(LedgerError, match="damaged"):
        used.verify()


def test_a_signature_in_another_spelling_is_found(used: Ledger) -> None:
    """Blanks and capitals would leave its bytes as they are."""
    edit(used, "UPDATE cloister_ledger_records SET signature = ' ' || upper(signature) WHERE number = 3")
    with pytest.raises(BrokenChain, match="record 3 of the ledger was changed"):
        used.verify()


def test_a_removed_record_is_found(used: Ledger) -> None:
    """Also when those after it are numbered anew."""
    records, accounts, keys = stored(used)
    for place, record in enumerate(records[:-1]):
        rest = records[place + 1 :]
        with pytest.raises(LedgerError, match=f"record {record.number} of the ledger is missing"):
            replay(records[:place] + rest, accounts, keys)
        with pytest.raises(LedgerError, match=f"record {record.number} of the ledger was changed"):
            replay(records[:place] + [replace(later, number=later.number - 1) for later in rest], accounts, keys)
    with pytest.raises(LedgerError, match="not those that its records add up to"):
        replay(records[:-1], accounts, keys)


@pytest.mark.parametrize("number", [2, 6, 9, 10])
def test_what_was_done_to_the_database_is_found(used: Ledger, number: int) -> None:
    """A record that was removed stops the next charge too, and so does an account that was set back with it."""
    edit(used, f"DELETE FROM cloister_ledger_records WHERE number = {number}")
    if number == 10:
        edit(used, "UPDATE cloister_ledger_accounts SET epsilon_spent = '1'")
    with pytest.raises(LedgerError, match=r"is missing|not those that its records add up to"):
        used.verify()
    with pytest.raises(LedgerError, match="damaged"):
        used.charge("students", "add-remove", "0.1", 0, "release")


def test_a_record_that_is_put_in_is_found(used: Ledger) -> None:
    """A charge of nothing, signed by somebody else, between others; with hashes that fit."""
    records, accounts, keys = stored(used)
    assert replay(records, accounts, keys)
    key, place = forger(), 6
    false = replace(records[place], entry=9, signer=key.public, previous=records[place - 1].digest).sealed(key)
    rest: list[Record] = [false]
    for record in records[place:]:  # the rest is linked to it, and can only be signed by the forger
        rest.append(replace(record, number=record.number + 1, previous=rest[-1].digest, signer=key.public).sealed(key))
    with pytest.raises(LedgerError, match="signed by a key that no record before it brings in"):
        replay(records[:place] + rest, accounts, keys)
    own = [replace(record, signer=host_key().public, signature="00" * 64) for record in rest]
    with pytest.raises(LedgerError, match="was changed"):
        replay(records[:place] + own, accounts, keys)


def stranger_start(head: Record) -> Record:
    """The start of a chain in the middle of one, signed by a key that no record brings in; it changes no account."""
    key = forger()
    start = replace(head, number=head.number + 1, kind="start", table="", entry=0, previous=head.digest, signer=key.public)
    return start.sealed(key)


@pytest.mark.parametrize("later", [0, 1, 5])
def test_a_chain_starts_once(used: Ledger, later: int) -> None:
    """A second start is found by a replay, by the links and by the next use, also when this host wrote after it."""
    with used._store.writing() as connection:
        (head,) = last_records(connection, 1)
        head = stranger_start(head)
        write_record(connection, head)
        for _ in range(later):
            changes = {"kind": "key", "number": head.number + 1, "previous": head.digest, "signer": host_key().public}
            head = replace(head, **changes).sealed(host_key())
            write_record(connection, head)
    with pytest.raises(BrokenChain, match="record 11 of the ledger starts a chain"):
        used.verify()
    with pytest.raises(LedgerError):
        used.entries("students")
    if later < CHECKED:
        with pytest.raises(LedgerError, match="damaged"):
            used.charge("students", "add-remove", "0.1", 0, "release")


def test_a_chain_begins_with_its_start(used: Ledger) -> None:
    """The owner of the key leaves it out."""
    records, accounts, keys = stored(used)
    chain: list[Record] = []
    for record in records[1:]:
        record = replace(record, number=record.number - 1, previous=chain[-1].digest if chain else "")
        chain.append(record.sealed(host_key()))
    with pytest.raises(BrokenChain, match="record 1 of the ledger is not its start"):
        replay(chain, accounts, keys)


def test_a_kind_of_record_that_no_ledger_has_is_found(used: Ledger) -> None:
    """Signed by the host itself: it would spend, and be shown nowhere."""
    records, accounts, keys = stored(used)
    with pytest.raises(BrokenChain, match="does not follow from the records before"):
        replay([*records[:-1], replace(records[-1], kind="spend").sealed(host_key())], accounts, keys)


def test_an_account_that_does_not_follow_is_found(used: Ledger) -> None:
    """Even whoever has the key cannot sign a charge that costs less than it says, or one that passes the total."""
    records, accounts, keys = stored(used)
    last = records[-1]
    for false in ('"epsilon":"0.4"', '"epsilon":"-0.5"', '"epsilon":"50"'):
        body = last.body.replace('"epsilon":"0.5"', false)
        assert body != last.body
        with pytest.raises(LedgerError, match="does not follow from the records before"):
            replay([*records[:-1], replace(last, body=body).sealed(host_key())], accounts, keys)


def test_another_host_is_registered_and_shown(used: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second host writes with its own key, after a record that brings it in; both are known from then on."""
    first = host_key().public
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "other.key"))
    used.charge("students", "add-remove", "0.1", 0, "release")
    assert used.keys() == sorted([first, host_key().public])
    assert used.verify().signed[host_key().public] == 2


def test_a_host_without_a_key_charges_nothing(used: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal comes before the charge."""
    before = used.account("students")
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "missing" / "key"))
    for use in (lambda: used.charge("students", "add-remove", 1, 0, "x"), lambda: used.record_holder("students", "x")):
        with pytest.raises(UsageError, match="CLOISTER_KEY"):
            use()
    assert used.account("students") == before


def test_a_receipt_names_what_left_before(used: Ledger) -> None:
    """The digest is that of the charge's own record; tables that were published without noise come with it."""
    receipt = used.book_charge("students", "add-remove", "0.1", 0, "release")
    assert used.entries("students")[-1].digest == receipt.head
    assert receipt.before.epsilon_spent == Fraction(3, 2)
    assert [entry.purpose for entry in receipt.left_before] == ["k-anonymous table"]


def write_v1(place: str) -> None:
    """A ledger as it was before there was a chain."""
    statements = LEDGER_V1.read_text(encoding="utf-8")
    if "://" not in place:
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript(statements)
            connection.execute("PRAGMA journal_mode=WAL")
        return
    import psycopg

    with psycopg.connect(place) as connection:
        for statement in statements.split(";\n"):
            if "sqlite_sequence" not in statement and "PRAGMA" not in statement and "TRANSACTION" not in statement:
                connection.execute(statement.replace("AUTOINCREMENT", "").replace("COMMIT;", ""))  # type: ignore[call-overload]


def test_an_older_ledger_is_upgraded_once(place: str) -> None:
    """Accounts, entries, their numbers and hashes are carried over; the chain starts with a digest of what was there."""
    write_v1(place)
    ledger = Ledger(place)
    carried = ledger.upgrade()
    assert carried == ledger.carried_over() == ledger.verify().carried_over
    assert (carried.entries, [(a.table, a.epsilon_spent) for a in carried.accounts]) == (
        5,
        [("students", Fraction(4, 3)), ("pupils", Fraction(1, 4))],
    )
    with pytest.raises(UsageError, match="up to date"):
        ledger.upgrade()
    assert [(a.table, a.epsilon_spent, a.releases, a.holder_uses) for a in ledger.accounts()] == [
        ("pupils", Fraction(1, 4), 0, 0),
        ("students", Fraction(4, 3), 1, 2),
    ]
    entries = ledger.entries("students")
    assert [(entry.id, entry.kind, entry.status) for entry in entries] == [
        (1, "charge", "released"),
        (2, "charge", "charged"),
        (3, "holder", "released"),
        (4, "holder", "begun"),
    ]
    assert [entry.release_hash for entry in entries] == ["ab" * 32, "", "cd" * 32, ""]
    report = ledger.verify()
    with ledger._connection() as connection:
        start = select_records(connection)[0]
    assert start.kind == "start"
    assert len(start.facts()["carried"]) == 64
    assert Ledger(place).charge("students", "add-remove", "0.5", 0, "after") == 6
    assert ledger.verify().records == report.records + 1


LOOKS: dict[str, Callable[[Ledger], object]] = {
    "accounts": Ledger.accounts,
    "one account": lambda ledger: ledger.account("students"),
    "entries": lambda ledger: ledger.entries("students"),
    "audit": lambda ledger: ledger.audit("students"),
    "keys": Ledger.keys,
    "verify": Ledger.verify,
    "carried over": Ledger.carried_over,
}
USES: dict[str, Callable[[Ledger], object]] = {
    "create": lambda ledger: ledger.create("new", "add-remove", 1),
    "charge": lambda ledger: ledger.charge("students", "add-remove", "0.1", 0, "release"),
    "holder": lambda ledger: ledger.record_holder("students", "risk"),
    "complete": lambda ledger: ledger.complete(2, "ab" * 32),
}


def rows_of(ledger: Ledger) -> list[list[tuple[object, ...]]]:
    """Every row of every table of a ledger, of whatever version."""
    import sqlalchemy

    with ledger._store._connection(write=False, check=False) as connection:
        names = sorted(sqlalchemy.inspect(connection).get_table_names())
        return [[tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {name}")] for name in names]


@pytest.mark.parametrize("name", [*LOOKS, *USES])
def test_an_older_ledger_is_refused_until_it_is_upgraded(place: str, name: str) -> None:
    """Nobody vouches for it, so neither a look nor a charge signs it on the way: somebody may have put it there."""
    write_v1(place)
    ledger = Ledger(place)
    before = rows_of(ledger)
    with pytest.raises(LedgerError, match=r"nothing is signed.*cloister ledger upgrade"):
        (LOOKS | USES)[name](ledger)
    assert rows_of(ledger) == before


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_writes_nothing_and_registers_no_key(
    used: Ledger, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another host looks at a ledger that it never wrote into."""
    before = rows_of(used)
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "other.key"))
    LOOKS[name](used)
    assert rows_of(used) == before
    assert not (tmp_path / "other.key").exists()


def test_an_older_ledger_is_upgraded_before_many_use_it(place: str) -> None:
    """Eight processes charge the chain that was made of it, and all of their charges are in it."""
    write_v1(place)
    Ledger(place).upgrade()
    entries = storm("Ledger", place, tries=2)
    assert sorted(entries) == list(range(6, 22))
    report = Ledger(place).verify()
    assert report.accounts["students"].epsilon_spent == Fraction(4, 3) + Fraction(16, 10)
    assert [entry.id for entry in report.entries] == list(range(1, 22))


def test_an_older_ledger_that_does_not_add_up_is_left_as_it_is(place: str) -> None:
    """Nobody vouches for it, so nothing is made of it: again and again."""
    write_v1(place)
    ledger = Ledger(place)
    with ledger._store._connection(write=True, check=False) as connection:
        connection.exec_driver_sql("UPDATE cloister_ledger_accounts SET epsilon_spent = '0.1' WHERE \"table\" = 'students'")
    before = rows_of(ledger)
    for _ in range(2):
        with pytest.raises(LedgerError, match="do not add up"):
            ledger.upgrade()
    assert rows_of(ledger) == before


ENTRY = "INSERT INTO cloister_ledger_entries VALUES (9,'pupils','2026','{}','p','{}','0','charged','')"
SPENT = "UPDATE cloister_ledger_accounts SET epsilon_spent = '{}' WHERE \"table\" = 'pupils'"
IMPOSSIBLE = {
    "a refund": [ENTRY.format("charge", "-0.25"), SPENT.format("0")],
    "more than the total": [ENTRY.format("charge", "5"), SPENT.format("5.25")],
    "a holder who pays": [
        ENTRY.format("holder", "0.1"),
        SPENT.format("0.35"),
        "UPDATE cloister_ledger_accounts SET holder_uses = 1",
    ],
    "a total below what was spent": ["UPDATE cloister_ledger_accounts SET epsilon_total = '0.1'"],
    "a total of nothing": [
        "DELETE FROM cloister_ledger_entries",
        "UPDATE cloister_ledger_accounts SET epsilon_total='-1', epsilon_spent='0', delta_spent='0', releases=0, holder_uses=0",
    ],
    "a delta of 1": ["UPDATE cloister_ledger_accounts SET delta_total = '1'"],
    "another relation": ["UPDATE cloister_ledger_accounts SET neighbours = 'none'"],
    "a unit of two lines": ["UPDATE cloister_ledger_accounts SET unit = 'row\nverified'"],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_ledger_could_hold_is_not_upgraded(place: str, name: str) -> None:
    """The sums fit, and still nobody can have charged so."""
    write_v1(place)
    ledger = Ledger(place)
    with ledger._store._connection(write=True, check=False) as connection:
        for statement in IMPOSSIBLE[name]:
            connection.exec_driver_sql(statement)
    before = rows_of(ledger)
    with pytest.raises(LedgerError, match="do not add up"):
        ledger.upgrade()
    assert rows_of(ledger) == before


def edit_version(ledger: Ledger, version: str) -> None:
    """Say that another version wrote the ledger."""
    with ledger._store._connection(write=True, check=False) as connection:
        connection.exec_driver_sql(f"UPDATE cloister_ledger_meta SET value = '{version}'")


def test_a_chain_is_not_upgraded_again(used: Ledger) -> None:
    """A version that was changed to an older one does not start a new chain."""
    edit_version(used, "1")
    for use in (USES["charge"], Ledger.upgrade):
        with pytest.raises(LedgerError):
            use(used)


@pytest.mark.parametrize("name", [*LOOKS, *USES])
def test_a_ledger_that_was_emptied_is_damaged(used: Ledger, name: str) -> None:
    """Its tables are there, and nothing is in them: not a new one."""
    edit(used, *(f"DELETE FROM cloister_ledger_{table}" for table in ("records", "accounts", "keys")))
    with pytest.raises(LedgerError, match="is damaged"):
        (LOOKS | USES)[name](used)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER refund AFTER INSERT ON cloister_ledger_records BEGIN SELECT 1; END",
        "CREATE VIEW cloister_ledger_entries AS SELECT 1",
    ],
)
def test_a_ledger_with_triggers_or_views_is_damaged(tmp_path: Path, statement: str) -> None:
    """No Cloister made them: they change what is done to the ledger, or what is read from it."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("students", "add-remove", 3)
    edit(ledger, statement)
    for use in (USES["charge"], LOOKS["verify"]):
        with pytest.raises(LedgerError, match="is damaged"):
            use(ledger)
