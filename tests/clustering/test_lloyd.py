"""Private Lloyd: its schedules, its stop and its starts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import cloister as cl
from cloister.clustering.domain import from_bounds
from cloister.clustering.lloyd import count_and_sum_weights, number_of_rounds, rounds_of
from cloister.clustering.lloyd_start import LLOYD_SEEDINGS, find_start
from cloister.clustering.schedules import SCHEDULES, parts_of
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.kernels import Summary
from cloister.privacy.budgets import Budget
from cloister.privacy.mechanisms import add_noise
from cloister.privacy.round_parts import halving_parts
from cloister.schema import Neighbours
from cloister.testing import audit, seeded_noise
from tests.clustering.synopsis.test_synopsis import MIDDLES, heaps

RHO = cl.Identifiability(rho="0.05", worlds=10_001)
BUDGETS = {"pure": cl.PureDP(4), "approx": cl.ApproxDP(4, 1e-6), "rho": RHO}
DRAWS = 40_000
SURE = 5.3  # standard errors: in four rounds passed by chance with a probability of 5e-7


def lloyd(**options: Any) -> cl.KMeans:
    return cl.KMeans(**{"n_clusters": 3, "budget": 4.0, "bounds": (0, 1), "method": "lloyd", "random_state": 0, **options})


def finds_heaps(model: cl.KMeans) -> bool:
    gaps = ((model.cluster_centers_[:, None] - MIDDLES[None]) ** 2).sum(2)
    return bool((gaps.min(axis=0) < 0.01).all())


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_finds_heaps(schedule: str, budget: Budget) -> None:
    """From cells, under every kind of budget; the release adds up and names the schedule."""
    model = lloyd(schedule=schedule, seeding="kmeans++", budget=budget).fit(heaps())
    assert finds_heaps(model)
    assert model.release_.adds_up()
    assert model.release_.parameters["choices"]["schedule"].startswith(schedule)


@pytest.mark.parametrize("seeding", LLOYD_SEEDINGS)
def test_every_start_says_what_it_is(seeding: str) -> None:
    """Cells are bought for a third of the budget, a packing is public; both are named. The loss has 2%."""
    release = lloyd(seeding=seeding).fit(heaps()).release_
    steps = [event.step for event in release.events]
    assert (
        steps[: (1 if seeding == "packing" else 3)] == ["size", "level 1", "level 2"][: (1 if seeding == "packing" else 3)]
    )
    rounds = sum(event.cost().epsilon for event in release.events if event.step.startswith("round"))
    assert rounds == 4 * (Fraction(49, 50) ** 2 if seeding == "packing" else Fraction(2, 3) - Fraction(1, 50))
    assert release.parameters["choices"]["start"].startswith(seeding)


@pytest.mark.parametrize("seeding", [seeding for seeding in LLOYD_SEEDINGS if seeding != "packing"])
def test_cells_are_a_better_start_than_a_packing(seeding: str) -> None:
    """Every seeding of released cells leads Lloyd to the heaps, and can count them."""
    assert finds_heaps(lloyd(seeding=seeding).fit(heaps()))
    assert 2 <= len(lloyd(seeding=seeding, n_clusters="auto").fit(heaps()).cluster_centers_) <= 6


def test_ten_columns_start_from_a_tree() -> None:
    """Beyond three columns the cells are those of a tree."""
    release = lloyd(seeding="canopy").fit(heaps(4000, 10)).release_
    assert "a synopsis (tree)" in release.parameters["choices"]["start"]
    assert release.adds_up()


def test_what_is_left_out_is_the_default_by_name() -> None:
    """The method's own seeding and schedule, written out, give the same numbers; so does a tolerance that is never met."""
    centers = []
    for options in ({}, {"seeding": "packing", "schedule": "equal"}, {"tolerance": 1e-9}):
        with seeded_noise(7):
            centers.append(lloyd(**options).fit(heaps(800)).cluster_centers_)
    assert np.array_equal(centers[0], centers[1])
    assert np.array_equal(centers[0], centers[2])


@pytest.mark.parametrize("scale", ["bounds", None])
def test_the_tolerance_is_in_reported_units(scale: str | None) -> None:
    """Column widths, or the data's own units: moves of a table that is a thousand times as wide are a thousand times as long."""
    rows = heaps(4000) * 1000
    kept = lloyd(bounds=(0, 1000), scale=scale, tolerance=0.9, max_iter=5, budget=1e6)
    with seeded_noise(3):
        made = kept.fit(rows)
    assert (made.n_iter_ == 2) == (scale == "bounds")  # a first move of hundreds of units is less than 0.9 of a width


def test_a_stop_comes_when_the_centres_have_settled() -> None:
    """With next to no noise Lloyd settles within a few rounds, and its last round takes the epsilon of the others."""
    made = lloyd(seeding="kmeans++", tolerance=0.01, max_iter=20, budget=1e6).fit(heaps())
    assert finds_heaps(made)
    assert made.n_iter_ < 10
    words = made.release_.parameters["choices"]["stopped"]
    assert "in which no centre moved as far as 0.01; last round took the epsilon of round" in words
    assert [event.step for event in made.release_.events[-2:]] == ["last round", "loss"]


def task(budget: Budget, neighbours: Neighbours, columns: int = 4, **options: Any) -> Task:
    names = tuple(f"x{j}" for j in range(columns))
    return Task(names, from_bounds(names, (0, 1), "bounds"), Terms(budget, neighbours), 3, **options)


