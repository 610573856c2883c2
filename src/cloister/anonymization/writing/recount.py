"""The written output, counted again before anybody sees it: what is published is what was planned, and holds every guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.leaf_coder import LeafCoder
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import ClassGuard, passing, sizes
from cloister.anonymization.writing.recoding import STAR, Recoding
from cloister.anonymization.writing.tuple_ranks import TupleRanks
from cloister.encode import Encoding
from cloister.errors import EngineError
from cloister.kernels.keyed import Keyed, RowKeys, distinct
from cloister.vault import Holder

__all__ = ["PlannedOutput", "PublishedClasses", "check_output", "count_output", "fewest_people", "plan_output"]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedClasses:
    """Published tuples with their counts: codes of labels, codes of sensitive values, rows."""

    labels: tuple[LeafCoder, ...]  # the texts that each column is published as
    keyed: Keyed  # (codes of labels, codes of sensitive values) -> rows
    meanings: tuple[tuple[int, ...], ...] = ()  # as in `TupleCounts`

    @property
    def of(self) -> NDArray[np.int64]:
        """The class of each key: rows whose quasi-identifiers look alike."""
        return _numbered(self.keyed.keys[:, : len(self.labels)])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The rows of each class."""
        of = self.of
        return sizes(of, int(of.max(initial=-1)) + 1, self.keyed.counts)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.keyed.counts.sum())

    @property
    def tuples(self) -> TupleCounts:
        """The keys as tuples of labels, with their sensitive values."""
        q, keys = len(self.labels), self.keyed.keys
        sensitive = keys[:, q:].astype(np.int32) if keys.shape[1] > q else None
        return TupleCounts(keys[:, :q].astype(np.int32), self.keyed.counts, sensitive=sensitive, meanings=self.meanings)

    @property
    def used(self) -> list[list[str]]:
        """The labels of each column that occur, in the order of the hierarchy."""
        shown = []
        for j, column in enumerate(self.labels):
            assert column.leaves is not None
            shown.append([column.leaves[code] for code in np.unique(self.keyed.keys[:, j])])
        return shown


def published_labels(recoding: Recoding) -> tuple[LeafCoder, ...]:
    """The texts that each column may be published as; two nodes with the same text are one to whoever reads them."""
    coders = []
    for column in recoding.columns:
        words = tuple(dict.fromkeys([*column.labels, STAR, ""]))
        coders.append(LeafCoder(column.name, words, None, False, words.index("")))
    return tuple(coders)


@dataclass(frozen=True, slots=True, eq=False)
class PlannedOutput:
    """What the output should hold, by the rows that were counted before it was written.

    `codes` are the codes of the labels of each tuple of `rows`, (t, q); removed tuples are not in `classes`.
    """

    classes: PublishedClasses
    codes: NDArray[np.int64]
    rows: TupleCounts
    is_kept: NDArray[np.bool_]  # (t,) whether the rows of a tuple are published


def plan_output(recoding: Recoding, rows: TupleCounts, labels: NDArray[np.int64]) -> PlannedOutput:
    """What the output should hold, if tuples have these classes (-1: suppressed)."""
    texts = published_labels(recoding)
    codes = np.empty((len(labels), len(texts)), np.int64)
    for j, (column, coder) in enumerate(zip(recoding.columns, texts, strict=True)):
        assert coder.leaves is not None
        place = {word: i for i, word in enumerate(coder.leaves)}
        of_label = np.array([place[word] for word in column.labels])
        codes[:, j] = np.where(labels >= 0, of_label[recoding.classes[labels, j]], place[STAR])
    kept = (rows.counts > 0) & ((labels >= 0) | recoding.is_starred)
    parts = [codes] if rows.sensitive is None else [codes, rows.sensitive.astype(np.int64)]
    planned = PublishedClasses(texts, distinct(np.hstack(parts)[kept], rows.counts[kept]), rows.meanings)
    return PlannedOutput(planned, codes, rows, kept)


def count_output(output: Holder, recoding: Recoding, sensitive: Sequence[LeafCoder]) -> PublishedClasses:
    """What the output does hold."""
    texts = published_labels(recoding)
    encoding = Encoding(categories=(*texts, *sensitive))
    keyed = output.count(encoding, RowKeys(len(texts) + len(sensitive))).value
    return PublishedClasses(texts, keyed, tuple(coder.meaning for coder in sensitive))


def fewest_people(plan: PlannedOutput) -> int | None:
    """How many people the class with the fewest has; None where rows are counted."""
    if plan.rows.persons is None:
        return None
    # a person counts once in a class
    once = distinct(np.column_stack([plan.codes, plan.rows.persons])[plan.is_kept]).keys
    return int(distinct(once[:, : plan.codes.shape[1]]).counts.min()) if len(once) else 0


def check_output(output: PublishedClasses, plan: PlannedOutput, guards: Sequence[ClassGuard]) -> None:
    """Refuse an output that is not what was planned, or that breaks a guard.

    Persons and the population are not in the output: where they count, guards are counted on the table, over the classes
    of the output, which by then are known to be those that were planned.
    """
    written, planned = output.keyed, plan.classes.keyed
    if not (np.array_equal(written.keys, planned.keys) and np.array_equal(written.counts, planned.counts)):
        raise EngineError(
            "the output was counted again and does not hold the rows that were planned: the table changed on the way, or the "
            "machines of the cluster do not share its folder. Nothing was published; run it again."
        )
    published, labels = output.tuples, output.of
    classes = int(labels.max(initial=-1)) + 1
    on_table = [guard for guard in guards if guard.counts_on_table]
    by_people = plan.rows.persons is not None  # the output does not show whose a row is
    on_output = [guard for guard in guards if guard.counts_on_output and not (by_people and guard.counts_on_table)]
    holds = passing(on_output, labels, classes, published).all()
    if plan.rows.persons is not None or plan.rows.population is not None:
        firsts = published.codes[np.flatnonzero(np.diff(labels, prepend=-1))]  # one key of each class
        class_of = TupleRanks(firsts).find(plan.codes.astype(np.int32))
        # a tuple of people who are not in the output may match none; removed rows, which stand as *, count nowhere
        inside = np.flatnonzero((class_of < len(firsts)) & (plan.is_kept | (plan.rows.counts == 0)))
        table = plan.rows.take(inside)
        holds = holds and passing(on_table, class_of[inside], len(firsts), table).all()
    if not holds:
        raise EngineError(
            "the output was counted again and breaks a guard. Nothing was published. This is a bug: please report it."
        )


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """A small number for each different key, keys being in rising order."""
    if not len(keys):
        return np.zeros(0, np.int64)
    begins = np.append(False, (keys[1:] != keys[:-1]).any(axis=1))
    return np.cumsum(begins).astype(np.int64)
