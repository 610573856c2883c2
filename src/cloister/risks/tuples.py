"""The histogram of a table's tuples, counted without a domain: all that a measure of risk ever sees of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.column_names import missing_column
from cloister.errors import UsageError
from cloister.risks.class_measures import distinct_persons, sizes
from cloister.risks.fingerprints import CellKeys, Fingerprints, from_lane
from cloister.vault import Holder

__all__ = ["TOGETHER", "Tuples", "Values", "count_tuples", "joined"]

_LARGEST = 2**62

TOGETHER = ""
"""The name of the one column that stands for all columns counted together; no column of a table has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The different cells of a column: what tells them apart, and which numbers or days they span, where that was asked for."""

    fingerprints: NDArray[np.int64]  # (v,) rising
    low: NDArray[np.float64] | None = None  # (v,) NaN for what is no number
    high: NDArray[np.float64] | None = None  # (v,)

    def __len__(self) -> int:
        return len(self.fingerprints)

    @property
    def order(self) -> NDArray[np.int64] | None:
        """The rank of each cell among the numbers; None unless all cells but nulls are single numbers."""
        if self.low is None or self.high is None:
            return None
        real = self.fingerprints != 0
        if not real.any() or not (np.isfinite(self.low[real]) & (self.low[real] == self.high[real])).all():
            return None
        ranked = np.argsort(np.where(real, self.low, np.inf), kind="stable")
        rank = np.empty(len(self), np.int64)
        rank[ranked] = np.arange(len(self))
        return rank


@dataclass(frozen=True, slots=True, eq=False)
class Tuples:
    """How many rows hold each tuple of cells.

    Parameters
    ----------
    names : tuple of str
    codes : array of int32, (m, c)
        The place of each cell among the different cells of its column.
    values : tuple of Values, (c,)
    counts : array of int64, (m,)
    persons : array of int64, (m,), optional
        Whose rows they are.

    Privacy
    -------
    Exact counts, for the holder: not a private release.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    values: tuple[Values, ...]
    counts: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    def column(self, name: str) -> int:
        """The place of a column."""
        return self.names.index(name)

    def narrowed(self, names: Sequence[str]) -> Tuples:
        """The same rows with some of the columns."""
        places = [self.column(name) for name in names]
        return Tuples(tuple(names), self.codes[:, places], tuple(self.values[j] for j in places), self.counts, self.persons)

    def classes(self, names: Sequence[str] | None = None) -> tuple[NDArray[np.int64], int]:
        """The class of each tuple when only these columns are known, and the number of classes."""
        places = range(len(self.names)) if names is None else [self.column(name) for name in names]
        return joined([self.codes[:, j] for j in places], [len(self.values[j]) for j in places], len(self.codes))

    def sizes(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """The rows of each class; the persons, where it is known whose rows they are."""
        if self.persons is None:
            return sizes(labels, classes, self.counts)
        return distinct_persons(labels, classes, self.persons)


def joined(columns: Sequence[NDArray[np.int32]], widths: Sequence[int], rows: int) -> tuple[NDArray[np.int64], int]:
    """One code for each combination of codes that occurs, without a gap, and how many there are."""
    labels, number = np.zeros(rows, np.int64), 1 if rows else 0
    is_dense = True
    for column, width in zip(columns, widths, strict=True):
        if number * width >= _LARGEST:
            _, labels = np.unique(labels, return_inverse=True)
            number = int(labels.max(initial=-1)) + 1
        labels, number, is_dense = labels * width + column, number * width, False
    if is_dense:
        return labels, number
    if number <= 4 * rows:  # a table of all combinations is smaller than a sort
        occurs = np.zeros(number, bool)
        occurs[labels] = True
        places = np.cumsum(occurs) - 1
        return places[labels], int(occurs.sum())
    kept, labels = np.unique(labels, return_inverse=True)
    return labels, len(kept)


def count_tuples(
    table: Holder,
    names: Sequence[str],
    *,
    spanned: Sequence[str] = (),
    person: str | None = None,
    together: Sequence[str] = (),
) -> Tuples:
    """Count the tuples of some columns, through the holder's door: one keyed fold, wherever the rows are.

    Columns `together` are distinguished only as a whole, as if they were one column, which comes first and is named
    `TOGETHER`: cheaper, where no more is asked of them.
    """
    names = tuple(name for name in dict.fromkeys(names) if name not in together)
    if not names and not together:
        raise UsageError("name at least one quasi-identifier.")
    wanted = [*together, *names, *([person] if person else [])]
    for name in wanted:
        if name not in table.names:
            raise missing_column(name, table.names, wanted)
    encoding = Fingerprints.over(names, spanned, together)
    keyed = table.count(encoding, CellKeys(encoding.width), person).value
    if not len(keyed):
        raise UsageError("the table has no rows, so there is no risk to measure.")
    lanes = {**({TOGETHER: 0} if together else {}), **encoding.lanes}
    codes = np.empty((len(keyed), len(lanes)), np.int32)
    values = []
    for j, (name, lane) in enumerate(lanes.items()):
        cells, first, codes[:, j] = np.unique(keyed.keys[:, lane], return_index=True, return_inverse=True)
        ends = [from_lane(keyed.keys[first, lane + i]) for i in (1, 2)] if name in encoding.spanned else []
        values.append(Values(cells, *ends))
    persons = None
    if person is not None:
        persons = np.unique(keyed.keys[:, -2:], axis=0, return_inverse=True)[1].reshape(-1)
    return Tuples(tuple(lanes), codes, tuple(values), keyed.counts, persons)
