"""An inbox keeps collections, reports, invitations and the token: one suite for SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cloister.collect import Collection, estimate, pack
from cloister.collect.storing import inbox as inbox_module
from cloister.collect.storing import inbox_tables as tables_module
from cloister.collect.storing.credentials import code_hash, is_code, new_code, token_hash
from cloister.collect.storing.inbox import Hosted, Inbox, InboxDamaged, InboxError
from cloister.collect.storing.recording import Outcome
from cloister.collect.storing.stored_reports import StoredReports
from cloister.errors import UsageError
from cloister.privacy import store as store_module
from cloister.testing import seeded_noise
from tests.collect.storing.incoming_reports import incoming, stored
from tests.collect.survey import survey


@pytest.fixture
def hosted(inbox: Inbox) -> Hosted:
    """The small survey, which anybody may answer."""
    return inbox.add(survey())


@pytest.fixture
def invited(inbox: Inbox) -> Hosted:
    """The same for invited people."""
    return inbox.add(replace(survey(), id="invited"), is_invited=True)


def test_a_report_counts_once(inbox: Inbox, hosted: Hosted) -> None:
    """The same report again is there already, in one transaction and in another; other answers under its id are refused."""
    report = incoming(hosted)
    changed = replace(report, answers=b"\1\1\2")
    assert stored(inbox, report, report, changed) == [Outcome.STORED, Outcome.STORED, Outcome.OTHER_ANSWERS]
    assert stored(inbox, report, changed) == [Outcome.KNOWN, Outcome.OTHER_ANSWERS]
    assert inbox.count(hosted.number) == 1


def test_a_participant_may_answer_another_collection(inbox: Inbox, hosted: Hosted) -> None:
    """Ids are those of one collection."""
    other = inbox.add(replace(survey(), id="other"))
    report = incoming(hosted)
    assert stored(inbox, report, replace(report, collection=other.number)) == [Outcome.STORED] * 2


def test_a_code_works_once(inbox: Inbox, invited: Hosted) -> None:
    """A code lets one report in, and that one again; its hash is gone."""
    code, other = inbox.invite("invited", 2)
    first = incoming(invited, code_hash=code_hash(code))
    second = incoming(invited, code_hash=code_hash(code))
    outcomes = stored(inbox, first, second)
    assert sorted(outcome.name for outcome in outcomes) == ["NOT_INVITED", "STORED"]
    kept = first if outcomes[0] is Outcome.STORED else second
    assert stored(inbox, kept) == [Outcome.KNOWN]
    assert stored(inbox, incoming(invited, code_hash=code_hash(code))) == [Outcome.NOT_INVITED]
    assert inbox.invitations(invited.number) == 1
    assert stored(inbox, replace(kept, code_hash=code_hash(other))) == [Outcome.KNOWN]
    assert inbox.invitations(invited.number) == 1  # a report that is there spends no other code


def test_a_code_is_for_its_collection(inbox: Inbox, invited: Hosted) -> None:
    """The code of one collection opens no other."""
    other = inbox.add(replace(survey(), id="other"), is_invited=True)
    (code,) = inbox.invite("invited", 1)
    assert stored(inbox, incoming(other, code_hash=code_hash(code))) == [Outcome.NOT_INVITED]
    assert inbox.invitations(invited.number) == 1


def test_a_closed_collection_takes_nothing_new(inbox: Inbox, hosted: Hosted) -> None:
    """Who lost an acknowledgement is still told that the report is there; a late one is refused."""
    report = incoming(hosted)
    late = incoming(hosted, is_late=True)
    assert stored(inbox, report, late) == [Outcome.STORED, Outcome.CLOSED]
    assert inbox.close("students").is_closed
    assert stored(inbox, report, incoming(hosted)) == [Outcome.KNOWN, Outcome.CLOSED]
    assert hosted.state(datetime(2000, 1, 1, tzinfo=UTC)) == "open"
    assert inbox.get("students").state(datetime(2000, 1, 1, tzinfo=UTC)) == "closed"


def test_a_deleted_collection_is_gone(inbox: Inbox, hosted: Hosted, invited: Hosted) -> None:
    """With its reports and codes; its number is never given again."""
    inbox.invite("invited", 3)
    stored(inbox, incoming(hosted))
    for id in ("students", "invited"):
        inbox.delete(id)
    assert inbox.all() == []
    assert (inbox.count(hosted.number), inbox.invitations(invited.number)) == (0, 0)
    assert stored(inbox, incoming(hosted)) == [Outcome.GONE]
    assert inbox.add(survey()).number not in (hosted.number, invited.number)
    with pytest.raises(UsageError, match="no collection"):
        inbox.delete("invited")


def test_hosting_the_same_collection_again_changes_nothing(inbox: Inbox, hosted: Hosted) -> None:
    """A restart names the same file; another collection under its id is refused. What is wanted may change."""
    assert inbox.add(survey()) == hosted
    assert inbox.add(survey(), wanted=70).wanted == 70
    assert inbox.add(survey()).wanted == 70
    for changed, invites in ((survey(epsilon=2), False), (survey(title="Other"), False), (survey(), True)):
        with pytest.raises(UsageError, match="another collection"):
            inbox.add(changed, is_invited=invites)


def test_large_collections_are_refused(inbox: Inbox) -> None:
    """A page cannot ask everything."""
    many = {f"q{place}": ["no", "yes"] for place in range(201)}
    for collection in (Collection("many", many, 1), Collection("long", {"q": [str(i) for i in range(20_001)]}, 1)):
        with pytest.raises(UsageError, match="at most 200 questions"):
            inbox.add(collection)


def test_the_token(inbox: Inbox) -> None:
    """It is not in the store, another one is none, and a new one voids the old."""
    assert not inbox.has_token()
    assert not inbox.is_token("")
    first = inbox.renew_token()
    assert inbox.has_token()
    assert inbox.is_token(first)
    assert not inbox.is_token(first[:-1] + ("0" if first[-1] != "0" else "1"))
    assert not inbox.is_token("\ud800")
    second = inbox.renew_token()
    assert (inbox.is_token(first), inbox.is_token(second)) == (False, True)
    with inbox.store.reading() as connection:
        kept = connection.exec_driver_sql("SELECT token_hash FROM cloister_tokens").all()
    assert [bytes(row[0]) for row in kept] == [token_hash(second)]


def test_credentials_are_never_made_from_seeded_noise(inbox: Inbox, invited: Hosted) -> None:
    """Who knows the seed would know the token and the codes."""
    with seeded_noise(1), pytest.raises(UsageError, match="could be guessed"):
        inbox.renew_token()
    with seeded_noise(1), pytest.raises(UsageError, match="could be guessed"):
        inbox.invite("invited", 1)


def test_codes_as_people_type_them() -> None:
    """Small letters, blanks and letters that look alike do not matter; other texts are no codes."""
    code = new_code()
    assert len(code.replace("-", "")) == 26
    assert {code_hash(typed) for typed in (code, code.lower(), code.replace("-", " "), code.replace("0", "O"))} == {
        code_hash(code)
    }
    assert is_code(code)
    assert not any(map(is_code, ("", code[:-1], code + "0", "U" * 26, None, 7, "0" * 10**6)))


def test_estimates_and_exports(inbox: Inbox, hosted: Hosted, tmp_path: Path) -> None:
    """What was stored is counted as it was sent, and the exported file gives the same counts, without ids."""
    sent = [incoming(hosted, bytes([i % 2, i % 3, (i // 3) % 3])) for i in range(90)]
    stored(inbox, *sent)
    reports = StoredReports(inbox, hosted)
    found = estimate(hosted.collection, reports)
    assert found.reports == 90
    assert found.refused == {}
    assert found.counts.values["smokes"].tolist() == [45, 45]
    assert found.terms_checked
    assert pack(hosted.collection, reports, tmp_path / "reports.parquet").reports == 90
    again = estimate(hosted.collection, str(tmp_path / "reports.parquet"))
    assert (again.counts.joint == found.counts.joint).all()
    assert pq.read_schema(tmp_path / "reports.parquet").names == ["smokes", "year", "likes"]


def test_unary_answers_are_kept_as_they_were_sent(inbox: Inbox) -> None:
    """Bits go in and come out, also those of a domain that fills no whole byte; wide domains take two bytes."""
    asked = {"bits": {"domain": [str(i) for i in range(11)], "protocol": "unary"}, "wide": [str(i) for i in range(300)]}
    hosted = inbox.add(Collection("bits", asked, 1))
    answers = {"bits": "ff07", "wide": "299"}
    coded = hosted.codes.encode(answers)
    stored(inbox, incoming(hosted, coded))
    (batch,) = StoredReports(inbox, hosted).batches(["wide", "bits"])
    assert batch.to_pylist() == [{"wide": "299", "bits": "ff07"}]


def test_damaged_answers_are_told_as_damage(inbox: Inbox, hosted: Hosted) -> None:
    """Bytes that no report of the collection has are no answers."""
    for answers in (b"\0\1", b"\0\1\2\3", b"\2\0\0"):
        inbox.delete("students")
        again = inbox.add(survey())
        stored(inbox, incoming(again, answers))
        with pytest.raises(InboxDamaged, match="damaged"):
            estimate(again.collection, StoredReports(inbox, again))


def test_nothing_in_the_tables_tells_the_order_of_arrival(inbox: Inbox, hosted: Hosted) -> None:
    """No column holds a time or a running number, and answers are read in their own order."""
    for i in range(40):
        stored(inbox, incoming(hosted, bytes([i % 2, 0, 0])))
    read = [each for some in inbox.answers(hosted.number) for each in some]
    assert read == [(b"\0\0\0", 20), (b"\1\0\0", 20)]
    columns = {column.name for table in tables_module.inbox_tables().tables.values() for column in table.columns}
    assert columns == {
        "number", "id", "terms", "facts", "is_invited", "wanted", "is_closed", "is_settled", "collection", "report", "answers",
        "code_hash", "token_hash",
    }  # fmt: skip


def test_sqlite_has_no_row_numbers(tmp_path: Path) -> None:
    """A rowid would tell in which order reports came and which code went with which."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    for name in ("cloister_reports", "cloister_invitations"):
        with (
            sqlite3.connect(tmp_path / "reports.db") as rows,
            pytest.raises(sqlite3.OperationalError, match="no such column"),
        ):
            rows.execute(f"SELECT rowid FROM {name}")


