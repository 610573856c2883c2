"""Scores by distance: by hand, by scikit-learn, and as a paper prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans

from cloister.clustering.scores import distances, mixed_cost, nicv, sse, sum_of_distances
from cloister.errors import UsageError
from tests.real_data import as_numbers, real_set

POINTS = np.random.default_rng(0).random((500, 3))
CENTERS = np.random.default_rng(1).random((7, 3))


def test_sse_is_scikit_learns_inertia(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the nearest centre and with stated labels, however many rows are compared at a time."""
    model = KMeans(7, n_init=1, random_state=0).fit(POINTS)
    for at_once in (1, 50, 2**22):
        monkeypatch.setattr(distances, "AT_ONCE", at_once)
        assert sse(POINTS, model.cluster_centers_) == pytest.approx(model.inertia_)
        assert sse(POINTS, model.cluster_centers_, model.labels_) == pytest.approx(model.inertia_)
    assert nicv(POINTS, model.cluster_centers_) == pytest.approx(model.inertia_ / 500)


def test_the_sum_of_distances_is_what_the_paper_prints() -> None:
    """DEDP k-means, tables 3 and 4: 16,555.67 for k-means on Wine, 1.6697e6 on MAGIC, both on raw data."""
    for name, clusters, printed in (("wine", 3, 16555.67), ("magic", 2, 1.6697e6)):
        X = as_numbers(real_set(name))
        model = KMeans(clusters, n_init=10, random_state=0).fit(X)
        assert sum_of_distances(X, model.cluster_centers_) == pytest.approx(printed, rel=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.3, np.linspace(0.1, 2, 7)])
def test_mixed_cost_by_hand(gamma: Any) -> None:
    """Squares of the numbers, and gamma for each category that differs; a row is where it costs least."""
    random = np.random.default_rng(2)
    codes, modes = random.integers(0, 4, (500, 2)), random.integers(0, 4, (7, 2))
    each = np.broadcast_to(gamma, 7)
    costs = [
        [((x - c) ** 2).sum() + g * (row != mode).sum() for c, mode, g in zip(CENTERS, modes, each, strict=True)]
        for x, row in zip(POINTS, codes, strict=True)
    ]
    assert mixed_cost(POINTS, codes, CENTERS, modes, gamma) == pytest.approx(np.min(costs, axis=1).sum())
    labels = random.integers(0, 7, 500)
    stated = sum(row[label] for row, label in zip(costs, labels, strict=True))
    assert mixed_cost(POINTS, codes.astype(str), CENTERS, modes.astype(str), gamma, labels) == pytest.approx(stated)


def test_categories_alone_have_a_cost() -> None:
    """Without numbers and with gamma 1 it is the cost of k-modes: how many cells differ."""
    nothing = np.empty((3, 0)), np.empty((1, 0))
    cells = [["a", "x"], ["a", "y"], ["b", "y"]]
    assert mixed_cost(nothing[0], cells, nothing[1], [["a", "y"]]) == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sse([[1, 2]], [[1]]), "2 columns and the centres 1"),
        (lambda: sse(np.empty((0, 2)), [[1, 2]]), "nothing to score"),
        (lambda: sse([[np.nan]], [[1]]), "finite numbers"),
        (lambda: sse([["a"]], [[1]]), "table of numbers"),
        (lambda: sse([[1]], [[1]], [1]), "whole numbers from 0 to 0"),
        (lambda: mixed_cost([[1]], [["a"]], [[1]], [["a"]], -1), "at least 0"),
        (lambda: mixed_cost([[1]], [["a"]], [[1]], [["a"]], "auto"), "gamma must be a number"),
        (lambda: mixed_cost([[1]], [["a"], ["b"]], [[1]], [["a"]]), "same rows"),
        (lambda: mixed_cost([[1]], [["a"]], [[1]], [["a", "b"]]), "same columns"),
        (lambda: mixed_cost([[1]], ["a"], [[1]], [["a"]]), "table of categories"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(UsageError, match=message):
        call()
