"""How far clusters and known classes agree. Every score is a function of how many rows of each class are in each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.parameters import unknown_choice

__all__ = [
    "DEFINITIONS",
    "adjusted_rand",
    "count_agreement",
    "f_measure",
    "f_of_counts",
    "matched_of_counts",
    "matched_share",
    "rand_of_counts",
]

Counts = NDArray[np.int64]  # (classes, clusters)
DEFINITIONS = ("best-match", "one-to-one")


def f_measure(labels: Any, classes: Any, definition: str = "best-match") -> float:
    """F-measure of clusters against known classes, between 0 and 1; larger is better.

    Parameters
    ----------
    labels : array (n,)
        The cluster of each row.
    classes : array (n,)
        The true class of each row.
    definition : "best-match" or "one-to-one"
        *best-match*, of the papers on DI clustering (eq. 17) and DEDP k-means (eqs. 15 to 18): each class takes the cluster
        that fits it best, F_i = max_j 2 n_ij / (|C_i| + |D_j|), the harmonic mean of precision n_ij / |D_j| and recall
        n_ij / |C_i|; the mean over classes is weighted by their sizes. Several classes may take the same cluster, so
        everything in one cluster scores well.
        *one-to-one*, of the paper on LDPK-modes (eqs. 12 to 14): clusters and classes are paired so that most rows agree. AC is
        the share of rows that do, RE the mean over clusters of the share of their rows that do (a cluster without a class
        counts 0), and F = 2 AC RE / (AC + RE). What that paper calls recall divides by the size of the cluster.

    Returns
    -------
    float

    Notes
    -----
    A score alone says little: compare it with that of one cluster. On MAGIC's two classes everything in one cluster scores 0.693
    by the first definition, and k-means without privacy 0.597.

    Examples
    --------
    >>> f_measure([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    >>> round(f_measure([0, 0, 0, 0], ["a", "a", "a", "b"]), 3), round(f_measure([0] * 4, list("aaab"), "one-to-one"), 3)
    (0.743, 0.75)
    """
    return f_of_counts(count_agreement(labels, classes), definition)


def matched_share(labels: Any, classes: Any) -> float:
    """Share of the rows that agree when clusters and classes are paired one to one as well as can be (AC of LDPK-modes, eq. 12).

    Of one cluster it is the share of the largest class.

    Examples
    --------
    >>> matched_share([0, 0, 1, 2], ["a", "a", "b", "b"])
    0.75
    """
    return matched_of_counts(count_agreement(labels, classes))


def adjusted_rand(labels: Any, classes: Any) -> float:
    """Rand index adjusted for chance, scikit-learn's: 1 where clusters are the classes; 0 for one cluster, or on average by luck.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_paired(labels, classes)))


def count_agreement(labels: Any, classes: Any) -> Counts:
    """How many rows of each class are in each cluster, (classes, clusters)."""
    of_clusters, of_classes = _paired(labels, classes)
    counts = np.zeros((of_classes.max() + 1, of_clusters.max() + 1), dtype=np.int64)
    np.add.at(counts, (of_classes, of_clusters), 1)
    return counts


def f_of_counts(counts: Counts, definition: str = "best-match") -> float:
    """`f_measure` from how many rows of each class are in each cluster."""
    if not isinstance(definition, str) or definition not in DEFINITIONS:
        raise unknown_choice("definition of the F-measure", definition, DEFINITIONS)
    counts = _filled(counts)
    of_classes, of_clusters = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    if definition == "best-match":
        fits = (2 * counts / (of_classes + of_clusters)).max(axis=1)  # (classes,)
        return float((fits * of_classes[:, 0]).sum() / counts.sum())
    own, cluster = _pairs(counts)
    agreed = counts[own, cluster]
    accuracy = agreed.sum() / counts.sum()
    recall = (agreed / of_clusters[0, cluster]).sum() / counts.shape[1]
    return float(2 * accuracy * recall / (accuracy + recall))


def matched_of_counts(counts: Counts) -> float:
    """`matched_share` from how many rows of each class are in each cluster."""
    counts = _filled(counts)
    return float(counts[_pairs(counts)].sum() / counts.sum())


def rand_of_counts(counts: Counts) -> float:
    """`adjusted_rand` from how many rows of each class are in each cluster: in exact integers, whatever the number of rows."""
    rows = _filled(counts)
    together = _pairs_of_rows(rows.ravel())
    of_classes, of_clusters = _pairs_of_rows(rows.sum(axis=1)), _pairs_of_rows(rows.sum(axis=0))
    of_all = _pairs_of_rows(rows.sum(keepdims=True).ravel())
    above = 2 * (together * of_all - of_classes * of_clusters)
    below = (of_classes + of_clusters) * of_all - 2 * of_classes * of_clusters
    return 1.0 if below == 0 else above / below  # 0: both put all rows together, or each apart


def _pairs_of_rows(sizes: Counts) -> int:
    """How many pairs of rows groups of these sizes hold."""
    return sum(size * (size - 1) // 2 for size in sizes.tolist())


def _filled(counts: Counts) -> Counts:
    """The counts without empty classes and clusters."""
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if not counts.size:
        raise UsageError("there is no row to score. Give at least one.")
    return counts


def _pairs(counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Classes and clusters paired so that most rows agree; of several such pairings the one with the largest recall."""
    from scipy.optimize import linear_sum_assignment

    shares = counts / counts.sum(axis=0)
    # all shares together weigh less than one row, so that they decide between equal sums alone
    own, cluster = linear_sum_assignment(counts + shares / (2 * len(shares.T)), maximize=True)
    return own, cluster


def _paired(labels: Any, classes: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Clusters and classes as numbers from 0, as many of the one as of the other."""
    of_clusters, of_classes = _numbered(labels, "labels"), _numbered(classes, "classes")
    if len(of_clusters) != len(of_classes):
        raise UsageError(f"there are {len(of_clusters):,} labels and {len(of_classes):,} classes. Give one of each a row.")
    if not len(of_clusters):
        raise UsageError("there is no row to score. Give at least one.")
    return of_clusters, of_classes


def _numbered(values: Any, what: str) -> NDArray[np.int64]:
    """Each different value as a number from 0; values that are not there (None, NaN) are one of their own."""
    listed = values.to_pylist() if hasattr(values, "to_pylist") else values  # of pyarrow
    array = np.asarray(listed if hasattr(listed, "dtype") else np.array(listed, dtype=object))
    if array.ndim != 1:
        raise UsageError(f"{what} must be a list with one value a row.")
    if array.dtype.kind in "iubU":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    number_of: dict[Any, int] = {}
    try:
        keys = [None if value is None or value != value else value for value in array.tolist()]
        return np.array([number_of.setdefault(key, len(number_of)) for key in keys], dtype=np.int64)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be numbers or texts, one a row.") from None
