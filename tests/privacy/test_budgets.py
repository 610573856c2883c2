"""Budgets are exact values, and split exactly by name."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.errors import UsageError
from cloister.privacy.budgets import ApproxDP, Identifiability, PureDP, as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.schema import Neighbours


@pytest.mark.parametrize("typed", [0.1, "0.1", np.float64(0.1), Fraction(1, 10)])
def test_a_decimal_is_kept_as_it_was_typed(typed: object) -> None:
    """One tenth stays one tenth, however it is given."""
    assert as_budget(typed).epsilon == Fraction(1, 10)


@pytest.mark.parametrize("wrong", [0, -1, float("inf"), float("nan"), "x", "1e999999999", None, True, [1]])
def test_an_epsilon_that_is_no_positive_number_is_refused(wrong: object) -> None:
    """Nothing but a positive finite number is an epsilon."""
    with pytest.raises(UsageError, match="epsilon must be a positive finite number"):
        PureDP(wrong)  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.decimals("0.001", "50", places=6))
def test_a_split_adds_up_exactly(weights: list[int], epsilon: object) -> None:
    """The parts of a split add up to the whole, to the last digit."""
    budget = PureDP(epsilon)  # type: ignore[arg-type]
    parts = budget.split(**{f"step{i}": weight for i, weight in enumerate(weights)})
    assert sum(parts.values()) == budget.epsilon


def test_parts_are_taken_by_name() -> None:
    """Thirteen to seven is 65% and 35%, and a part that is not there is an attribute error."""
    parts = PureDP(1).split(votes=13, sums=7)
    assert (parts.votes, parts.sums) == (Fraction(13, 20), Fraction(7, 20))
    with pytest.raises(AttributeError):
        _ = parts.counts


@pytest.mark.parametrize("delta", [0, 1, 2, -1])
def test_a_delta_lies_between_zero_and_one(delta: float) -> None:
    """Delta 0 is a pure budget, and delta 1 promises nothing."""
    with pytest.raises(UsageError, match="delta"):
        ApproxDP(1, delta)


def test_rho_is_spent_under_replace_one() -> None:
    """A rho brings its own relation, and refuses a table under add-remove."""
    budget = Identifiability(rho=0.05, worlds=10_001)
    assert relation(budget, None) is Neighbours.REPLACE_ONE
    with pytest.raises(UsageError, match="replace-one"):
        relation(budget, Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("make", [PureDP, lambda text: ApproxDP(1, text)], ids=["epsilon", "delta"])
def test_a_decimal_comma_is_told(make: Callable[[str], object]) -> None:
    """`--epsilon 0,5` said only that a number is wanted."""
    with pytest.raises(UsageError, match=r"Write it with a point: 0\.5\."):
        make("0,5")


@pytest.mark.parametrize("epsilon", ["1000000001", "1e10", "1e400", 10**100])
def test_an_epsilon_beyond_all_sense_is_refused(epsilon: Any, tmp_path: Path) -> None:
    """In one sentence, by budgets and by the ledger; the largest one is taken."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 10**9)
    refused = (
        lambda: PureDP(epsilon),
        lambda: ApproxDP(epsilon, 1e-6),
        lambda: ledger.create("u", "add-remove", epsilon),
        lambda: ledger.charge("t", "add-remove", epsilon, 0, "test"),
    )
    for make in refused:
        with pytest.raises(UsageError, match="at most 1,000,000,000"):
            make()
    assert PureDP(10**9).epsilon == 10**9
    with pytest.raises(UsageError, match="worlds must be at most"):
        Identifiability(0.5, 10**400)


@pytest.mark.parametrize(
    ("rho", "worlds"), [(0.5000000000000001, 2), ("0.50001", 2), ("1e-4", 10_000), ("1.00001e-4", 10_000)]
)
def test_a_rho_next_to_a_blind_guess_is_refused(rho: Any, worlds: int) -> None:
    """Its epsilon is below the smallest one, and may be rounded down to 0, which was divided by."""
    with pytest.raises(UsageError, match=r"rho must lie above|nothing is left but noise. Raise --rho"):
        Identifiability(rho, worlds)


def test_the_smallest_rho_has_the_smallest_epsilon() -> None:
    """0.0001 and a little, as of every budget."""
    assert Fraction(1, 10_000) <= Identifiability("0.500026", 2).epsilon < Fraction(11, 100_000)


def test_an_epsilon_may_be_a_fraction_of_numpy_integers() -> None:
    """It is the same amount, made of Python's: NumPy's have no bit_length, and overflow."""
    epsilon = PureDP(Fraction(np.int64(1), np.int64(3))).epsilon  # type: ignore[call-overload]
    assert epsilon == Fraction(1, 3)
    assert (type(epsilon.numerator), type(epsilon.denominator)) == (int, int)
