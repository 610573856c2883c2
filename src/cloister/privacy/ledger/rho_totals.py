"""Totals that were stated as a rho: what of them stands in the chain, and what is left of them as a rho.

The total of an account is its epsilon, whatever it was stated as; that is what charges are compared with. The rho and the
number of worlds stand beside it in the record that opened the account, as facts of their own that no sum depends on. So a
ledger with such totals is one of the same version: whoever does not know these facts reads and verifies the chain as any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.budgets import SMALLEST_EPSILON, Rho
from cloister.privacy.identifiability import check_worlds, largest_rho, rho_from_epsilon
from cloister.privacy.ledger.accounts import Account
from cloister.privacy.ledger.arguments import exact_amount
from cloister.privacy.ledger.chain_records import Record, read_amount
from cloister.schema import Neighbours
from cloister.schema.numerals import Number, exact_number, exact_text

__all__ = ["AccountInRho", "RhoTotal", "accounts_in_rho", "read_rho_totals", "read_total"]


@dataclass(frozen=True, slots=True)
class RhoTotal:
    """The largest posterior, after all releases of a table, of one of so many equally likely worlds."""

    rho: Fraction
    worlds: int

    def facts(self) -> dict[str, Any]:
        """As they stand in the record that opened the account."""
        return {"rho": exact_text(self.rho), "worlds": self.worlds}


def read_total(total: Number | Rho, neighbours: str, delta: Fraction) -> tuple[Fraction, RhoTotal | None]:
    """The epsilon of a total that a user states, and its rho where that is what was stated."""
    if not isinstance(total, Rho):
        return exact_amount(total, "epsilon"), None
    if neighbours != Neighbours.REPLACE_ONE.value:
        raise UsageError('rho bounds replace-one neighbours. Open the account under "replace-one", or give an epsilon.')
    if delta:
        raise UsageError("rho is a guarantee without delta. Drop the delta, or give an epsilon in place of rho.")
    if total.is_open:
        raise UsageError("the total of a table has no columns to count worlds on. Give the number of worlds with its rho.")
    return total.epsilon, RhoTotal(total.rho, int(total.worlds))


def read_rho_totals(records: Sequence[Record]) -> dict[str, RhoTotal]:
    """The totals that were stated as a rho, by table; ValueError and the like for facts that make no sense."""
    totals = {}
    for record in records:
        facts = record.facts() if record.kind == "account" else {}
        if "rho" in facts:
            rho = read_amount(facts["rho"])
            if not 0 < rho < 1:
                raise ValueError("no probability")
            totals[record.table] = RhoTotal(rho, check_worlds(facts["worlds"]))
    return totals


@dataclass(frozen=True, slots=True)
class AccountInRho:
    """What an account says as a rho among so many worlds. Rhos do not add up: odds multiply, and epsilons add.

    Attributes
    ----------
    worlds, total
        As the total was stated, or what it means among the worlds that a reader asks for.
    so_far
        The largest posterior that all charges together allow, rounded up; a blind guess before the first.
    left
        The largest rho of one more release, rounded down; None: none fits any more.
    """

    worlds: int
    total: Fraction
    so_far: Fraction
    left: Fraction | None


def accounts_in_rho(
    accounts: Sequence[Account], totals: Mapping[str, RhoTotal], worlds: int | None = None
) -> dict[str, AccountInRho]:
    """The accounts whose totals were stated as a rho, by table; all of them where a reader asks for `worlds`.

    An account with a delta is never among them: no posterior is bounded then.
    """
    shown = {}
    for account in accounts:
        stated, neighbours = totals.get(account.table), Neighbours(account.neighbours)
        if worlds is not None:
            stated = RhoTotal(largest_rho(account.epsilon_total, worlds, neighbours), worlds)
        if stated is not None and not account.delta_total:
            so_far = exact_number(rho_from_epsilon(account.epsilon_spent, stated.worlds, neighbours))
            fits = account.epsilon_left >= SMALLEST_EPSILON
            left = largest_rho(account.epsilon_left, stated.worlds, neighbours) if fits else None
            shown[account.table] = AccountInRho(stated.worlds, stated.rho, so_far, left)
    return shown
