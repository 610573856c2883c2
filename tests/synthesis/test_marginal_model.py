"""The model is the best fit that a dense search finds, hands out its own marginals, and makes rows that keep them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from cloister.synthesis.marginal_model import MarginalModel, NoisyMarginal, combined_total, fit_marginals

SIZES = (2, 3, 2, 4)
TREE = ((0, 1), (1, 2), (1, 3))
RING = ((0, 1), (1, 2), (2, 3), (0, 3))
APART = ((0, 1), (2, 3))
ALL_PAIRS = tuple(combinations(range(4), 2))


def truth(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(int(np.prod(SIZES)), 0.3)).reshape(SIZES)


def table(joint: np.ndarray, kept: tuple[int, ...]) -> np.ndarray:
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in kept))


def noisy(
    joint: np.ndarray, kept: tuple[tuple[int, ...], ...], deviation: float, total: float = 1000.0
) -> list[NoisyMarginal]:
    random = np.random.default_rng(1)
    return [
        NoisyMarginal(each, total * table(joint, each) + random.normal(0, deviation, table(joint, each).shape), deviation)
        for each in kept
    ]


def dense(model: MarginalModel) -> np.ndarray:
    """The whole distribution, as the product of the factors."""
    logs = np.zeros(SIZES)
    for kept, factor in model.factors.items():
        logs += factor.reshape([size if axis in kept else 1 for axis, size in enumerate(SIZES)])
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def loss(joint: np.ndarray, measured: list[NoisyMarginal], total: float = 1000.0) -> float:
    return float(sum(((total * table(joint, each.kept) - each.counts) ** 2).sum() / each.deviation**2 for each in measured))


def test_clusters_agree_with_the_product_of_the_factors() -> None:
    """Messages along the tree give the marginals that summing the whole distribution gives, of clusters and of all pairs."""
    for kept in (TREE, RING, APART, ALL_PAIRS):
        model = fit_marginals(SIZES, noisy(truth(), kept, 5.0), 1000.0, 600)
        for place, cluster in enumerate(model.tree.clusters):
            assert np.abs(model.marginals[place] - table(dense(model), cluster.columns)).max() < 2e-3
        pairs = model.pairs(ALL_PAIRS)
        for pair in ALL_PAIRS:
            assert pairs[pair].shape == tuple(SIZES[column] for column in pair)
            assert np.abs(pairs[pair] - table(dense(model), pair)).max() < 2e-3


@pytest.mark.parametrize("kept", [TREE, RING], ids=["tree", "ring"])
def test_the_fit_is_as_near_as_a_dense_search_comes(kept: tuple[tuple[int, ...], ...]) -> None:
    """Least squares over all distributions, by another method: the model's loss is within a hundredth of the start's."""
    measured = noisy(truth(), kept, 20.0)
    model = fit_marginals(SIZES, measured, 1000.0, 3000)
    cells = int(np.prod(SIZES))
    eye = np.eye(cells).reshape(cells, *SIZES)
    matrix = np.concatenate(
        [np.stack([1000 * table(one, each.kept).ravel() for one in eye], 1) / each.deviation for each in measured]
        + [np.full((1, cells), 1e4)]  # shares add up to 1
    )
    target = np.concatenate([each.counts.ravel() / each.deviation for each in measured] + [np.array([1e4])])
    best = lsq_linear(matrix, target, (0, np.inf)).x.reshape(SIZES)
    uniform = np.full(SIZES, 1 / cells)
    tables = {each.kept: model.table(each.kept) for each in measured}
    found = sum(((1000 * tables[m.kept] - m.counts) ** 2).sum() / m.deviation**2 for m in measured)
    assert loss(best, measured) - 0.5 <= found <= loss(best, measured) + 0.01 * loss(uniform, measured)


def test_a_tree_of_exact_tables_is_learned() -> None:
    """Without noise the pairs that were measured come back."""
    model = fit_marginals(SIZES, noisy(truth(), TREE, 1e-9), 1000.0, 3000)
    assert max(np.abs(model.table(kept) - table(truth(), kept)).sum() for kept in TREE) < 0.01


def test_a_better_measurement_counts_for_more() -> None:
    """Two tables of the same columns are joined by their precision: here 100 to 1."""
    good, bad = NoisyMarginal((0,), np.array([80.0, 20.0]), 1.0), NoisyMarginal((0,), np.array([20.0, 80.0]), 10.0)
    assert good.joined(bad).counts == pytest.approx([80 - 60 / 101, 20 + 60 / 101])
    assert good.joined(bad).deviation < 1.0
    shares = fit_marginals((2, 3), [good, bad], 100.0, 500).table((0,))
    assert shares[0] == pytest.approx(0.794, abs=0.002)
    assert combined_total([(7.0, 0.0), (9.0, 1.0)]) == 7.0


def test_a_start_is_gone_on_from() -> None:
    """A few steps from a fitted model are nearer than the same from nothing."""
    measured = noisy(truth(), RING, 5.0)
    ready = fit_marginals(SIZES, measured, 1000.0, 500)
    losses = [
        sum(((1000 * model.table(m.kept) - m.counts) ** 2).sum() for m in measured)
        for model in (fit_marginals(SIZES, measured, 1000.0, 5, ready), fit_marginals(SIZES, measured, 1000.0, 5))
    ]
    assert losses[0] < losses[1] / 2


@pytest.mark.parametrize("kept", [TREE, RING, APART], ids=["tree", "ring", "apart"])
def test_rows_keep_the_marginals(kept: tuple[tuple[int, ...], ...]) -> None:
    """Cluster by cluster rows follow the shares: no pair is off by more than rounding, where drawing rows would be."""
    model = fit_marginals(SIZES, noisy(truth(), kept, 1.0), 1000.0, 500)
    rows = model.rows(20_000, np.random.default_rng(0))
    assert rows.shape == (20_000, len(SIZES))
    for pair in kept:
        shares = np.bincount(
            np.ravel_multi_index(rows[:, pair].T, [SIZES[c] for c in pair]), minlength=model.table(pair).size
        )
        assert np.abs(shares / 20_000 - model.table(pair).ravel()).sum() / 2 < 0.003


def test_columns_apart_are_independent_in_the_rows() -> None:
    """Rows of clusters that share nothing are shuffled against each other: less than 5 deviations of chance."""
    model = fit_marginals(SIZES, noisy(truth(), APART, 1.0), 1000.0, 500)
    rows = model.rows(20_000, np.random.default_rng(0))
    joint = np.bincount(rows[:, 0] * 4 + rows[:, 3], minlength=8).reshape(2, 4) / 20_000
    assert np.abs(joint - np.outer(joint.sum(1), joint.sum(0))).max() < 5 * 0.5 / np.sqrt(20_000)


def test_tables_of_noise_alone_give_a_distribution() -> None:
    """Negative counts, a total far off, no rows: shares are still not negative and add up to 1."""
    wild = [NoisyMarginal((0, 1), np.full((2, 3), -50.0), 3.0), NoisyMarginal((1, 2), np.array([[1e9, 0.0]] * 3), 1e-3)]
    model = fit_marginals((2, 3, 2), wild, 1.0, 300)
    for shares in model.marginals:
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)
    assert model.rows(0, np.random.default_rng(0)).shape == (0, 3)


def test_a_cell_with_less_noise_is_heeded_more() -> None:
    """Deviations cell by cell: of two cells that cannot both be right the certain one is kept; equal ones share the gap."""
    counts = np.array([60.0, 60.0])
    certain = fit_marginals((2,), [NoisyMarginal((0,), counts, np.array([0.1, 10.0]))], 100.0, 2000)
    alike = fit_marginals((2,), [NoisyMarginal((0,), counts, 10.0)], 100.0, 2000)
    assert np.allclose(certain.table((0,)), [0.6, 0.4], atol=0.005)
    assert np.allclose(alike.table((0,)), 0.5, atol=0.005)


def test_the_total_of_a_table_has_the_deviation_of_its_sum() -> None:
    """One deviation for all cells, or one for each."""
    one, each = (NoisyMarginal((0,), np.array([1.0, 2.0]), deviation) for deviation in (3.0, np.array([3.0, 4.0])))
    assert one.total == (3.0, pytest.approx(18**0.5))
    assert each.total == (3.0, pytest.approx(5.0))
