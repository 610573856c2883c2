"""`choose`: near the truth at large epsilons, sound at small ones, under every budget and relation."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.choosing.choose_privately import plan_choice
from cloister.choosing.private_choice import PrivateChoice, read_choice
from cloister.errors import UsageError
from cloister.privacy.budgets import ApproxDP, Identifiability, PureDP
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency
from cloister.schema import Neighbours
from cloister.testing import seeded_noise
from tests.chisquare import chi_square_ok

DAYS = datetime.date(2000, 1, 1), datetime.date(2029, 12, 31)
AGES = np.random.default_rng(0).integers(18, 90, 4000)
ROWS = pa.table(
    {
        "age": AGES,
        "level": np.array(["bachelor", "master", "master", "doctor"])[np.arange(4000) % 4],
        "born": [datetime.date(2010, 1, 1) + datetime.timedelta(days=int(age)) for age in AGES],
        "who": [f"p{i // 4}" for i in range(4000)],
    }
)
LEVELS = ["bachelor", "master", "doctor"]
SCHEMA = cl.Schema.from_text(
    """
unit = "who"
max_rows = 4
[columns.who]
kind = "text"
role = "identifier"
[columns.age]
kind = "number"
bounds = [0, 99]
step = 1
[columns.level]
kind = "category"
domain = ["bachelor", "master", "doctor"]
other = true
"""
)
HUGE = 10**6  # an epsilon at which noise decides nothing


@pytest.mark.parametrize("quantile", [0.5, "0.25", Fraction(9, 10), "1/3"])
@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_quantile_is_near_its_rank(quantile: Any, relation: Neighbours) -> None:
    """At a huge epsilon the value of the sorted rows at that rank; at epsilon 1 within the ranks that are told."""
    wanted = sorted(AGES.tolist())[int(Fraction(str(quantile)) * 4000)]
    settings = {"quantile": quantile, "bounds": (0, 99), "step": 1, "neighbours": relation}
    assert cl.choose(ROWS, "age", HUGE, **settings).value == pytest.approx(wanted, abs=1)
    made = cl.choose(ROWS, "age", 1, **settings)
    assert isinstance(made.value, int)
    below, up_to = (made.value > AGES).sum(), (made.value >= AGES).sum()
    assert below - 3 * made.within <= float(Fraction(str(quantile))) * 4000 <= up_to + 3 * made.within


def test_the_ranks_that_are_told_hold_as_often_as_is_told() -> None:
    """The rank lies within `within` of the target in far more than 95% of choices; not so for half the noise's worth."""
    settings = {"quantile": 0.5, "bounds": (0, 99), "step": 1}
    rows = pa.table({"age": AGES[:200]})
    ranks = []
    for _ in range(300):
        made = cl.choose(rows, "age", "0.2", **settings)
        below, up_to = (AGES[:200] < made.value).sum(), (AGES[:200] <= made.value).sum()
        ranks.append(max(0, below - 100, 100 - up_to))
    assert (np.array(ranks) > made.within).mean() <= 0.05 + 0.06  # 1e-6 of a binomial of 300 at 0.05
    assert max(ranks) > 2  # there is noise


def test_the_most_common_value_follows_its_law() -> None:
    """P ~ exp(epsilon count) under add-remove: by a chi-square test at 1e-6, which refuses half of that epsilon."""
    rows = pa.table({"level": ["bachelor"] * 3 + ["master"] * 5})
    chosen = [
        LEVELS.index(cl.choose(rows, "level", "0.5", domain=LEVELS).value)
        for _ in range(800)
    ]  # fmt: skip
    weights = np.exp(0.5 * np.array([3, 5, 0]))
    assert chi_square_ok(np.bincount(chosen, minlength=3), weights / weights.sum())
    weights = np.exp(0.25 * np.array([3, 5, 0]))  # planted: what replace-one would be
    assert not chi_square_ok(np.bincount(chosen, minlength=3), weights / weights.sum())


