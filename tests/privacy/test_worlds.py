"""Worlds are counted on the columns that are used, from public facts."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

import cloister as cl
from cloister.errors import UsageError, at_shell
from cloister.privacy.budgets import Identifiability
from cloister.privacy.worlds import count_values, settle_worlds
from cloister.schema import Category, Date, Number, Text

AGE, PAY = Number((0, 100), step=1), Number((0, 1), step=1e-4)
LEVEL = Category(("a", "b", "c"))


@pytest.mark.parametrize(
    ("kind", "bounds", "values"),
    [
        (AGE, None, 101),
        (PAY, None, 10_001),
        (AGE, (18, 65), 48),
        (AGE, (17.5, 65.5), 48),
        (AGE, (0.2, 0.8), 0),
        (AGE, (-10, 110), 121),
        (Number(step=2), (1, 9), 4),
        (Number((0, 1)), None, None),
        (Number((0, 1)), (0, 1), None),
        (Number(step=1), None, None),
        (LEVEL, None, 3),
        (Category(("a", "b", "c"), other=True), None, 3),
        (Category(("a",), other=True), None, 2),
        (Category(("a",)), None, 1),
        (Category(), None, None),
        (Category(hierarchy="levels.csv"), None, None),
        (Date((date(2024, 1, 1), date(2024, 12, 31))), None, 366),
        (Text(), None, None),
        (None, None, None),
    ],
)
def test_values_are_counted(kind: Any, bounds: Any, values: int | None) -> None:
    """On the decimals as they were typed; "(other)" is no value among others, and bounds of the user's own count."""
    assert count_values(kind, bounds) == values


def test_the_column_with_the_fewest_values_counts() -> None:
    """One without a count is passed over, and so is one with a single value."""
    kinds = {"pay": PAY, "age": AGE, "free": Number((0, 1)), "note": Text(), "same": Category(("x",)), "x": None}
    budget = settle_worlds(Identifiability(0.05), kinds)
    assert isinstance(budget, Identifiability)
    assert (budget.worlds, budget.column) == (101, "age")
    assert budget == Identifiability(0.05, 101)
    assert 'the 101 values of "age"' in str(budget)


@pytest.mark.parametrize("budget", [cl.PureDP(1), cl.ApproxDP(1, 1e-6), Identifiability(0.05, 50)], ids=repr)
def test_other_budgets_stay_as_they_are(budget: Any) -> None:
    """Stated worlds are never counted again."""
    assert settle_worlds(budget, {"level": LEVEL}) is budget


@pytest.mark.parametrize("kinds", [{}, {"x": None}, {"x": Number((0, 1))}, {"x": Category(("one",))}, {"x": Text()}])
def test_no_countable_column_is_refused(kinds: Any) -> None:
    """With what to describe, or to give."""
    with pytest.raises(UsageError, match=r"no column that is used says how many it has.*worlds=M"):
        settle_worlds(Identifiability(0.05), kinds)
    with at_shell(), pytest.raises(UsageError, match="--worlds M"):
        settle_worlds(Identifiability(0.05), kinds)


@pytest.mark.parametrize("rho", ["0.3", "1/3"])
def test_a_rho_below_a_blind_guess_names_the_column(rho: str) -> None:
    """It is the column with the fewest values that makes it one."""
    with pytest.raises(UsageError, match='column "level" has 3 values'):
        settle_worlds(Identifiability(rho), {"age": AGE, "level": LEVEL})


def test_the_parts_of_a_mixed_table_are_counted_apart() -> None:
    """Numbers and days on one side, categories on the other; a part that states its worlds keeps them."""
    kinds = {"age": AGE, "level": LEVEL, "pay": PAY, "sex": Category(("f", "m", "x", "-"))}
    budget: Any = settle_worlds(Identifiability.mixed(0.05, 0.5), kinds)
    assert (budget.numbers.worlds, budget.categories.worlds) == (101, 3)
    budget = settle_worlds(Identifiability.mixed((0.05, 10_001), 0.5), kinds)
    assert (budget.numbers.worlds, budget.categories.worlds) == (10_001, 3)
    with pytest.raises(UsageError, match="no category that is used"):
        settle_worlds(Identifiability.mixed(0.05, 0.7), {"age": AGE})


def test_more_values_than_worlds_may_have_are_cut() -> None:
    """The finest grid has one value more than the largest number of worlds."""
    budget = settle_worlds(Identifiability(0.05), {"x": Number((0, 10**18), step=1)})
    assert isinstance(budget, Identifiability)
    assert budget.worlds == 10**18
