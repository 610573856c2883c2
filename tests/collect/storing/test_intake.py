"""Reports are acknowledged when they are on the disk, many of them in one transaction, and never otherwise."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cloister.collect.storing import intake as intake_module
from cloister.collect.storing.inbox import Hosted, Inbox, InboxError
from cloister.collect.storing.intake import Intake, Overloaded
from cloister.collect.storing.recording import Outcome
from tests.collect.storing.incoming_reports import incoming
from tests.collect.survey import survey


@pytest.fixture
def hosted(inbox: Inbox) -> Hosted:
    """The small survey."""
    return inbox.add(survey())


def run(inbox: Inbox, work: Callable[[Intake], Awaitable[Any]]) -> Any:
    """Run work with an intake that is started before and stopped after it."""

    async def main() -> Any:
        intake = Intake(inbox)
        intake.start()
        try:
            return await work(intake)
        finally:
            await asyncio.to_thread(intake.stop)

    return asyncio.run(main())


def test_what_came_meanwhile_is_stored_together(inbox: Inbox, hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of many senders share transactions, and each sender is told of its own."""
    sizes = []
    record = intake_module.record

    def counted(connection: Any, reports: Any) -> list[Outcome]:
        sizes.append(len(reports))
        return record(connection, reports)

    monkeypatch.setattr(intake_module, "record", counted)
    again = incoming(hosted)

    async def work(intake: Intake) -> list[list[Outcome]]:
        await intake.take([again])
        return await asyncio.gather(*(intake.take([incoming(hosted), again]) for _ in range(200)))

    assert run(inbox, work) == [[Outcome.STORED, Outcome.KNOWN]] * 200
    assert sum(sizes) == 401
    assert len(sizes) < 100
    assert inbox.count(hosted.number) == 201


def test_a_sender_is_told_after_the_commit(inbox: Inbox, hosted: Hosted) -> None:
    """When a report is acknowledged another connection sees it."""

    async def work(intake: Intake) -> list[int]:
        seen = []
        for _ in range(5):
            await intake.take([incoming(hosted)])
            seen.append(inbox.count(hosted.number))
        return seen

    assert run(inbox, work) == [1, 2, 3, 4, 5]


def test_too_many_are_turned_away(inbox: Inbox, hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is bounded; whoever is turned away may come again."""
    monkeypatch.setattr(intake_module, "MOST_WAITING", 10)

    async def work(intake: Intake) -> int:
        done = await asyncio.gather(*(intake.take([incoming(hosted)] * 3) for _ in range(50)), return_exceptions=True)
        assert all(isinstance(each, Overloaded) for each in done if isinstance(each, BaseException))
        await intake.take([incoming(hosted)])
        return sum(isinstance(each, Overloaded) for each in done)

    assert run(inbox, work) > 0


def test_a_failing_store_is_told_and_recovers(inbox: Inbox, hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that fails is tried again; one that keeps failing is told, and the next one works."""
    record, failures = intake_module.record, [1, 3]  # how many times in a row

    def failing(connection: Any, reports: Any) -> list[Outcome]:
        if failures and failures[0]:
            failures[0] -= 1
            raise InboxError("planted.") if failures[0] else ZeroDivisionError
        return record(connection, reports)

    monkeypatch.setattr(intake_module, "record", failing)

    async def work(intake: Intake) -> list[Any]:
        first = await intake.take([incoming(hosted)])
        failures.pop(0)
        with pytest.raises(InboxError, match=r"ZeroDivisionError|planted"):
            await intake.take([incoming(hosted)])
        return [first, await intake.take([incoming(hosted)])]

    assert run(inbox, work) == [[Outcome.STORED], [Outcome.STORED]]
    assert inbox.count(hosted.number) == 2


def test_a_file_that_was_moved_away_is_not_written_to(tmp_path: Path) -> None:
    """Reports are stored in the file that has the name, or not acknowledged."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())

    async def work(intake: Intake) -> None:
        await intake.take([incoming(hosted)])
        for name in ("reports.db", "reports.db-wal", "reports.db-shm"):
            os.replace(tmp_path / name, tmp_path / f"moved-{name}")
        with pytest.raises(InboxError, match="no store"):
            await intake.take([incoming(hosted)])
        inbox.create()
        inbox.add(survey())
        assert await intake.take([incoming(hosted)]) == [Outcome.STORED]

    run(inbox, work)
    assert inbox.count(hosted.number) == 1


def test_a_locked_file_is_waited_for(tmp_path: Path) -> None:
    """Another process that writes for a moment delays an acknowledgement, and loses none."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    other = sqlite3.connect(tmp_path / "reports.db", isolation_level=None, check_same_thread=False)

    async def work(intake: Intake) -> list[Outcome]:
        await intake.take([incoming(hosted)])
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.5, other.execute, ["ROLLBACK"]).start()
        return await intake.take([incoming(hosted)])

    assert run(inbox, work) == [Outcome.STORED]
    other.close()


def test_what_waits_when_it_stops_is_stored(inbox: Inbox, hosted: Hosted) -> None:
    """A service that ends loses nothing that it took."""

    async def main() -> list[Any]:
        intake = Intake(inbox)
        intake.start()
        tasks = [asyncio.ensure_future(intake.take([incoming(hosted)])) for _ in range(100)]
        await asyncio.sleep(0)
        await asyncio.to_thread(intake.stop)
        with pytest.raises(Overloaded):
            await intake.take([incoming(hosted)])
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == [[Outcome.STORED]] * 100
    assert inbox.count(hosted.number) == 100


def test_a_sender_that_hung_up_harms_nobody(inbox: Inbox, hosted: Hosted) -> None:
    """Its report may be stored or not; the others are told."""

    async def work(intake: Intake) -> list[Any]:
        gone = asyncio.ensure_future(intake.take([incoming(hosted)]))
        rest = [asyncio.ensure_future(intake.take([incoming(hosted)])) for _ in range(5)]
        await asyncio.sleep(0)
        gone.cancel()
        return await asyncio.gather(*rest)

    assert run(inbox, work) == [[Outcome.STORED]] * 5
