"""A rho whose worlds are left to the columns: every private verb counts them alike, before the charge, in both interfaces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.clustering.methods import METHODS
from cloister.clustering.request import ClusterRequest
from cloister.clustering.synopsis.request import SynopsisRequest
from cloister.errors import CloisterError
from cloister.microdata.private.request import RowsRequest
from cloister.privacy.ledger import Ledger
from cloister.tabulation.request import TabulationRequest
from cloister.testing import seeded_noise

SCHEMA = cl.Schema.from_text("""
table = "people"
neighbours = "replace-one"
[columns.age]
kind = "number"
bounds = [0, 99]
step = 1
[columns.pay]
kind = "number"
bounds = [0, 1]
step = 0.0001
[columns.height]
kind = "number"
bounds = [0, 2]
[columns.sex]
kind = "category"
domain = ["f", "m"]
other = true
[columns.born]
kind = "date"
bounds = [2000-01-01, 2000-01-31]
""")
ROWS = pa.table(
    {
        "age": np.arange(400) % 90,
        "pay": (np.arange(400) % 100) / 100,
        "height": np.full(400, 1.7),
        "sex": ["f", "m"] * 200,
        "born": [f"2000-01-{1 + i % 31:02d}" for i in range(400)],
    }
)


def clusters(columns: list[str], budget: Any, ledger: Any = None, **settings: Any) -> Any:
    return ClusterRequest(n_clusters=2, columns=columns, budget=budget, schema=SCHEMA, ledger=ledger, **settings).fit(ROWS)


def cells(columns: list[str], budget: Any, ledger: Any = None, **settings: Any) -> Any:
    return SynopsisRequest(columns=columns, budget=budget, schema=SCHEMA, ledger=ledger, **settings).release(ROWS)


def table(columns: list[str], budget: Any, ledger: Any = None, **settings: Any) -> Any:
    return TabulationRequest(columns, budget, schema=SCHEMA, **settings).run(ROWS, ledger=ledger)


def made_up(columns: list[str], budget: Any, ledger: Any = None, **settings: Any) -> Any:
    return RowsRequest(columns=columns, budget=budget, schema=SCHEMA, ledger=ledger, **settings).run(ROWS)


VERBS: dict[str, Callable[..., Any]] = {"cluster": clusters, "synopsis": cells, "tabulate": table, "microdata": made_up}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "replace-one", 50)
    return ledger


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("columns", "worlds", "of"), [(["age", "pay"], 100, "age"), (["pay", "height"], 10_001, "pay")])
def test_the_used_columns_are_counted(verb: str, columns: list[str], worlds: int, of: str, ledger: Ledger) -> None:
    """Not "sex", which the schema has and the release does not use; the certificate and the ledger have what was counted."""
    with seeded_noise(1):
        result = VERBS[verb](columns, cl.Identifiability(0.2), ledger)
    release, stated = result.release_, cl.Identifiability(0.2, worlds)
    assert release.parameters["identifiability"] == {"rho": "0.2", "worlds": worlds, "values_of": of}
    assert (release.guarantee.epsilon, ledger.account("people").epsilon_spent) == (stated.epsilon, stated.epsilon)
    assert any(f"one of {worlds:,} equally likely values" in note for note in release.notes)
    assert release.adds_up()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_follows_the_plan_of_stated_worlds(method: str) -> None:
    """Counted or stated, the steps are the same; a part of the budget for missing values too."""
    counted, stated = (
        ClusterRequest(
            n_clusters=2, columns=["age", "pay"], budget=budget, schema=SCHEMA, method=method, count_missing=True
        ).plan(400, ROWS.column_names)
        for budget in (cl.Identifiability(0.2), cl.Identifiability(0.2, 100))
    )
    assert (counted.events, counted.budget) == (stated.events, stated.budget)
    assert 'the 100 values of "age"' in str(counted)
    assert 'the 100 values of "age"' in counted.as_dict()["budget"]


def test_tables_count_categories_days_and_sums() -> None:
    """The 2 values of a domain, "(other)" aside; 31 days; a number that is summed counts as one that makes cells."""
    for by, measures, worlds in (
        (["sex", "age"], [], 2),
        (["born"], [], 31),
        (["born"], ["age"], 31),
        (["pay"], ["age"], 100),
    ):
        request = TabulationRequest(by, cl.Identifiability(0.6), measures=measures, schema=SCHEMA)
        budget: Any = request.plan(ROWS.column_names).budget
        assert budget.worlds == worlds


def test_bounds_of_the_call_count() -> None:
    """Values that are cut off to them are no worlds: ages from 20 to 29 are ten."""
    request = ClusterRequest(n_clusters=2, columns=["age"], bounds=(20, 29.5), budget=cl.Identifiability(0.5), schema=SCHEMA)
    budget: Any = request.plan(400, ROWS.column_names).budget
    assert budget.worlds == 10
    ball = ClusterRequest(n_clusters=2, columns=["age"], bounds=cl.Ball(20), budget=cl.Identifiability(0.5), schema=SCHEMA)
    of_ball: Any = ball.plan(400, ROWS.column_names).budget
    assert of_ball.worlds == 41  # from -20 to 20: the box around the ball


def test_the_estimator_counts_them_too() -> None:
    """As `cl.KMeans` is used, with its parameters kept as they were given."""
    model = cl.KMeans(2, cl.Identifiability(rho=0.3), columns=["age", "pay"], schema=SCHEMA, table=None)
    assert model.plan(400, names=ROWS.column_names).keeps_budget()
    assert model.get_params()["budget"] == cl.Identifiability(rho=0.3)


def test_a_mixed_table_is_counted_in_two_parts(ledger: Ledger) -> None:
    """Numbers and categories each, and their epsilons add; the certificate has both, and verifies."""
    with seeded_noise(1):
        result = table(["sex", "age"], cl.Identifiability.mixed(0.05, 0.7), ledger)
    stated = cl.Identifiability.mixed((0.05, 100), (0.7, 2))
    assert result.release_.guarantee.epsilon == stated.epsilon == ledger.account("people").epsilon_spent
    assert result.release_.parameters["identifiability"] == {
        "numbers": {"rho": "0.05", "worlds": 100, "values_of": "age"},
        "categories": {"rho": "0.7", "worlds": 2, "values_of": "sex"},
    }
    assert any("their epsilons add up" in note for note in result.release_.notes)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("columns", "budget", "words"),
    [
        (["height"], cl.Identifiability(0.2), "no column that is used"),
        (["age"], cl.Identifiability("0.01"), 'column "age" has 100 values'),
        (["age"], cl.Identifiability.mixed(0.05, 0.7), "no category that is used"),
    ],
    ids=["no countable column", "a blind guess", "no category"],
)
def test_what_cannot_be_counted_is_refused_before_the_charge(
    verb: str, columns: list[str], budget: Any, words: str, ledger: Ledger
) -> None:
    """In one sentence, and nothing is charged."""
    with pytest.raises(CloisterError, match=words):
        VERBS[verb](columns, budget, ledger)
    assert ledger.entries("people") == []


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", "--k", "2", "--columns", "age,pay", "--out", "clusters"],
        ["synopsis", "--columns", "age,pay", "--out", "cells.parquet"],
        ["tabulate", "--by", "age,pay", "--out", "table.json"],
    ],
    ids=lambda words: words[0],
)
def test_the_command_line_counts_the_same(
    words: list[str], tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--rho without --worlds; in the plan and in the certificate, and with --worlds what is given."""
    monkeypatch.chdir(tmp_path)
    csv.write_csv(ROWS, "people.csv")
    Path("people.toml").write_text(SCHEMA.to_toml())
    verb, *rest = words
    command = [verb, "people.csv", "--schema", "people.toml", "--ledger", ledger.place, "--rho", "0.2", *rest, "--json"]
    plan = CliRunner().invoke(app, [*command, "--dry-run"])
    assert 'the 100 values of \\"age\\"' in plan.stdout, plan.output
    assert ledger.entries("people") == []
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["parameters"]["identifiability"] == {"rho": "0.2", "worlds": 100, "values_of": "age"}
    assert ledger.account("people").epsilon_spent == cl.Identifiability(0.2, 100).epsilon
    refused = CliRunner().invoke(app, [*command[:-1], "--worlds", "4"])
    assert refused.exit_code == 2
    assert "rho must lie above 1/4" in refused.output


