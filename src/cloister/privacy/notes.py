"""What a reader of a certificate should know about its guarantee, one sentence each."""

from __future__ import annotations

from cloister.privacy.budgets import Budget
from cloister.schema.unit import Unit

__all__ = ["guarantee_notes", "unit_note"]

LARGE_EPSILON = 5
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
