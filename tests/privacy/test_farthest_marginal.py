"""The choice of a marginal is the exponential mechanism: what it costs, how likely each is, what the vault charges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cloister.encode import Codes, Encoding
from cloister.errors import PlanError, UsageError
from cloister.kernels import Histogram, LowOrderMarginals
from cloister.kernels.base import Summary
from cloister.kernels.low_order import MarginalDistances
from cloister.privacy.budgets import PureDP
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.mechanisms.farthest_marginal import FarthestMarginal
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.testing import seeded_noise
from cloister.vault import Vault

KERNEL = LowOrderMarginals(Histogram((), (2, 2)), ((0,), (1,)))
DISTANCES = MarginalDistances(KERNEL, (np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)), (0, 0))
ENCODING = Encoding((), (Codes("a", ("x", "y")), Codes("b", ("x", "y"))))
ROWS = {"a": ["x"] * 5, "b": ["y"] * 5}
DRAWS = 4000


def summary(first: int, second: int) -> Summary:
    return Summary({"marginal 0": np.array([first, 0]), "marginal 1": np.array([0, second])})


def test_farther_marginals_are_likelier_by_the_exponential_of_their_distance() -> None:
    """Two rows farther at scale 2: e times as likely, within 5 deviations of a count of draws (fails with probability 1e-6)."""
    with seeded_noise(1):
        chosen = sum(FarthestMarginal(DISTANCES, Fraction(2)).apply(summary(5, 3)) == 0 for _ in range(DRAWS))
    likely = np.e / (1 + np.e)
    assert abs(chosen - DRAWS * likely) < 5 * np.sqrt(DRAWS * likely * (1 - likely))
    planted = np.exp(2) / (1 + np.exp(2))  # twice the epsilon would be seen
    assert abs(chosen - DRAWS * planted) > 5 * np.sqrt(DRAWS * planted * (1 - planted))


def test_a_choice_costs_its_reach_over_its_scale() -> None:
    """Exactly; a scale beyond what can be drawn is refused before a charge."""
    assert FarthestMarginal(DISTANCES, Fraction(40)).event("choice 1", 2) == ExponentialEvent("choice 1", Fraction(1, 20))
    with pytest.raises(UsageError, match="Raise epsilon"):
        FarthestMarginal(DISTANCES, Fraction(10**30))


def vault(neighbours: Neighbours = Neighbours.ADD_REMOVE, unit: Unit | None = None) -> Vault:
    data = {**ROWS, "who": ["p", "q", "r", "s", "t"]}
    return Vault.open(data, ENCODING, budget=PureDP(1), neighbours=neighbours, purpose="test", unit=unit)


@pytest.mark.parametrize(
    ("neighbours", "unit", "reach"),
    [(Neighbours.ADD_REMOVE, None, 2), (Neighbours.REPLACE_ONE, None, 4), (Neighbours.ADD_REMOVE, Unit("who", 3), 6)],
    ids=str,
)
def test_the_vault_charges_for_whom_it_protects(neighbours: Neighbours, unit: Unit | None, reach: int) -> None:
    """A choice of scale `reach` costs epsilon 1, all there is; of a smaller scale it is not the planned one."""
    plan = Plan(PureDP(1), neighbours, (ExponentialEvent("choice 1", Fraction(1)),))
    with vault(neighbours, unit) as opened:
        opened.follow(plan)
        assert opened.select_marginal(FarthestMarginal(DISTANCES, Fraction(reach)), "choice 1").value in (0, 1)
        assert opened.release("rows", {}, {}).events == plan.events
    with vault(neighbours, unit) as opened:
        opened.follow(plan)
        dearer = FarthestMarginal(DISTANCES, Fraction(reach) * Fraction(99, 100))
        with pytest.raises(PlanError):
            opened.select_marginal(dearer, "choice 1")
