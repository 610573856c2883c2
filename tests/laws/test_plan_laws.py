"""Laws that hold for every plan."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cloister.clustering.domain import Ball, from_bounds
from cloister.clustering.methods import find_method
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.privacy.budgets import ApproxDP, Budget, Identifiability, PureDP, relation
from cloister.privacy.events import GaussianEvent, LaplaceEvent, SampledEvent, delta_of, within
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


PLANS = ("lloyd", "votes")


def make_plan(seed: int, method: str) -> Plan:
    budget, neighbours, rows, columns, clusters = random_settings(seed)
    bounds = Ball(3.0) if seed % 2 else (-1, 2)
    names = tuple(f"x{j}" for j in range(columns))
    found = method == "votes" and seed % 5 == 0  # bounds inside the budget
    auto = method == "votes" and seed % 7 == 0  # the number of clusters too
    domain = None if found else from_bounds(names, bounds, "bounds")
    task = Task(names, domain, Terms(budget, neighbours), None if auto else clusters)
    return find_method(method).plan(task, rows)


@pytest.mark.parametrize("method", sorted(PLANS))
@pytest.mark.parametrize("seed", range(200))
def test_a_plans_events_stay_within_its_budget(seed: int, method: str) -> None:
    """For 200 random settings the events, added up again, keep the budget, and use all but a sliver of it."""
    plan = make_plan(seed, method)
    assert plan.keeps_budget()
    if plan.budget.delta:
        used = delta_of(plan.events, plan.budget.epsilon)
        rates = [event.rate for event in plan.events if isinstance(event, SampledEvent)]
        if not rates or plan.budget.delta < rates[0] / 1000:  # else the sample's own limit binds first
            assert float(plan.budget.delta) * 0.999 <= used <= float(plan.budget.delta)
    else:
        assert delta_of(plan.events, plan.budget.epsilon * Fraction(999_999, 1_000_000)) > 0


def test_the_settings_reach_sampled_plans_of_both_kinds() -> None:
    """Among the random settings there are secret samples with Laplace and with Gaussian steps."""
    kinds = {
        type(event.events[0])
        for seed in range(200)
        for event in make_plan(seed, "votes").events
        if isinstance(event, SampledEvent)
    }
    assert kinds == {LaplaceEvent, GaussianEvent}


@pytest.mark.parametrize("method", sorted(PLANS))
@pytest.mark.parametrize("seed", [0, 1])
def test_a_plan_with_a_step_too_many_is_caught(seed: int, method: str) -> None:
    """The law fails when a step is counted twice."""
    plan = make_plan(seed, method)
    assert not within([*plan.events, plan.events[-1]], plan.budget)
