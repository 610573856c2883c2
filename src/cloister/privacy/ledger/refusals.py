"""Why a ledger refuses a charge, and what to do about it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cloister.errors import Shortfall, UsageError, by_door
from cloister.privacy.identifiability import largest_rho
from cloister.privacy.ledger.accounts import RELATIONS, Account
from cloister.schema.numerals import is_short_decimal, short_decimal

__all__ = ["check_sum", "list_tables", "refuse_relation", "shortfalls", "way_out", "without_total"]

MOST_SUM_BITS = 2048  # of the denominator of what was spent; what a ledger reads back is far longer
MOST_SHOWN = 5  # names of tables in a message


def list_tables(tables: list[str]) -> str:
    """The tables of a ledger in words, so that a slip in a name is seen."""
    shown = [f'"{table}"' for table in tables[:MOST_SHOWN]]
    if len(tables) > MOST_SHOWN:
        return f"{', '.join(shown)} and {len(tables) - MOST_SHOWN:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]])) or "no table yet"


def shortfalls(account: Account, epsilon: Fraction, delta: Fraction, worlds: int | None) -> Iterator[Shortfall]:
    """Of what a charge needs more than the account has left."""
    amounts = (
        ("epsilon", epsilon, account.epsilon_left, account.epsilon_total),
        ("delta", delta, account.delta_left, account.delta_total),
    )
    for parameter, needed, left, total in amounts:
        if needed > left:
            # What is needed is rounded up and what is left down, so that the two never look alike.
            shown = short_decimal(needed, up=True), short_decimal(left), short_decimal(total)
            rho = None if worlds is None or left <= 0 else short_decimal(largest_rho(left, worlds))
            yield Shortfall(parameter, *shown, is_used_up=left <= 0, rho=rho)


def check_sum(spent: Fraction, amount: Fraction, word: str) -> None:
    """Refuse a fraction that would make an exact sum grow without end; a decimal of a few places always fits."""
    if (spent + amount).denominator.bit_length() > MOST_SUM_BITS and not is_short_decimal(amount):
        raise UsageError(
            f"the {word} of this release is a fraction that has no short exact sum with what the table was charged before. "
            f"Round it up to a decimal such as {short_decimal(amount, up=True)}."
        )


def way_out(kept: str, unit: str) -> str:
    """What to do about a release under another relation than the one that an account is kept under."""
    if kept == RELATIONS[0]:
        return "Give --epsilon, not --rho, and no --neighbours, or keep another account for it."
    if unit != "row":  # per person is add-remove only
        return "Keep another account for it."
    return "Give --neighbours replace-one, or --rho, or keep another account for it."


def without_total() -> str:
    """What a holder may do about a table that is not in the ledger: risks and k-anonymous tables are recorded, not charged."""
    named = by_door("table=", "--table")
    return f" (this takes nothing of that total, which private releases spend); or drop table from the schema, and {named}."


def refuse_relation(account: Account, neighbours: str, unit: str) -> None:
    """Refuse a release under another relation than the one that an account is kept under."""
    if account.neighbours != neighbours:
        raise UsageError(
            f'this release is under {neighbours} neighbours, and the account of table "{account.table}" is kept under '
            f"{account.neighbours}. {way_out(account.neighbours, unit)}"
        )
