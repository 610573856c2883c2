"""What a reader of a certificate should know about its guarantee, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from cloister.privacy.budgets import Budget
from cloister.privacy.ledger.accounts import Receipt
from cloister.schema.numerals import amount_text, label_text
from cloister.schema.unit import Unit

__all__ = [
    "defaults_note",
    "earlier_releases_note",
    "guarantee_notes",
    "missing_counts",
    "missing_note",
    "skipped_notes",
    "unit_note",
]

LARGE_EPSILON = 5
NAMED_TABLES = 3  # that left before; more are counted
MOST_DEFAULTS = 12  # named in a note; the parameters of a certificate list them all
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


def skipped_notes(steps: Sequence[str]) -> tuple[str, ...]:
    """Which steps were charged and not measured; nothing where there are none.

    >>> skipped_notes(["round 3", "round 4"])[0][:58]
    'Charged and not measured: round 3, round 4. What was relea'
    """
    if not steps:
        return ()
    return (f"Charged and not measured: {', '.join(steps)}. What was released before showed that they were not needed.",)


def defaults_note(defaults: Mapping[str, float | str]) -> str:
    """What stands for values that are not there, by column: made-up values that nobody may take for somebody's.

    Privacy: a standing note. It follows from public facts alone, and is there whether or not anything is missing.

    >>> defaults_note({"age": 50.0, "sex": "Female"})[:97]
    'No row is left out: missing and unreadable values of "age" are counted as 50; missing and unseen '
    """
    shown = list(defaults.items())[:MOST_DEFAULTS]
    numbers = [f'of "{name}" are counted as {label_text(value)}' for name, value in shown if not isinstance(value, str)]
    words = [f'of "{name}" are counted as "{value}"' for name, value in shown if isinstance(value, str)]
    parts = [
        f"missing and {what} values {', '.join(named)}"
        for what, named in (("unreadable", numbers), ("unseen", words))
        if named
    ]
    hidden = len(defaults) - len(shown)
    more = f"; {hidden:,} more columns have theirs in the parameters" if hidden else ""
    return (
        f"No row is left out: {'; '.join(parts)}{more}. Such values are made up; this note stands here whether or not there "
        "are any."
    )


def missing_counts(columns: Sequence[str], counts: Iterable[float], deviation: float) -> dict[str, Any]:
    """Released counts of made-up values by column, as a certificate holds them; noise below 0 counts as 0."""
    by_column = {name: max(0.0, float(count)) for name, count in zip(columns, counts, strict=True)}
    return {"counts": by_column, "standard_error": float(f"{deviation:.6g}")}


def missing_note(missing: Mapping[str, Any]) -> str:
    """How many values were made up, as far as was bought; there whether or not any were."""
    counts = [f'{count:,.0f} of "{name}"' for name, count in list(missing["counts"].items())[:MOST_DEFAULTS]]
    hidden = len(missing["counts"]) - len(counts)
    more = f" and those of {hidden:,} columns more in the result" if hidden else ""
    return f"Made-up values, counted with noise (standard error {missing['standard_error']:.3g}): {', '.join(counts)}{more}."


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
