"""What a classifier learns from a release: trained on it and on the original, both tested on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks.rows.closest_records import SEED
from cloister.risks.rows.row_tables import RowTable

__all__ = ["TrainedModels", "train_models"]

MOST_TRAINED, MOST_TESTED = 20_000, 10_000  # rows
FEWEST = 10  # rows of each table
MOST_CLASSES = 50
MOST_WORDS = 50  # of a column: the most frequent


@dataclass(frozen=True, slots=True)
class TrainedModels:
    """Shares of tested rows whose class is predicted right (logistic regression)."""

    target: str
    classes: int
    released: float  # trained on the release
    original: float  # trained on original rows, none of which is tested
    majority: float  # share of the most frequent class of the original
    tested: int
    is_control: bool  # tested on control rows; else on original rows, of which the release may have been made

    @property
    def kept(self) -> float | None:
        """How much of what the original tells beyond the majority is still there: 1 all, 0 none; None if it tells nothing."""
        gain = self.original - self.majority
        return (self.released - self.majority) / gain if gain > 0 else None


def train_models(original: RowTable, released: RowTable, target: str, control: RowTable | None = None) -> TrainedModels:
    """Train on both tables and test on rows of the control, or on a third of the original."""
    place = original.place(target)
    tally = np.bincount(original.cells[:, place], original.counts)
    classes = int((tally > 0).sum())
    if classes > MOST_CLASSES:
        raise UsageError(
            f'column "{target}" holds more than {MOST_CLASSES} values, which are no classes. Name another target.'
        )
    tables = [original, released, *([] if control is None else [control])]
    if min(table.rows for table in tables) < FEWEST:
        raise UsageError(f"a classifier needs at least {FEWEST} rows of each table.")
    rows = _shuffled(original)
    trained, tested, test_table = rows[len(rows) // 3 :], rows[: len(rows) // 3], original
    if control is not None:
        trained, tested, test_table = rows, _shuffled(control), control
    tested = tested[:MOST_TESTED]
    words = [_frequent(original, j) for j in range(len(original.columns))]
    features, truth = _features(test_table, tested, words, place), test_table.cells[tested, place]
    right = []
    for table, some in ((released, _shuffled(released)), (original, trained)):
        learned = some[:MOST_TRAINED]
        guess = _predict(_features(table, learned, words, place), table.cells[learned, place], features)
        right.append(float((guess == truth).mean()))
    majority = float(tally.max() / tally.sum())
    return TrainedModels(target, classes, right[0], right[1], majority, len(tested), control is not None)


def _shuffled(table: RowTable) -> NDArray[np.int64]:
    """The rows of a table in a random order, each as the place of what it holds."""
    random = np.random.default_rng(SEED)  # public: which rows a model learns from
    return random.permutation(np.repeat(np.arange(len(table)), table.counts))


def _frequent(table: RowTable, j: int) -> NDArray[np.int64]:
    """The bins or the most frequent codes of a column: what a model tells apart."""
    tally = np.bincount(table.cells[:, j], table.counts)
    order = np.argsort(-tally, kind="stable")[:MOST_WORDS]
    return order[tally[order] > 0]


def _features(table: RowTable, rows: NDArray[np.int64], words: list[NDArray[np.int64]], target: int) -> NDArray[np.float32]:
    """Whether each cell is in each bin or has each word, and where numbers lie on their scale."""  # (n, p)
    parts = []
    for j, column in enumerate(table.columns):
        if j == target:
            continue
        parts.append((table.cells[rows, j, None] == words[j]).astype(np.float32))
        if column.is_number:
            scaled = np.clip(np.nan_to_num(table.scaled(column.name)[rows], nan=0.5), -1, 2)
            parts.append(scaled[:, None].astype(np.float32))
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(rows), 1), np.float32)


def _predict(features: NDArray[np.float32], classes: NDArray[np.int32], asked: NDArray[np.float32]) -> NDArray[np.int32]:
    """The class of each row that is asked for, by a model of the others."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    if len(np.unique(classes)) == 1:
        return np.full(len(asked), classes[0], np.int32)
    model = LogisticRegression(max_iter=200, tol=1e-3)
    with threadpool_limits(1):  # small products: threads would mostly wait for each other
        guess: NDArray[np.int32] = model.fit(features, classes).predict(asked)
    return guess