def test_every_kind_of_column_has_a_most_common_value_and_options() -> None:
    """Categories, numbers with a step, days; all values, or some of them."""
    most = int(np.bincount(AGES).argmax())
    day = datetime.date(2010, 1, 1) + datetime.timedelta(days=most)
    assert cl.choose(ROWS, "level", HUGE, domain=LEVELS).value == "master"
    assert cl.choose(ROWS, "level", HUGE, domain=LEVELS, options=["doctor", "bachelor"]).value in ("doctor", "bachelor")
    assert cl.choose(ROWS, "age", HUGE, bounds=(0, 99), step=1).value == most
    assert cl.choose(ROWS, "born", HUGE, bounds=DAYS).value == str(day)
    assert cl.choose(ROWS, "age", HUGE, bounds=(0, 99), options=[0, 50.5, 99]).value == 50.5
    assert cl.choose(ROWS, "age", HUGE, bounds=(0, 99), step=1, options=[1, most], score="count").value == most
    assert cl.choose(ROWS, "age", HUGE, bounds=(0, 99), options=["20", "54", "90"], quantile=0.5).value == 54
    assert cl.choose(ROWS, "born", HUGE, bounds=DAYS, options=["2010-02-20", DAYS[1]]).value == "2010-02-20"


def test_the_nearest_option_is_the_one_with_the_least_sum() -> None:
    """By clipped distances another one can be the nearest than by whole ones."""
    rows = pa.table({"x": [0.0] * 60 + [10.0] * 50 + [100.0] * 20})
    options = [0, 9, 30]
    whole = [sum(abs(x - option) for x in rows["x"].to_pylist()) for option in options]
    clipped = [sum(min(5, abs(x - option)) for x in rows["x"].to_pylist()) for option in options]
    assert whole.index(min(whole)) != clipped.index(min(clipped))
    settings = {"bounds": (0, 100), "step": 1, "options": options}
    assert cl.choose(rows, "x", HUGE, **settings).value == options[whole.index(min(whole))]
    assert cl.choose(rows, "x", HUGE, clip=5, **settings).value == options[clipped.index(min(clipped))]


def test_every_budget_is_spent_as_it_should_be() -> None:
    """Rho is replace-one; a delta is neither needed nor spent, and the certificate says so."""
    settings = {"quantile": 0.5, "bounds": (0, 99), "step": 1}
    rho = cl.choose(ROWS, "age", Identifiability(rho=0.05, worlds=100), **settings).release_
    assert rho.guarantee.neighbours is Neighbours.REPLACE_ONE
    assert rho.parameters["reach"] == 4
    with_delta = cl.choose(ROWS, "age", ApproxDP(1, "1e-6"), **settings).release_
    pure = cl.choose(ROWS, "age", PureDP(1), **settings).release_
    assert with_delta.events == pure.events
    assert with_delta.guarantee == pure.guarantee
    assert pure.guarantee.delta == 0
    assert any("no delta" in note for note in with_delta.notes)
    assert not any("no delta" in note for note in pure.notes)


def test_per_person_the_reach_grows_with_their_rows() -> None:
    """Four rows of a person count, and are paid for."""
    made = cl.choose(ROWS, "age", 1, quantile=0.5, schema=SCHEMA)
    assert made.release_.parameters["reach"] == 4 * 2
    assert "per person" in str(made.release_.guarantee)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_number_of_rows_is_bought_or_public(relation: Neighbours) -> None:
    """A tenth of the budget under add-remove, nothing under replace-one."""
    made = cl.choose(ROWS, "age", 10, quantile=0.5, bounds=(0, 99), count_rows=True, neighbours=relation)
    steps = {event.step: event.cost().epsilon for event in made.release_.events}
    if relation is Neighbours.REPLACE_ONE:
        assert (steps, made.rows, made.rows_error) == ({"choice": 10}, 4000, 0)
    else:
        assert steps == {"size": 1, "choice": 9}
        assert made.rows == pytest.approx(4000, abs=40)
        assert made.rows_error == pytest.approx(1.36, abs=0.1)


