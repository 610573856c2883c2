"""DP k-means and DEDP k-means as printed: noise by hand, stamps, and the printed numbers that need no privacy."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.clustering.scores.distances import sum_of_distances
from cloister.papers.dedp_kmeans.printed import (
    NoisyRounds,
    dedp_kmeans,
    dedp_releases,
    dp_kmeans,
    evolved_start,
    noised_centers,
)
from cloister.papers.dedp_kmeans.printed_evolution import EvolutionReading
from cloister.papers.dedp_kmeans.sums_of_distances import PRINTED, geometric_medians
from cloister.papers.dedp_kmeans.two_sets import epsilon_of, epsilon_setting, kmeans_from_rows
from cloister.papers.holder_rows import holder_numbers
from cloister.privacy.guarantees import Claimed
from tests.real_data import as_numbers, real_set

RANDOM = np.random.default_rng(0)
BLOBS = holder_numbers(
    {
        "x": np.r_[RANDOM.normal(2, 0.2, 60), RANDOM.normal(8, 0.2, 60)],
        "y": np.r_[RANDOM.normal(5, 0.2, 60), RANDOM.normal(1, 0.2, 60)],
    }
)
QUICK = EvolutionReading(generations=20)


def test_scale_of_the_noise() -> None:
    """The print has the whole epsilon in each round; shared, ten rounds have ten times the noise."""
    assert NoisyRounds().scale(0.5, 13) == 28
    assert NoisyRounds(is_shared=True).scale(0.5, 13) == 280
    assert NoisyRounds(sensitivity=1).scale(0.5, 13) == 2


def test_without_noise_a_centre_is_the_mean() -> None:
    """(sum + 0) / (count + 0); an empty cluster has no mean and goes to the corner."""
    centers = noised_centers(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([4.0, 0.0]), 0.0, np.random.default_rng(0))
    assert centers.tolist() == [[0.75, 0.25], [0.0, 0.0]]


def test_sums_and_counts_are_both_noised() -> None:
    """The spread of a noisy centre is that of both noises together."""
    many = noised_centers(np.full((1, 1), 5e5), np.full(1, 1e6), 1.0, np.random.default_rng(0), (20_000,))[:, 0, 0]
    # sum and count move the quotient by noise of 1 / n and 0.5 / n, variances 2 and 0.5
    assert many.std() * 1e6 == pytest.approx(np.sqrt(2 + 0.5), rel=0.05)


@pytest.mark.parametrize("epsilon", [1e6])
def test_at_a_huge_epsilon_both_find_the_blobs(epsilon: float) -> None:
    """Without noise worth speaking of, centres come back in the rows' own units."""
    start = evolved_start(BLOBS, 2, 0, QUICK)
    for found in (dp_kmeans(BLOBS, 2, epsilon, 3), dedp_kmeans(BLOBS, start, epsilon, 3)):
        centers = found.value.centers[found.value.centers[:, 0].argsort()]
        np.testing.assert_allclose(centers, [[2, 5], [8, 1]], atol=0.1)


def test_results_are_stamped_claimed() -> None:
    """Nothing that a printed form gives can be taken for a private release."""
    start = evolved_start(BLOBS, 2, 0, QUICK)
    unit = holder_numbers({"x": [0.1, 0.2, 0.9]})
    results = [
        start,
        dp_kmeans(BLOBS, 2, 1.0, 0),
        dedp_kmeans(BLOBS, start, 1.0, 0),
        dedp_releases(unit, 2, 1.0, 0, 3, QUICK),
    ]
    for result in results:
        assert isinstance(result.release_.guarantee, Claimed)
        assert "NOT PRIVATE" in str(result.release_)


def test_a_seed_repeats_a_run() -> None:
    """Rows of a reproduction are the same in every run."""
    one, two, other = (dp_kmeans(BLOBS, 2, 1.0, seed).value.centers for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_printed_ends_of_kmeans_on_wine() -> None:
    """Table 3: the smallest and the largest sum of k-means are ends of k-means on rows that are not normalised."""
    points = as_numbers(real_set("wine"))
    sums = [sum_of_distances(points, kmeans_from_rows(points, 3, seed)) for seed in range(20)]
    smallest, largest, _ = PRINTED["Wine"]["k-means"]
    assert min(sums) == pytest.approx(smallest, abs=0.02)
    assert max(sums) == pytest.approx(largest, abs=0.1)
    assert PRINTED["Wine"]["DEDP k-means"][0] < min(sums)


def test_medians_have_smaller_sums_than_means() -> None:
    """Of distances that are not squared, the median of three points on a line is best."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0]])
    means = points.mean(axis=0, keepdims=True)
    found = geometric_medians(points, means)
    assert sum_of_distances(points, found) < sum_of_distances(points, means)
    np.testing.assert_allclose(found, [[1, 0]], atol=0.05)


def test_settings_name_their_epsilon() -> None:
    """What is written into a setting can be read from it."""
    for epsilon in (0.05, 6.0, 10_000.0):
        assert epsilon_of(epsilon_setting("Wine", "DP k-means", epsilon)) == epsilon
