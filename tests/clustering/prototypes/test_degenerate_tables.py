"""Mixed tables at the edge of what votes and rounds can tell: nothing is refused, and nothing warned of, after the charge."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.testing import seeded_noise

EMPTY = pa.table({"x": pa.array([], pa.float64()), "c": pa.array([], pa.string())})


@pytest.mark.parametrize("epsilon", [1, 50, 10_000])
@pytest.mark.parametrize("clusters", ["auto", 2])
def test_an_empty_table_is_answered(epsilon: int, clusters: int | str) -> None:
    """Where all votes are 0 the made-up rows keep their weights."""
    model = cl.KPrototypes(clusters, epsilon, bounds=(0, 1), categories={"c": ["a", "b"]}, columns=["x", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(3):
            with seeded_noise(seed):
                found = model.fit(EMPTY)
            assert np.isfinite(found.cluster_centers_[:, 0].astype(float)).all()
            assert np.isfinite(found.cluster_sizes_).all()


@pytest.mark.parametrize("rows", [0, 1, 50, 5000])
def test_rows_that_are_all_alike_have_some_number_of_clusters(rows: int) -> None:
    """No number is better than another, and one is chosen all the same."""
    data = pa.table({"x": pa.array([0.5] * rows, pa.float64()), "c": pa.array(["a"] * rows, pa.string())})
    for seed, epsilon in enumerate((20, 100, 1000, 10**6)):
        with seeded_noise(seed):
            found = cl.KModes("auto", epsilon, categories={"c": ["a", "b"]}, columns=["c"]).fit(data)
            both = cl.KPrototypes("auto", epsilon, bounds=(0, 1), categories={"c": ["a", "b"]}, columns=["x", "c"]).fit(data)
        assert len(found.cluster_centers_) >= 2
        assert len(both.cluster_centers_) >= 2


def test_a_gamma_that_is_found_keeps_distances_exact() -> None:
    """Hundreds of nearly constant categories ask for a gamma beyond it: the largest that is exact is taken."""
    n, names = 500, [f"c{j}" for j in range(600)]
    data = pa.table({"x": np.arange(n) % 2 * 1.0, **{name: ["a"] * n for name in names}})
    model = cl.KPrototypes(2, 1000.0, bounds=(0, 1), categories={name: ["a", "b"] for name in names})
    assert model.fit(data).release_.parameters["gamma"] > 1


@pytest.mark.parametrize("budget", [1, 1000, cl.ApproxDP(1, "1e-6")])
@pytest.mark.parametrize("rounds", [22, 40, 1000])
def test_rounds_of_nothing_but_noise_are_refused_before_the_charge(budget: object, rounds: int) -> None:
    """As k-means refuses them."""
    settings = {"bounds": (0, 1), "categories": {"c": ["a", "b"]}, "columns": ["x", "c"]}
    model = cl.KPrototypes(2, budget, method="lloyd", schedule="halving", max_iter=rounds, **settings)
    with pytest.raises(UsageError, match="less than a millionth"):
        model.fit(pa.table({"x": [0.1, 0.9] * 50, "c": ["a", "b"] * 50}))
    with pytest.raises(UsageError, match="less than a millionth"):
        model.plan(1000, names=["x", "c"])


def test_a_gamma_beyond_all_numbers_is_refused() -> None:
    """With the range in which distances are exact."""
    for gamma in (1e300, 1e-300, 1.7e308):
        with pytest.raises(UsageError, match="gamma must lie between"):
            cl.KPrototypes(2, 1, gamma=gamma, bounds=(0, 1), categories={"c": ["a", "b"]}, columns=["x", "c"]).fit(EMPTY)


def test_a_column_is_named_once() -> None:
    """Named twice, its two places could not be told apart."""
    with pytest.raises(UsageError, match="there twice in columns"):
        cl.KMeans(2, 1, bounds=(0, 1), columns=["x", "x"]).fit(EMPTY)
