"""Private rows by clusters: what survives, what the plan says, and what never fails."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import PlanError, UsageError
from cloister.microdata.private.clusters import cluster_rows
from cloister.microdata.private.clusters.cluster_plan import bins_within
from cloister.microdata.private.single_columns.column_marginals import ColumnMarginals
from cloister.privacy.events import Event
from cloister.schema import Category, Column, Date, Number, Schema, Text
from cloister.testing import seeded_noise

FIRST, LAST = datetime.date(1940, 1, 1), datetime.date(2020, 1, 1)
COLUMNS = (
    Column("age", Number(bounds=(0, 120), step=1)),
    Column("gain", Number(bounds=(0, 99_999), step=1)),
    Column("born", Date(bounds=(FIRST, LAST))),
    Column("sex", Category(domain=("f", "m", "x"))),
)
SCHEMA = Schema(COLUMNS)
NAMES = [column.name for column in COLUMNS]
KEPT = 0.05  # what a share may be off by


def people(count: int) -> pa.Table:
    """Women are young, men are old; most have no gain."""
    random = np.random.default_rng(0)
    age = random.integers(20, 80, count)
    return pa.table(
        {
            "age": age,
            "gain": np.where(random.random(count) < 0.9, 0, random.integers(1, 99_999, count)),
            "born": pa.array([FIRST + datetime.timedelta(days=int(365 * (80 - years))) for years in age], pa.date32()),
            "sex": pa.array(np.where(age >= 50, "m", "f").tolist(), pa.string()),
        }
    )


def made(budget: Any, count: int, **settings: Any) -> pa.Table:
    return cl.PrivateMicrodata(budget, **{"schema": SCHEMA, **settings}).sample(people(count)).table


def shares(table: pa.Table) -> np.ndarray:
    """Shares of each column by itself: of women and men, of no gain, of the young and the old, of early births."""
    sex, age = np.array(table["sex"].to_pylist()), table["age"].to_numpy()
    gain, born = table["gain"].to_numpy(), np.array(table["born"].to_pylist(), dtype="datetime64[D]")
    early = born < np.datetime64("1970-01-01")
    return np.array([np.mean(part) for part in (sex == "f", sex == "m", gain == 0, age < 35, age >= 65, early)])


def test_marginals_survive() -> None:
    """Epsilon 2, 8,000 rows: noise of a count has scale 5, of the size 25; 0.05 is 400 rows. By the tails of a few hundred such
    draws (several of which add up) the error rate is below 1e-6."""
    assert np.abs(shares(made(2, 8_000)) - shares(people(8_000))).max() < KEPT


def test_marginals_of_another_column_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug of the test above: the counts of categories in reverse."""
    of = ColumnMarginals.of
    reverse = staticmethod(lambda numbers, categories, *rest: of(numbers, [counts[::-1] for counts in categories], *rest))
    monkeypatch.setattr(cluster_rows.ColumnMarginals, "of", reverse)
    assert np.abs(shares(made(2, 8_000)) - shares(people(8_000))).max() > KEPT


def test_columns_depend_on_each_other_as_in_the_table() -> None:
    """Whoever is below 50 is a woman in the table; of rows with independent columns a half would be so."""
    with seeded_noise(1):
        rows = made(4, 8_000, random_state=1)
        alone = made(4, 8_000, random_state=1, n_clusters=1)

    def agreeing(table: pa.Table) -> float:
        return float(np.mean((table["age"].to_numpy() < 50) == (np.array(table["sex"].to_pylist()) == "f")))

    assert agreeing(rows) > 0.85
    assert agreeing(alone) < 0.6


@pytest.mark.parametrize("budget", [0.001, 1, cl.ApproxDP(1, 1e-6)], ids=str)
@pytest.mark.parametrize("count", [0, 10])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_tiny_tables_and_budgets_give_rows_inside_their_bounds(budget: Any, count: int, neighbours: str) -> None:
    """They are poor rows, and never an error after the charge."""
    table = made(budget, count, neighbours=neighbours)
    assert table.schema.types == [pa.int64(), pa.int64(), pa.date32(), pa.string()]
    assert table.num_rows >= 1
    for name, low, high in [("age", 0, 120), ("gain", 0, 99_999), ("born", FIRST, LAST)]:
        values = table[name].to_pylist()
        assert low <= min(values)
        assert max(values) <= high
    assert set(table["sex"].to_pylist()) <= {"f", "m", "x"}