NOTHING = {
    "empty": pa.table({"age": pa.array([], pa.float64()), "level": pa.array([], pa.string())}),
    "missing": pa.table({"age": pa.array([None] * 50, pa.float64()), "level": pa.array([None] * 50, pa.string())}),
}


@pytest.mark.parametrize("name", NOTHING)
def test_empty_tables_and_missing_values_get_an_answer_all_the_same(name: str) -> None:
    """Whether there are rows is not told: some candidate is chosen; missing values count as the default."""
    rows = NOTHING[name]
    assert cl.choose(rows, "level", 1, domain=LEVELS).value in LEVELS
    assert 0 <= cl.choose(rows, "age", 1, quantile=0.5, bounds=(0, 99)).value <= 99
    if name == "missing":
        assert cl.choose(rows, "age", HUGE, quantile=0.5, bounds=(0, 90), step=1).value == 45
        assert cl.choose(rows, "level", HUGE, schema=SCHEMA_OF_ROWS).value == "(other)"


SCHEMA_OF_ROWS = cl.Schema.from_text(
    '[columns.level]\nkind = "category"\ndomain = ["bachelor", "master", "doctor"]\nother = true\n'
)


def test_a_grid_of_ten_million_values_is_chosen_from() -> None:
    """Wide gaps are one run each."""
    rows = pa.table({"x": [1234.567] * 30})
    assert cl.choose(rows, "x", 5, quantile=0.5, bounds=(0, 9_999), step=0.001).value == pytest.approx(1234.567)
    spread = {cl.choose(rows, "x", "0.0001", quantile=0.5, bounds=(0, 9_999), step=0.001).value for _ in range(5)}
    assert len(spread) == 5  # nearly all candidates are alike


def test_seeded_choices_are_repeated_and_stamped() -> None:
    """For tests."""
    made = []
    for _ in range(2):
        with seeded_noise(3):
            made.append(cl.choose(ROWS, "age", "0.01", quantile=0.5, bounds=(0, 99)))
    assert made[0].value == made[1].value
    assert "NOT PRIVATE" in made[0].release_.status


def test_a_choice_is_saved_read_and_shown(tmp_path: Path) -> None:
    """Its file is its certificate, in which the choice stands."""
    made = cl.choose(ROWS, "age", 1, quantile=0.5, bounds=(0, 99), step=1)
    made.save(tmp_path / "median.json")
    read = read_choice(tmp_path / "median.json")
    assert isinstance(read, Release)
    assert read.result["value"] == made.value
    assert read.result["nearness"] == made.nearness
    check_consistency(read, tmp_path)
    assert "within 7.5 of the target" in made.nearness
    assert str(made.value) in made._repr_html_()
    assert repr(made) == f"PrivateChoice(age: {made.value}, by rank, within 7.5)"
    with pytest.raises(UsageError, match=r"written as \.json"):
        made.save(tmp_path / "median.csv")
    with pytest.raises(UsageError, match="without a certificate"):
        PrivateChoice("age", "rank", 3, 1.0, "").save(tmp_path / "other.json")


def test_the_plan_tells_what_the_release_tells() -> None:
    """How near the choice will be is known before a row is read."""
    settings = {"quantile": 0.9, "bounds": (0, 99), "step": 1}
    plan = plan_choice(["age"], "age", 1, **settings)
    assert plan.expect["choice"] == cl.choose(ROWS, "age", 1, **settings).nearness
    assert plan.keeps_budget()
    assert "candidates 100" in str(plan)


def test_facts_may_be_a_dict_by_column() -> None:
    """As other verbs take bounds and domains; one that lacks the column is refused by its name."""
    rows = pa.table({"age": [30, 40, 50] * 400, "sex": ["f", "f", "m"] * 400})
    assert cl.choose(rows, "age", budget=50, quantile=0.5, bounds={"age": (0, 99)}, step=1).value == 40
    assert cl.choose(rows, "sex", budget=50, domain={"sex": ["f", "m"]}).value == "f"
    with pytest.raises(UsageError, match='says nothing of column "age"'):
        cl.choose(rows, "age", budget=1, quantile=0.5, bounds={"pay": (0, 9)})
