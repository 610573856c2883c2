"""What can be refused without the rows is refused before the charge, in one sentence."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError, UsageError
from cloister.privacy.budgets import Identifiability
from cloister.privacy.ledger import Ledger

ROWS = pa.table({"age": [1.0, 2.0], "level": ["a", "b"], "born": [datetime.date(2000, 1, 1)] * 2, "name": ["x", "y"]})
SCHEMA = cl.Schema.from_text(
    """
[columns.age]
kind = "number"
bounds = [0, 99]
[columns.level]
kind = "category"
domain = ["a", "b"]
[columns.born]
kind = "date"
bounds = [1990-01-01, 2020-12-31]
[columns.name]
kind = "text"
[columns.unbounded]
kind = "number"
[columns.open]
kind = "category"
"""
)
PERSON = cl.Schema.from_text(
    'unit = "name"\nmax_rows = 3\n[columns.name]\nkind = "text"\n[columns.age]\nkind = "number"\nbounds = [0, 9]\nstep = 1\n'
)

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no budget": ("how much may be revealed", {"column": "age", "budget": None, "quantile": 0.5}),
    "no step": ("has no step", {"column": "age"}),
    "no step for counts of options": ("has no step", {"column": "age", "options": [1, 2], "score": "count"}),
    "no bounds": ("has no bounds", {"column": "unbounded", "quantile": 0.5}),
    "no domain": ("has no domain", {"column": "open"}),
    "text": ("is text, and a choice needs", {"column": "name"}),
    "no such column": ("has no column", {"column": "agee", "quantile": 0.5}),
    "nothing known": ("nothing is known", {"column": "age", "quantile": 0.5, "schema": None}),
    "quantile 0": ("between 0 and 1", {"column": "age", "quantile": 0}),
    "quantile 1": ("between 0 and 1", {"column": "age", "quantile": 1}),
    "quantile of words": ("between 0 and 1", {"column": "age", "quantile": "half"}),
    "quantile of too many digits": ("six decimals", {"column": "age", "quantile": 0.12345678}),
    "quantile of a category": ("has no order", {"column": "level", "quantile": 0.5}),
    "rank without a quantile": ("which quantile", {"column": "age", "step": 1, "score": "rank"}),
    "a quantile by count": ('by "rank"', {"column": "age", "step": 1, "score": "count", "quantile": 0.5}),
    "an unknown score": ("is not known", {"column": "age", "score": "beauty"}),
    "distance without options": ("are of some options", {"column": "age", "step": 1, "score": "distance"}),
    "distance of categories": ("has no distances", {"column": "level", "score": "distance", "options": ["a", "b"]}),
    "one option": ("fewer than two options", {"column": "age", "options": [3]}),
    "no option": ("fewer than two options", {"column": "age", "options": []}),
    "the same twice": ("the same value", {"column": "age", "options": [3, 3.0]}),
    "outside the bounds": ("outside the bounds", {"column": "age", "options": [3, 100]}),
    "no number": ("no number", {"column": "age", "options": [3, "four"]}),
    "not in the domain": ("not in the domain", {"column": "level", "options": ["a", "z"]}),
    "no day": ("no day", {"column": "born", "options": ["2000-01-01", "soon"]}),
    "another day": ("outside the bounds", {"column": "born", "options": ["2000-01-01", "2021-01-01"]}),
    "options of text": ("must be a list", {"column": "level", "options": "ab"}),
    "too many options": ("at most 10,000", {"column": "age", "options": range(10_001)}),
    "one value only": ("nothing to choose", {"column": "level", "domain": ["a"], "schema": None}),
    "too many values": ("at most 10,000,000", {"column": "age", "quantile": 0.5, "step": 1e-6}),
    "a step of a category": ("is none", {"column": "level", "step": 1}),
    "bounds and a domain": ("Which is", {"column": "age", "bounds": (0, 1), "domain": ["a"]}),
    "bounds that are none": ("two numbers", {"column": "age", "quantile": 0.5, "bounds": 5}),
    "a clip of ranks": ("is for the score", {"column": "age", "quantile": 0.5, "clip": 1}),
    "a clip below a step": ("at least one step", {"column": "age", "step": 1, "options": [3, 4], "clip": 0.5}),
    "a clip that is none": ("clip must be a positive", {"column": "age", "options": [3, 4], "clip": -1}),
    "rho under add-remove": (
        "replace-one",
        {"column": "level", "budget": Identifiability(rho=0.5, worlds=10), "neighbours": "add-remove"},
    ),
    "a person under replace-one": (
        "needs add-remove",
        {"column": "age", "quantile": 0.5, "schema": PERSON, "neighbours": "replace-one"},
    ),
    "a flag that is none": ("True or False", {"column": "level", "count_rows": "yes"}),
    "a column that is none": ("column must be a text", {"column": 3}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_charges_nothing(name: str, tmp_path: Path) -> None:
    """One sentence that says what to do, and the ledger is as it was."""
    words, settings = REFUSED[name]
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", settings.get("neighbours", "add-remove"), Fraction(10**6))
    given = {"budget": 1, "schema": SCHEMA, **settings}
    with pytest.raises(CloisterError, match=words) as caught:
        cl.choose(ROWS, table="t", ledger=ledger, **given)
    assert caught.value.exit_code == 2
    assert ledger.account("t").epsilon_spent == 0
    assert "\n" not in str(caught.value)


def test_noise_that_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    """A thousand million rows of a person, at the smallest epsilon and the finest quantile."""
    schema = cl.Schema.from_text(
        'unit = "name"\nmax_rows = 1000000000000\n[columns.name]\nkind = "text"\n'
        '[columns.age]\nkind = "number"\nbounds = [0, 9]\nstep = 1\n'
    )
    with pytest.raises(UsageError, match="larger than can be drawn"):
        cl.choose(ROWS, "age", "0.0001", quantile="0.999999", schema=schema)


def test_a_charge_is_booked(tmp_path: Path) -> None:
    """The ledger holds the epsilon and what it was for; a delta that is not needed is not charged."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", 3)
    made = cl.choose(
        ROWS, "age", cl.ApproxDP("0.5", "1e-6"), quantile=0.5, schema=SCHEMA, table="t", ledger=ledger
    )  # fmt: skip
    account = ledger.account("t")
    assert (account.epsilon_spent, account.delta_spent) == (Fraction(1, 2), 0)
    assert made.release_.ledger["entry"] == 1
    with pytest.raises(CloisterError, match="epsilon"):
        cl.choose(ROWS, "age", 5, quantile=0.5, schema=SCHEMA, table="t", ledger=ledger)


def test_names_of_columns_come_from_the_call() -> None:
    """A list of rows says nothing of its columns."""
    made = cl.choose([[1, "a"], [2, "b"]], "age", 1, quantile=0.5, bounds=(0, 9), step=1, columns=["age", "level"])
    assert 0 <= made.value <= 9