@pytest.mark.parametrize("columns", [["age"], ["sex"], ["age", "gain"], ["sex", "born"]], ids=" ".join)
def test_numbers_alone_and_categories_alone(columns: list[str]) -> None:
    """Any of the columns, one by itself too, which needs no clusters."""
    model = cl.PrivateMicrodata(1, schema=SCHEMA, columns=columns)
    rows = model.sample(people(500))
    assert rows.table.schema.names == columns
    steps = [event.step for event in rows.release_.events]
    assert ("clusters 1" in steps) == (len(columns) > 1)
    assert ("ranges 1" in steps) == (columns != ["sex"])


def test_as_many_rows_as_the_noisy_size_says() -> None:
    """And as many as there are where the size is public."""
    assert made(1, 321, neighbours="replace-one").num_rows == 321
    private = cl.PrivateMicrodata(1, schema=SCHEMA).sample(people(321))
    assert len(private) == round(private.release_.result["size"])
    assert abs(sum(private.release_.result["cluster_sizes"]) - len(private)) <= private.release_.result["clusters"]


def test_the_number_of_clusters_follows_from_rows_and_budget() -> None:
    """More rows or more budget carry more of them, between 4 and 96; a stated number is kept."""

    def clusters(rows: float, budget: Any, **settings: Any) -> Any:
        return cl.PrivateMicrodata(budget, schema=SCHEMA, **settings).plan(rows, NAMES).facts["clusters"]

    found = [clusters(rows, budget) for rows, budget in [(10, 1), (30_000, 1), (30_000, 2), (10**7, 2)]]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (4, 96)
    assert 4 < found[1] < found[2] < 96
    assert clusters(10, 1, n_clusters=7) == 7


def test_bins_within_clusters_grow_with_the_budget() -> None:
    """Two columns have more of them: each bin needs fewer clusters."""
    assert [bins_within(5, carried) for carried in (1, 50, 100)] == [8, 8, 16]
    assert [bins_within(2, carried) for carried in (1, 50, 100)] == [8, 16, 24]


def test_a_person_with_many_rows_costs_as_many_times_the_noise() -> None:
    """The noise that the plan expects of a count grows with the rows of a person."""
    schema = Schema((Column("who", Text()), *COLUMNS), unit="who", max_rows=10)
    alone, person = (cl.PrivateMicrodata(1, schema=some).plan(1000, ["who", *NAMES]) for some in (SCHEMA, schema))
    noise = [float(plan.expect["marginals"].split("+-")[1].split()[0]) for plan in (alone, person)]
    assert np.isclose(noise[1], 10 * noise[0], rtol=0.02)


def test_too_many_clusters_are_refused_before_the_charge(tmp_path: Path) -> None:
    """What cannot be drawn is known without a row."""
    ledger = cl.Ledger(f"sqlite:///{tmp_path}/ledger.sqlite")
    ledger.create("people", "add-remove", 5)
    with pytest.raises(UsageError, match="n_clusters"):
        made(1, 10, n_clusters=10**6, table="people", ledger=ledger)
    assert ledger.account("people").epsilon_spent == 0


def test_a_step_that_the_plan_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that spends more than its part, as a bug would have it: the vault hands nothing out."""
    measured = cluster_rows.ClusterSteps.measured

    def twice(steps: Any, kernel: Any, spend: Fraction, step: str) -> Any:
        return measured(steps, kernel, 2 * spend if step == "clusters 2" else spend, step)

    monkeypatch.setattr(cluster_rows.ClusterSteps, "measured", twice)
    with pytest.raises(PlanError):
        made(1, 100)


def test_the_plan_does_not_depend_on_what_comes_after_the_size() -> None:
    """Two tables of one public size have the same events, whatever their rows are."""
    model = cl.PrivateMicrodata(1, schema=SCHEMA, neighbours="replace-one")
    table = people(200)
    same = pa.concat_tables([table.slice(0, 1)] * 200)

    def events(rows: pa.Table) -> tuple[Event, ...]:
        return tuple(model.sample(rows).release_.events)

    assert events(table) == events(same)


def test_the_same_seeds_give_the_same_rows() -> None:
    """All that is random is the noise and public chance."""
    with seeded_noise(3):
        first = made(1, 300, random_state=3)
    with seeded_noise(3):
        assert made(1, 300, random_state=3).equals(first)
