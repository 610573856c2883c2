"""Where the uses of a table are written down: the ledger, the table's name in it, and the entry of this use."""

from __future__ import annotations

from cloister.errors import UsageError
from cloister.privacy.budgets import Budget
from cloister.privacy.ledger import Ledger
from cloister.schema import Neighbours

__all__ = ["Booking"]


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
            raise UsageError("a ledger needs to know which table this is. Name it: table = ... in the schema, or --table.")
        self.table = table
        self.entry: int | None = None
        self._ledger = None if table is None else Ledger.find(ledger)

    def charge(self, budget: Budget, neighbours: Neighbours, unit: str, purpose: str) -> None:
        """Spend a budget, or refuse to; before the first row is read."""
        if self._ledger is not None and self.table is not None:
            ledger = self._ledger
            self.entry = ledger.charge(self.table, neighbours.value, budget.epsilon, budget.delta, purpose, unit)

    def record_holder(self, purpose: str) -> None:
        """Write down, once, that the holder gets exact results; before the first row is read."""
        if self._ledger is not None and self.table is not None and self.entry is None:
            self.entry = self._ledger.record_holder(self.table, purpose)

    def complete(self, digest: str) -> None:
        """Tie the entry to the certificate of what came of it."""
        if self._ledger is not None and self.entry is not None:
            self._ledger.complete(self.entry, digest)

    def in_release(self) -> dict[str, str | int | None] | None:
        """How a certificate names the entry."""
        return None if self.entry is None else {"table": self.table, "entry": self.entry}
