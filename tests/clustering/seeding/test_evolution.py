"""Differential evolution on released points."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.seeding import evolution
from cloister.clustering.seeding.evolution import (
    crossover_rate,
    draw_members,
    evolve,
    match_centers,
    mutate_and_cross,
    oppose,
)
from cloister.clustering.seeding.evolution_options import EvolutionOptions, evolution_options
from cloister.clustering.seeding.point_search import search_centers
from cloister.clustering.seeding.weighted import cluster_points
from cloister.errors import UsageError
from cloister.kernels.loops.fitness import improve, weighted_loss


def heaps(seed: int = 0, k: int = 6, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    points = random.normal(random.normal(0, 5, (k, d))[random.integers(k, size=400)], 0.7)
    return points, random.random(400) + 0.1


@pytest.mark.parametrize("generations", [0, 1, 30])
@pytest.mark.parametrize("seed", range(5))
def test_it_never_ends_worse_than_its_start(seed: int, generations: int) -> None:
    """In double precision the loss handed out is its centres' own, and at most that of the best first member."""
    points, weights = heaps(seed)
    found = evolve(points, weights, 6, np.random.default_rng(seed), EvolutionOptions(generations=generations))
    assert found.loss <= found.start_loss
    assert found.loss == pytest.approx(weighted_loss(points, weights, found.centers))


def test_it_finds_what_many_restarts_find() -> None:
    """On six heaps its loss is that of the best of a hundred k-means++ with Lloyd."""
    from sklearn.cluster import KMeans

    points, weights = heaps(3)
    best = KMeans(6, n_init=100, random_state=0, tol=0).fit(points, sample_weight=weights).inertia_
    found = evolve(points, weights, 6, np.random.default_rng(0))
    assert found.loss <= best * 1.0001


@pytest.mark.parametrize("generations", [0, 5])
def test_it_never_ends_worse_than_a_given_member(generations: int) -> None:
    """Centres of another search that are the best there are come back, or better ones do."""
    points, weights = heaps(3)
    given = search_centers(points, weights, 6, np.random.default_rng(0))
    options = EvolutionOptions(generations=generations)
    found = evolve(points, weights, 6, np.random.default_rng(0), options, given.centers)
    assert found.start_loss == pytest.approx(given.loss)
    assert found.loss <= found.start_loss


def test_as_a_seeding_it_is_never_worse_than_the_search() -> None:
    """With the same generator its loss is at most that of "kmeans++"; the paper's own start has no such promise."""
    random = np.random.default_rng(0)
    points, weights = random.random((300, 2)), random.random(300)
    options = EvolutionOptions(population=8, generations=2)
    plain = cluster_points(points, weights, 25, "kmeans++", np.random.default_rng(1)).loss
    ours = cluster_points(points, weights, 25, "evolution", np.random.default_rng(1), evolution=options).loss
    printed = EvolutionOptions(population=8, generations=2, start="random")
    alone = cluster_points(points, weights, 25, "evolution", np.random.default_rng(1), evolution=printed).loss
    assert ours <= plain < alone


def test_from_a_given_member_its_work_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when the next generation could pass the cap; from random members all generations are done."""
    points, weights = heaps()
    monkeypatch.setattr(evolution, "MOST_WORK", 400 * 4 * (3 + evolution.COMPARING) * 100)  # a hundred looks
    options = EvolutionOptions(population=8, generations=30)
    capped = evolve(points, weights, 4, np.random.default_rng(0), options, points[:4])
    assert capped.evaluations <= 100
    assert evolve(points, weights, 4, np.random.default_rng(0), options).generations == 30


def test_the_crossover_rate_rises_along_an_s() -> None:
    """From 0.25 to 0.95, never falling, steepest in the middle."""
    rates = np.array([crossover_rate(g, 100) for g in range(100)])
    assert rates[0] == pytest.approx(0.25, abs=1e-3)
    assert rates[-1] == pytest.approx(0.95, abs=1e-3)
    assert (np.diff(rates) > 0).all()
    assert 45 <= np.argmax(np.diff(rates)) <= 55


def test_a_mutant_takes_five_other_members() -> None:
    """With a rate of 1 every column is X_a + (X_b - X_c + X_d - X_e)/2 of five members, none of them the current one."""
    size = 6
    members = (10.0 ** np.arange(size)).astype(np.float32).reshape(size, 1, 1)
    trial = mutate_and_cross(members, 1.0, np.random.default_rng(0))[:, 0, 0]
    for current, value in enumerate(trial):
        others = [i for i in range(size) if i != current]
        from itertools import permutations

        made = {members[a, 0, 0] + 0.5 * (members[b, 0, 0] - members[c, 0, 0] + members[d, 0, 0] - members[e, 0, 0])
                for a, b, c, d, e in permutations(others)}  # fmt: skip
        assert any(np.isclose(value, other, rtol=1e-5) for other in made)


def test_at_least_one_column_is_always_crossed() -> None:
    """With a rate of 0 exactly one column of each member changes."""
    members = np.random.default_rng(0).random((8, 2, 3)).astype(np.float32)
    trial = mutate_and_cross(members, -1.0, np.random.default_rng(1))
    assert ((trial != members).reshape(8, -1).sum(axis=1) == 1).all()


def test_opposition_stays_within_the_populations_bounds() -> None:
    """Whatever the factor, an opposed member lies between the population's present ends."""
    random = np.random.default_rng(0)
    members = random.normal(size=(20, 3, 2)).astype(np.float32)
    low, high = members.min(axis=0), members.max(axis=0)
    against = oppose(members, low, high, random)
    assert ((against >= low) & (against <= high)).all()


