"""Scores against known classes: by hand, by scikit-learn, and whatever the clusters are called."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from cloister.clustering.scores import adjusted_rand, f_measure, matched_share
from cloister.clustering.scores.agreement import DEFINITIONS, count_agreement, rand_of_counts
from cloister.errors import UsageError
from tests.real_data import as_numbers, real_set

partitions = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)))
)


def by_hand(labels: list[int], classes: list[int], definition: str) -> float:
    """The two F-measures, written down as the papers do, with every pairing tried."""
    n = len(labels)
    clusters = [{i for i in range(n) if labels[i] == label} for label in sorted(set(labels))]
    known = [{i for i in range(n) if classes[i] == one} for one in sorted(set(classes))]
    if definition == "best-match":
        total = 0.0
        for own in known:
            fits = []
            for cluster in clusters:
                cover = len(own & cluster)
                precision, recall = cover / len(cluster), cover / len(own)
                fits.append(2 * precision * recall / (precision + recall) if cover else 0.0)
            total += len(own) / n * max(fits)
        return total
    padded: list[set[int]] = known + [set() for _ in clusters]
    best = (0.0, 0.0)
    for order in permutations(range(len(padded)), len(clusters)):
        agreed = [len(cluster & padded[j]) for cluster, j in zip(clusters, order, strict=True)]
        recall = sum(a / len(c) for a, c in zip(agreed, clusters, strict=True)) / len(clusters)
        best = max(best, (sum(agreed) / n, recall))
    return 2 * best[0] * best[1] / (best[0] + best[1])


@pytest.mark.parametrize("definition", DEFINITIONS)
@given(rows=partitions)
def test_both_definitions_are_those_of_the_papers(definition: str, rows: tuple[list[int], list[int]]) -> None:
    """The F-measure is what the formulas give when every pairing of clusters and classes is tried."""
    labels, classes = rows
    assert f_measure(labels, classes, definition) == pytest.approx(by_hand(labels, classes, definition))


@given(rows=partitions, new=st.permutations(range(4)))
def test_names_of_clusters_mean_nothing(rows: tuple[list[int], list[int]], new: list[int]) -> None:
    """Clusters under other numbers, and classes under other names, score the same; so do rows in another order."""
    labels, classes = rows
    other, named = [new[label] for label in labels], [f"class {new[one]}" for one in classes]
    for score in (f_measure, lambda a, b: f_measure(a, b, "one-to-one"), matched_share, adjusted_rand):
        assert score(other[::-1], named[::-1]) == pytest.approx(score(labels, classes))


@given(rows=partitions)
def test_adjusted_rand_is_scikit_learns(rows: tuple[list[int], list[int]]) -> None:
    """From rows or from counts alone it is scikit-learn's."""
    expected = adjusted_rand_score(rows[1], rows[0])
    assert adjusted_rand(*rows) == pytest.approx(expected)
    assert rand_of_counts(count_agreement(*rows)) == pytest.approx(expected)


def test_one_cluster_scores_well_on_magic() -> None:
    """Everything in one cluster scores 0.693, and k-means without privacy 0.597: F alone misleads."""
    magic = real_set("magic")
    X = as_numbers(magic)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    labels = KMeans(2, n_init=10, random_state=0).fit_predict(X)
    assert f_measure(np.zeros(len(X)), magic.target) == pytest.approx(0.693, abs=5e-4)
    assert f_measure(labels, magic.target) == pytest.approx(0.597, abs=1e-3)
    assert matched_share(np.zeros(len(X)), magic.target) == pytest.approx(12332 / 19020)


def test_one_cluster_on_heart() -> None:
    """150 rows against 120: everything in one cluster scores 0.670 by eq. 17."""
    assert f_measure([0] * 270, [1] * 150 + [2] * 120) == pytest.approx(0.670, abs=5e-4)


@pytest.mark.parametrize(
    "classes",
    [
        ["a", "a", None, "b"],
        np.array([1.5, 1.5, np.nan, 2]),
        pa.array(["a", "a", None, "b"]),
        pa.chunked_array([[1, 1, None, 3]]),
    ],
)
def test_classes_may_be_anything(classes: Any) -> None:
    """Texts, numbers, Arrow arrays; what is missing is a class of its own."""
    assert f_measure([0, 0, 1, 2], classes) == 1.0


@pytest.mark.parametrize(
    ("labels", "classes", "definition", "message"),
    [
        ([0, 1], [0], "best-match", "2 labels and 1 classes"),
        ([], [], "best-match", "no row to score"),
        ([0], [0], "f1", "Choose one of: best-match, one-to-one"),
        ([[0], [1]], [0, 1], "best-match", "one value a row"),
        ([{}, {}], [0, 1], "best-match", "numbers or texts"),
    ],
)
def test_what_makes_no_sense_is_refused(labels: Any, classes: Any, definition: str, message: str) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(UsageError, match=message):
        f_measure(labels, classes, definition)
