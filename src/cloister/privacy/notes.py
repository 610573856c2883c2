"""What a reader of a certificate should know about its guarantee, one sentence each."""

from __future__ import annotations

from fractions import Fraction

from cloister.privacy.budgets import Budget
from cloister.privacy.ledger.accounts import Receipt
from cloister.schema.numerals import amount_text
from cloister.schema.unit import Unit

__all__ = ["earlier_releases_note", "guarantee_notes", "unit_note"]

LARGE_EPSILON = 5
NAMED_TABLES = 3  # that left before; more are counted
LARGE_DELTA = 0.1  # times the number of rows: about so many people may be exposed outright


def unit_note(unit: Unit | None) -> str:
    """Whom the guarantee protects."""
    if unit is None:
        return (
            "The guarantee is per row: it protects each row of the table by itself. It protects a person as far as stated "
            "only if no person has more than one row; somebody with g rows is protected at g times this epsilon (and a delta "
            "that grows faster than that)."
        )
    rows = "1 row is" if unit.max_rows == 1 else f"{unit.max_rows:,} rows are"
    return (
        f'The guarantee is per person, as the column "{unit.column}" names people: however many rows somebody has, it protects '
        f"all of them together. At most {rows} used of each person; the others are left out of every number here. Rows "
        "without a name are treated as one person's, so people among them are not protected one by one."
    )


def guarantee_notes(budget: Budget, unit: Unit | None, rows: float | None = None) -> tuple[str, ...]:
    """Whom the guarantee protects, and what a large budget means; `rows`: the released size of the table, if there is one."""
    notes = [unit_note(unit)]
    if rows is not None and float(budget.delta) * rows > LARGE_DELTA:
        notes.append("Delta is large for a table of this size: keep it well below one over the number of rows.")
    if budget.epsilon >= LARGE_EPSILON:
        notes.append(
            f"At an epsilon of {LARGE_EPSILON} or more a fifty-fifty guess about somebody can become near certainty."
        )
    return tuple(notes)


def earlier_releases_note(receipt: Receipt, amounts: tuple[Fraction, Fraction] | None = None) -> tuple[str, ...]:
    """What was released of the same table before, and what it is worth together; nothing where nothing was.

    Parameters
    ----------
    receipt
        Of the charge or of the holder's use.
    amounts
        The epsilon and the delta of this release; None for one without noise.
    """
    notes = []
    if receipt.left_before:
        tables = [f"{entry.purpose} (entry {entry.id})" for entry in receipt.left_before]
        named = ", ".join(tables[:NAMED_TABLES]) + (
            f" and {len(tables) - NAMED_TABLES} more" if tables[NAMED_TABLES:] else ""
        )
        notes.append(
            f"Of the same table this left before, without noise: {named}. No finite epsilon covers everything that left, and "
            "whoever has several of these can lay them side by side."
        )
    epsilon, delta = receipt.before.epsilon_spent, receipt.before.delta_spent
    if epsilon or delta:
        spent = f"Earlier releases of the same table cost {_amounts_text(epsilon, delta)}"
        if amounts is None:
            notes.append(f"{spent}; with this one no finite epsilon covers everything that left.")
        else:
            together = _amounts_text(epsilon + amounts[0], delta + amounts[1])
            notes.append(f"{spent}; what was charged adds up to {together} with this one.")
    return tuple(notes)


def _amounts_text(epsilon: Fraction, delta: Fraction) -> str:
    return f"epsilon {amount_text(epsilon)}" + (f" and delta {amount_text(delta)}" if delta else "")
