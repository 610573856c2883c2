"""Quantiles in cells and margins: what they are, how far they may be off, and where there is none."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.cli.tabulate import read_quantiles
from cloister.errors import UsageError
from cloister.privacy.certificate_figures import find_contradiction
from cloister.schema import Category, Column, Number, Schema
from cloister.tabulation.cell_quantiles import fit_ranks
from cloister.tabulation.quantile_bins import bin_quantiles
from cloister.tabulation.tabulate import plan_table

RANDOM = np.random.default_rng(1)
GROUPS = np.array(["a"] * 600 + ["b"] * 300)
AGES = np.clip(np.rint(RANDOM.normal(40, 15, 900)), 0, 100)
PAY = np.clip(RANDOM.lognormal(10, 0.6, 900), 0, 200_000)
ROWS = pa.table({"c": GROUPS, "age": AGES, "pay": PAY, "who": [f"p{i // 3}" for i in range(900)]})
SCHEMA = Schema(
    (
        Column("c", Category(("a", "b", "empty"))),
        Column("age", Number((0, 100), step=1)),
        Column("pay", Number((0, 200_000))),
    )
)


def table(budget: object, **terms: Any) -> list[dict[str, Any]]:
    return list(cl.tabulate(ROWS, ["c"], budget, schema=SCHEMA, **terms).rows())


def chosen(group: str) -> Any:
    return slice(None) if group == "*" else group == GROUPS


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_quantiles_become_exact_as_epsilon_grows(neighbours: str) -> None:
    """A number with few values gives values of it, another lies within its bin; in cells and in the total."""
    wanted = {"age": [0.25, 0.5], "pay": 0.9}
    rows = table(1e6, quantiles=wanted, neighbours=neighbours)
    for row in (rows[0], rows[1], rows[3]):
        ages, pay = AGES[chosen(row["c"])], PAY[chosen(row["c"])]
        assert row["quantile 0.25 of age"] == np.quantile(ages, 0.25, method="inverted_cdf")
        assert row["median of age"] == np.quantile(ages, 0.5, method="inverted_cdf")
        assert row["quantile 0.9 of pay"] == pytest.approx(np.quantile(pay, 0.9), abs=200_000 / 256)
        assert row["low of quantile 0.9 of pay"] <= row["quantile 0.9 of pay"] <= row["high of quantile 0.9 of pay"]
    assert rows[2]["median of age"] is rows[2]["low of median of age"] is None


def hits(narrowing: float, budget: object = 1, releases: int = 60) -> float:
    """How often an interval, drawn together by this factor around its middle, holds the true quantile."""
    found = []
    for _ in range(releases):
        for row in table(budget, quantiles={"age": [0.3], "pay": [0.5, 0.8]}):
            if row["c"] == "empty":
                continue
            for name, values, at in (("age", AGES, 0.3), ("pay", PAY, 0.5), ("pay", PAY, 0.8)):
                head = f"median of {name}" if at == 0.5 else f"quantile {at} of {name}"
                low, high = row[f"low of {head}"], row[f"high of {head}"]
                middle, reach = (low + high) / 2, (high - low) / 2 * narrowing
                true = np.quantile(values[chosen(row["c"])], at, method="inverted_cdf")
                found.append(middle - reach <= true <= middle + reach)
    return float(np.mean(found))


@pytest.mark.parametrize("budget", [1, cl.ApproxDP(1, 1e-6)], ids=["laplace", "gaussian"])
def test_intervals_of_quantiles_hold(budget: object) -> None:
    """At 95% or more, over 60 releases of two cells and two numbers with noise of their own each, a rate below 88% has a chance
    of less than a millionth."""
    assert hits(1.0, budget) > 0.88


def test_intervals_of_quantiles_that_are_too_narrow_are_caught() -> None:
    """Planted bug: a third of the width fails the same check."""
    assert hits(1 / 3, releases=20) < 0.88


def test_all_quantiles_of_a_number_cost_as_much_as_one() -> None:
    """The counts are as well known beside four quantiles as beside one, and quantiles rise."""
    one = cl.tabulate(ROWS, ["c"], 1, schema=SCHEMA, quantiles={"age": 0.5})
    many = cl.tabulate(ROWS, ["c"], 1, schema=SCHEMA, quantiles={"age": [0.1, 0.4, 0.5, 0.9]})
    assert many.errors == one.errors
    first = next(many.rows())
    found = [first[name] for name in many.heads if name.endswith("of age") and name.startswith(("quantile", "median"))]
    assert found == sorted(found)
    assert len(found) == 4


def test_a_plan_says_how_far_ranks_may_be_off_and_spends_all_of_its_budget() -> None:
    """Before a row is read; the certificate names quantiles and bins."""
    plan = plan_table(["c", "age"], ["c"], 1, schema=SCHEMA, quantiles={"age": 0.5})
    assert "quantiles of age up to +-" in plan.expect["table"]
    assert plan.keeps_budget()
    made = cl.tabulate(ROWS, ["c"], 1, schema=SCHEMA, quantiles={"age": 0.5}).release
    assert made is not None
    assert made.events == plan.events
    assert made.parameters["quantiles"] == {"age": {"quantiles": [0.5], "bins": 101}}


def test_a_person_with_many_rows_costs_more_noise() -> None:
    """Per person: with at most three rows each, the noise of ranks is that of three."""
    person = Schema((*(SCHEMA[name] for name in ("c", "age")), Column("who", Category(None))), unit="who", max_rows=3)
    rows = list(cl.tabulate(ROWS, ["c"], 3e6, schema=person, quantiles={"age": 0.5}).rows())
    assert rows[0]["median of age"] == np.median(AGES[chosen("a")])
    wide = plan_table(["c", "age", "who"], ["c"], 1, schema=person, quantiles={"age": 0.5}).expect["table"]
    narrow = plan_table(["c", "age"], ["c"], 1, schema=SCHEMA, quantiles={"age": 0.5}).expect["table"]
    ranks = [float(text.split("+-")[-1].split()[0]) for text in (wide, narrow)]
    assert ranks[0] == pytest.approx(3 * ranks[1], rel=0.05)


def test_ranks_are_fitted_by_least_squares() -> None:
    """Exact counts come back exactly, and two levels have smaller errors of ranks than the fine one alone at the same noise."""
    bins = bin_quantiles("pay", Number((0, 1)), [0.5], ())
    assert bins.levels.widths == (16, 1)
    fit = fit_ranks(bins.levels, (8.0, 8.0), 2.0)
    counts = np.arange(256.0)
    known = np.concatenate([counts.reshape(16, 16).sum(axis=1), counts, [counts.sum()]])
    assert np.allclose(fit.weights @ known, counts)
    assert fit.rank_errors(0.5).max() < 0.6 * fit_ranks(bins.levels, (1e9, 8.0), 2.0).rank_errors(0.5).max()


def test_quantiles_of_the_cells_own_column_and_of_missing_values() -> None:
    """What a missing value counts as is the same in the cells and in the quantiles."""
    rows = {"age": [None, "?", 7, 7, 7]}
    made = list(cl.tabulate(rows, ["age"], 1e6, schema=SCHEMA, quantiles={"age": 0.99}, bins={"age": 2}).rows())
    assert [(row["count"], row["quantile 0.99 of age"]) for row in made] == [(3, 7), (2, 50), (5, 50)]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"quantiles": {"age": 0}}, "between 0 and 1"),
        ({"quantiles": {"age": []}}, "between 0 and 1"),
        ({"quantiles": {"age": [0.5, 0.5]}}, "different numbers"),
        ({"quantiles": {"age": "half"}}, "between 0 and 1"),
        ({"quantiles": {"age": True}}, "between 0 and 1"),
        ({"quantiles": {"age": float("nan")}}, "between 0 and 1"),
        ({"quantiles": {"age": [i / 100 for i in range(1, 50)]}}, "at most 20"),
        ({"quantiles": ["age"]}, "quantiles"),
        ({"quantiles": {"c": 0.5}}, "number with public bounds"),
        ({"quantiles": {"town": 0.5}}, "no column"),
        ({"by": ["age", "pay"], "bins": {"pay": 2000}, "quantiles": {"age": 0.5}}, "noisy counts, and at most 1,048,576"),
    ],
)
def test_faults_of_quantiles_are_told(terms: dict[str, Any], message: str) -> None:
    """In one sentence, before anything is charged."""
    with pytest.raises(UsageError, match=message):
        cl.tabulate(ROWS, **{"by": ["c"], "budget": 1, "schema": SCHEMA, **terms})


def test_quantiles_on_the_command_line() -> None:
    """A flag for each column; a median needs the name alone."""
    assert read_quantiles(["pay=0.25,0.75", "a=b=0.1"], ["pay", "age"]) == {
        "pay": [0.25, 0.75, 0.5],
        "a=b": [0.1],
        "age": [0.5],
    }
    for text in ("pay", "=0.5", "pay=", "pay=half"):
        with pytest.raises(UsageError, match="--quantiles takes one column"):
            read_quantiles([text], [])


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"quantiles": {"age": {"quantiles": [0.9, 0.5], "bins": 101}}}},
        {"parameters": {"quantiles": {"age": {"quantiles": [1.5], "bins": 101}}}},
        {"parameters": {"quantiles": {"age": {"quantiles": [0.5], "bins": 0}}}},
        {"result": {"total": -3}},
    ],
)
def test_figures_that_no_table_has_are_found(change: dict[str, Any]) -> None:
    """Quantiles outside 0 and 1, without bins, or a negative total: one of them was changed."""
    made = cl.tabulate(ROWS, ["c"], 1, schema=SCHEMA, quantiles={"age": 0.5}).release
    assert made is not None
    assert find_contradiction(made) is None
    assert find_contradiction(dataclasses.replace(made, **change)) is not None
