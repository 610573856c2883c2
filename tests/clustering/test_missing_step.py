"""How many values were made up can be bought before any method, whether or not anything is missing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.clustering.methods import METHODS
from cloister.clustering.request import ClusterRequest
from cloister.schema import Column, Number, Schema
from cloister.testing import seeded_noise

SCHEMA = Schema((Column("age", Number((0, 100), missing=("?",))), Column("pay", Number((0, 9), decimal=","))))
BUDGETS: dict[str, Any] = {
    "pure": cl.PureDP(20),
    "approximate": cl.ApproxDP(20, 1e-6),
    "rho": cl.Identifiability(rho=0.999, worlds=10_001),
}


def ages(missing: int) -> pa.Table:
    """1,000 rows, of which the first so many have no age."""
    cells = ["?" if i < missing else str(20 + i % 50) for i in range(1_000)]
    return pa.table({"age": cells, "pay": ["1,5", "8,25"] * 500})


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("method", METHODS)
def test_made_up_values_are_counted_before_every_method(method: str, budget: Any) -> None:
    """40% missing ages are counted, with noise, as a step of the plan; the certificate adds up and says how many."""
    request = ClusterRequest(n_clusters=2, budget=budget, schema=SCHEMA, method=method, count_missing=True)
    with seeded_noise(5):
        release = request.fit(ages(400)).release_
    missing = release.result["missing"]
    assert missing["counts"]["age"] == pytest.approx(400, abs=15 * missing["standard_error"])
    assert missing["counts"]["pay"] == pytest.approx(0, abs=15 * missing["standard_error"])
    assert missing["standard_error"] < 15
    assert release.adds_up()
    assert release.events[0].step == "missing"
    assert any("Made-up values, counted with noise" in note for note in release.notes)
    assert release.guarantee.epsilon == budget.epsilon


def test_the_count_is_planned_and_is_there_if_nothing_is_missing() -> None:
    """A plan shows the step and keeps the budget; without missing values the count is bought and noted all the same."""
    request = ClusterRequest(n_clusters=2, budget=1, schema=SCHEMA, count_missing=True)
    plan = request.plan(1_000, ["age", "pay"])
    assert plan.events[0].step == "missing"
    assert plan.keeps_budget()
    release = request.fit(ages(0)).release_
    assert set(release.result["missing"]["counts"]) == {"age", "pay"}
    assert any("Made-up values, counted with noise" in note for note in release.notes)
    assert release.events[0].epsilon == Fraction(1, 20)  # type: ignore[union-attr]


def test_without_it_nothing_is_counted() -> None:
    """By default no budget goes there, and the certificate has no count."""
    release = cl.KMeans(n_clusters=2, schema=SCHEMA).fit(ages(400)).release_
    assert "missing" not in release.result
    assert all(event.step != "missing" for event in release.events)


def test_columns_with_estimated_bounds_are_counted_too() -> None:
    """Where bounds come from the budget, what cannot be read is counted before they are found."""
    made = cl.KMeans(n_clusters=2, budget=50, columns=["age"], count_missing=True)
    release = made.fit(ages(400).to_pydict()).release_  # lists do not say that they hold text
    assert release.result["missing"]["counts"]["age"] == pytest.approx(400, abs=10)
