"""An inbox: the collections that a service hosts, the reports that came, who may still answer, and who may look."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from cloister.collect.collection import Collection
from cloister.collect.reports import ReportCheck
from cloister.collect.storing.answer_codes import AnswerCodes
from cloister.collect.storing.credentials import code_hash, new_code, new_token, token_hash
from cloister.collect.storing.inbox_tables import MIGRATIONS, VERSION, inbox_tables, table_of
from cloister.collect.storing.private_files import make_private, tighten
from cloister.collect.storing.unsettled import Unsettled
from cloister.errors import CloisterError, ExitCode, UsageError
from cloister.parameters import check_flag, check_whole
from cloister.privacy.store import StoreMissing, StoreOutdated, open_store
from cloister.schema.strict_json import read_json
from cloister.sources.source import BATCH_ROWS

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Hosted", "Inbox", "InboxDamaged", "InboxError"]

MOST_CODES = 1_000_000  # that are made at a time
MOST_QUESTIONS = 200  # of a collection that a page asks
MOST_VALUES = 20_000  # of all its questions together


class InboxError(CloisterError):
    """The store of a service cannot be reached, read or understood."""

    exit_code = ExitCode.LEDGER_UNREACHABLE


class InboxDamaged(InboxError):
    """The store of a service is not what was written."""


@dataclass(frozen=True)
class Hosted:
    """A collection as a service hosts it.

    Attributes
    ----------
    number : its number in the store
    collection : Collection
    is_invited : whether a code is needed to answer
    wanted : how many reports the collector hopes for; None: it was not said
    is_closed : whether the collector closed it
    is_settled : whether the tables were rewritten since, so that the files tell nothing of the order in which reports came
    """

    number: int
    collection: Collection
    is_invited: bool = False
    wanted: int | None = None
    is_closed: bool = False
    is_settled: bool = False

    @cached_property
    def check(self) -> ReportCheck:
        """What its reports must be."""
        return ReportCheck.of(self.collection)

    @cached_property
    def codes(self) -> AnswerCodes:
        """How answers to it are kept."""
        return AnswerCodes.of(self.collection)

    def written(self, name: str, write: Callable[[], str]) -> str:
        """A text that follows from the collection, written once."""
        if name not in self._texts:
            self._texts[name] = write()
        return self._texts[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    def state(self, moment: datetime) -> str:
        """Whether it takes reports at a moment: "open", "not yet" or "closed"."""
        if self.is_closed or (self.collection.closes and moment >= self.collection.closes):
            return "closed"
        return "open" if self.collection.is_open(moment) else "not yet"


class Inbox:
    """The store of a service: a SQLite file, or PostgreSQL for many servers.

    Parameters
    ----------
    place : str or path
        ``sqlite:///reports.db``, a path, or ``postgresql://user@host/database``. Nothing is read or made yet.

    Privacy
    -------
    Reports are perturbed before they come: all of this is post-processing. What it must not do is tell who sent which report.
    No table has a time or an address, a report's key is the random id that its sender drew, and the hash of a code is deleted in
    the transaction that stores the report (`inbox_tables` says what a database shows nevertheless).
    """

    def __init__(self, place: str | PathLike[str]) -> None:
        self.store = open_store(
            place, kind="store", version=VERSION, error=InboxError, damage=InboxDamaged, tables=inbox_tables
        )

    def create(self) -> None:
        """Make the store unless it is there, and bring one that an older Cloister made up to date, step by step."""
        self.store.create(make_private)
        if self.store.path is not None:
            tighten(self.store.path)
        try:
            with self.store.reading():
                return
        except StoreOutdated:
            for version in sorted(MIGRATIONS):
                with self.store.upgrading(version) as connection:
                    if connection is not None:  # the store has this version: all steps from here on, in one transaction
                        for later in sorted(each for each in MIGRATIONS if each >= version):
                            MIGRATIONS[later](connection)

    # Collections.

    def add(self, collection: Collection, *, is_invited: bool = False, wanted: int | None = None) -> Hosted:
        """Host a collection. The same one again changes nothing but `wanted`; another one under its id is refused."""
        check_flag(is_invited, "is_invited")
        if wanted is not None:
            wanted = check_whole(wanted, "wanted", 1, 10**9)
        check_size(collection)
        with self._writing() as connection:
            found = self._find(connection, collection.id)
            if found is None:
                facts = json.dumps(collection.facts(), ensure_ascii=False)
                row = {"id": collection.id, "terms": collection.terms, "facts": facts, "is_invited": is_invited}
                connection.execute(
                    table_of("collections").insert().values(**row, wanted=wanted, is_closed=False, is_settled=False)
                )
            elif wanted is not None:
                collections = table_of("collections")
                connection.execute(collections.update().where(collections.c.id == collection.id).values(wanted=wanted))
            found = self._find(connection, collection.id)
        if found is None:
            raise self.store.damaged()
        if found.collection.facts() != collection.facts() or found.is_invited != is_invited:
            raise UsageError(
                f'the store has another collection "{collection.id}": its questions, texts, times or who may answer differ. '
                "Give the new one another id, or delete the old one first."
            )
        return found

    def find(self, id: str) -> Hosted | None:
        """A collection by its id."""
        with self._reading() as connection:
            return self._find(connection, id)

    def get(self, id: str) -> Hosted:
        """A collection by its id, which must be there."""
        if (found := self.find(id)) is None:
            raise UsageError(
                "the store has no collection of that id. Host it first: cloister collect serve FILE --store URL."
            )
        return found

    def all(self) -> list[Hosted]:
        """Every collection, by id."""
        collections = table_of("collections")
        with self._reading() as connection:
            rows = connection.execute(collections.select().order_by(collections.c.id)).mappings().all()
        return [self._read(row) for row in rows]

    def close(self, id: str) -> Hosted:
        """Take no more reports of a collection, and rewrite the tables; where that must wait, `settle_ended` does it later."""
        if not self._close(id).is_settled:
            self._try_to_settle()
        return self.get(id)

    def _close(self, id: str) -> Hosted:
        collections = table_of("collections")
        with self._writing() as connection:
            connection.execute(collections.update().where(collections.c.id == id).values(is_closed=True))
            found = self._find(connection, id)
        if found is None:
            raise UsageError("the store has no collection of that id.")
        return found

    def settle(self) -> bool:
        """Rewrite the tables if a collection was closed or deleted since; False: it must be tried again.

        From then on the files tell nothing of what was deleted and of codes that were spent, nor of the order in which the
        reports of closed collections came.
        """
        with self._reading() as connection:
            left = Unsettled.find(connection)
        if not left.numbers:
            return True
        if not left.rewrite(self.store):
            return False
        with self._writing() as connection:
            left.write_off(connection)
        return True

    def _try_to_settle(self) -> bool:
        """The same after something was done that is done all the same when the store is busy, full or away now."""
        try:
            return self.settle()
        except CloisterError:
            return False

    def settle_ended(self, moment: datetime) -> None:
        """Close collections whose time is over, and rewrite the tables where that is still to be done."""
        for hosted in self.all():
            if hosted.state(moment) == "closed" and not hosted.is_closed:
                self._close(hosted.collection.id)
        self.settle()

    def delete(self, id: str) -> bool:
        """Remove a collection, its reports and its invitations.

        Returns
        -------
        bool
            Whether nothing of it is in the files; False: they are still to be rewritten, which `settle_ended` does later.
        """
        with self._writing() as connection:
            found = self._find(connection, id)
            if found is None:
                raise UsageError("the store has no collection of that id.")
            collections = table_of("collections")
            # first its row, which reports on their way lock
            connection.execute(collections.delete().where(collections.c.number == found.number))
            for name in ("reports", "invitations"):
                table = table_of(name)
                connection.execute(table.delete().where(table.c.collection == found.number))
            connection.execute(table_of("deletions").insert().values(collection=found.number))
        return self._try_to_settle()

    def holds_deleted(self) -> bool:
        """Whether the files still hold a collection that was deleted."""
        with self._reading() as connection:
            return bool(Unsettled.find(connection).deleted)

    def _find(self, connection: Connection, id: str) -> Hosted | None:
        collections = table_of("collections")
        row = connection.execute(collections.select().where(collections.c.id == id)).mappings().first()
        return None if row is None else self._read(row)

    def _read(self, row: Any) -> Hosted:
        try:
            collection = Collection(**read_json(row["facts"], "a collection", InboxDamaged))
        except (CloisterError, TypeError):
            raise self.store.damaged() from None
        if (collection.id, collection.terms) != (row["id"], row["terms"]):
            raise self.store.damaged()
        return Hosted(
            row["number"],
            collection,
            bool(row["is_invited"]),
            row["wanted"],
            bool(row["is_closed"]),
            bool(row["is_settled"]),
        )

    # Who may answer, and who may look.

    def invite(self, id: str, count: int) -> list[str]:
        """Make codes of invitations, which are kept as hashes: nobody can be told them again."""
        count = check_whole(count, "count", 1, MOST_CODES)
        found = self.get(id)
        check_invites(found)
        codes = [new_code() for _ in range(count)]
        rows = [{"collection": found.number, "code_hash": hashed} for hashed in sorted(map(code_hash, codes))]
        with self._writing() as connection:
            again = self._find(connection, id)  # it may have been closed or deleted meanwhile
            check_invites(again if again is not None and again.number == found.number else None)
            connection.execute(table_of("invitations").insert(), rows)
        return codes

    def invitations(self, number: int) -> int:
        """How many invitations of a collection are left."""
        return self._count("invitations", number)

    def renew_token(self) -> str:
        """A new token of the collector, in place of the one before. It is kept as a hash: nobody can be told it again."""
        token = new_token()
        with self._writing() as connection:
            connection.execute(table_of("tokens").delete())
            connection.execute(table_of("tokens").insert().values(token_hash=token_hash(token)))
        return token

    def has_token(self) -> bool:
        """Whether a token was made."""
        with self._reading() as connection:
            return connection.execute(table_of("tokens").select()).first() is not None

    def is_token(self, token: str) -> bool:
        """Whether this is the token, compared in a time that tells nothing of it."""
        with self._reading() as connection:
            kept = [bytes(row[0]) for row in connection.execute(table_of("tokens").select())]
        asked = token_hash(token)
        return sum(hmac.compare_digest(asked, each) for each in kept) > 0

    # Reports.

    def count(self, number: int) -> int:
        """How many reports of a collection there are."""
        return self._count("reports", number)

    def answers(self, number: int) -> Iterator[list[tuple[bytes, int]]]:
        """The perturbed answers of a collection's reports and how many have them, some at a time, in the order of the answers."""
        from sqlalchemy import func, select

        reports = table_of("reports")
        asked = select(reports.c.answers, func.count()).where(reports.c.collection == number)
        with self._reading() as connection:
            streamed = connection.execution_options(stream_results=True, max_row_buffer=BATCH_ROWS)
            rows = streamed.execute(asked.group_by(reports.c.answers).order_by(reports.c.answers))
            while some := rows.fetchmany(BATCH_ROWS):
                yield [(bytes(answers), count) for answers, count in some]

    def _count(self, name: str, number: int) -> int:
        from sqlalchemy import func, select

        table = table_of(name)
        with self._reading() as connection:
            asked = select(func.count()).select_from(table).where(table.c.collection == number)
            return int(connection.execute(asked).scalar() or 0)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self.store.reading() as connection:
                yield connection
        except StoreMissing:
            raise self._missing() from None

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self.store.writing() as connection:
                yield connection
        except StoreMissing:
            raise self._missing() from None

    def _missing(self) -> InboxError:
        return InboxError(f"there is no store at {self.store.shown}. Make one with: cloister collect serve.")


def check_invites(hosted: Hosted | None) -> None:
    """Refuse to make codes that nobody could use."""
    if hosted is None:
        raise UsageError("the store has no collection of that id.")
    id = hosted.collection.id
    if not hosted.is_invited:
        raise UsageError(f'anybody may answer "{id}": it has no invitations. Host a collection with --invited.')
    if hosted.state(datetime.now(UTC)) == "closed":
        raise UsageError(
            f'"{id}" is closed: a code would let nobody in. Host a new collection under another id with --invited.'
        )


def check_size(collection: Collection) -> None:
    """Refuse a collection that is too large for a page."""
    values = sum(len(question.values) for question in collection.questions)
    if len(collection.questions) > MOST_QUESTIONS or values > MOST_VALUES:
        raise UsageError(
            f"a service asks at most {MOST_QUESTIONS} questions with {MOST_VALUES:,} values in all, and this collection has "
            f"{len(collection.questions)} with {values:,}. Ask less, or collect reports in files."
        )
