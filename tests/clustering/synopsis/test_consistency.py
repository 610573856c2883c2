"""Consistency between two levels of a grid."""

from __future__ import annotations

import numpy as np

from cloister.clustering.synopsis.consistency import agree


def by_least_squares(
    upper: np.ndarray, v1: float, lower: np.ndarray, v2: float, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same from the normal equations, with the covariance of the estimate."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    sums = (np.arange(len(sizes))[:, None] == groups[None]).astype(float)
    design = np.vstack([np.eye(len(lower)), sums])
    weights = np.diag(np.concatenate([np.full(len(lower), 1 / v2), np.full(len(upper), 1 / v1)]))
    covariance = np.linalg.inv(design.T @ weights @ design)
    return covariance @ design.T @ weights @ np.concatenate([lower, upper]), covariance


def test_counts_are_the_weighted_least_squares_solution() -> None:
    """Counts, variances and covariances are those of the normal equations."""
    random = np.random.default_rng(0)
    sizes = np.array([1, 4, 9, 2])
    upper, lower = random.normal(50, 10, 4), random.normal(10, 5, 16)
    agreed = agree(upper, 8.0, lower, 3.0, sizes)
    counts, covariance = by_least_squares(upper, 8.0, lower, 3.0, sizes)
    assert np.allclose(agreed.counts, counts)
    assert np.allclose(agreed.variances, np.diag(covariance))
    assert np.isclose(agreed.common[1], covariance[1, 2])
    assert np.allclose(agreed.totals, np.add.reduceat(counts, [0, 1, 5, 14]))


def test_agreeing_never_has_a_larger_variance() -> None:
    """A cell is never less certain than its own noise, nor a total than either of its two estimates."""
    sizes = np.array([1, 2, 16, 100])
    for v1, v2 in [(1.0, 1.0), (100.0, 0.1), (0.1, 100.0)]:
        agreed = agree(np.zeros(4), v1, np.zeros(119), v2, sizes)
        assert (agreed.variances <= v2 * (1 + 1e-12)).all()
        assert (agreed.total_variances <= np.minimum(v1, sizes * v2)).all()
