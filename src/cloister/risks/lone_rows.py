"""How many rows (people) are alone with their cells, for many combinations of columns at once.

A row that is alone with some columns stays alone with more of them, so only the others are compared again. Those of all
combinations that differ in their last column are counted together: one column at a time would take as long to start as to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.risks.measures import own_classes
from cloister.risks.tuples import Tuples, joined

__all__ = ["LoneRows", "lone_rows"]

_CELLS = 4_000_000  # of columns times rows that are compared at once


class LoneRows(Protocol):
    """Counts the rows (people) that are alone."""

    def with_last(self, first: Sequence[int], last: Sequence[int]) -> NDArray[np.int64]:
        """How many are alone with the columns `first` and one of `last`, for each of these."""


def lone_rows(tuples: Tuples) -> LoneRows:
    """Who counts the rows, or people, of a table."""
    return _OfRows(tuples) if tuples.persons is None else _OfPeople(tuples)


class _OfRows:
    """Rows: a tuple that several rows have stands twice, so that it is never alone."""

    def __init__(self, tuples: Tuples) -> None:
        several = np.flatnonzero(tuples.counts > 1)
        self._codes = np.ascontiguousarray(np.concatenate([tuples.codes, tuples.codes[several]]).T)  # (c, m)
        self._widths = np.array([len(values) for values in tuples.values], np.int64)

    def with_last(self, first: Sequence[int], last: Sequence[int]) -> NDArray[np.int64]:
        rows = self._codes.shape[1]
        labels, number = joined([self._codes[j] for j in first], [int(self._widths[j]) for j in first], rows)
        is_alone = np.bincount(labels, minlength=number)[labels] == 1
        together = np.flatnonzero(~is_alone)
        counts = np.full(len(last), rows - len(together), np.int64)
        if not len(together):
            return counts
        labels = np.unique(labels[together], return_inverse=True)[1]
        places, block = np.asarray(last), max(1, _CELLS // len(together))
        for start in range(0, len(last), block):
            here = places[start : start + block]
            counts[start : start + block] += _alone(
                labels, self._codes[np.ix_(here, together)], int(self._widths[here].max())
            )
        return counts


def _alone(labels: NDArray[np.int64], codes: NDArray[np.int32], width: int) -> NDArray[np.int64]:
    """How many rows of each line of codes (c, m) are alone with their label and their code, which is below `width`."""
    cells = (int(labels.max()) + 1) * width
    keys = labels * width + codes  # (c, m)
    if cells <= 4 * len(labels):  # a table of all combinations is smaller than a sort
        places = (np.arange(len(keys)) * cells)[:, None] + keys
        sizes = np.bincount(places.reshape(-1), minlength=len(keys) * cells).reshape(len(keys), cells)
        return np.asarray(np.count_nonzero(sizes == 1, axis=1), np.int64)
    keys = np.sort(keys.astype(np.int32) if cells < 2**31 else keys, axis=1)
    differs = np.ones((len(keys), keys.shape[1] + 1), bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=differs[:, 1:-1])
    return np.asarray(np.count_nonzero(differs[:, 1:] & differs[:, :-1], axis=1), np.int64)


class _OfPeople:
    """People, whose rows may be in several classes: one combination after another."""

    def __init__(self, tuples: Tuples) -> None:
        self._tuples = tuples

    def with_last(self, first: Sequence[int], last: Sequence[int]) -> NDArray[np.int64]:
        return np.array([self._alone([*first, j]) for j in last], np.int64)

    def _alone(self, places: Sequence[int]) -> int:
        tuples = self._tuples
        labels, classes = tuples.classes([tuples.names[j] for j in places])
        sizes, members = tuples.sizes(labels, classes), tuples.members(labels)
        return own_classes(sizes, sizes, members).number_at(1)
