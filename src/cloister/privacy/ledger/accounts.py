"""What a ledger keeps of each table: an account and its entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

__all__ = ["RELATIONS", "Account", "CarriedOver", "Entry", "Receipt"]

RELATIONS = ("add-remove", "replace-one")


@dataclass(frozen=True, slots=True)
class Account:
    """What one table may spend and has spent, and how often its holder got exact results.

    Privacy
    -------
    Everything that was released from the table, together, is (`epsilon_spent`, `delta_spent`) differentially
    private under `neighbours`, as long as `holder_uses` results stayed with the holder.
    """

    table: str
    neighbours: str
    epsilon_total: Fraction
    delta_total: Fraction
    epsilon_spent: Fraction
    delta_spent: Fraction
    releases: int
    holder_uses: int
    created: str
    unit: str = ""  # whom the charges protect, set by the first of them: a row, or a person; empty before

    @property
    def totals(self) -> tuple[Fraction, Fraction]:
        """What may be spent in all, of epsilon and of delta."""
        return self.epsilon_total, self.delta_total

    @property
    def epsilon_left(self) -> Fraction:
        """What may still be spent of epsilon."""
        return self.epsilon_total - self.epsilon_spent

    @property
    def delta_left(self) -> Fraction:
        """What may still be spent of delta."""
        return self.delta_total - self.delta_spent

    def unused(self) -> Account:
        """The account as it was opened."""
        return replace(self, epsilon_spent=Fraction(0), delta_spent=Fraction(0), releases=0, holder_uses=0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: a charge, or exact results that were handed to the holder.

    A charge stays ``"charged"`` when its process died before the release; it is spent all the same. A holder's use is
    ``"begun"`` until a table of it is published, and stays so when that was refused or interrupted, or when its results are
    for the holder alone, as risks and labels are.
    """

    id: int
    table: str
    when: str
    kind: str
    purpose: str
    epsilon: Fraction
    delta: Fraction
    status: str
    release_hash: str = ""
    digest: str = ""  # of its record in the ledger's chain


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """What a ledger took over of version 1, in which nothing was signed: its chain vouches for nothing before `when`."""

    when: str
    entries: int
    accounts: tuple[Account, ...]  # as they were then


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a charge or a holder's use is known by, and what was there before it."""

    entry: int
    head: str  # the digest of its record, which was the last one of the chain
    before: Account
    left_before: tuple[Entry, ...] = ()  # tables that left the building without noise
