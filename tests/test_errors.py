"""The sentences of errors that several modules raise are written in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

import cloister
from cloister.errors import BudgetExceeded, Shortfall

EPSILON = Shortfall("epsilon", "0.5", "0.2", "3", is_used_up=False)
NO_EPSILON = Shortfall("epsilon", "0.5", "0", "3", is_used_up=True)
NO_DELTA = Shortfall("delta", "1e-6", "0", "0", is_used_up=True)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            BudgetExceeded.of_table("students", [EPSILON]),
            'this release needs epsilon 0.5, and 0.2 of 3 is left for table "students". Lower epsilon to 0.2 or less.',
        ),
        (
            BudgetExceeded.of_table("students", [NO_EPSILON, NO_DELTA]),
            'this release needs epsilon 0.5, and 0 of 3 is left for table "students"; it needs delta 1e-6, and 0 of 0 is '
            "left. No further private release of this table fits its total. Leave delta out.",
        ),
        (
            BudgetExceeded.of_planned_release("students"),
            'it needs more than is left for table "students". See: cloister ledger show',
        ),
        (
            BudgetExceeded.of_step("votes 1", "epsilon 1"),
            'step "votes 1" would pass the budget of this release, epsilon 1. Nothing was read for it.',
        ),
        (
            BudgetExceeded.of_release("epsilon 1"),
            "the steps of this release add up to more than epsilon 1. Nothing is released.",
        ),
    ],
    ids=["a table", "a table without epsilon and delta", "a dry run", "a step", "a certificate"],
)
def test_what_an_exceeded_budget_says(error: BudgetExceeded, text: str) -> None:
    """What is needed, how much is left, and what to do."""
    assert str(error) == text


def test_no_other_module_words_an_exceeded_budget() -> None:
    """They raise what `BudgetExceeded` makes of amounts."""
    source = Path(cloister.__file__).parent
    wording = [path.name for path in source.rglob("*.py") if "BudgetExceeded(" in path.read_text(encoding="utf-8")]
    assert wording == ["errors.py"]
