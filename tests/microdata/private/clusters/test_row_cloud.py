"""Made-up rows that agree with released counts."""

from __future__ import annotations

import numpy as np

from cloister.kernels import ValueBins
from cloister.microdata.private.clusters.row_cloud import (
    ReleasedClusters,
    RowCloud,
    independent_rows,
    raked,
    rows_of_clusters,
    scores_of,
)

BINS = ValueBins((), (2, 3))
TABLE = np.array([0.5, 0.5, 0.5, 0.3, 0.2])
SHARES = np.array([[0.9, 0.1, 0.8, 0.2, 0.0], [0.1, 0.9, 0.2, 0.4, 0.4]])  # whose average is the table's


def released(deviation: float) -> ReleasedClusters:
    """Two clusters of 500 rows, by the first column alone."""
    counts = 500 * np.array([[1.0, 0, 0.9, 0.1, 0.0], [0, 1.0, 0.1, 0.5, 0.4]])
    return ReleasedClusters(np.array([[9, 0, 0, 0, 0], [0, 9, 0, 0, 0]], dtype=np.int32), counts, deviation)


def test_without_noise_clusters_have_their_own_shares_and_sizes() -> None:
    """Nothing is drawn towards the table where counts are certain."""
    found = released(1e-6)
    sizes = found.sizes(BINS, 1000.0)
    assert np.allclose(sizes, 500)
    assert np.allclose(found.shares(sizes, TABLE, BINS), found.counts / 500, atol=1e-6)


def test_counts_that_are_all_noise_leave_the_shares_of_the_table() -> None:
    """A difference that noise explains is not believed."""
    found = released(10_000.0)
    assert np.allclose(found.shares(found.sizes(BINS, 1000.0), TABLE, BINS), TABLE)


def test_sizes_are_not_negative_and_add_up() -> None:
    """Also where noise made a cluster negative."""
    noisy = ReleasedClusters(np.zeros((3, 5), dtype=np.int32), np.array([[-40.0] * 5, [400.0] * 5, [10.0] * 5]), 50.0)
    sizes = noisy.sizes(BINS, 700.0)
    assert sizes.min() == 0
    assert np.isclose(sizes.sum(), 700)


def test_raked_shares_average_to_the_table() -> None:
    """In every column, for clusters of any sizes."""
    random = np.random.default_rng(0)
    shares = np.hstack([random.dirichlet(np.ones(width), 4) for width in BINS.widths])
    weights = random.dirichlet(np.ones(4))
    assert np.allclose(weights @ raked(shares, weights, TABLE, BINS), TABLE, atol=1e-3)


def test_rows_of_clusters_have_the_shares_to_the_row() -> None:
    """One systematic draw: counts are off by less than one a cluster."""
    cloud = rows_of_clusters(np.array([1.0, 1.0]), SHARES, BINS, 2000, np.random.default_rng(0))
    shares = cloud.counts(np.zeros(2000, dtype=np.int64), 1)[0] / 2000
    assert np.allclose(shares, SHARES.mean(axis=0), atol=2 / 2000)


def test_weights_make_independent_rows_agree_with_a_round() -> None:
    """The second column depends on the first after that, as the counts say; with counts that are all noise nothing changes."""
    cloud = independent_rows(TABLE, BINS, 5000, np.random.default_rng(0))

    def counts(deviation: float) -> np.ndarray:
        weights = cloud.agreeing([released(deviation)], TABLE, 1000.0)
        return np.bincount(cloud.codes[0] * 3 + cloud.codes[1], weights, 6).reshape(2, 3)

    assert np.allclose(counts(1.0), [[450, 50, 0], [50, 250, 200]], atol=25)
    assert np.allclose(counts(1e6), 500 * TABLE[2:], atol=25)


def test_rows_are_kept_as_often_as_their_weight_says() -> None:
    """Within one of the weight."""
    cloud = RowCloud(np.array([[0, 1, 1], [0, 1, 2]]), BINS)
    kept = cloud.resampled(np.array([1.0, 0.0, 3.0]), 8, np.random.default_rng(0))
    assert np.bincount(kept.codes[1], minlength=3).tolist() == [2, 0, 6]


def test_clusters_are_found_where_rows_differ() -> None:
    """Two kinds of rows that share no value: no cluster holds both, for ten seeds (of 2,000 one starts in one kind alone)."""
    codes = np.repeat([[0, 1], [0, 2]], 500, axis=1).astype(np.int64)
    cloud = RowCloud(codes, BINS)
    for seed in range(10):
        labels = cloud.clusters(cloud.find_clusters(12, TABLE, np.random.default_rng(seed)))
        assert not set(labels[:500]) & set(labels[500:])


def test_scores_say_the_likeliest_cluster() -> None:
    """A row of the second cluster's values is the second's, unless the first is far larger."""
    cloud = RowCloud(np.array([[1], [1]]), BINS)
    assert cloud.clusters(scores_of(SHARES, np.array([0.5, 0.5]), BINS)).tolist() == [1]
    assert cloud.clusters(scores_of(SHARES, np.array([1 - 1e-3, 1e-3]), BINS)).tolist() == [0]
