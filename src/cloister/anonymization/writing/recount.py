"""The written output, counted again before anybody sees it: what is published is what was planned, and holds every guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.histogram import Histogram
from cloister.anonymization.counting.tally import Leaves
from cloister.anonymization.searching.guards import Guard, KAnonymity, KMap, passing, sizes
from cloister.anonymization.writing.recoding import STAR, Ranks, Recoding
from cloister.encode import Encoding
from cloister.errors import EngineError
from cloister.kernels.keyed import Keyed, RowKeys, distinct
from cloister.vault import Holder

__all__ = ["Classes", "count_output", "fewest_people", "planned", "require"]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Published tuples with their counts: codes of labels, codes of sensitive values, rows."""

    labels: tuple[Leaves, ...]  # the texts that each column is published as
    keyed: Keyed  # (codes of labels, codes of sensitive values) -> rows

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
    def used(self) -> list[list[str]]:
        """The labels of each column that occur, in the order of the hierarchy."""
        shown = []
        for j, column in enumerate(self.labels):
            assert column.leaves is not None
            shown.append([column.leaves[code] for code in np.unique(self.keyed.keys[:, j])])
        return shown


def published_labels(recoding: Recoding) -> tuple[Leaves, ...]:
    """The texts that each column may be published as; two nodes with the same text are one to whoever reads them."""
    found = []
    for column in recoding.columns:
        words = tuple(dict.fromkeys([*column.labels, STAR, ""]))
        found.append(Leaves(column.name, words, None, False, words.index("")))
    return tuple(found)


def planned(recoding: Recoding, rows: Histogram, labels: NDArray[np.int64]) -> tuple[Classes, NDArray[np.int64]]:
    """What the output should hold, and the codes of the labels of each tuple; suppressed tuples that go are not in it."""
    texts = published_labels(recoding)
    codes = np.empty((len(labels), len(texts)), np.int64)
    for j, (column, known) in enumerate(zip(recoding.columns, texts, strict=True)):
        assert known.leaves is not None
        place = {word: i for i, word in enumerate(known.leaves)}
        of_label = np.array([place[word] for word in column.labels])
        codes[:, j] = np.where(labels >= 0, of_label[recoding.classes[labels, j]], place[STAR])
    kept = (rows.counts > 0) & ((labels >= 0) | recoding.is_starred)
    parts = [codes] if rows.sensitive is None else [codes, rows.sensitive.astype(np.int64)]
    return Classes(texts, distinct(np.hstack(parts)[kept], rows.counts[kept])), codes


def count_output(output: Holder, recoding: Recoding, sensitive: Sequence[Leaves]) -> Classes:
    """What the output does hold."""
    texts = published_labels(recoding)
    encoding = Encoding(categories=(*texts, *sensitive))
    return Classes(texts, output.count(encoding, RowKeys(len(texts) + len(sensitive))).value)


def fewest_people(recoding: Recoding, rows: Histogram, labels: NDArray[np.int64], codes: NDArray[np.int64]) -> int | None:
    """How many people the class with the fewest has; None where rows are counted."""
    if rows.persons is None:
        return None
    kept = (rows.counts > 0) & ((labels >= 0) | recoding.is_starred)
    once = distinct(np.column_stack([codes, rows.persons])[kept]).keys  # a person counts once in a class
    return int(distinct(once[:, : codes.shape[1]]).counts.min()) if len(once) else 0


def require(found: Classes, plan: Classes, codes: NDArray[np.int64], rows: Histogram, guards: Sequence[Guard]) -> None:
    """Refuse an output that is not what was planned, or that breaks a guard.

    Persons and the population are not in the output: their guards are counted on the table, over the classes of the
    output, which by then are known to be those that were planned.
    """
    same = np.array_equal(found.keyed.keys, plan.keyed.keys) and np.array_equal(found.keyed.counts, plan.keyed.counts)
    if not same:
        raise EngineError(
            "the output was counted again and does not hold the rows that were planned: the table changed on the way, or the "
            "machines of the cluster do not share its folder. Nothing was published; run it again."
        )
    q = len(found.labels)
    seen = Histogram(
        found.keyed.keys[:, :q].astype(np.int32),
        found.keyed.counts,
        sensitive=found.keyed.keys[:, q:].astype(np.int32) if found.keyed.keys.shape[1] > q else None,
    )
    of = found.of
    mine = [guard for guard in guards if not isinstance(guard, KMap)]
    holds = passing(mine, of, int(of.max(initial=-1)) + 1, seen).all()
    if rows.persons is not None or rows.population is not None:
        classes = seen.codes[np.flatnonzero(np.diff(of, prepend=-1))]  # one key of each
        whole = Ranks(classes).find(codes.astype(np.int32))
        inside = np.flatnonzero(whole < len(classes))  # a tuple of people who are not in the output may match none
        others = [guard for guard in guards if isinstance(guard, (KAnonymity, KMap))]
        table = replace(rows.take(inside), sensitive=None)
        holds = holds and passing(others, whole[inside], len(classes), table).all()
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
