"""Laws that hold for every plan."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cloister.clustering.domain import Ball, from_bounds, with_categories
from cloister.clustering.methods import find_method
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.encode import Codes
from cloister.microdata.private.request import RowsRequest
from cloister.microdata.private.row_methods import METHODS as ROW_METHODS
from cloister.privacy.budgets import ApproxDP, Budget, Identifiability, PureDP, relation
from cloister.privacy.events import GaussianEvent, LaplaceEvent, SampledEvent, delta_of, total_cost, within
from cloister.privacy.plan import Branch, Plan
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


FORMS: dict[str, dict[str, Any]] = {
    "lloyd halving": {"schedule": "halving"},
    "lloyd dwork-equal, with a stop": {"schedule": "dwork-equal", "tolerance": 0.1},
    "lloyd dwork-halving, with a stop": {"schedule": "dwork-halving", "tolerance": 0.1},
    "lloyd blum": {"schedule": "blum"},
    "lloyd from canopy": {"seeding": "canopy"},
    "lloyd halving from kmeans++, with a stop": {"schedule": "halving", "seeding": "kmeans++", "tolerance": 0.1},
}
PLANS = ("lloyd", "votes", *FORMS)


def make_plan(seed: int, method: str) -> Plan:
    options = FORMS.get(method, {})
    method = method.split()[0]
    budget, neighbours, rows, columns, clusters = random_settings(seed)
    columns = min(columns, 62) if "seeding" in options else columns  # of a tree
    bounds = Ball(3.0) if seed % 2 else (-1, 2)
    names = tuple(f"x{j}" for j in range(columns))
    found = method == "votes" and seed % 5 == 0  # bounds inside the budget
    auto = method == "votes" and seed % 7 == 0  # the number of clusters too
    domain = None if found else from_bounds(names, bounds, "bounds")
    task = Task(names, domain, Terms(budget, neighbours), None if auto else clusters, **options)
    return find_method(method).plan(task, rows)


@pytest.mark.parametrize("method", sorted(PLANS))
@pytest.mark.parametrize("seed", range(200))
def test_a_plans_events_stay_within_its_budget(seed: int, method: str) -> None:
    """For 200 random settings the events, added up again, keep the budget, and use all but a sliver of it."""
    plan = make_plan(seed, method)
    assert plan.keeps_budget()
    if plan.budget.delta and plan.choices.get("noise", "").startswith(
        "Laplace"
    ):  # then all of epsilon is used, and no delta
        assert delta_of(plan.events, plan.budget.epsilon) == 0
        assert delta_of(plan.events, plan.budget.epsilon * Fraction(999_999, 1_000_000)) > 0
    elif plan.budget.delta:
        used = delta_of(plan.events, plan.budget.epsilon)
        rates = [event.rate for event in plan.events if isinstance(event, SampledEvent)]
        if not rates or plan.budget.delta < rates[0] / 1000:  # else the sample's own limit binds first
            assert float(plan.budget.delta) * 0.999 <= used <= float(plan.budget.delta)
    else:
        assert delta_of(plan.events, plan.budget.epsilon * Fraction(999_999, 1_000_000)) > 0


def make_mixed_plan(seed: int, method: str) -> Plan:
    """A plan of k-prototypes, or for some seeds of k-modes."""
    budget, neighbours, rows, columns, clusters = random_settings(seed)
    names = tuple(f"x{j}" for j in range(columns // 5))
    numbers = from_bounds(names, (-1, 2), "bounds") if names else None
    categories = [Codes(f"c{j}", ("a", "b", "c")[: 2 + j % 2]) for j in range(1 + seed % 9)]
    domain = with_categories(numbers, categories, [*names, *(codes.name for codes in categories)])
    auto = method == "votes" and seed % 7 == 0
    gammas = (1,) if not names or seed % 3 else ()
    task = Task(domain.columns, domain, Terms(budget, neighbours), None if auto else clusters, gammas=gammas)
    return find_method(method, "kprototypes").plan(task, rows)


@pytest.mark.parametrize("method", ["lloyd", "votes"])
@pytest.mark.parametrize("seed", range(200))
def test_a_plan_of_prototypes_stays_within_its_budget(seed: int, method: str) -> None:
    """The same for tables with categories."""
    plan = make_mixed_plan(seed, method)
    assert plan.keeps_budget()
    if not any(isinstance(event, SampledEvent) for event in plan.events):  # there the sample's own limit may bind first
        assert not within([*plan.events, plan.events[-1]], plan.budget)
    if not plan.budget.delta:
        assert delta_of(plan.events, plan.budget.epsilon * Fraction(999_999, 1_000_000)) > 0


def make_rows_plan(seed: int, method: str) -> Plan:
    """A plan of private rows; blocks of rows are stable under replace-one alone."""
    budget, neighbours, rows, columns, _ = random_settings(seed)
    if method == "insensitive" and neighbours is Neighbours.ADD_REMOVE:
        neighbours = Neighbours.REPLACE_ONE
    numbers = {f"x{j}": (-1, 2) for j in range(columns // 5)}
    domains = {f"c{j}": ["a", "b", "c"][: 2 + j % 2] for j in range(1 + seed % 9)}
    request = RowsRequest(budget=budget, method=method, bounds=numbers, domains=domains, neighbours=neighbours.value)
    return request.plan(rows, [*numbers, *domains])


@pytest.mark.parametrize("method", ROW_METHODS)
@pytest.mark.parametrize("seed", range(60))
def test_a_plan_of_rows_stays_within_its_budget(seed: int, method: str) -> None:
    """For every way to make private rows the events, added up again, keep the budget; one step more would not."""
    plan = make_rows_plan(seed, method)
    assert plan.keeps_budget()
    if not any(isinstance(event, SampledEvent) for event in plan.events):
        assert not within([*plan.events, plan.events[-1]], plan.budget)
    if not plan.budget.delta:
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


@pytest.mark.parametrize("form", [form for form, options in FORMS.items() if "tolerance" in options])
@pytest.mark.parametrize("seed", range(60))
def test_a_stop_never_changes_the_total(seed: int, form: str) -> None:
    """Wherever the rounds stop, the events cost together exactly what was planned; only pure rounds have another last one."""
    plan = make_plan(seed, form).choose("round", 6)
    whole = total_cost(plan.events)
    assert whole == total_cost(make_plan(seed, form).events)
    for after in range(1, 6):
        stopped = plan.stop("round", after)
        assert total_cost(stopped.events) == whole
        assert stopped.keeps_budget()
        assert (stopped.events == plan.events) == bool(plan.budget.delta)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_last_round_that_takes_too_much_is_caught(seed: int) -> None:
    """The law fails when the last round takes what was spent before the stop, too."""
    plan = make_plan(seed, "lloyd dwork-halving, with a stop").choose("round", 6)
    assert not plan.budget.delta
    branch = next(step for step in plan.steps if isinstance(step, Branch))
    assert isinstance(branch.spend, Fraction)
    greedy = [*plan.stop("round", 2).events[:-1], LaplaceEvent("last round", branch.spend)]
    assert total_cost(greedy) != total_cost(plan.events)
    assert not within(greedy, plan.budget)
