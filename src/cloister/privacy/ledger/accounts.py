"""What a ledger keeps of each table: an account and its entries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Account", "Entry"]


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
    def epsilon_left(self) -> Fraction:
        """What may still be spent of epsilon."""
        return self.epsilon_total - self.epsilon_spent

    @property
    def delta_left(self) -> Fraction:
        """What may still be spent of delta."""
        return self.delta_total - self.delta_spent


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: a charge, or exact results that were handed to the holder.

    A charge stays ``"charged"`` when its process died before the release; it is spent all the same.
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
