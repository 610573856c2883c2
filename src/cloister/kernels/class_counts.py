"""Value counts of every column, by class: a row belongs to the class that its values score highest in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.schema import Neighbours

__all__ = ["ClassCounts", "ValueBins", "best_classes"]

ROWS_AT_ONCE = 4_096  # whose scores in all classes stay in the cache
LARGEST_TOTAL = 2**31  # scores of a row are added in 32 bits


@dataclass(frozen=True, slots=True)
class ValueBins:
    """How each column's values are told apart: numbers by cuts, categories one by one.

    Attributes
    ----------
    cuts
        Per number column the ascending inner edges in grid units: bin i holds cuts[i-1] <= value < cuts[i].
    sizes
        Per category column the size of its domain.

    Privacy: the bin of a cell depends on that cell and on these public or released cuts alone.
    """

    cuts: tuple[tuple[int, ...], ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def widths(self) -> tuple[int, ...]:
        """How many bins each column has, numbers first."""
        return tuple(len(cuts) + 1 for cuts in self.cuts) + self.sizes

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the bins of each column begin when those of all columns stand one after the other, (columns,)."""
        return np.cumsum([0, *self.widths[:-1]], dtype=np.int64)

    @property
    def total(self) -> int:
        """How many bins all columns have."""
        return sum(self.widths)

    def places(self, rows: Encoded) -> list[NDArray[np.int64]]:
        """The bin of each row, column by column."""
        numbers = [
            np.searchsorted(np.asarray(cuts, dtype=np.int64), rows.numbers[:, j], side="right")
            for j, cuts in enumerate(self.cuts)
        ]
        return [*numbers, *(rows.codes[:, j].astype(np.int64) for j in range(len(self.sizes)))]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """How many rows of each class hold each value, for all columns at once.

    Attributes
    ----------
    bins
        How values are told apart.
    scores
        Public or released, (classes, bins of all columns): a row belongs to the class in which the scores of its values add up to
        most, of several such classes to the first.

    Privacy: a row belongs to one class, which its own values decide, and adds 1 to one count of each of the c columns there.
    Added or removed it moves the counts by c in L1 and in squared L2. Replaced it takes 1 from c counts and gives 1 to c counts,
    in its class or in another.
    """

    bins: ValueBins
    scores: NDArray[np.int32]  # (k, bins)

    def __post_init__(self) -> None:
        if not self.bins.widths or self.scores.ndim != 2 or self.scores.shape[1] != self.bins.total:
            raise UsageError("a class needs one score for each value of each column.")
        if int(np.abs(self.scores.astype(np.int64)).max()) * len(self.bins.widths) >= LARGEST_TOTAL:
            raise UsageError("the scores of a row could add up to more than 32 bits. Use smaller ones, or fewer columns.")

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": self.scores.shape}

    def fold(self, rows: Encoded) -> Summary:
        places, classes = self.bins.places(rows), len(self.scores)
        found = best_classes(self.scores, places, self.bins.offsets, len(rows))
        columns = [
            np.bincount(found * width + column, minlength=classes * width).reshape(classes, width)
            for column, width in zip(places, self.bins.widths, strict=True)
        ]
        return Summary({"counts": np.concatenate(columns, axis=1).astype(np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moved = len(self.bins.widths) * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
        return Sensitivity(({"counts": Change(moved, moved)},))


def best_classes(
    scores: NDArray[np.int32], places: list[NDArray[np.int64]], offsets: NDArray[np.int64], rows: int
) -> NDArray[np.int64]:
    """The class in which each row scores highest, exact; ties go to the lowest, (rows,)."""
    best = np.zeros(rows, dtype=np.int64)
    if len(scores) == 1:
        return best
    by_value = np.ascontiguousarray(scores.T)  # (bins, k)
    for start in range(0, rows, ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        totals = np.zeros((len(best[some]), len(scores)), dtype=np.int32)
        for offset, column in zip(offsets, places, strict=True):
            totals += by_value[offset + column[some]]
        best[some] = totals.argmax(axis=1)
    return best
