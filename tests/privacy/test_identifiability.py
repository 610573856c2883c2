"""Rho and epsilon, both ways, against known answers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.errors import UsageError
from cloister.privacy.budgets import Identifiability
from cloister.privacy.identifiability import epsilon_from_rho, rho_from_epsilon
from cloister.schema import Neighbours

KNOWN = [(0.05, 10_001, 6.2659), (0.7, 2, 0.8473), (0.2, 100, 3.2088), (0.05, 1000, 3.9623), (0.1, 32_561, 8.1936)]


@pytest.mark.parametrize(("rho", "worlds", "epsilon"), KNOWN)
def test_known_epsilons(rho: float, worlds: int, epsilon: float) -> None:
    """The epsilons that were computed independently."""
    assert float(Identifiability(rho, worlds).epsilon) == pytest.approx(epsilon, abs=5e-5)


@given(st.fractions(Fraction(1, 100), Fraction(99, 100)), st.integers(101, 10**6))
def test_there_and_back_never_promises_more(rho: Fraction, worlds: int) -> None:
    """Epsilon is rounded down and rho up, so that the way back gives rho again, to within rounding."""
    assert rho_from_epsilon(epsilon_from_rho(rho, worlds), worlds) == pytest.approx(float(rho), abs=1e-12)


def test_add_remove_epsilon_counts_twice() -> None:
    """Rho 0.05 on add-remove noise is really 0.965."""
    epsilon = epsilon_from_rho(Fraction(1, 20), 10_001)
    assert rho_from_epsilon(epsilon, 10_001, Neighbours.ADD_REMOVE) == pytest.approx(0.965, abs=5e-4)


@pytest.mark.parametrize(("rho", "worlds"), [(0.5, 2), (0.01, 100), (1, 10), (1.5, 10)])
def test_a_rho_outside_its_range_is_refused(rho: float, worlds: int) -> None:
    """Rho lies above a blind guess and below certainty."""
    with pytest.raises(UsageError, match="rho must lie above"):
        Identifiability(rho, worlds)


@pytest.mark.parametrize("worlds", [1, 0, -3, 2.5, True])
def test_fewer_than_two_worlds_are_refused(worlds: object) -> None:
    """There is nothing to hide among fewer than two worlds."""
    with pytest.raises(UsageError, match="at least 2"):
        Identifiability(0.5, worlds)  # type: ignore[arg-type]