def test_members_start_from_cells_drawn_by_weight() -> None:
    """Every first centre is a cell, cells of no weight never are, and heavy ones are drawn more often."""
    columns = np.arange(10, dtype=np.float32)[None]
    weights = np.array([0.0, 1, 1, 1, 1, 1, 1, 1, 1, 50])
    members = draw_members(columns, weights, 3, 200, np.random.default_rng(0))
    assert set(np.unique(members)) <= set(range(1, 10))
    assert all(len(set(member.ravel())) == 3 for member in members)
    assert (members == 9).any(axis=1).mean() > 0.9


def test_matching_puts_centres_in_the_models_order() -> None:
    """A member that is the model in another order becomes the model."""
    model = np.random.default_rng(0).random((5, 2)).astype(np.float32)
    members = model[[3, 1, 4, 0, 2]][None].copy()
    match_centers(members, model)
    assert np.array_equal(members[0], model)


def test_improving_is_one_step_of_lloyd() -> None:
    """The moved centres are the weighted means, and the loss is that of the split around them."""
    points, weights = heaps(1)
    middle = points.mean(axis=0)
    members = points[np.random.default_rng(0).choice(400, (7, 5))] - middle
    columns = np.ascontiguousarray((points - middle).T, dtype=np.float32)
    losses, moved = improve(columns, weights.astype(np.float32), members.astype(np.float32))
    for member, loss, after in zip(members, losses, moved, strict=True):
        labels = ((points - middle)[:, None] - member[None]).__pow__(2).sum(2).argmin(1)
        means = np.stack([np.average(points[labels == c] - middle, axis=0, weights=weights[labels == c]) for c in range(5)])
        assert np.allclose(after, means, atol=1e-4)
        exact = (weights * ((points - middle - means[labels]) ** 2).sum(1)).sum()
        assert loss == pytest.approx(exact, rel=1e-4)


def test_options_reach_the_search() -> None:
    """Population and generations decide how often the points are looked at."""
    points, weights = heaps()
    options = EvolutionOptions(population=7, generations=3)
    found = evolve(points, weights, 4, np.random.default_rng(0), options)
    assert found.generations == 3
    assert 7 * (1 + 2 * 3) <= found.evaluations <= 7 * (1 + 3 * 3)


def test_f_and_cr_reach_the_mutants() -> None:
    """Differences count twice as much at twice F; the crossover rate ends where it is told."""
    members = np.random.default_rng(0).random((8, 2, 2), dtype=np.float32)
    trials = [mutate_and_cross(members, 1.0, np.random.default_rng(1), scale) for scale in (0.0, 0.5, 1.0)]
    assert np.allclose(trials[2] - trials[0], 2 * (trials[1] - trials[0]), atol=1e-6)
    assert crossover_rate(199, 200, (0.1, 0.2)) == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    "values",
    [{"F": 0}, {"F": 3}, {"F": "0.5"}, {"F": True}, {"CR": (0.5,)}, {"CR": (-0.1, 1)}, {"CR": (1, 0)}, {"CR": "ab"}],
)
def test_options_that_make_no_sense_are_refused(values: dict[str, object]) -> None:
    """One sentence says what they may be."""
    with pytest.raises(UsageError, match=r"^(F|CR) must be"):
        evolution_options(values)


def test_an_unknown_start_is_refused() -> None:
    """The message lists the starts there are; the printed form says so in a certificate."""
    with pytest.raises(UsageError, match="search"):
        evolution_options({"start": "rows"})
    assert evolution_options({"start": "random"}).words().endswith("start random")


def test_a_synopsis_takes_the_options_of_evolution() -> None:
    """Its clusters say with which options they were found; options of another seeding are refused."""
    made = cl.synopsis(np.random.default_rng(0).random((500, 2)), 2, (0, 1))
    clusters = made.cluster(3, "evolution", evolution={"population": 9, "generations": 4})
    assert clusters.release_.parameters["choices"]["seeding"].startswith("evolution: population 9, generations 4")
    with pytest.raises(UsageError, match="go with seeding"):
        made.cluster(3, evolution={"population": 9})
