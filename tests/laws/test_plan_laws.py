"""Laws that hold for every plan."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cloister.clustering.domain import Ball, from_bounds
from cloister.clustering.lloyd import plan_lloyd
from cloister.privacy.accounting import GaussianEvent, LaplaceEvent, delta_of, gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, Identifiability, PureDP, relation
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours


def random_settings(seed: int) -> tuple[Budget, Neighbours, int, int, int]:
    """A budget, a relation, rows, columns and clusters."""
    random = np.random.default_rng(seed)
    epsilon = round(float(10 ** random.uniform(-2, 1.5)), 4)
    budget: Budget = [
        PureDP(epsilon),
        ApproxDP(epsilon, float(10 ** -random.uniform(3, 12))),
        Identifiability(rho=round(float(random.uniform(0.3, 0.99)), 3), worlds=int(random.integers(4, 10_000))),
    ][seed % 3]
    wanted = None if isinstance(budget, Identifiability) else list(Neighbours)[int(random.integers(2))]
    rows, columns = int(10 ** random.uniform(1, 8)), int(random.integers(1, 100))
    return budget, relation(budget, wanted), rows, columns, int(random.integers(1, 100))


def make_plan(seed: int) -> Plan:
    budget, neighbours, rows, columns, clusters = random_settings(seed)
    bounds = Ball(3.0) if seed % 2 else (-1, 2)
    domain = from_bounds([f"x{j}" for j in range(columns)], bounds, "bounds")
    return plan_lloyd(budget, neighbours, domain, clusters, rows)


@pytest.mark.parametrize("seed", range(200))
def test_a_plans_events_stay_within_its_budget(seed: int) -> None:
    """For 200 random settings the events, added up again, keep the budget, and use all but a sliver of it."""
    plan = make_plan(seed)
    assert plan.keeps_budget()
    if plan.budget.delta:
        used = sum(e.precision for e in plan.events if isinstance(e, GaussianEvent))
        whole = gaussian_precision(plan.budget.epsilon, plan.budget.delta)
        assert whole * Fraction(999, 1000) <= used <= whole
    else:
        assert sum(e.epsilon for e in plan.events if isinstance(e, LaplaceEvent)) == plan.budget.epsilon


def test_a_plan_with_a_step_too_many_is_caught() -> None:
    """The law fails when a round is counted twice."""
    plan = make_plan(0)
    assert delta_of([*plan.events, plan.events[-1]], plan.budget.epsilon) > 0
