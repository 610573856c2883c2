"""Where the uses of a table are written down: the ledger, the table's name in it, and the entry of this use."""

from __future__ import annotations

import os
from pathlib import Path

from cloister.errors import UsageError, by_door
from cloister.interrupts import deferred
from cloister.privacy.budgets import Budget, Identifiability
from cloister.privacy.kept_releases import remember_charged
from cloister.privacy.ledger import Ledger, Receipt
from cloister.privacy.ledger.arguments import read_table_name
from cloister.privacy.notes import earlier_releases_note
from cloister.schema import Neighbours
from cloister.sinks import reserved_outputs
from cloister.stopped_commands import remember_use

__all__ = ["Booking"]

ENDINGS = (
    "",
    "-journal",
    "-wal",
    "-shm",
    ".kept",
)  # of the files and the folder of a ledger: SQLite's own, and kept releases


LONGEST_PURPOSE = 500  # of the characters of an entry


class Booking:
    """One use of a table in its ledger; a table without a name is written down nowhere.

    Parameters
    ----------
    table : str or None
    ledger : str, Ledger or None
        None: the user's own ledger.
    """

    def __init__(self, table: str | None, ledger: str | Ledger | None) -> None:
        if ledger is not None and table is None:
            flag = by_door('table="..."', "--table")
            raise UsageError(f"a ledger needs to know which table this is. Name it: table = ... in the schema, or {flag}.")
        self.table = None if table is None else read_table_name(table)  # as the ledger keeps it
        self._receipt: Receipt | None = None
        self._notes: tuple[str, ...] = ()
        self._ledger = None if table is None else Ledger.find(ledger)
        if self._ledger is not None:
            refuse_names_of(self._ledger)

    @property
    def entry(self) -> int | None:
        """The entry of this use; None before it is written down."""
        return None if self._receipt is None else self._receipt.entry

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the certificate should know of earlier releases of the table."""
        return self._notes

    def check_relation(self, neighbours: Neighbours, unit: str) -> None:
        """Refuse a table that is kept under another relation, before anything that only this one makes public is looked at."""
        if self._ledger is not None and self.table is not None:
            self._ledger.check_relation(self.table, neighbours.value, unit)

    def charge(self, budget: Budget, neighbours: Neighbours, unit: str, purpose: str) -> None:
        """Spend a budget, or refuse to; before the first row is read."""
        if self._ledger is not None and self.table is not None:
            amounts = budget.epsilon, budget.delta
            worlds = int(budget.worlds) if isinstance(budget, Identifiability) else None
            self._receipt = self._ledger.book_charge(
                self.table, neighbours.value, *amounts, printable(purpose), unit, worlds
            )
            remember_charged(self._ledger)
            self._notes = earlier_releases_note(self._receipt, amounts)

    def record_holder(self, purpose: str) -> None:
        """Write down, once, that the holder gets exact results; before the first row is read."""
        if self._ledger is not None and self.table is not None and self._receipt is None:
            with deferred():  # a signal waits until it is known whether it was written down
                self._receipt = self._ledger.book_holder(self.table, printable(purpose))
                remember_use(self.table, self._receipt.entry)
            self._notes = earlier_releases_note(self._receipt)

    def complete(self, digest: str) -> None:
        """Tie the entry to the certificate of what came of it."""
        if self._ledger is not None and self._receipt is not None:
            self._ledger.complete(self._receipt.entry, digest, self._receipt.head)

    def in_release(self) -> dict[str, str | int | None] | None:
        """How a certificate names the entry, and the last record of the ledger's chain when it was written."""
        receipt = self._receipt
        return None if receipt is None else {"table": self.table, "entry": receipt.entry, "head": receipt.head}


def printable(purpose: str) -> str:
    """A purpose as a ledger keeps it: it names columns, which may be called anything."""
    shown = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in purpose)
    shown = shown.strip()
    # What stands at the end says whether the noise was seeded.
    return shown if len(shown) <= LONGEST_PURPOSE else f"{shown[: LONGEST_PURPOSE - 60]} ... {shown[-50:]}"


def refuse_names_of(ledger: Ledger) -> None:
    """Refuse an output under a name that the ledger needs for itself: SQLite would take it for a part of its file.

    Raises
    ------
    UsageError
    """
    if "://" in ledger.place:
        return
    places = {ledger.place, os.path.realpath(ledger.place)}  # SQLite follows links
    names = {place_of(f"{place}{ending}") for place in places for ending in ENDINGS}
    for output in reserved_outputs():
        if names & {place_of(output), *place_of(output).parents}:
            raise UsageError(f"{output} is a name that the ledger {ledger.place} needs for itself. Give --out another name.")


def place_of(path: str | os.PathLike[str]) -> Path:
    """A path whose folder has no links in it."""
    folder, name = os.path.split(path)
    return Path(os.path.realpath(folder), name)
