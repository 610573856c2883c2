"""One transaction of an inbox: which reports are stored, were there before, or are refused.

A participant draws the id of a report once for a collection, and keeps it: so one report an id is one a participant. Where
people are invited a code, which is deleted with it, lets a report in. Who sends the same report again is told that it is there,
whatever happened since (the collection closed, the code was spent), so that whoever lost an acknowledgement may ask again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from cloister.collect.storing.inbox import InboxError
from cloister.collect.storing.inbox_tables import table_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Incoming", "Outcome", "record"]

Key = tuple[int, bytes]  # the number of a collection, and a report or the hash of a code
Stored = tuple[dict[Key, bytes], dict[Key, bytes]]  # answers that are stored now, and those that were before
MOST_ASKED = 500  # keys in one statement: older SQLite takes 999 values
ROWS_AT_ONCE = 300  # of three values each
TRIES = 5  # of a transaction while other servers store reports under the same ids


class Outcome(Enum):
    """What became of a report."""

    STORED = "stored"
    KNOWN = "stored before"
    OTHER_ANSWERS = "a report with this id is there, with other answers"
    NOT_INVITED = "the code of the invitation is unknown or spent"
    CLOSED = "the collection takes no reports now"
    GONE = "there is no such collection"

    @property
    def is_there(self) -> bool:
        """Whether the report is on the disk."""
        return self in (Outcome.STORED, Outcome.KNOWN)


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Incoming:
    """A report on its way to the disk.

    Attributes
    ----------
    collection : the number of its collection
    report : its id, 128 bits
    answers : perturbed, as `AnswerCodes` writes them
    code_hash : of the code of an invitation; None where anybody may answer
    is_late : it came when the collection takes none: it is only looked up
    """

    collection: int
    report: bytes
    answers: bytes
    code_hash: bytes | None = None
    is_late: bool = False

    @property
    def key(self) -> Key:
        """By what it is known."""
        return self.collection, self.report


class NotAllNew(Exception):
    """Some of the reports that were to be stored are there already: nothing of this transaction may stay."""


def record(connection: Connection, incoming: Sequence[Incoming]) -> list[Outcome]:
    """Store reports in a transaction of their own, and say what became of each once that is committed."""
    keys = {each.key for each in incoming}
    if len(keys) == len(incoming) and all(each.code_hash is None and not each.is_late for each in incoming):
        with suppress(NotAllNew), connection.begin():  # nearly always all are new: that is tried first
            return store_new(connection, incoming)
    for _ in range(TRIES):
        with suppress(NotAllNew), connection.begin():
            is_closed = locked_collections(connection, {each.collection for each in incoming})
            stored, known = store(connection, incoming, is_closed)
            return [judge(each, stored.get(each.key), known.get(each.key), is_closed) for each in incoming]
    raise InboxError("other servers go on storing reports under the same ids. Send these again.")


def store_new(connection: Connection, reports: Sequence[Incoming]) -> list[Outcome]:
    """Store reports that are all new, to collections that are open; `NotAllNew`: they are not."""
    numbers = {each.collection for each in reports}
    is_closed = locked_collections(connection, numbers)
    if is_closed.keys() != numbers or any(is_closed.values()) or insert(connection, reports) < len(reports):
        raise NotAllNew
    return [Outcome.STORED] * len(reports)


def store(connection: Connection, incoming: Sequence[Incoming], is_closed: Mapping[int, bool]) -> Stored:
    """Store the reports that are new and may be stored; the answers of those, and of those that were there before.

    `NotAllNew`: another server stored one of them meanwhile, under other answers perhaps, and the code that was spent here must
    not be lost by that.
    """
    known = find(connection, {each.key for each in incoming})
    new = [each for each in incoming if each.key not in known]
    able = [each for each in new if is_closed.get(each.collection) is False and not each.is_late]
    let_in = spend(connection, able)
    if insert(connection, let_in) < len(let_in):
        raise NotAllNew
    stored = {each.key: each.answers for each in let_in}
    if refused := {each.key for each in able} - stored.keys():  # perhaps another server stored the same report with the code
        known |= find(connection, refused)
    return stored, known


def judge(each: Incoming, stored: bytes | None, known: bytes | None, is_closed: Mapping[int, bool]) -> Outcome:
    """What became of one report: `stored` and `known` are the answers that are there under its id, now and before."""
    kept = known if stored is None else stored
    if kept is not None and kept != each.answers:
        return Outcome.OTHER_ANSWERS
    if kept is not None:
        return Outcome.KNOWN if stored is None else Outcome.STORED
    if each.collection not in is_closed:
        return Outcome.GONE
    return Outcome.CLOSED if each.is_late or is_closed[each.collection] else Outcome.NOT_INVITED


def locked_collections(connection: Connection, numbers: set[int]) -> dict[int, bool]:
    """Which collections are there, and whether they are closed; none is closed or deleted until the transaction ends."""
    asked = f"SELECT number, is_closed FROM cloister_collections WHERE number IN ({', '.join(map(str, sorted(numbers)))})"
    if connection.dialect.name != "sqlite":  # which has one writer at a time
        asked += " ORDER BY number FOR SHARE"
    return {number: bool(is_closed) for number, is_closed in connection.exec_driver_sql(asked)}


def spend(connection: Connection, incoming: Sequence[Incoming]) -> list[Incoming]:
    """The reports that may be stored, one an id: those that need no code, and those whose code is there, which is deleted.

    Of several with one id, and of several with one code, the first that may be stored is let in.
    """
    unspent = locked_codes(
        connection, {(each.collection, each.code_hash) for each in incoming if each.code_hash is not None}
    )
    let_in: dict[Key, Incoming] = {}
    spent: list[Key] = []
    for each in incoming:
        if each.key in let_in:
            continue
        if each.code_hash is not None:
            code = (each.collection, each.code_hash)
            if code not in unspent:
                continue
            unspent.remove(code)
            spent.append(code)
        let_in[each.key] = each
    invitations = table_of("invitations")
    for number, hashes in by_collection(spent):
        of_these = (invitations.c.collection == number, invitations.c.code_hash.in_(hashes))
        connection.execute(invitations.delete().where(*of_these))
    return list(let_in.values())


def locked_codes(connection: Connection, codes: Iterable[Key]) -> set[Key]:
    """Which codes are there; nobody else spends them until the transaction ends."""
    invitations = table_of("invitations")
    unspent: set[Key] = set()
    for number, hashes in by_collection(codes):
        asked = invitations.select().where(invitations.c.collection == number, invitations.c.code_hash.in_(hashes))
        # in the order of their keys, so that two servers do not wait for each other; SQLite has one writer at a time
        rows = connection.execute(asked.order_by(invitations.c.code_hash).with_for_update())
        unspent |= {(number, bytes(row.code_hash)) for row in rows}
    return unspent


def insert(connection: Connection, incoming: Iterable[Incoming]) -> int:
    """Store reports whose ids are new, and say how many were.

    By statements of many rows that give none back: each step of a statement lets the other thread have Python, and waits for it.
    """
    # in the order of their keys, so that transactions of two servers rarely wait for each other in a ring
    rows = sorted([(each.collection, each.report, each.answers) for each in incoming])
    if not rows:
        return 0
    into = "INTO cloister_reports (collection, report, answers)"
    if connection.dialect.name != "sqlite":
        columns = tuple(map(list, zip(*rows, strict=True)))
        values = "SELECT * FROM unnest(%s::int[], %s::bytea[], %s::bytea[])"
        return connection.exec_driver_sql(f"INSERT {into} {values} ON CONFLICT DO NOTHING", columns).rowcount
    count, left = 0, iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        values = ", ".join(["(?, ?, ?)"] * len(some))
        flat = tuple(chain.from_iterable(some))
        # OR IGNORE: a statement that cannot fail half-way needs no copy of each page that it changes
        count += connection.exec_driver_sql(f"INSERT OR IGNORE {into} VALUES {values}", flat).rowcount
    return count


def find(connection: Connection, keys: Iterable[Key]) -> dict[Key, bytes]:
    """The answers of those reports that are there."""
    found = {}
    for number, ids in by_collection(keys):
        if connection.dialect.name == "sqlite":
            places = ", ".join("?" * len(ids))
            asked = f"SELECT report, answers FROM cloister_reports WHERE collection = ? AND report IN ({places})"
            rows = connection.exec_driver_sql(asked, (number, *ids))
        else:  # a list of so many would be compared with each row of the table
            asked = (
                "SELECT report, answers FROM unnest(%s::bytea[]) AS asked (report) "
                "JOIN cloister_reports USING (report) WHERE collection = %s"
            )
            rows = connection.exec_driver_sql(asked, (ids, number))
        found.update({(number, bytes(report)): bytes(answers) for report, answers in rows})
    return found


def by_collection(keys: Iterable[Key]) -> Iterator[tuple[int, list[bytes]]]:
    """The second parts of keys by the first, as many at a time as one statement takes."""
    for number, group in groupby(sorted(keys), key=itemgetter(0)):
        while some := [second for _, second in islice(group, MOST_ASKED)]:
            yield number, some
