"""Plans are data: shares that add up, steps that cost their share, and words before any row is read."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cloister.kernels import Change, Sensitivity
from cloister.privacy.accounting import gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, Identifiability, PureDP
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.mechanisms import Precision, cut, shares
from cloister.privacy.plan import Plan, make_step
from cloister.schema import Neighbours

ONE = Sensitivity(({"counts": Change(1, 1)},))


@pytest.mark.parametrize("budget", [PureDP(1), Identifiability(rho=0.05, worlds=10_001), ApproxDP(1, 1e-6)], ids=str)
def test_shares_add_up_and_steps_cost_them(budget: Budget) -> None:
    """Named parts of a budget, cut once more, buy steps that together keep the budget and use nearly all of it."""
    parts = shares(budget, {"votes": 13, "sums": 7})
    parts = {**cut(parts["votes"], {"votes 1": 1, "votes 2": 2}), "sums": parts["sums"]}
    steps = [make_step(name, ONE, spend) for name, spend in parts.items()]
    plan = Plan(budget, Neighbours.ADD_REMOVE, tuple(step.event for step in steps))
    assert plan.keeps_budget()
    more = Plan(budget, Neighbours.ADD_REMOVE, (*plan.events, LaplaceEvent("more", Fraction(1, 100))))
    assert not more.keeps_budget()


def test_an_approximate_budget_is_cut_in_precision() -> None:
    """The parts are parts of the one Gaussian precision that epsilon and delta are worth."""
    whole = gaussian_precision(Fraction(1), Fraction(1, 10**6))
    assert shares(ApproxDP(1, 1e-6), {"a": 1, "b": 3}) == {"a": Precision(whole / 4), "b": Precision(whole * 3 / 4)}


def example() -> Plan:
    """A plan of two steps."""
    parts = shares(PureDP(1), {"size": 1, "sums": 3})
    steps = [make_step(name, ONE, spend) for name, spend in parts.items()]
    return Plan(
        PureDP(1),
        Neighbours.ADD_REMOVE,
        tuple(step.event for step in steps),
        {"size": "rows +-6"},
        {"rows": 1000},
        {"noise": "Laplace, since delta = 0"},
    )


def test_a_plan_prints_itself() -> None:
    """What is planned, why, and what each step spends, one line each."""
    assert str(example()).splitlines() == [
        "Plan for epsilon 1, add-remove, per row: rows 1000",
        "  noise: Laplace, since delta = 0",
        "  size  epsilon 0.25  rows +-6",
        "  sums  epsilon 0.75",
    ]


def test_a_plan_as_data() -> None:
    """The same for programs, with the exact spends."""
    data = example().as_dict()
    assert data["budget"] == "epsilon 1"
    assert (data["neighbours"], data["unit"], data["facts"]) == ("add-remove", "row", {"rows": 1000})
    size, sums = data["steps"]
    assert size == {"step": "size", "spend": "epsilon 0.25", "expect": "rows +-6", "kind": "laplace", "epsilon": "1/4"}
    assert sums["epsilon"] == "3/4"
