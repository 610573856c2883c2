"""Once a collection is closed or deleted the files are rewritten: nothing tells who answered when, or with which code."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cloister.collect.storing import unsettled as unsettled_module
from cloister.collect.storing.credentials import code_hash
from cloister.collect.storing.inbox import Hosted, Inbox, InboxError
from cloister.collect.storing.intake import Intake
from cloister.collect.storing.recording import Outcome
from cloister.privacy import store_scrubbing
from tests.collect.storing.incoming_reports import incoming, stored
from tests.collect.survey import survey


@pytest.fixture
def hosted(inbox: Inbox) -> Hosted:
    """The small survey, which anybody may answer."""
    return inbox.add(survey())


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for whoever reads."""
    monkeypatch.setattr(store_scrubbing, "TRIES", 3)


def settle_again(inbox: Inbox) -> None:
    """What a service does every minute."""
    inbox.settle_ended(datetime.now(UTC))


def test_a_spent_code_leaves_no_trace_in_sqlite(tmp_path: Path) -> None:
    """Once the collection is closed neither the file nor its log holds the hash of a spent code."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey(), is_invited=True)
    codes = inbox.invite("students", 50)
    hashes = [code_hash(code) for code in codes[:20]]
    held = [each for each in hashes if any(each in file.read_bytes() for file in tmp_path.iterdir())]
    assert held == hashes  # the search finds what is there
    for each in hashes:
        stored(inbox, incoming(hosted, code_hash=each))
    inbox.close("students")
    assert not [each for each in hashes if any(each in file.read_bytes() for file in tmp_path.iterdir())]


def test_a_closed_file_tells_nothing_of_the_order_of_arrival(tmp_path: Path) -> None:
    """SQLite fills pages in the order in which rows come; once a collection is closed they lie in the order of their ids."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    sent = [incoming(hosted) for _ in range(60)]
    for report in sent:
        stored(inbox, report)

    def by_place() -> list[bytes]:
        inbox.store.path and sqlite3.connect(inbox.store.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file = (tmp_path / "reports.db").read_bytes()
        return sorted((report.report for report in sent), key=file.rfind, reverse=True)

    assert by_place() == [report.report for report in sent]  # this is how it could be read
    assert inbox.close("students").is_settled
    assert by_place() == sorted(report.report for report in sent)


@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_rewritten_now_is_rewritten_later(inbox: Inbox, hosted: Hosted) -> None:
    """Somebody who reads an older state holds it back: the collection is closed at once, and settled when they have gone."""
    stored(inbox, incoming(hosted))
    with inbox.store.reading() as reader:
        reader.exec_driver_sql("SELECT count(*) FROM cloister_reports")
        stored(inbox, incoming(hosted))  # what the reader does not see
        closed = inbox.close("students")
        assert (closed.is_closed, closed.is_settled) == (True, False)
    settle_again(inbox)
    assert inbox.get("students").is_settled


def test_a_collection_that_ends_by_its_time_is_settled(inbox: Inbox) -> None:
    """Nobody has to press a button."""
    closes = datetime(2030, 1, 1, tzinfo=UTC)
    inbox.add(survey(closes=closes))
    inbox.settle_ended(datetime(2029, 12, 31, tzinfo=UTC))
    assert not inbox.get("students").is_closed
    inbox.settle_ended(closes)
    assert (inbox.get("students").is_closed, inbox.get("students").is_settled) == (True, True)


@contextmanager
def reader(inbox: Inbox) -> Iterator[None]:
    """Somebody who reads one moment of the store for long."""
    with inbox.store.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM cloister_reports")
        yield


@pytest.mark.usefixtures("impatient")
def test_a_deleted_collection_that_somebody_reads_is_removed_later(inbox: Inbox, hosted: Hosted) -> None:
    """It is gone from the tables at once; that the files hold it is known until they were rewritten."""
    report = incoming(hosted)
    stored(inbox, report)
    with reader(inbox):
        assert inbox.delete("students") is False
        assert inbox.find("students") is None
        settle_again(inbox)
        assert inbox.holds_deleted()
    settle_again(inbox)
    assert not inbox.holds_deleted()
    if inbox.store.path is not None:
        assert not [file for file in inbox.store.path.parent.iterdir() if report.report in file.read_bytes()]


def test_a_deletion_that_nobody_holds_up_is_done_at_once(inbox: Inbox, hosted: Hosted) -> None:
    """Nothing is left to be done later."""
    stored(inbox, incoming(hosted))
    assert inbox.delete("students") is True
    assert not inbox.holds_deleted()


def test_a_process_that_ends_after_deleting_is_made_up_for(
    inbox: Inbox, hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note of what is to be rewritten is part of the deletion itself."""

    def end(*_: object) -> bool:
        raise KeyboardInterrupt

    stored(inbox, incoming(hosted))
    with monkeypatch.context() as killed:
        killed.setattr(unsettled_module, "scrub", end)
        with pytest.raises(KeyboardInterrupt):
            inbox.delete("students")
    assert (inbox.find("students"), inbox.holds_deleted()) == (None, True)
    settle_again(inbox)
    assert not inbox.holds_deleted()


def test_a_rewriting_that_fails_undoes_no_deletion(inbox: Inbox, hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no reason to say that the collection is still there."""

    def fail(*_: object) -> bool:
        raise InboxError("the disk is full.")

    stored(inbox, incoming(hosted))
    monkeypatch.setattr(unsettled_module, "scrub", fail)
    assert inbox.delete("students") is False
    assert (inbox.find("students"), inbox.count(hosted.number)) == (None, 0)


def test_many_collections_are_rewritten_together(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several that end at once do not each have everything rewritten."""
    closes = datetime(2030, 1, 1, tzinfo=UTC)
    ids = [f"survey-{place}" for place in range(5)]
    for id in ids:
        inbox.add(replace(survey(closes=closes), id=id))
    rewritten = []
    scrub = unsettled_module.scrub
    monkeypatch.setattr(unsettled_module, "scrub", lambda *given: rewritten.append(1) or scrub(*given))
    inbox.settle_ended(closes)
    assert all(inbox.get(id).is_settled for id in ids)
    inbox.settle_ended(closes)
    assert len(rewritten) == 1


def test_a_reader_does_not_hold_up_reports(tmp_path: Path) -> None:
    """SQLite: while somebody reads, and a collection waits to be rewritten, reports to another one are stored at once."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    closed, other = inbox.add(survey()), inbox.add(replace(survey(), id="other"))
    stored(inbox, *(incoming(closed) for _ in range(20)))
    waits: list[float] = []

    async def send(intake: Intake, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            began = time.monotonic()
            assert await intake.take([incoming(other)]) == [Outcome.STORED]
            waits.append(time.monotonic() - began)
            await asyncio.sleep(0.05)

    async def main() -> None:
        intake, is_over = Intake(inbox), asyncio.Event()
        intake.start()
        sending = asyncio.create_task(send(intake, is_over))
        await asyncio.to_thread(inbox.close, "students")
        for _ in range(3):  # as many minutes
            await asyncio.to_thread(settle_again, inbox)
        is_over.set()
        await sending
        await asyncio.to_thread(intake.stop)

    with closing(sqlite3.connect(tmp_path / "reports.db", isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM cloister_reports").fetchone()
        asyncio.run(main())
        assert not inbox.get("students").is_settled
    settle_again(inbox)
    assert inbox.get("students").is_settled
    assert len(waits) > 20
    assert max(waits) < 2.0  # it was 30 s; a slow machine needs some of that


@pytest.mark.usefixtures("impatient")
def test_a_file_that_is_read_is_not_rewritten_again_and_again(tmp_path: Path) -> None:
    """SQLite: what is rewritten cannot take its place while somebody reads, so that it is not even begun."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    stored(inbox, *(incoming(hosted, bytes(3)) for _ in range(500)))
    with reader(inbox):
        stored(inbox, incoming(hosted))  # what the reader does not see
        inbox.close("students")
        before = (tmp_path / "reports.db-wal").stat().st_size
        for _ in range(3):
            settle_again(inbox)
        assert (tmp_path / "reports.db-wal").stat().st_size == before
    settle_again(inbox)
    assert inbox.get("students").is_settled
