"""Weighted k-means on released points."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.clustering.seeding.weighted import SEEDINGS, cluster_points, parallel_seeds
from cloister.errors import UsageError

MIDDLES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])


def heaps() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(middle, 0.5, (80, 2)) for middle in MIDDLES])
    return points, random.random(320) + 0.5


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_every_seeding_finds_separate_heaps(seeding: str) -> None:
    """Four heaps give four centres in their middles, and the sizes add up to the weight."""
    points, weights = heaps()
    found = cluster_points(points, weights, 4, seeding, np.random.default_rng(1))
    gaps = ((found.centers[:, None] - MIDDLES[None]) ** 2).sum(2)
    assert (gaps.min(axis=0) < 0.2).all()
    assert found.sizes.sum() == pytest.approx(weights.sum())


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_as_many_clusters_as_points_is_exact(seeding: str) -> None:
    """With a centre for every point nothing is lost."""
    points, weights = heaps()
    found = cluster_points(points[::40], weights[::40], 8, seeding, np.random.default_rng(0))
    assert found.loss == pytest.approx(0.0, abs=1e-9)


def test_more_clusters_than_points_are_refused() -> None:
    """The message says how many there can be."""
    with pytest.raises(UsageError, match="3 cells that are not empty"):
        cluster_points(np.zeros((3, 2)), np.ones(3), 4, "kmeans++", np.random.default_rng(0))


def test_an_unknown_seeding_is_refused() -> None:
    """The message lists the seedings there are."""
    with pytest.raises(UsageError, match="kmeans"):
        cluster_points(np.zeros((3, 2)), np.ones(3), 2, "magic", np.random.default_rng(0))


def test_parallel_seeds_fill_up_where_points_coincide() -> None:
    """Few distinct points still give as many seeds as were asked for."""
    seeds = parallel_seeds(np.zeros((9, 2)), np.ones(9), 4, np.random.default_rng(0))
    assert seeds.shape == (4, 2)