def modes(folder: Path) -> set[int]:
    """Who may do what with the files in a folder."""
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    """Who could copy it again and again would see codes vanish and reports appear."""
    Inbox(tmp_path / "reports.db").create()
    assert modes(tmp_path) == {0o600}


def test_a_new_file_is_its_owners_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may open it first and read on later."""
    placed = []
    place = store_module.place_new_file

    def watched(finished: Path, path: Path) -> bool:
        placed.append(stat.S_IMODE(finished.stat().st_mode))
        return place(finished, path)

    monkeypatch.setattr(store_module, "place_new_file", watched)
    Inbox(tmp_path / "reports.db").create()
    assert placed == [0o600]


def test_a_file_that_was_restored_is_closed_to_others_again(tmp_path: Path) -> None:
    """A backup comes back with other permissions; whoever starts the service closes it and its logs."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    (tmp_path / "reports.db").chmod(0o644)
    with inbox.store.reading():  # its logs are made as open as it is
        assert modes(tmp_path) == {0o644}
        inbox.create()
        assert modes(tmp_path) == {0o600}


def test_a_closed_collection_invites_nobody(inbox: Inbox, invited: Hosted) -> None:
    """Neither one that was closed nor one whose time is over: the codes would be of no use."""
    inbox.add(replace(survey(closes=datetime(2020, 1, 1, tzinfo=UTC)), id="over"), is_invited=True)
    inbox.close("invited")
    for id in ("invited", "over"):
        with pytest.raises(UsageError, match=f'"{id}" is closed: .* Host a new collection'):
            inbox.invite(id, 1)
    assert inbox.invitations(invited.number) == 0