def printed_scale(columns: int, epsilon: float, part: Fraction, split: dict[str, str]) -> float:
    """Delta f / ln((m - 1) rho_i / (1 - rho_i)), in column widths, for sums of rows that are replaced in a centred unit cube.

    A row moves d sums by at most a width each; epsilon_i is the part of the round that its sums have.
    """
    weights = {name: float(weight) for name, weight in split.items()}
    return columns / (epsilon * float(part) * weights["sums"] / sum(weights.values()))


@pytest.mark.parametrize("rho", ["0.001", "0.01", "0.1", "0.3"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_noise_of_every_round_is_that_of_the_formula(schedule: str, rho: str) -> None:
    """The mean absolute noise of the sums, drawn 40,000 times a round, is the scale that rho and the schedule give it.

    Of epsilon the loss has 2%, and the rounds have the rest.
    """
    budget = cl.Identifiability(rho=rho, worlds=10_001)
    epsilon = 0.98 * np.log(10_000 * float(rho) / (1 - float(rho)))
    made = task(budget, Neighbours.REPLACE_ONE, schedule=schedule)
    assert made.domain is not None
    width = 2 * float(made.domain.halves[0])
    split = count_and_sum_weights(4, "L1", SCHEDULES[schedule].split)
    parts = parts_of(schedule, 4)
    zeros = Summary({"counts": np.zeros(1, dtype=np.int64), "sums": np.zeros(DRAWS, dtype=np.int64)})
    means = []
    for step, part in zip(rounds_of(made, find_start(made).rest(), 4), parts, strict=True):
        drawn = np.abs(add_noise(step.mechanism, zeros)["sums"]) / width
        scale = printed_scale(4, epsilon, part, split)
        assert drawn.mean() == pytest.approx(scale, rel=SURE / DRAWS**0.5)
        means.append((drawn.mean(), printed_scale(4, epsilon, part * Fraction(11, 10), split)))
    # planted: a tenth of epsilon too much in each round would have been seen
    assert all(mean != pytest.approx(wrong, rel=SURE / DRAWS**0.5) for mean, wrong in means)


def test_dworks_noise_is_one_scale_for_counts_and_sums() -> None:
    """(d + 1) / epsilon in the unit cube: counts have it, and sums, which are centred here, half of it."""
    made = task(cl.PureDP(1), Neighbours.ADD_REMOVE, schedule="dwork-equal")
    assert made.domain is not None
    spend = find_start(made).rest()
    (step,) = rounds_of(made, spend, 1)
    scales = step.mechanism.scales  # type: ignore[attr-defined]
    assert isinstance(spend, Fraction)
    assert scales["counts"] == 5 / spend
    assert scales["sums"] == 5 / spend * made.domain.halves[0]


def test_blums_counts_and_sums_are_two_queries_of_one_cost() -> None:
    """Each has half of the epsilon of a round."""
    made = task(cl.PureDP(1), Neighbours.ADD_REMOVE, schedule="blum")
    assert made.domain is not None
    spend = find_start(made).rest()
    (step,) = rounds_of(made, spend, 1)
    scales = step.mechanism.scales  # type: ignore[attr-defined]
    assert isinstance(spend, Fraction)
    assert scales["counts"] == 2 / spend
    assert scales["sums"] == 2 / spend * 4 * made.domain.halves[0]


def test_halving_has_as_many_rounds_as_its_smallest_part_carries() -> None:
    """Where equal parts carry seven rounds, the last two of a halving schedule have a 2^(T-1)th each."""
    rows = 40_000.0
    equal = number_of_rounds(Fraction(1), 2, 3, rows, Neighbours.ADD_REMOVE)
    halving = number_of_rounds(Fraction(1), 2, 3, rows, Neighbours.ADD_REMOVE, halving_parts)
    assert (equal, halving) == (7, 7)
    assert number_of_rounds(Fraction(1, 5), 2, 3, rows, Neighbours.ADD_REMOVE) == 7
    assert number_of_rounds(Fraction(1, 5), 2, 3, rows, Neighbours.ADD_REMOVE, halving_parts) == 4
    assert number_of_rounds(Fraction(1, 10**6), 2, 3, rows, Neighbours.ADD_REMOVE, halving_parts) == 2


def test_the_estimator_clones_with_its_options() -> None:
    """A dict of options survives `clone` and `get_params`, and reaches the evolution."""
    options = {"population": 12, "generations": 5, "F": 0.7, "CR": (0.1, 0.9)}
    model = clone(lloyd(seeding="evolution", evolution=options, schedule="halving", tolerance=0.05))
    assert model.get_params()["evolution"] == options
    words = model.fit(heaps(500)).release_.parameters["choices"]["start"]
    assert "population 12, generations 5, F 0.7, CR 0.1 to 0.9" in words


def test_a_plan_says_what_a_stop_does() -> None:
    """Before a row is read: who takes the epsilon of the rounds that are left, or that they stay charged."""
    assert "one last round takes the epsilon" in str(lloyd(tolerance=0.1).plan(1000, 2))
    assert "skipped rounds stay charged" in str(lloyd(tolerance=0.1, budget=cl.ApproxDP(1, 1e-6)).plan(1000, 2))
    assert "stop" not in lloyd().plan(1000, 2).choices


def test_a_stop_that_looks_at_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit sees walks part that released the same values; the stop on released centres passes it."""
    crowd = np.random.default_rng(0).random((60, 2)) * 0.2
    tables = (np.vstack([crowd, [[1.0, 1.0]]]), crowd)
    assert audit(lloyd(budget=1, tolerance=0.5, max_iter=4).fit, tables).holds

    def leaky(rows: np.ndarray) -> cl.KMeans:
        monkeypatch.setattr("cloister.clustering.lloyd.has_settled", lambda *estimates: len(rows) > 60)
        return lloyd(budget=1, tolerance=0.5, max_iter=4).fit(rows)

    assert not audit(leaky, tables).holds
