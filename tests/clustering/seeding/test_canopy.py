"""The optimized Canopy: max-min centres and the depth rule."""

from __future__ import annotations

import numpy as np

from cloister.clustering.seeding.canopy import canopy_centers, farthest_first, suggest


def test_each_centre_is_farthest_from_those_before_it() -> None:
    """On a line the order and the distances are those worked by hand."""
    points = np.array([[0.0], [1.0], [4.0], [10.0]])
    chosen, distances = farthest_first(points, np.array([5.0, 1, 1, 1]), 4)
    assert chosen.tolist() == [0, 3, 2, 1]
    assert distances.tolist() == [10, 4, 1]


def test_depths_are_the_printed_formula() -> None:
    """depth(k) = |d_k - d_(k-1)| + |d_(k+1) - d_k| on the distances themselves, d_1 left out."""
    points = np.array([[0.0], [1.0], [4.0], [10.0], [30.0]])
    weights = np.full(5, 1.0)
    weights[0] = 2
    found = suggest(points, weights, 4, relative=False)
    assert found.distances.tolist() == [30, 10, 4, 1]
    assert found.depths.tolist() == [20, 26, 9]
    assert found.clusters == 3


def test_separate_heaps_are_counted() -> None:
    """Heaps that lie far apart are as many as are proposed, for several numbers of them."""
    random = np.random.default_rng(0)
    for heaps in (3, 6, 11):
        middles = np.stack([np.arange(heaps) % 4, np.arange(heaps) // 4], axis=1) * 10.0
        points = np.concatenate([random.normal(middle, 0.5, (60, 2)) for middle in middles])
        assert suggest(points, np.ones(len(points)), 20).clusters == heaps
        centers = canopy_centers(points, np.ones(len(points)), heaps)
        assert len({tuple(np.rint(center / 10)) for center in centers}) == heaps


def test_light_points_far_away_do_not_matter() -> None:
    """What the noise puts far from everything takes no part."""
    random = np.random.default_rng(1)
    heaps = np.concatenate([random.normal(middle, 0.3, (50, 2)) for middle in ([0, 0], [9, 0], [0, 9])])
    points = np.concatenate([heaps, random.uniform(-50, 50, (20, 2))])
    weights = np.concatenate([np.full(150, 10.0), np.full(20, 0.5)])
    assert suggest(points, weights, 10).clusters == 3


def test_one_place_has_one_or_two_clusters() -> None:
    """Points in one place do not break the rule."""
    assert suggest(np.zeros((5, 2)), np.ones(5), 4).clusters in (1, 2)
    assert suggest(np.zeros((1, 2)), np.ones(1), 4).clusters == 1