STAGES = """neighbours = "replace-one"
[columns.stage]
kind = "number"
bounds = [0, 9]
step = 1
[columns.age]
kind = "number"
bounds = [0, 99]
step = 1
"""


def test_narrower_bounds_of_a_call_never_raise_the_epsilon_of_a_rho() -> None:
    """A column whose bounds the call narrows still counts, with the schema's step: in tables, and in a ball."""
    schema = cl.Schema.from_text(STAGES)
    rows = pa.table({"stage": [0, 1, 2, 3] * 100, "age": list(range(100)) * 4})
    rho = cl.Identifiability(0.5)
    for parts in ({"by": ["stage", "age"]}, {"by": ["age"], "measures": ["stage"]}):
        found = [
            cl.tabulate(rows, **parts, budget=rho, schema=schema, bounds=bounds).release_.parameters["identifiability"][
                "worlds"
            ]
            for bounds in (None, {"stage": (0, 3)})
        ]
        assert found == [10, 4]
    worlds = [
        cl.KMeans(2, rho, bounds, columns=["stage", "age"], schema=schema).fit(rows).release_.parameters["identifiability"]
        for bounds in (([0, 0], [4, 4]), cl.Ball(2.0, [2, 2]))
    ]
    assert [each["worlds"] for each in worlds] == [5, 5]
