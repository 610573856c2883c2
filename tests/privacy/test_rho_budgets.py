"""Budgets that are stated as a rho: with worlds, without, and for the two parts of a mixed table."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.privacy.budgets import MixedIdentifiability, as_budget, relation
from cloister.privacy.identifiability import rho_from_epsilon
from cloister.schema import Neighbours

HEART = cl.Identifiability.mixed(numbers=(0.05, 10_001), categories=(0.7, 2))


def test_a_rho_without_worlds_has_no_epsilon_yet() -> None:
    """It says what to do where nobody counts them."""
    budget = cl.Identifiability(rho=0.05)
    assert (budget.worlds, budget.is_open) == ("auto", True)
    with pytest.raises(UsageError, match="Give Identifiability"):
        _ = budget.epsilon
    assert relation(budget, None) is Neighbours.REPLACE_ONE


@pytest.mark.parametrize("rho", [1, 1.5, 0, -1, "x", None])
def test_a_rho_that_is_no_probability_is_refused_before_there_are_worlds(rho: Any) -> None:
    """What is wrong whatever the columns are."""
    with pytest.raises(UsageError, match="rho"):
        cl.Identifiability(rho)


@pytest.mark.parametrize("budget", [cl.Identifiability(0.05), cl.Identifiability(0.05, 100), HEART], ids=repr)
def test_a_rho_is_a_value(budget: Any) -> None:
    """It is copied (as scikit-learn's clone does), pickled, compared and hashed like any budget, and reads back from its repr."""
    for again in (copy.deepcopy(budget), pickle.loads(pickle.dumps(budget)), eval(f"cl.{budget!r}")):
        assert again == budget
        assert hash(again) == hash(budget)
    assert as_budget(budget) is budget


def test_the_papers_heart_setting_is_7_11() -> None:
    """Rho 0.05 among 10,001 is 6.2659 and 0.7 among 2 is 0.8473: they add, exactly."""
    assert float(HEART.epsilon) == pytest.approx(6.2659 + 0.8473, abs=1e-4)
    assert HEART.epsilon == HEART.numbers.epsilon + HEART.categories.epsilon
    assert (HEART.delta, relation(HEART, None)) == (0, Neighbours.REPLACE_ONE)
    assert sum(HEART.split(votes=13, sums=7).values()) == HEART.epsilon


def test_the_rho_of_a_mixed_table_bounds_every_column() -> None:
    """It is that of the smaller number of worlds, and neither part's own rho holds: the paper's minimum is 0.05."""
    assert HEART.worlds == 2
    assert float(HEART.rho) == max(HEART.posteriors().values()) == rho_from_epsilon(HEART.epsilon, 2)
    assert HEART.posteriors()["numbers"] == pytest.approx(0.1094, abs=1e-4)
    assert HEART.posteriors()["categories"] == pytest.approx(0.9992, abs=1e-4)


def test_a_part_may_leave_its_worlds_to_the_columns() -> None:
    """A rho alone, or with "auto"."""
    budget = cl.Identifiability.mixed(0.05, (0.7, "auto"))
    assert isinstance(budget, MixedIdentifiability)
    assert budget.is_open
    with pytest.raises(UsageError, match="among how many worlds"):
        _ = budget.worlds


@pytest.mark.parametrize("part", [(0.05,), (0.05, 10, 3), (0.05, 1), (2, 10), "much", None, (None, 3)])
def test_a_part_that_makes_no_sense_is_refused(part: Any) -> None:
    """In one sentence."""
    with pytest.raises(UsageError):
        cl.Identifiability.mixed(numbers=part, categories=(0.7, 2))


def test_add_remove_is_refused_for_both_parts() -> None:
    """As for a rho alone."""
    with pytest.raises(UsageError, match="replace-one"):
        relation(HEART, "add-remove")
    assert Fraction(HEART.rho) < 1
