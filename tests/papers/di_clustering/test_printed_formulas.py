"""The formulas of paper 000: values that were computed elsewhere, and the laws that they keep or break."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.papers.di_clustering.composition_rules import believed_twice, three_worlds
from cloister.papers.di_clustering.printed_formulas import (
    composed_in_parallel,
    composed_in_sequence,
    halved_epsilons,
    noise_scale,
    posteriors,
    printed_epsilon,
    printed_operations,
    rho_of,
    scheduled_rhos,
    tight_posterior,
)

ORACLES = [(0.05, 10_001, 6.2659), (0.7, 2, 0.8473), (0.2, 100, 3.2088), (0.05, 1000, 3.9623), (0.1, 32_561, 8.1936)]


@pytest.mark.parametrize(("rho", "worlds", "epsilon"), ORACLES)
def test_rho_is_worth_this_epsilon(rho: float, worlds: int, epsilon: float) -> None:
    """Known values, and the way back."""
    assert printed_epsilon(rho, worlds) == pytest.approx(epsilon, abs=5e-5)
    assert rho_of(printed_epsilon(rho, worlds), worlds) == pytest.approx(rho)


def test_noise_scale_is_theorem_1() -> None:
    """Delta f over the logarithm; nothing at a blind guess, no number above 1."""
    assert noise_scale(10, 0.05, 10_001) == pytest.approx(10 / 6.2659, rel=1e-4)
    assert noise_scale(1, 0.5, 2) == math.inf
    assert math.isnan(noise_scale(1, 3.13, 10_001))


def test_the_printed_schedule_is_no_schedule() -> None:
    """rho_1 = epsilon / 2 is above 1; with the minimum in every round the second has 1/m."""
    assert scheduled_rhos(0.05, 10_001, 1, minimum_from=2)[0] == pytest.approx(3.13295, abs=1e-4)
    assert scheduled_rhos(0.05, 10_001, 3, minimum_from=1) == pytest.approx((0.05, 1 / 10_001, 1 / 10_001))
    assert sum(halved_epsilons(1.0, 10)) < 1


def test_two_outputs_can_give_certainty() -> None:
    """The counterexample: every posterior 1/2, the rule says 3/4, the truth is 1."""
    assert posteriors(three_worlds()).max() == 0.5
    assert composed_in_sequence([0.5, 0.5], 3) == 0.75
    assert believed_twice(three_worlds()).max() == 1.0


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=6), st.integers(2, 10**6))
def test_through_epsilon_the_printed_rule_is_loose_and_true(epsilons: list[float], worlds: int) -> None:
    """m^(n-1) times the product of rhos that come from epsilons is never below what adding epsilons gives."""
    rhos = [rho_of(each, worlds) for each in epsilons]
    assert composed_in_sequence(rhos, worlds) >= tight_posterior(epsilons, worlds) * (1 - 1e-9)


def test_parallel_rule_is_the_minimum() -> None:
    """As printed."""
    assert composed_in_parallel([0.05, 0.7]) == 0.05


def test_an_output_that_no_world_gives_is_believed_by_nobody() -> None:
    """No division by zero."""
    assert posteriors(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]


def test_many_machines_end_at_the_largest_cluster() -> None:
    """T d max(k max n_i, max |U_p|)."""
    assert printed_operations(100, 2, 5, 10, 1, 60) == 100 * 2 * 5 * 10
    assert printed_operations(100, 2, 5, 10, 1000, 60) == 60 * 5 * 10
