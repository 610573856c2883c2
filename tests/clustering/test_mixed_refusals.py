"""What k-prototypes and k-modes refuse: in one sentence, before a charge, or saying what was charged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError, ReleaseFailed
from cloister.privacy.ledger import Ledger

DATA = pa.table({"age": np.linspace(0, 90, 400), "sex": ["f", "m"] * 200, "name": ["ann"] * 400})
SEXES = {"sex": ["f", "m"]}
FACTS = """
[columns.age]
kind = "number"
bounds = [0, 100]
[columns.sex]
kind = "category"
domain = ["f", "m"]
[columns.town]
kind = "category"
[columns.alone]
kind = "category"
domain = ["x"]
[columns.name]
kind = "text"
[columns.id]
kind = "category"
domain = ["1", "2"]
role = "identifier"
"""
BOTH: dict[str, Any] = {"bounds": (0, 100), "categories": SEXES, "columns": ["age", "sex"]}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(1000), Fraction(1, 10))
    return ledger


REFUSED: dict[str, tuple[type, dict[str, Any], str]] = {
    "gamma 0": (cl.KPrototypes, {**BOTH, "gamma": 0}, "above 0"),
    "a negative gamma": (cl.KPrototypes, {**BOTH, "gamma": -1.0}, "above 0"),
    "an infinite gamma": (cl.KPrototypes, {**BOTH, "gamma": float("inf")}, "above 0"),
    "a gamma that is text": (cl.KPrototypes, {**BOTH, "gamma": "much"}, "above 0"),
    "a gamma that is true": (cl.KPrototypes, {**BOTH, "gamma": True}, "above 0"),
    "a huge gamma": (cl.KPrototypes, {**BOTH, "gamma": 1e6}, "between"),
    "a tiny gamma": (cl.KPrototypes, {**BOTH, "gamma": 1e-15}, "between"),
    "no categories": (cl.KPrototypes, {"bounds": (0, 100), "columns": ["age"]}, "needs category columns"),
    "numbers alone": (cl.KPrototypes, {**BOTH, "columns": ["age"]}, "needs category columns"),
    "categories alone": (cl.KPrototypes, {**BOTH, "columns": ["sex"]}, "KModes"),
    "no bounds": (cl.KPrototypes, {**BOTH, "bounds": None}, "needs the bounds"),
    "a ball": (cl.KPrototypes, {**BOTH, "bounds": cl.Ball(1.0)}, "pair"),
    "a column that is not there": (cl.KPrototypes, {**BOTH, "columns": ["age", "sex", "pay"]}, "pay"),
    "text beside them": (cl.KPrototypes, {"schema": FACTS, "columns": ["age", "sex", "name"]}, "name"),
    "a category without a domain": (cl.KPrototypes, {"schema": FACTS, "columns": ["age", "town"]}, "domain"),
    "a category of one value": (cl.KPrototypes, {"schema": FACTS, "columns": ["age", "alone"]}, "one value"),
    "an identifier": (cl.KModes, {"schema": FACTS, "columns": ["id"]}, "says who a row is about"),
    "numbers in k-modes": (cl.KModes, {"schema": FACTS, "columns": ["age", "sex"]}, "no category"),
    "domains that are no dict": (cl.KModes, {"categories": ["sex"]}, "dict"),
    "a domain that is a text": (cl.KModes, {"categories": {"sex": "fm"}}, "list of texts"),
    "a domain of numbers": (cl.KModes, {"categories": {"sex": [1, 2]}}, "texts only"),
    "an empty domain": (cl.KModes, {"categories": {"sex": []}}, "empty"),
    "a method of k-means": (cl.KModes, {"categories": SEXES, "method": "tree"}, "method"),
    "a schedule of votes": (cl.KModes, {"categories": SEXES, "schedule": "halving"}, "schedule"),
    "another schedule": (cl.KModes, {"categories": SEXES, "method": "lloyd", "schedule": "blum"}, "schedule"),
    "auto clusters of lloyd": (
        cl.KModes,
        {"categories": SEXES, "method": "lloyd", "n_clusters": "auto"},
        "number of clusters",
    ),
    "no clusters": (cl.KModes, {"categories": SEXES, "n_clusters": 0}, "at least 1"),
    "too little to draw noise for": (cl.KPrototypes, {**BOTH, "budget": "1e-300"}, ""),
    "more counts than can be drawn": (
        cl.KModes,
        {"categories": {"sex": [str(i) for i in range(5000)]}, "n_clusters": 4000},
        "Leave out column",
    ),
}


@pytest.mark.parametrize(("estimator", "settings", "words"), REFUSED.values(), ids=REFUSED)
def test_nothing_is_charged_for_what_is_refused(
    estimator: type, settings: dict[str, Any], words: str, ledger: Ledger
) -> None:
    """One sentence that says what to do, and the ledger is as it was."""
    if "schema" in settings:
        settings = {**settings, "schema": cl.Schema.from_text(settings["schema"])}
    given = {"n_clusters": 2, "budget": 1, **settings}
    with pytest.raises(CloisterError) as refusal:
        estimator(table="t", ledger=ledger, **given).fit(DATA)
    assert words in str(refusal.value)
    assert "0.4" not in str(refusal.value)  # no value of a row
    assert ledger.account("t").epsilon_left == 1000


def test_a_rho_has_no_delta_and_more_than_one_world() -> None:
    """Refused where the budget is made."""
    for worlds in (1, 0):
        with pytest.raises(CloisterError):
            cl.Identifiability(rho=0.5, worlds=worlds)
    with pytest.raises(TypeError):
        cl.Identifiability(rho=0.5, worlds=10, delta=1e-6)  # type: ignore[call-arg]


WIDE = {"code": [f"v{i}" for i in range(300)]}


def test_more_categories_than_a_plan_carries_are_refused_from_the_expected_rows() -> None:
    """A plan for few rows says which column, how many it carries, and what to do."""
    model = cl.KModes(2, budget=0.1, categories=WIDE)
    with pytest.raises(CloisterError, match=r'column "code" has 301 categories.* carry .*Group its values'):
        model.plan(500, names=["code"])
    assert model.plan(50_000, names=["code"]).keeps_budget()


def test_more_categories_than_the_noisy_size_carries_say_what_stays_charged(ledger: Ledger) -> None:
    """Without a word of the rows it is known only when their number is bought: the charge stays, and the message says so.

    Fifty clusters need more than 30,000 rows; the noisy number of these 500 has a scale of 500, so that it never passes that.
    """
    data = pa.table({"code": ["v1", "v2"] * 250})
    with pytest.raises(ReleaseFailed, match=r"categories.*charged") as refusal:
        cl.KModes(50, budget=0.1, categories=WIDE, table="t", ledger=ledger).fit(data)
    assert refusal.value.charged is not None
    assert ledger.account("t").epsilon_left == 1000 - Fraction(1, 10)


def test_columns_of_few_values_are_never_refused() -> None:
    """A table that is too small for its budget is answered with noise."""
    assert cl.KModes(2, budget=0.01, categories=SEXES).plan(20, names=["sex"]).keeps_budget()
