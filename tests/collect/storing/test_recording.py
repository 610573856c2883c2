"""Which reports of one transaction are stored, and which codes are spent for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cloister.collect.storing import recording as recording_module
from cloister.collect.storing.credentials import code_hash
from cloister.collect.storing.inbox import Hosted, Inbox, InboxError
from cloister.collect.storing.recording import Outcome
from tests.collect.storing.incoming_reports import incoming, stored
from tests.collect.survey import survey

UNKNOWN = code_hash("an unknown code")
WAIT_SECONDS = 20


@pytest.fixture
def invited(inbox: Inbox) -> Hosted:
    """The small survey, for invited people."""
    return inbox.add(survey(), is_invited=True)


def wait_until(is_so: Callable[[], Any]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_mistyped_code_does_not_keep_the_right_one_out(inbox: Inbox, invited: Hosted) -> None:
    """The same report with a wrong code and then with the right one is stored, and both are told so."""
    (code,) = inbox.invite("students", 1)
    wrong = incoming(invited, code_hash=UNKNOWN)
    right = replace(wrong, code_hash=code_hash(code))
    assert stored(inbox, wrong, right) == [Outcome.STORED, Outcome.STORED]
    assert (inbox.count(invited.number), inbox.invitations(invited.number)) == (1, 0)


def test_each_of_several_under_one_id_is_judged_by_itself(inbox: Inbox, invited: Hosted) -> None:
    """Late or with a wrong code: not let in; of several that may be stored the first is, and spends its code alone."""
    codes = [code_hash(code) for code in inbox.invite("students", 3)]
    first = incoming(invited, b"\0\0\0", code_hash=codes[0], is_late=True)
    group = [
        first,
        replace(first, answers=b"\0\0\1", code_hash=UNKNOWN, is_late=False),
        replace(first, answers=b"\0\1\0", code_hash=codes[1], is_late=False),
        replace(first, answers=b"\1\0\0", code_hash=codes[2], is_late=False),
        incoming(invited, code_hash=codes[1]),  # its code is spent by the third
    ]
    other = Outcome.OTHER_ANSWERS
    assert stored(inbox, *group) == [other, other, Outcome.STORED, other, Outcome.NOT_INVITED]
    assert inbox.invitations(invited.number) == 2


def test_a_rival_under_the_same_id_costs_no_code(postgres_inbox: str) -> None:
    """Two servers store other answers under one id at once: one report is there, and the code of the other is not spent."""
    import psycopg

    inbox = Inbox(postgres_inbox)
    inbox.create()
    invited = inbox.add(survey(), is_invited=True)
    (code,) = inbox.invite("students", 1)
    report = incoming(invited, b"\0\0\0", code_hash=code_hash(code))
    with psycopg.connect(postgres_inbox) as rival, ThreadPoolExecutor(1) as thread:
        row = (invited.number, report.report, b"\1\1\1")
        rival.execute("INSERT INTO cloister_reports (collection, report, answers) VALUES (%s, %s, %s)", row)
        outcome = thread.submit(stored, inbox, report)
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'"
        with psycopg.connect(postgres_inbox, autocommit=True) as watcher:
            wait_until(lambda: watcher.execute(waiting).fetchone() != (0,))
        rival.commit()
        assert outcome.result(WAIT_SECONDS) == [Outcome.OTHER_ANSWERS]
    assert (inbox.count(invited.number), inbox.invitations(invited.number)) == (1, 1)


def test_two_servers_with_one_id_and_two_codes(inbox: Inbox, invited: Hosted) -> None:
    """However they meet, as many codes are spent as reports are stored."""
    codes = [code_hash(code) for code in inbox.invite("students", 20)]
    meeting = threading.Barrier(2)

    def send(report: Any) -> Outcome:
        meeting.wait(WAIT_SECONDS)
        return stored(inbox, report)[0]

    with ThreadPoolExecutor(2) as threads:
        for first, second in zip(codes[::2], codes[1::2], strict=True):
            one = incoming(invited, b"\0\0\0", code_hash=first)
            outcomes = list(threads.map(send, [one, replace(one, answers=b"\1\1\1", code_hash=second)]))
            assert set(outcomes) == {Outcome.STORED, Outcome.OTHER_ANSWERS}
    assert (inbox.count(invited.number), inbox.invitations(invited.number)) == (10, 10)


def test_rivals_without_end_are_an_error(inbox: Inbox, invited: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction is tried some times; then nothing is stored or spent, and the sender may come again."""
    (code,) = inbox.invite("students", 1)
    tried = []
    monkeypatch.setattr(recording_module, "insert", lambda *_: tried.append(1) or 0)
    with pytest.raises(InboxError, match="Send these again"):
        stored(inbox, incoming(invited, code_hash=code_hash(code)))
    assert len(tried) == recording_module.TRIES
    assert inbox.invitations(invited.number) == 1
