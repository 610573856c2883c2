"""Plans of synopses and tables keep their budgets and use them up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cloister.clustering.domain import Ball, from_bounds
from cloister.clustering.synopsis.shapes import SHAPES, ShapeOptions, find_shape
from cloister.clustering.terms import Terms
from cloister.privacy.events import delta_of
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.tabulation.tabulate import plan_table
from tests.laws.test_plan_laws import random_settings

KINDS = (*SHAPES, "sparse", "table")


def make_plan(seed: int, kind: str) -> Plan:
    budget, neighbours, rows, columns, _ = random_settings(seed)
    if kind == "table":
        sizes = np.random.default_rng(seed).integers(2, 9, 1 + seed % 4)
        domains = {f"c{i}": [str(value) for value in range(size)] for i, size in enumerate(sizes)}
        measures = [f"m{i}" for i in range(seed % 3)]
        means, quantiles = [f"m{i}" for i in range(seed % 2)], {"q": [0.5, 0.9]} if seed % 4 == 1 else None
        return plan_table(
            [], list(domains), budget, measures=measures, means=means, quantiles=quantiles,
            bounds=dict.fromkeys([*measures, *means, "q"], (0.0, 9.5)), domains=domains,
            margins=[None, True, False][seed % 3], neighbours=neighbours.value,
        )  # fmt: skip
    columns = min(columns, 62)
    domain = from_bounds([f"x{j}" for j in range(columns)], Ball(3.0) if seed % 2 else (-1, 2), "bounds")
    unit = Unit("who", 3) if seed % 4 == 0 and neighbours is Neighbours.ADD_REMOVE else None
    method, threshold = ("uniform-grid", 1 + seed) if kind == "sparse" else (kind, None)
    shape = find_shape(method, ShapeOptions(alpha=f"0.{1 + seed % 9}", threshold=threshold))
    return shape.plan(domain, Terms(budget, neighbours, unit), rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_a_plans_events_stay_within_its_budget(seed: int, kind: str) -> None:
    """For random budgets, relations, units and columns the events keep the budget, and use all but a sliver of it."""
    plan = make_plan(seed, kind)
    assert plan.keeps_budget()
    if plan.budget.delta and kind != "sparse":  # a sparse grid is pure: its delta stays unspent, and it says so
        assert float(plan.budget.delta) * 0.999 <= delta_of(plan.events, plan.budget.epsilon)
    else:
        assert delta_of(plan.events, plan.budget.epsilon * Fraction(999_999, 1_000_000)) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_too_many_is_caught(kind: str) -> None:
    """The law fails when a step is counted twice."""
    plan = make_plan(0, kind)
    assert delta_of([*plan.events, plan.events[-1]], plan.budget.epsilon) > 0
