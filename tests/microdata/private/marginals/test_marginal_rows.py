"""Rows by marginals keep the pairs of a table, come from released numbers alone, and are refused before a charge."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister.errors import UsageError
from cloister.microdata.private.marginals import marginal_rows
from cloister.microdata.private.request import RowsRequest
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms import Released
from cloister.schema import Category, Date, Number, Schema, Text
from cloister.schema.column import Column
from cloister.testing import seeded_noise
from cloister.vault import Vault

VALUES = ["a", "b", "c"]
NAMES = ("one", "two", "three", "four", "free")
ROWS = 4000


def chained(rows: int = ROWS, seed: int = 0) -> pa.Table:
    """Four columns, each much like the one before, and a fifth that depends on none."""
    random = np.random.default_rng(seed)
    columns = [random.choice(3, rows, p=[0.6, 0.3, 0.1])]
    for _ in range(3):
        columns.append(np.where(random.random(rows) < 0.8, columns[-1], random.integers(3, size=rows)))
    columns.append(random.integers(3, size=rows))
    return pa.table({name: np.array(VALUES)[column] for name, column in zip(NAMES, columns, strict=True)})


def request(budget: Any = 1, **settings: Any) -> RowsRequest:
    facts: dict[str, Any] = {"domains": dict.fromkeys(NAMES, VALUES), "random_state": 0, **settings}
    return RowsRequest(budget=budget, method="marginals", **facts)


def worst_pair(made: pa.Table, original: pa.Table) -> float:
    """The largest total variation of a pair of columns."""
    found = []
    for pair in combinations(NAMES, 2):
        shares = []
        for table in (made, original):
            texts = [f"{a} {b}" for a, b in zip(*(table[name].to_pylist() for name in pair), strict=True)]
            shares.append(np.array([texts.count(f"{a} {b}") for a in VALUES for b in VALUES]) / table.num_rows)
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(max(found))


@pytest.mark.parametrize("budget", [PureDP(3), ApproxDP(3, 1e-6)], ids=str)
def test_pairs_of_columns_survive(budget: Budget) -> None:
    """With seeded noise, on 4,000 rows: every pair within 0.05, where columns drawn one by one are off by 0.3."""
    original = chained()
    with seeded_noise(3):
        made = request(budget).run(original)
    random = np.random.default_rng(0)
    alone = pa.table({name: random.permutation(original[name].to_numpy(zero_copy_only=False)) for name in NAMES})
    assert worst_pair(made.table, original) < 0.05
    assert worst_pair(alone, original) > 0.3
    assert {frozenset(pair) for pair in combinations(NAMES[:4], 2)} >= {
        frozenset(p) for p in made.release_.result["pairs"][:3]
    }
    assert abs(len(made) - ROWS) < 200


def test_the_plan_has_choices_and_its_rounds_grow_with_the_budget() -> None:
    """Pairs are chosen by pure epsilons beside Gaussian tables; more budget buys more pairs, and none is chosen of all."""
    none, few, some, all_ = (request(ApproxDP(epsilon, 1e-6)).plan(ROWS, NAMES) for epsilon in ("0.005", "0.05", "0.4", "5"))
    counts = [sum(event.step.startswith("pair") for event in plan.events) for plan in (none, few, some, all_)]
    assert counts[0] == 0
    assert counts[1] == len(NAMES) - 1 <= counts[2] <= counts[3] == 10
    assert [sum(isinstance(event, ExponentialEvent) for event in plan.events) for plan in (few, all_)] == [4, 0]


def test_the_model_sees_what_was_released_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another table whose steps are made to release the same values gives the same rows."""
    released: list[Any] = []
    replayed: list[Any] = []
    measure, select, size = Vault.measure, Vault.select_marginal, Vault.size

    def passed(method: Any) -> Any:
        def call(vault: Vault, *args: Any) -> Any:
            value = method(vault, *args)
            if replayed:
                return replayed.pop(0)
            released.append(value)
            return value

        return call

    for name, method in (("measure", measure), ("select_marginal", select)):
        monkeypatch.setattr(Vault, name, passed(method))
    assert size is Vault.size  # it measures, and is seen by that
    with seeded_noise(1):  # at this epsilon some draws leave nothing to choose among
        one = request(ApproxDP("0.05", 1e-6)).run(chained())
    kinds = {type(value.value) for value in released if isinstance(value, Released)}
    assert int in kinds  # a choice was among them
    replayed += released
    other = request(ApproxDP("0.05", 1e-6)).run(chained(seed=9))
    assert not replayed
    assert other.table.equals(one.table)


