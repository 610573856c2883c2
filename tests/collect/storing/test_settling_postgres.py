"""A closed collection in PostgreSQL: row versions that somebody holds back are noticed, whoever that is and however."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cloister.collect import Collection
from cloister.collect.storing.credentials import code_hash
from cloister.collect.storing.inbox import MOST_QUESTIONS, MOST_VALUES, Inbox
from cloister.collect.storing.recording import Incoming
from cloister.privacy import store_scrubbing
from tests.collect.storing.incoming_reports import incoming, stored
from tests.collect.survey import survey

psycopg = pytest.importorskip("psycopg", reason="the PostgreSQL driver is absent: pip install 'cloister[postgres]'")

Holder = Callable[[str], AbstractContextManager[None]]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for whoever reads."""
    monkeypatch.setattr(store_scrubbing, "TRIES", 3)


def fill(inbox: Inbox) -> list[Incoming]:
    """Host the small survey for invited people, and store reports, each by a transaction of its own."""
    hosted = inbox.add(survey(), is_invited=True)
    codes = inbox.invite("students", 30)
    sent = [incoming(hosted, code_hash=code_hash(code)) for code in codes[:20]]
    for report in sent:
        stored(inbox, report)
    return sent


def files(url: str, *tables: str) -> bytes:
    """What lies on the disk of tables and their keys."""
    with psycopg.connect(url, autocommit=True) as rows:
        rows.execute("CHECKPOINT")
        folder = Path(rows.execute("SHOW data_directory").fetchone()[0])
        asked = "SELECT pg_relation_filepath(%s::regclass)"
        names = [name for table in tables for name in (table, f"{table}_pkey")]
        return b"".join((folder / rows.execute(asked, [name]).fetchone()[0]).read_bytes() for name in names)


def traces(url: str, sent: list[Incoming]) -> int:
    """How many hashes of spent codes and older versions of reports the files hold."""
    reports, codes = files(url, "cloister_reports"), files(url, "cloister_invitations")
    older = sum(reports.count(report.report) - 2 for report in sent)  # one in the table, and one in its key
    return older + sum(report.code_hash in codes for report in sent if report.code_hash is not None)


def transactions(url: str) -> list[tuple[bytes, str]]:
    """The ids of reports in the order in which they lie, and the transaction of each."""
    with psycopg.connect(url) as rows:
        found: list[tuple[bytes, str]] = rows.execute(
            "SELECT report, xmin::text FROM cloister_reports ORDER BY ctid"
        ).fetchall()
        return found


def test_a_closed_database_links_no_code_to_a_report(postgres_inbox: str) -> None:
    """PostgreSQL keeps the bytes and transactions of deleted rows; once a collection is closed its files hold neither."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    sent = fill(inbox)
    assert traces(postgres_inbox, sent) == 20
    assert len({xmin for _, xmin in transactions(postgres_inbox)}) == 20
    assert inbox.close("students").is_settled
    assert traces(postgres_inbox, sent) == 0
    assert [report for report, _ in transactions(postgres_inbox)] == sorted(report.report for report in sent)
    assert len({xmin for _, xmin in transactions(postgres_inbox)}) == 1
    assert inbox.invitations(inbox.get("students").number) == 10


@contextmanager
def session(url: str, *statements: str) -> Iterator[None]:
    """Somebody whose transaction stays open."""
    with psycopg.connect(url) as connection:
        for statement in statements:
            connection.execute(statement)
        try:
            yield
        finally:
            connection.rollback()


def idle_writer(url: str) -> AbstractContextManager[None]:
    """Who has written and does nothing: a number of a transaction, and no snapshot."""
    return session(url, "SELECT txid_current()")


def reader(url: str) -> AbstractContextManager[None]:
    """Who reads one moment: a snapshot, and no number."""
    return session(url, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM pg_class")


@contextmanager
def writer_elsewhere(url: str) -> Iterator[None]:
    """Who writes to another database of the same server."""
    with idle_writer(url.replace("/postgres", "/template1")):
        yield


@contextmanager
def prepared(url: str) -> Iterator[None]:
    """A transaction that was prepared, and that no session belongs to any more."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in ("BEGIN", "SELECT txid_current()", "PREPARE TRANSACTION 'left'"):
            connection.execute(statement)
        try:
            yield
        finally:
            connection.execute("ROLLBACK PREPARED 'left'")


