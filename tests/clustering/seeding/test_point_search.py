"""The search for centres of released points."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.clustering.seeding import point_search
from cloister.clustering.seeding.batched_lloyd import BatchedLloyd
from cloister.clustering.seeding.point_search import search_centers
from cloister.clustering.seeding.points_kmeans import lloyd, nearest
from cloister.clustering.seeding.ward_merges import merge_centers

MIDDLES = np.array([[x, y] for x in (0.0, 10.0, 20.0) for y in (0.0, 10.0, 20.0)])  # (9, 2)


def heaps(seed: int = 0, spread: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Nine heaps of 30 points with uneven weights."""
    random = np.random.default_rng(seed)
    points = random.normal(np.repeat(MIDDLES, 30, axis=0), spread)
    return points, 10.0 ** random.uniform(-3, 3, len(points))


def loss_of(points: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> float:
    """The weighted squared error, point by point."""
    return float(((points[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1) @ weights)


def planted_bad_start(points: np.ndarray) -> np.ndarray:
    """Three centres in one heap, one between two others, one between two more: Lloyd stays there."""
    start = MIDDLES.copy()
    start[1], start[2] = MIDDLES[0] + 0.3, MIDDLES[0] - 0.3
    start[3] = (MIDDLES[1] + MIDDLES[2]) / 2
    start[4] = (MIDDLES[3] + MIDDLES[4]) / 2
    return start


def test_it_leaves_a_planted_bad_start_where_lloyd_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing but bad starts the breaths find the nine heaps; Lloyd from there ends at ten times their loss."""
    points, _ = heaps()
    weights, bad = np.ones(len(points)), planted_bad_start(points)
    stuck = lloyd(points, weights, bad).loss
    right = lloyd(points, weights, MIDDLES).loss
    assert stuck > 10 * right
    monkeypatch.setattr(
        point_search, "plus_plus_members", lambda points, weights, k, count, *_: np.stack([points[:k]] * count)
    )
    found = search_centers(points, weights, 9, np.random.default_rng(0), [bad])
    assert found.loss <= right * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_never_worse_than_its_starts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a generation of its own, and on points without clusters, what it hands out is at most each start's loss."""
    monkeypatch.setattr(point_search, "MOST_GENERATIONS", seed % 2)
    random = np.random.default_rng(seed)
    points, weights = random.random((150, 3)), 10.0 ** random.uniform(-6, 6, 150)
    starts = [lloyd(points, weights, points[random.choice(150, 12, replace=False)]).centers for _ in range(3)]
    found = search_centers(points, weights, 12, random, starts)
    assert found.loss <= min(loss_of(points, weights, start) for start in starts) * (1 + 1e-9)


@pytest.mark.parametrize("columns", [1, 2, 128])
@pytest.mark.parametrize("clusters", [1, 2, 7])
def test_what_it_hands_out_belongs_together(columns: int, clusters: int) -> None:
    """The loss and the sizes are those of the centres, in double precision, far from the origin too."""
    random = np.random.default_rng(columns)
    points, weights = 1e6 + random.random((60, columns)), 10.0 ** random.uniform(-3, 3, 60)
    found = search_centers(points, weights, clusters, random)
    assert found.centers.shape == (clusters, columns)
    assert found.loss == pytest.approx(loss_of(points, weights, found.centers), rel=1e-6)
    labels = nearest(points - 1e6, found.centers - 1e6)[0]
    assert found.sizes == pytest.approx(np.bincount(labels, weights=weights, minlength=clusters))


def test_as_many_clusters_as_points_lose_nothing() -> None:
    """Every point is a centre, also where some are repeated."""
    points = np.random.default_rng(0).random((40, 3))
    points[7:12] = points[3]
    found = search_centers(points, np.ones(40), 40, np.random.default_rng(0))
    assert found.loss == pytest.approx(0.0, abs=1e-20)
    assert np.sort(found.centers, axis=0) == pytest.approx(np.sort(points, axis=0))


@pytest.mark.parametrize("distinct", [1, 3])
def test_repeated_points_are_no_trouble(distinct: int) -> None:
    """Fewer distinct points than clusters: nothing is lost, every centre is finite, and the sizes add up."""
    points = np.repeat(np.random.default_rng(1).random((distinct, 2)), 20, axis=0)
    weights = np.random.default_rng(2).random(len(points))
    found = search_centers(points, weights, 8, np.random.default_rng(0))
    assert found.loss == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(found.centers).all()
    assert found.sizes.sum() == pytest.approx(weights.sum())


def test_points_without_weight_do_not_count() -> None:
    """A far point of weight 0 draws no centre."""
    points, weights = heaps()
    far = np.concatenate([points, [[1e3, 1e3]]])
    found = search_centers(far, np.append(weights, 0.0), 9, np.random.default_rng(0))
    assert found.loss == pytest.approx(search_centers(points, weights, 9, np.random.default_rng(0)).loss, rel=1e-6)


def test_clusters_closer_than_single_precision_are_told_apart() -> None:
    """Two pairs of heaps a millionth of the range apart: four centres find all four."""
    random = np.random.default_rng(0)
    middles = np.array([[0.0], [1e-6], [1.0], [1.0 + 1e-6]])
    points = random.normal(np.repeat(middles, 25, axis=0), 1e-8)
    found = search_centers(points, np.ones(100), 4, random)
    assert found.loss <= 100 * 1e-16 * 2


def test_the_same_generator_gives_the_same_centres() -> None:
    """Nothing but points, weights, starts and the generator decides: no clock, no state of an earlier call."""
    random = np.random.default_rng(5)
    points, weights = random.random((400, 2)), random.random(400)
    first = search_centers(points, weights, 15, np.random.default_rng(3))
    search_centers(points[:50], weights[:50], 5, random)
    again = search_centers(points, weights, 15, np.random.default_rng(3))
    assert np.array_equal(first.centers, again.centers)


def test_the_work_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of clusters it seeds once, makes a few passes, and ends; every centre has a place."""
    monkeypatch.setattr(point_search, "MOST_WORK", 10_000_000)
    counted: list[BatchedLloyd] = []

    class Counted(BatchedLloyd):
        def __init__(self, *values: object) -> None:
            super().__init__(*values)  # type: ignore[arg-type]
            counted.append(self)

    monkeypatch.setattr(point_search, "BatchedLloyd", Counted)
    points = np.random.default_rng(0).random((2000, 2))
    found = search_centers(points, np.ones(2000), 1000, np.random.default_rng(0))
    assert found.centers.shape == (1000, 2)
    assert sum(search.work for search in counted) <= 3 * counted[0].pass_work(1000)


def test_single_precision_and_batches_agree_with_plain_lloyd() -> None:
    """A step of several sets at once is, for each of them, one pass of Lloyd."""
    points, weights = heaps(2)
    middle = np.average(points, axis=0, weights=weights)
    batch = BatchedLloyd(points - middle, weights / weights.sum(), np.float64)
    members = (points - middle)[np.random.default_rng(0).integers(len(points), size=(5, 6))]
    after = batch.step(members)
    for i in range(5):
        alone = lloyd(points - middle, weights, members[i], 1)
        assert after.members[i] == pytest.approx(alone.centers)
    labels, gaps = batch.nearest(members)
    plain_labels, plain_gaps = nearest(points - middle, members[3])
    assert gaps[3] == pytest.approx(plain_gaps, abs=1e-9)
    assert np.array_equal(labels[3], plain_labels)


def test_ward_merges_what_costs_least() -> None:
    """Two light centres near each other go before two heavy ones; the merged centre is their mean; members stay apart."""
    first = np.array([[0.0], [1.0], [10.0], [11.5], [30.0]])
    second = first[::-1].copy()
    masses = np.array([[100.0, 100.0, 1.0, 3.0, 5.0], [5.0, 3.0, 1.0, 100.0, 100.0]])
    merged = merge_centers(np.stack([first, second]), masses, 4)
    assert sorted(merged[0].ravel()) == pytest.approx([0.0, 1.0, (10 + 3 * 11.5) / 4, 30.0])
    assert sorted(merged[1].ravel()) == pytest.approx([0.0, 1.0, (10 + 3 * 11.5) / 4, 30.0])


@pytest.mark.parametrize("seed", range(5))
def test_ward_merges_are_those_of_a_plain_search(seed: int) -> None:
    """Merged one by one over all pairs, the same centres are left."""
    random = np.random.default_rng(seed)
    centers, masses = random.random((14, 3)), random.random(14)
    masses[2] = 0.0
    places, mass = list(centers), list(masses)
    while len(places) > 5:
        pairs = [(i, j) for i in range(len(places)) for j in range(i)]
        cost = [mass[i] * mass[j] / (mass[i] + mass[j]) * ((places[i] - places[j]) ** 2).sum() for i, j in pairs]
        i, j = pairs[int(np.argmin(cost))]
        union = (mass[i] * places[i] + mass[j] * places[j]) / (mass[i] + mass[j])
        places[j], mass[j] = union, mass[i] + mass[j]
        del places[i], mass[i]
    merged = merge_centers(centers[None], masses[None], 5)[0]
    assert np.sort(merged, axis=0) == pytest.approx(np.sort(np.array(places), axis=0))
