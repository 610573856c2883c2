"""The histogram of a table's tuples, counted without a domain: all that a measure of risk ever sees of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.column_names import missing_column
from cloister.errors import UsageError
from cloister.risks.class_measures import Memberships, memberships, sizes
from cloister.risks.class_values import ClassValues
from cloister.risks.fingerprints import NULL, CellKeys, Fingerprints, fingerprint, from_lane
from cloister.risks.value_codes import ValueCodes, code_values
from cloister.schema import Category, Kind
from cloister.vault import Holder

__all__ = ["TOGETHER", "Tuples", "Values", "count_tuples", "joined"]

_LARGEST = 2**62

TOGETHER = ""
"""The name of the one column that stands for all columns counted together; no column of a table has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The different cells of a column: what tells them apart, and, where that was asked for, what they span or are."""

    fingerprints: NDArray[np.int64]  # (v,) rising
    low: NDArray[np.float64] | None = None  # (v,) the numbers or days they span; NaN for what is no number
    high: NDArray[np.float64] | None = None  # (v,)
    quantities: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None  # (v,) number and day; NaN for what is none

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

    @property
    def people(self) -> int:
        """The number of persons, or of rows where it is not known whose they are."""
        return self.rows if self.persons is None else len(np.unique(self.persons))

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

    def members(self, labels: NDArray[np.int64]) -> Memberships | None:
        """Who is in which class; None where it is not known whose rows they are."""
        return None if self.persons is None else memberships(labels, self.persons)

    def sizes(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """The rows of each class; the persons, where it is known whose rows they are."""
        members = self.members(labels)
        return sizes(labels, classes, self.counts) if members is None else members.sizes(classes)

    def sensitive(self, name: str, kind: Kind | None = None) -> tuple[ClassValues, ValueCodes]:
        """The values of a column that was counted with them, and how they were coded."""
        j = self.column(name)
        cells = self.values[j]
        assert cells.quantities is not None
        real = cells.fingerprints != NULL
        domain = [fingerprint(value) for value in kind.domain or ()] if isinstance(kind, Category) else ()
        numbers, days = cells.quantities
        missing = frozenset() if kind is None else frozenset(fingerprint(word) for word in kind.form.missing)
        coded = code_values(cells.fingerprints[real].tolist(), kind, numbers[real], days[real], domain, missing)
        codes = np.full(len(cells), coded.blank, np.int32)
        codes[real] = coded.codes
        return ClassValues(codes[self.codes[:, j]], self.counts, self.persons, coded.blank, coded.merged), coded


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
    valued: Sequence[str] = (),
    person: str | None = None,
    together: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
) -> Tuples:
    """Count the tuples of some columns, through the holder's door: one keyed fold, wherever the rows are.

    Columns `together` are distinguished only as a whole, as if they were one column, which comes first and is named
    `TOGETHER`: cheaper, where no more is asked of them. Cells are read as `kinds` say, each column's by its own.
    """
    names = tuple(name for name in dict.fromkeys(names) if name not in together)
    if not names and not together:
        raise UsageError("name at least one quasi-identifier.")
    wanted = [*together, *names, *([person] if person else [])]
    for name in wanted:
        if name not in table.names:
            raise missing_column(name, table.names, wanted)
    encoding = Fingerprints.over(names, spanned, together, valued, kinds)
    keyed = table.count(encoding, CellKeys(encoding.width), person).value
    if not len(keyed):
        raise UsageError("the table has no rows, so there is no risk to measure.")
    lanes = {**({TOGETHER: 0} if together else {}), **encoding.lanes}
    codes = np.empty((len(keyed), len(lanes)), np.int32)
    values = []
    for j, (name, lane) in enumerate(lanes.items()):
        cells, first, codes[:, j] = np.unique(keyed.keys[:, lane], return_index=True, return_inverse=True)
        pair = None
        if name in encoding.spanned or name in encoding.valued:
            pair = from_lane(keyed.keys[first, lane + 1]), from_lane(keyed.keys[first, lane + 2])
        is_span = pair is not None and name in encoding.spanned
        values.append(Values(cells, *pair) if pair and is_span else Values(cells, quantities=pair))
    persons = None
    if person is not None:
        persons = np.unique(keyed.keys[:, -2:], axis=0, return_inverse=True)[1].reshape(-1)
    return Tuples(tuple(lanes), codes, tuple(values), keyed.counts, persons)
