"""What a classifier still learns: trained on the anonymized table, beside the original and the most frequent class.

Every label becomes numbers in one way for both tables: how much of it lies under each node of the column's hierarchy (or in
each twentieth of its numbers, or on each frequent word), and where its middle is. So ``[20, 30)`` and ``25`` say comparable
things. A model is trained and tested on each table by itself, by cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks.label_domains import LabelDomain
from cloister.risks.tuples import Tuples

__all__ = ["Learning", "classifier_accuracy"]

FOLDS = 5
SAMPLE = 40_000  # rows of a table that models are trained and tested on
_PARTS = 20  # of numbers without a hierarchy
_NODES = 256  # of a hierarchy the widest labels, of words the most frequent


@dataclass(frozen=True, slots=True)
class Learning:
    """The share of rows whose class is predicted right, rows of each table held out in turn (five folds)."""

    target: str
    classes: int
    accuracy: float
    original: float
    majority: float
    tried: int  # rows of the anonymized table

    @property
    def kept(self) -> float:
        """How much of what the original tells beyond the majority is still there: 1 all of it, 0 none."""
        gain = self.original - self.majority
        return (self.accuracy - self.majority) / gain if gain > 0 else 1.0


def classifier_accuracy(
    published: Tuples, original: Tuples, domains: Sequence[LabelDomain], target: str, *, seed: int = 0
) -> Learning:
    """The accuracy of a logistic regression on both tables.

    Parameters
    ----------
    published, original : Tuples
        Over the quasi-identifiers and the target.
    domains : sequence of LabelDomain
        One for each quasi-identifier.
    target : str
        The column to predict; it is published as it is.
    """
    accuracy = _accuracy(published, domains, target, seed)
    original_accuracy = _accuracy(original, domains, target, seed)
    j = original.column(target)
    tally = np.bincount(original.codes[:, j], original.counts)
    return Learning(
        target,
        int((tally > 0).sum()),
        accuracy,
        original_accuracy,
        float(tally.max() / tally.sum()),
        min(published.rows, SAMPLE),
    )


def _accuracy(table: Tuples, domains: Sequence[LabelDomain], target: str, seed: int) -> float:
    """The mean accuracy over folds of rows."""
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(seed)  # public: which rows a model learns from
    n = table.rows
    if n < 2 * FOLDS:
        raise UsageError(f"a classifier needs at least {2 * FOLDS} rows.")
    tuples = np.repeat(np.arange(len(table.counts)), table.counts) if n <= 4 * SAMPLE else None
    if tuples is None:  # a few of very many rows, each as likely
        places = random.integers(0, n, SAMPLE)
        tuples = np.searchsorted(np.cumsum(table.counts), places, side="right")
    elif n > SAMPLE:
        tuples = random.choice(tuples, SAMPLE, replace=False)
    kinds, rows = np.unique(tuples, return_inverse=True)
    features = np.concatenate([_features(domain, table, kinds) for domain in domains], axis=1)  # (kinds, p)
    classes = table.codes[kinds, table.column(target)]
    if len(np.unique(classes)) == 1:
        return 1.0
    fold = random.permutation(len(rows)) % FOLDS
    right = 0.0
    for tested_fold in range(FOLDS):
        train = np.bincount(rows[fold != tested_fold], minlength=len(kinds))
        test = np.bincount(rows[fold == tested_fold], minlength=len(kinds))
        in_training = train > 0
        if len(np.unique(classes[in_training])) == 1:
            right += float(test[classes == classes[in_training][0]].sum())
            continue
        model = LogisticRegression(max_iter=200, tol=1e-3)
        model.fit(features[in_training], classes[in_training], sample_weight=train[in_training])
        in_test = test > 0
        right += float(test[in_test] @ (model.predict(features[in_test]) == classes[in_test]))
    return right / len(rows)


def _features(domain: LabelDomain, table: Tuples, kinds: NDArray[np.int64]) -> NDArray[np.float32]:
    """A column as numbers."""  # (kinds, p)
    j = table.column(domain.name)
    ranges = domain.ranges(table.values[j])
    nodes = domain.nodes
    if domain.is_scaled:
        edges = np.unique(np.linspace(0, domain.leaves, _PARTS + 1).astype(np.int64))
        nodes = np.stack([edges[:-1], edges[1:]], axis=1)
    elif not len(nodes):
        tally = np.bincount(ranges[table.codes[kinds, j], 0], minlength=domain.leaves)
        nodes = np.argsort(-tally, kind="stable")[:_NODES, None] + np.array([0, 1])
    elif len(nodes) > _NODES:
        nodes = nodes[np.argsort(nodes[:, 0] - nodes[:, 1], kind="stable")[:_NODES]]
    overlap = np.minimum(ranges[:, None, 1], nodes[None, :, 1]) - np.maximum(ranges[:, None, 0], nodes[None, :, 0])
    share = np.maximum(overlap, 0) / (ranges[:, 1] - ranges[:, 0])[:, None]
    parts = [share]
    if domain.numbers is not None:
        parts.append(domain.middles(ranges)[:, None])
    cells: NDArray[np.float32] = np.concatenate(parts, axis=1).astype(np.float32)[table.codes[kinds, j]]
    return cells
