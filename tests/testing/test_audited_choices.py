"""The exact audit of choices finds every planted bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister.choosing import request as choosing_request
from cloister.choosing.request import ChoiceRequest
from cloister.kernels import scores
from cloister.kernels.scores import Counts, RankDistance, Runs, Scoring, TotalDistance
from cloister.privacy.budgets import PureDP
from cloister.privacy.mechanisms.exponential import Exponential
from cloister.schema import Category, Neighbours, Number, Schema, Text
from cloister.schema.column import Column
from cloister.testing import attack, replay
from cloister.vault import doors

GROUPS = ("red", "green", "blue")
PURE = PureDP("0.1")
SCHEMA = Schema(
    (Column("x", Number((-0.1, 1.1), step=0.01)), Column("group", Category(GROUPS)), Column("who", Text())),
    unit="who",
    max_rows=3,
)


def table(rows: list[tuple[float, str]], who: list[str] | None = None) -> pa.Table:
    return pa.table(
        {
            "x": [row[0] for row in rows],
            "group": [row[1] for row in rows],
            "who": who or [f"p{i}" for i in range(len(rows))],
        }
    )


CROWD = [(0.0, "red")] * 4
ONE_MORE = table([*CROWD, (1.0, "blue")]), table(CROWD)
REPLACED = table([*CROWD, (0.0, "red")]), table([*CROWD, (1.0, "blue")])
PERSON = table([*CROWD, *[(1.0, "blue")] * 3], [*"abcd", *["s"] * 3]), table(CROWD, [*"abcd"])


def choice(column: str, *, per_person: bool = False, relation: str = "add-remove", **facts: Any) -> Callable[[Any], Any]:
    """A choice at epsilon 0.1, at which nearly every candidate has a say."""
    known: dict[str, Any] = {"domain": GROUPS} if column == "group" else {"bounds": (-0.1, 1.1), "step": 0.01}
    where = {"schema": SCHEMA} if per_person else known
    return ChoiceRequest(column, "0.1", neighbours=relation, **where, **facts).run


MEDIAN = choice("x", quantile=0.5)
COMMON = choice("group")


@pytest.mark.parametrize("verb", [MEDIAN, COMMON, choice("x", options=[0, 0.2, 1])], ids=["median", "count", "distance"])
def test_a_sound_choice_holds_and_is_tight(verb: Callable[[Any], Any]) -> None:
    """A row at the other end costs nearly all of the epsilon that is claimed, and no more."""
    found = replay(verb, ONE_MORE)
    assert found.holds, str(found)
    assert found.largest_loss > 0.06
    assert [step.name for step in found.steps] == ["choice"]


def test_a_person_with_three_rows_costs_no_more_than_is_claimed() -> None:
    """All rows of a person are paid for."""
    found = replay(choice("group", per_person=True), PERSON)
    assert found.holds
    assert found.largest_loss > 0.06


def test_counts_under_replace_one_calibrated_as_under_add_remove_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: P ~ exp(epsilon count) where it must be half of that."""
    verb = choice("group", relation="replace-one")
    assert replay(verb, REPLACED).holds
    monkeypatch.setattr(Counts, "reach", lambda self, neighbours: 1)
    assert not replay(verb, REPLACED).holds


def test_ranks_taken_for_counts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: ranks move both ways, and their reach is taken for half of what it is."""
    few = table([*CROWD[:1], (1.0, "blue")]), table(CROWD[:1])
    assert replay(MEDIAN, few).holds
    monkeypatch.setattr(RankDistance, "reach", lambda self, neighbours: max(self.a, self.b - self.a))
    assert not replay(MEDIAN, few).holds


def test_distances_that_are_paid_for_in_part_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a row counts with a tenth of its distance in what is charged, and with all of it in the scores."""
    verb = choice("x", options=[0, 0.5, 1], clip=0.1)
    assert replay(verb, ONE_MORE).holds
    monkeypatch.setattr(TotalDistance, "reach", lambda self, neighbours: self.clip // 10)
    assert not replay(verb, ONE_MORE).holds


def test_a_person_charged_as_a_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: how many rows a person has is forgotten."""
    for module in (doors, choosing_request):
        monkeypatch.setattr(module, "reach_for", lambda score, neighbours, unit: score.reach(neighbours))
    assert not replay(choice("group", per_person=True), PERSON).holds


def test_candidates_from_the_rows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: only values that somebody has are candidates, so that what is chosen shows that they are there."""
    runs = Scoring.runs

    def only_those_with_rows(self: Scoring, keys: Any, counts: Any) -> Runs:
        found = runs(self, keys, counts)
        there = np.isin(found.firsts, keys)
        return Runs(found.firsts[there], found.widths[there], found.gaps[there])

    def chosen(rows: Any) -> Any:
        return choice("x", quantile=0.5)(rows).release_.result["candidate"]

    few = table([(1.0, "blue")] * 2), table([(0.0, "red"), (1.0, "blue")])
    assert attack(chosen, few, PURE, 100).holds
    monkeypatch.setattr(Scoring, "runs", only_those_with_rows)
    monkeypatch.setattr(Exponential, "apply", plain_apply)
    assert not attack(chosen, few, PURE, 100).holds


def plain_apply(self: Exponential, keys: Any, counts: Any) -> int:
    runs = self.scoring.runs(keys, counts)
    return int(runs.firsts[np.argmin(runs.gaps)])


def test_a_choice_of_the_best_is_refuted_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted where no accounting sees it: the best candidate is handed out as it is."""

    def chosen(rows: Any) -> Any:
        return COMMON(rows).release_.result["candidate"]

    tables = table([(0.0, "red")]), table([])
    assert attack(chosen, tables, PURE, 100).holds
    monkeypatch.setattr(Exponential, "apply", plain_apply)
    red_or_blue = table([(0.0, "red"), (0.0, "blue"), (0.0, "blue")]), table([(0.0, "red"), (0.0, "blue")])
    assert not attack(chosen, red_or_blue, PURE, 100).holds


def test_a_reach_belongs_to_the_relation() -> None:
    """Replacing a row costs no more than taking one out and putting one in."""
    for score in (Counts(), RankDistance(1, 2), RankDistance(1, 10), scores.TotalDistance(5, 9)):
        one, two = score.reach(Neighbours.ADD_REMOVE), score.reach(Neighbours.REPLACE_ONE)
        assert one <= two <= 2 * one