def test_codes_are_not_made_for_what_is_closed_meanwhile(
    inbox: Inbox, invited: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making a million takes a while, in which the collection may be closed."""

    def close_and_make() -> str:
        inbox.close("invited")
        return new_code()

    monkeypatch.setattr(inbox_module, "new_code", close_and_make)
    with pytest.raises(UsageError, match="is closed"):
        inbox.invite("invited", 1)
    assert inbox.invitations(invited.number) == 0


def test_many_writers_at_once(inbox: Inbox, hosted: Hosted, invited: Hosted) -> None:
    """Writers that send the same reports in different orders store each once, and no code twice."""
    codes = inbox.invite("invited", 30)
    plain = [incoming(hosted) for _ in range(60)]
    coded = [incoming(invited, code_hash=code_hash(code)) for code in codes]
    rivals = [replace(incoming(invited), code_hash=each.code_hash) for each in coded]

    def write(part: int) -> None:
        reports = [*plain, *coded, *rivals]
        reports = reports[part * 20 :] + reports[: part * 20]
        for start in range(0, len(reports), 7):
            for attempt in range(5):
                try:
                    stored(inbox, *reports[start : start + 7])
                    break
                except InboxError:  # a deadlock between two of them: one is tried again, as the service does
                    assert attempt < 4

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert inbox.count(hosted.number) == 60
    assert inbox.count(invited.number) == 30
    assert inbox.invitations(invited.number) == 0


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    """Only `create` makes one."""
    inbox = Inbox(tmp_path / "none.db")
    for ask in (inbox.all, inbox.has_token, inbox.renew_token, lambda: inbox.invite("students", 1)):
        with pytest.raises(InboxError, match="there is no store"):
            ask()
    assert not list(tmp_path.iterdir())


def test_other_files_are_no_stores(tmp_path: Path) -> None:
    """A ledger, a text or a damaged file is refused and left alone."""
    (tmp_path / "text.db").write_text("no database at all, but long enough to be one")
    with sqlite3.connect(tmp_path / "other.db") as rows:
        rows.execute("CREATE TABLE people (name TEXT)")
    for name in ("text.db", "other.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InboxError):
            Inbox(tmp_path / name).create()
        assert (tmp_path / name).read_bytes() == before


def test_facts_that_were_changed_are_damage(inbox: Inbox, hosted: Hosted) -> None:
    """Somebody who lowers the noise of a hosted collection in its store is found out."""
    with inbox.store.writing() as connection:
        connection.exec_driver_sql("UPDATE cloister_collections SET facts = REPLACE(facts, '\"1\"', '\"9\"')")
    with pytest.raises(InboxDamaged):
        inbox.find(hosted.collection.id)


def test_an_older_store_is_brought_up_to_date(inbox_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step for each version, in one transaction with the number; a newer store is refused."""
    old = Inbox(inbox_place)
    old.create()
    hosted = old.add(survey())
    stored(old, incoming(hosted))
    steps = {
        1: lambda connection: connection.exec_driver_sql("UPDATE cloister_collections SET wanted = 12"),
        2: lambda connection: connection.exec_driver_sql("UPDATE cloister_collections SET wanted = wanted + 1"),
    }
    monkeypatch.setattr(inbox_module, "MIGRATIONS", steps)
    monkeypatch.setattr(inbox_module, "VERSION", 3)
    new = Inbox(inbox_place)
    new.create()
    assert (new.get("students").wanted, new.count(hosted.number)) == (13, 1)
    new.create()
    assert new.get("students").wanted == 13
    with pytest.raises(InboxError, match="newer Cloister"):
        old.create()
