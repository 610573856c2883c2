"""Private rows by insensitive groups: sound only under replace-one, and honest about their noise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import LedgerError, UsageError
from cloister.testing import seeded_noise

FACTS = {"bounds": {"age": (0, 100), "pay": (0, 1)}, "domains": {"sex": ["f", "m"]}}


def people(count: int) -> pa.Table:
    random = np.random.default_rng(0)
    age = random.uniform(20, 60, count)
    sex = np.where(age > 40, "m", "f")
    return pa.table({"age": age, "pay": random.random(count), "sex": sex})


def model(budget: object = 1, **settings: object) -> cl.PrivateMicrodata:
    return cl.PrivateMicrodata(budget, "insensitive", neighbours="replace-one", **FACTS, **settings)  # type: ignore[arg-type]


def test_each_centroid_is_written_as_often_as_its_group_has_rows() -> None:
    """Ten groups of ten rows, the last with the rest."""
    made = model(k=10).sample(people(105))
    sizes = sorted(count["counts"] for count in made.table["age"].value_counts().to_pylist())
    assert len(made) == 105
    assert sum(sizes) == 105
    assert made.release_.result["groups"] == 10


def test_with_a_huge_budget_the_centroids_are_those_of_the_groups() -> None:
    """As epsilon grows the means are those of rows in the public order; the noise is then below a millionth of a range."""
    table = people(100)
    made = model(10**9, k=50).sample(table)
    whole = np.mean(table["age"].to_numpy())
    assert np.isclose(np.mean(made.table["age"].to_numpy()), whole, atol=1e-3)
    assert set(made.table["sex"].to_pylist()) == {"f", "m"}


def test_add_remove_is_refused() -> None:
    """Groups move with every row before them: nothing is proved for a row more or less."""
    request = cl.PrivateMicrodata(1, "insensitive", **FACTS)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="replace-one"):
        request.plan(1000, ["age", "pay", "sex"])


def test_a_k_that_the_table_cannot_carry_is_refused_before_the_charge(tmp_path: object) -> None:
    """The number of rows is public under replace-one, so it is looked at first."""
    ledger = cl.Ledger(f"sqlite:///{tmp_path}/ledger.sqlite")
    ledger.create("people", "replace-one", 5)
    with pytest.raises(UsageError, match="k is 11, and the table has fewer rows"):
        model(k=11, table="people", ledger=ledger).sample(people(10))
    with pytest.raises(UsageError, match="no rows"):
        model(table="people", ledger=ledger).sample(people(0))
    assert ledger.account("people").epsilon_spent == 0


def test_the_rows_of_an_add_remove_table_are_not_counted(tmp_path: object) -> None:
    """Their number is private there: the ledger refuses before a row is looked at, whatever the call says."""
    ledger = cl.Ledger(f"sqlite:///{tmp_path}/ledger.sqlite")
    ledger.create("people", "add-remove", 5)
    with pytest.raises(UsageError, match="is kept under add-remove"):
        model(k=10**6, table="people", ledger=ledger).sample(people(10))
    with pytest.raises(LedgerError, match="not in the ledger"):
        model(k=10**6, table="others", ledger=ledger).sample(people(10))


@pytest.mark.parametrize("budget", [100, cl.ApproxDP(60, 1e-6)], ids=str)
def test_the_plan_tells_the_noise_that_there_is(budget: object) -> None:
    """The deviation of a mean that the plan names is that of 400 released means, to a quarter (five deviations and more)."""
    bounds = {"age": (-1e6, 1e6), "pay": (-1e6, 1e6)}  # beside which the table is a point
    wide = cl.PrivateMicrodata(
        budget, "insensitive", k=25, neighbours="replace-one", bounds=bounds, domains={"sex": ["f", "m"]}
    )  # fmt: skip
    told = float(wide.plan(1000, ["age", "pay", "sex"]).choices["means"].split()[2])
    with seeded_noise(3):
        means = [mean for _ in range(10) for mean in set(wide.sample(people(1000)).table["pay"].to_pylist())]
    assert len(means) == 400
    assert told < 0.1
    assert 0.8 < np.std(means) / 2e6 / told < 1.25


def test_the_plan_says_where_another_method_is_better() -> None:
    """With small groups the noise is far above a range, and the plan says so before a row is read."""
    plan = model(k=100).plan(30_000, ["age", "pay", "sex"])
    assert "more than a column that is spread evenly varies" in plan.choices["means"]
    assert "clusters" in plan.choices["better"]
    assert "would be best" in plan.choices["group size"]


def test_categories_alone_and_numbers_alone() -> None:
    """Either kind of column is enough."""
    sexes = cl.PrivateMicrodata(1, "insensitive", neighbours="replace-one", domains=FACTS["domains"], columns=["sex"])  # type: ignore[arg-type]
    ages = cl.PrivateMicrodata(1, "insensitive", neighbours="replace-one", bounds=FACTS["bounds"], columns=["age"])  # type: ignore[arg-type]
    assert sexes.sample(people(50)).table.schema.names == ["sex"]
    assert ages.sample(people(50)).table.schema.names == ["age"]