@pytest.mark.parametrize("holder", [idle_writer, reader, writer_elsewhere, prepared])
@pytest.mark.parametrize("is_before", [True, False], ids=["from before", "from later"])
def test_whoever_holds_row_versions_back_is_noticed(postgres_inbox: str, holder: Holder, is_before: bool) -> None:
    """A collection is settled when no trace is left, and not before, whoever needs older rows."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    sent = [] if is_before else fill(inbox)
    with holder(postgres_inbox):
        sent = sent or fill(inbox)
        assert not inbox.close("students").is_settled
    inbox.settle_ended(datetime.now(UTC))
    assert inbox.get("students").is_settled
    assert traces(postgres_inbox, sent) == 0


def test_a_reader_of_another_user_is_noticed(postgres_inbox: str) -> None:
    """A plain user of PostgreSQL does not see what others read, and learns of it all the same."""
    with psycopg.connect(postgres_inbox, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'plain'").fetchone():
            connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("GRANT CREATE ON SCHEMA public TO plain")
    inbox = Inbox(postgres_inbox.replace("cloister@", "plain@"))
    inbox.create()
    with reader(postgres_inbox):
        sent = fill(inbox)
        assert not inbox.close("students").is_settled
    inbox.settle_ended(datetime.now(UTC))
    assert inbox.get("students").is_settled
    assert traces(postgres_inbox, sent) == 0


def test_a_reader_that_begins_while_rows_are_renewed_is_noticed(
    postgres_inbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it sees are the older versions, however late it came."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    sent = fill(inbox)
    renew = store_scrubbing.renew
    with ExitStack() as late:

        def renew_beside_a_reader(*arguments: Any) -> int:
            late.enter_context(reader(postgres_inbox))
            return renew(*arguments)

        monkeypatch.setattr(store_scrubbing, "renew", renew_beside_a_reader)
        assert not inbox.close("students").is_settled
    monkeypatch.setattr(store_scrubbing, "renew", renew)
    inbox.settle_ended(datetime.now(UTC))
    assert inbox.get("students").is_settled
    assert traces(postgres_inbox, sent) == 0


def test_no_clock_decides_who_holds_row_versions_back(postgres_inbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of the database and this one may differ by an hour."""
    real = time.time
    inbox = Inbox(postgres_inbox)
    inbox.create()
    fill(inbox)
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    with reader(postgres_inbox):
        assert not inbox.close("students").is_settled


def test_a_table_in_use_does_not_hold_up_reports(postgres_inbox: str) -> None:
    """Whoever waits for a table that is to be rewritten does so for a second or two, and stores then."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    fill(inbox)
    other = inbox.add(Collection("other", {"stays": ["no", "yes"]}, epsilon=1))
    with session(postgres_inbox, "SELECT count(*) FROM cloister_reports"):  # a lock, and neither number nor snapshot
        closing = threading.Thread(target=inbox.close, args=["students"])
        closing.start()
        waits = []
        while closing.is_alive():
            began = time.monotonic()
            stored(inbox, incoming(other, b"\0"))
            waits.append(time.monotonic() - began)
        assert not inbox.get("students").is_settled
    assert max(waits) < 5  # it was 10 s; a slow machine needs some of that


def test_large_reports_tell_no_order_by_where_they_are_kept(postgres_inbox: str) -> None:
    """PostgreSQL moves long values into a table of their own, under running numbers; answers stay in their row."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    values = [str(value) for value in range(MOST_VALUES // MOST_QUESTIONS)]  # as much as a service may ask
    hosted = inbox.add(Collection("wide", {f"q{place}": values for place in range(MOST_QUESTIONS)}, 1, protocol="unary"))
    assert hosted.codes.width > 2_000  # bytes, from where on they would be moved
    for _ in range(12):
        stored(inbox, incoming(hosted, secrets.token_bytes(hosted.codes.width)))  # noise cannot be compressed
    assert inbox.close("wide").is_settled
    assert sum(count for some in inbox.answers(hosted.number) for _, count in some) == 12
    with psycopg.connect(postgres_inbox) as rows:
        moved: Any = rows.execute(
            "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'cloister_reports'::regclass AND reltoastrelid > 0"
        ).fetchall()
    assert sum(size for (size,) in moved) == 0


def test_statistics_keep_nothing(postgres_inbox: str) -> None:
    """What the planner samples outlives rows and rewritings: of ids, answers and hashes nothing is sampled."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    fill(inbox)
    with psycopg.connect(postgres_inbox, autocommit=True) as rows:
        rows.execute("ANALYZE")
        asked = "SELECT tablename, attname FROM pg_stats WHERE tablename LIKE 'cloister_%'"
        kept = {tuple(row) for row in rows.execute(asked)}
        tables = {"reports", "invitations", "collections", "deletions", "tokens"}
        assert not [row for row in kept if row[0].removeprefix("cloister_") in tables]
        rows.execute("CREATE TABLE cloister_planted AS SELECT * FROM cloister_reports")
        rows.execute("ANALYZE cloister_planted")
        assert ("cloister_planted", "report") in {tuple(row) for row in rows.execute(asked)}  # it would be seen
        rows.execute("DROP TABLE cloister_planted")


def test_waiting_costs_nothing(postgres_inbox: str) -> None:
    """While somebody holds older rows back, each try leaves the tables as they are: a copy a minute would fill the disk."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    fill(inbox)
    with idle_writer(postgres_inbox):
        before = transactions(postgres_inbox)
        assert not inbox.close("students").is_settled
        inbox.settle_ended(datetime.now(UTC))
        assert transactions(postgres_inbox) == before
    inbox.settle_ended(datetime.now(UTC))
    assert inbox.get("students").is_settled
    assert transactions(postgres_inbox) != before


def test_a_deleted_collection_is_in_no_file(postgres_inbox: str) -> None:
    """Its own row is gone too, with its title."""
    inbox = Inbox(postgres_inbox)
    inbox.create()
    inbox.add(survey(title="a title that is nowhere else"))
    assert b"nowhere else" in files(postgres_inbox, "cloister_collections")
    assert inbox.delete("students")
    assert b"nowhere else" not in files(postgres_inbox, "cloister_collections")