def test_numbers_and_dates_lie_in_their_bins_on_their_steps() -> None:
    """Whole numbers stay whole and inside their bounds, days are days, and bins keep their shares."""
    random = np.random.default_rng(0)
    ages = random.integers(20, 30, 3000)
    days = [date(2001 + int(year), 6, 1) for year in random.integers(0, 2, 3000)]
    schema = Schema(
        (
            Column("age", Number(bounds=(0, 99), step=1)),
            Column("day", Date(bounds=(date(2000, 1, 1), date(2004, 12, 31)))),
            Column("weight", Number(bounds=(0, 10))),
        )
    )
    data = pa.table({"age": ages, "day": pa.array(days), "weight": random.random(3000) * 2 + 4})
    made = RowsRequest(budget=20, method="marginals", schema=schema, bins={"age": [20, 30]}, random_state=0).run(data).table
    age = made["age"].to_numpy()
    assert age.dtype.kind == "i"
    assert set(np.unique(age)) >= set(range(20, 30))
    assert np.mean((age >= 20) & (age < 30)) > 0.98
    years = np.array([day.year for day in made["day"].to_pylist()])
    assert np.mean((years == 2001) | (years == 2002)) > 0.98
    weight = made["weight"].to_numpy()
    assert np.mean((weight >= 4) & (weight <= 6)) > 0.98


CROWDED = Schema((Column("one", Category(tuple(VALUES))), Column("who", Text())), unit="who", max_rows=10**6)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "10,000 categories": ({"domains": {"one": [f"v{i}" for i in range(10_000)], "two": VALUES}}, "10,000 categories"),
    "one value": ({"domains": {"one": ["a"]}, "columns": ["one"]}, "single value"),
    "many columns": (
        {"domains": {f"c{i}": VALUES for i in range(41)}, "columns": [f"c{i}" for i in range(41)]},
        "41 were given",
    ),
    "many bins": ({"bounds": {"x": (0, 1)}, "bins": {"x": 5000}, "domains": {}}, "5,000 bins"),
    "bins of a category": ({"bins": {"one": 3}}, "which is a category"),
    "bins of another column": ({"bins": {"other": 3}}, "not one of the columns"),
    "people of a million rows each": ({"schema": CROWDED, "domains": {}, "budget": "0.01"}, "off by about .* Raise epsilon"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_before_the_charge(name: str, tmp_path: Path) -> None:
    """One sentence, and the ledger is as it was."""
    settings, words = REFUSED[name]
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(5), Fraction(0))
    before = ledger.account("t")
    data = {column: ["a"] * 20 for column in (*NAMES, "x", "who", *(f"c{i}" for i in range(41)))}
    with pytest.raises(UsageError, match=words):
        request(**{"budget": 1, "table": "t", "ledger": ledger, **settings}).run(data)
    assert ledger.account("t") == before


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_next_to_nobody_give_rows_all_the_same(rows: int) -> None:
    """How many there are is noise; that there are none does not show in an error."""
    made = request("0.5").run(chained(ROWS).slice(0, rows))
    assert len(made) >= 1
    assert made.release_.adds_up()


def test_the_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of more rows than can be held gives fewer, and its certificate says so."""
    monkeypatch.setattr(marginal_rows, "MOST_ROWS", 1000)
    made = request(2).run(chained())
    assert len(made) == 1000
    assert "the most that are made up" in made.release_.parameters["choices"]["rows"]
