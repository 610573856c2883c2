"""Cells of few columns from votes alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import cloister as cl
from cloister.clustering.chance import public_chance
from cloister.clustering.domain import from_bounds
from cloister.clustering.request import ClusterRequest
from cloister.clustering.terms import Terms
from cloister.clustering.votes import look
from cloister.clustering.votes import plan as votes_plan
from cloister.clustering.votes.look import Ballot, PublicPoints, place_again, points_in_full_cells, weigh_cells
from cloister.clustering.votes.plan import quieter_budget, vote_noise
from cloister.kernels import BoxClip, ClippedSums, Histogram
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.mechanisms import calibrate, norm_of, part_of, whole_spend
from cloister.schema import Neighbours

FITS, MOST_BAD = 8, 4


def unbalanced() -> np.ndarray:
    """Two clusters of 1,500 rows side by side, and four of 100 far away."""
    random = np.random.default_rng(5)
    places = [(0.1, 0.2, 1500), (0.2, 0.1, 1500), (0.9, 0.9, 100), (0.75, 0.85, 100), (0.9, 0.7, 100), (0.7, 0.65, 100)]
    return np.concatenate([random.normal((x, y), 0.012, (size, 2)) for x, y, size in places])


def bad_fits(X: np.ndarray) -> int:
    """How many of some fits at epsilon 1.5 lose more than 1.2 times what k-means loses without privacy."""
    best = KMeans(6, n_init=10, random_state=0).fit(X).inertia_
    losses = []
    for seed in range(FITS):
        centers = cl.KMeans(6, 1.5, (0, 1), random_state=seed).fit(X).cluster_centers_
        losses.append(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).sum())
    return int((np.array(losses) > 1.2 * best).sum())


def test_small_clusters_are_found_beside_large_ones() -> None:
    """At most 4 bad fits of 8.

    Of 100 fits none was bad; at a chance of 2% each, 5 of 8 are bad with a chance below 2e-7.
    """
    assert bad_fits(unbalanced()) <= MOST_BAD


def test_the_test_of_small_clusters_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the largest cells are kept, small clusters are lost."""
    monkeypatch.setattr(look, "KEPT", 0.5)
    monkeypatch.setattr(look, "FALSE_CELLS", 1e-30)
    assert bad_fits(unbalanced()) > MOST_BAD


def ballot(candidates: np.ndarray, counts: list[float], epsilon: str = "1") -> Ballot:
    mechanism = calibrate(Histogram().sensitivity(Neighbours.ADD_REMOVE), PureDP(epsilon).epsilon)
    return Ballot(candidates, np.array(counts, dtype=np.float64), mechanism)


def test_cells_that_noise_explains_are_not_full() -> None:
    """Large cells are full, a small one that stands out is to be asked again, and what noise explains is left out."""
    full, doubtful = ballot(np.zeros((5, 1)), [900, 85, 5, 1, -4]).full(1000)
    assert sorted(full.tolist()) == [0, 1, 2]
    assert doubtful.tolist() == [2]


def test_a_table_without_votes_has_one_full_cell() -> None:
    """An empty table's counts are noise, perhaps all of them below 0."""
    full, doubtful = ballot(np.zeros((3, 1)), [-5, -1, -9]).full(10)
    assert full.tolist() == [1]
    assert not len(doubtful)


def test_a_doubtful_cell_is_dropped_unless_asked_again_it_has_votes() -> None:
    """Its place in the second votes is the last; with half of its votes again it stays."""
    domain = from_bounds(["a"], (0, 1), "bounds")
    random, half = public_chance(0), float(domain.halves[0])
    places = random.uniform(-half, half, (4000, 1))
    first = ballot(np.array([[-0.8], [0.0], [0.8]]) * half, [2000, 0, 5])
    points = points_in_full_cells(PublicPoints(places, np.ones(4000)), first, 2000, domain, random)
    assert points.doubtful.tolist() == [2]
    again = place_again(points, first, 9, random)
    assert again[-1] == pytest.approx(0.8 * half)
    for votes, stays in ((1.0, False), (5.0, True)):
        second = ballot(again, [*np.full(len(again) - 1, 2000 / (len(again) - 1)), votes])
        sketch = weigh_cells(points, first, second, np.ones(1))
        assert bool((sketch.means > 0.5 * half).any()) is stays
        assert sketch.weights.sum() == pytest.approx(2000, rel=0.05)


@pytest.mark.parametrize(
    "budget", [ApproxDP("0.5", "1e-6"), ApproxDP(1, "1e-6"), ApproxDP("0.1", "0.2"), ApproxDP(3, "1e-9")]
)
def test_with_a_delta_the_smaller_noise_is_taken(budget: ApproxDP) -> None:
    """Neither noise is smaller than the one that is chosen, and no more epsilon or delta is spent."""
    terms = Terms(budget, Neighbours.ADD_REMOVE)
    chosen = quieter_budget(terms)
    assert chosen.epsilon == budget.epsilon
    assert chosen.delta in (0, budget.delta)
    options: list[Budget] = [budget, PureDP(budget.epsilon)]
    noise = [
        vote_noise(terms, part_of(whole_spend(one, one.epsilon), votes_plan.LOOK_SHARE / votes_plan.LOOK_ROUNDS))
        for one in (chosen, *options)
    ]
    assert noise[0] == min(noise)


def test_the_plan_says_which_way_it_looks() -> None:
    """Votes alone in few columns, clipped sums in many or where hardly any candidate stands out; all within the budget."""
    for names, rows, words in (
        (["a", "b"], 5000, "votes alone"),
        (list("abcd"), 5000, "clipped sums"),
        (["a"], 20, "clipped sums"),
    ):
        for budget in (PureDP(1), ApproxDP(1, "1e-6")):
            plan = ClusterRequest(n_clusters=5, budget=budget, bounds=(0, 1)).plan(rows, names)
            assert words in plan.choices["cells"]
            assert plan.keeps_budget()


def test_a_narrow_centre_has_less_noise_than_a_wide_one() -> None:
    """In grid steps the noise of a centre's sums goes with its own radius, to a sixteenth."""
    centers, radii = np.zeros((3, 2), np.int32), np.array([10, 33, 1000])
    kernel = ClippedSums(centers, radii, False, radii, BoxClip((1000, 1000)))
    noise = calibrate(kernel.sensitivity(Neighbours.ADD_REMOVE), PureDP(1).epsilon).deviation()["sums"] / kernel.multipliers
    assert noise / noise[2] == pytest.approx(radii / 1000, rel=1 / 16)
    assert norm_of(PureDP(1).epsilon) == "L1"
