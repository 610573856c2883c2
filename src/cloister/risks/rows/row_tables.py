"""Tables of rows laid out alike: numbers on one scale, categories as codes that mean the same in each table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.risks.fingerprints import NULL, fingerprint
from cloister.risks.rows.share_bins import bin_cuts
from cloister.risks.tuples import Tuples, Values, joined
from cloister.risks.value_codes import code_values
from cloister.schema import Category, Date, Kind, Number

__all__ = ["RowColumn", "RowTable", "lay_out"]

LARGEST = 1e60  # widths: squares of what lies farther, and their products, would not be finite


@dataclass(frozen=True, slots=True, eq=False)
class RowColumn:
    """A column as it is compared, in every table alike.

    Attributes
    ----------
    name : str
    is_number : whether its values are numbers or days; else they are words, equal or not
    is_date : whether they are days since 1970
    low, width : where the scale of numbers begins, and what counts as a distance of 1
    cuts : between the bins in which numbers are counted
    size : how many bins or codes there are, the last of them for blanks
    marks : fingerprints of the words, rising, and the code of each (`codes`); empty for numbers
    note : why numbers are compared as words; empty where they are not
    """

    name: str
    is_number: bool
    is_date: bool
    low: float
    width: float
    cuts: NDArray[np.float64]
    size: int
    marks: NDArray[np.int64]
    codes: NDArray[np.int32]
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """The different rows of a table over columns that were laid out.

    Parameters
    ----------
    columns : tuple of RowColumn
    numbers : array of float64, (m, d)
        The number columns on their scale; NaN for a blank.
    codes : array of int32, (m, c)
        The other columns.
    cells : array of int32, (m, columns)
        The bin or code of each cell, columns in their order.
    counts : array of int64, (m,)
        How many rows are so.

    Privacy
    -------
    Exact rows, for the holder: not a private release.
    """

    columns: tuple[RowColumn, ...]
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    cells: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    def taken(self, places: NDArray[np.int64], counts: NDArray[np.int64]) -> RowTable:
        """Some of the different rows, each with another number of copies."""
        return RowTable(self.columns, self.numbers[places], self.codes[places], self.cells[places], counts)

    def narrowed(self, names: Collection[str]) -> RowTable:
        """The same rows with some of the columns; rows that are now equal are one."""
        columns = tuple(column for column in self.columns if column.name in names)
        places = [self.place(column.name) for column in columns]
        is_number = [column.is_number for column in self.columns]
        numbers = self.numbers[:, [self._side(j) for j in places if is_number[j]]]
        codes = self.codes[:, [self._side(j) for j in places if not is_number[j]]]
        ranks = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in (*numbers.T, *codes.T)]
        narrow = RowTable(
            columns, np.ascontiguousarray(numbers), np.ascontiguousarray(codes), self.cells[:, places], self.counts
        )
        return narrow.merged(ranks)

    def merged(self, ranks: Sequence[NDArray[np.int32]]) -> RowTable:
        """The table with rows of equal ranks in every column as one."""
        labels, different = joined(ranks, [int(rank.max()) + 1 for rank in ranks], len(self))
        if different == len(self):
            return self
        first = np.unique(labels, return_index=True)[1]
        return self.taken(first, np.bincount(labels, self.counts, different).astype(np.int64))

    def has_same_rows(self, other: RowTable) -> bool:
        """Whether another table, laid out alike, holds the same rows, in whatever order."""
        if len(self) != len(other) or self.rows != other.rows:
            return False
        sorts = [np.lexsort((*table.numbers.T, *table.codes.T, table.counts)) for table in (self, other)]
        return all(
            np.array_equal(one[sorts[0]], two[sorts[1]], equal_nan=one.dtype.kind == "f")
            for one, two in ((self.numbers, other.numbers), (self.codes, other.codes), (self.counts, other.counts))
        )

    def _side(self, place: int) -> int:
        """Where a column stands among the numbers, or among the codes."""
        return sum(column.is_number == self.columns[place].is_number for column in self.columns[:place])

    def place(self, name: str) -> int:
        """The place of a column."""
        return [column.name for column in self.columns].index(name)

    def scaled(self, name: str) -> NDArray[np.float64]:
        """The values of a number column, on its scale."""
        names = [column.name for column in self.columns if column.is_number]
        scaled: NDArray[np.float64] = self.numbers[:, names.index(name)]
        return scaled


def lay_out(tables: Sequence[Tuples], names: Sequence[str], kinds: Mapping[str, Kind]) -> list[RowTable]:
    """The tables, the original first, over some columns that all of them have."""
    columns = [
        _column([table.values[table.column(name)] for table in tables], name, kinds.get(name), tables) for name in names
    ]
    return [_laid_out(table, columns) for table in tables]


def _laid_out(table: Tuples, columns: Sequence[RowColumn]) -> RowTable:
    m = len(table.counts)
    cells = np.empty((m, len(columns)), np.int32)
    numbers: list[NDArray[np.float64]] = []
    codes, ranks = [], []
    for j, column in enumerate(columns):
        place = table.column(column.name)
        values, rows = table.values[place], table.codes[:, place]
        if column.is_number:
            amounts = _amounts(values, column.is_date)
            bins = np.searchsorted(column.cuts, amounts, side="left")
            cells[:, j] = np.where(np.isnan(amounts), column.size - 1, bins)[rows]
            numbers.append(np.clip((amounts - column.low) / column.width, -LARGEST, LARGEST)[rows])
            ranks.append(np.unique(amounts, return_inverse=True)[1].astype(np.int32)[rows])
        else:
            cells[:, j] = column.codes[np.searchsorted(column.marks, values.fingerprints)][rows]
            codes.append(cells[:, j])
            ranks.append(cells[:, j])
    laid = RowTable(tuple(columns), _stacked(numbers, m, np.float64), _stacked(codes, m, np.int32), cells, table.counts)
    return laid.merged(ranks)


def _stacked(columns: Sequence[NDArray[Any]], rows: int, kind: type) -> NDArray[Any]:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((rows, 0), kind)


def _column(values: Sequence[Values], name: str, kind: Kind | None, tables: Sequence[Tuples]) -> RowColumn:
    """How a column is compared: as numbers or days where that is what it holds, else as words."""
    is_quantity, is_date, note = _reads_as(values, kind)
    if is_quantity:
        amounts = _amounts(values[0], is_date)
        low, width = _scale(amounts, kind)
        if 0 < width < np.inf:
            original = tables[0]
            counts = np.bincount(original.codes[:, original.column(name)], original.counts, len(amounts)).astype(np.float64)
            cuts = bin_cuts(amounts, counts, kind)
            none = np.zeros(0, np.int64)
            return RowColumn(name, True, is_date, low, width, cuts, len(cuts) + 2, none, none.astype(np.int32))
    marks, codes, size = _word_codes(values, kind if is_quantity or not note else None)
    return RowColumn(name, False, False, 0.0, 1.0, np.zeros(0), size, marks, codes, note)


def _reads_as(values: Sequence[Values], kind: Kind | None) -> tuple[bool, bool, str]:
    """Whether a column holds numbers or days; whether days; and why not, where one would expect it."""
    if isinstance(kind, Number | Date):
        is_date = isinstance(kind, Date)
        missing = [fingerprint(word) for word in kind.form.missing]
        for table in values[1:]:  # what the original holds beside numbers is blank, by its schema
            unread = ~np.isfinite(_amounts(table, is_date)) & (table.fingerprints != NULL)
            if (unread & ~np.isin(table.fingerprints, missing)).any():
                return False, False, "the release holds labels"
        return True, is_date, ""
    if kind is not None:
        return False, False, ""
    shares = []
    for is_date in (False, True):
        reads = [np.isfinite(_amounts(table, is_date))[table.fingerprints != NULL] for table in values]
        if all(each.all() for each in reads) and len(reads[0]):
            return True, is_date, ""
        shares.append(len(reads[0]) > 0 and bool(reads[0].mean() > 0.5))
    return False, False, "not every cell of both tables is a number or a date" if any(shares) else ""


def _amounts(values: Values, is_date: bool) -> NDArray[np.float64]:
    """Each different cell as a number or a day; NaN for what is none."""
    assert values.quantities is not None
    amounts = values.quantities[1 if is_date else 0]
    return np.where(np.isfinite(amounts), amounts, np.nan)


def _scale(amounts: NDArray[np.float64], kind: Kind | None) -> tuple[float, float]:
    """Where the scale of a column begins, and its width: the bounds of the schema, else the range of the original."""
    if isinstance(kind, Number) and kind.bounds is not None:
        return kind.bounds[0], kind.bounds[1] - kind.bounds[0]
    if isinstance(kind, Date) and kind.bounds is not None:
        first, last = (int(np.datetime64(day, "D").astype(np.int64)) for day in kind.bounds)
        return float(first), float(last - first)
    finite = amounts[np.isfinite(amounts)]
    return (float(finite.min()), float(finite.max() - finite.min())) if len(finite) else (0.0, 0.0)


def _word_codes(values: Sequence[Values], kind: Kind | None) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """The code of every cell of all tables, by its fingerprint, and how many codes there are; blanks have the last."""
    marks, first = np.unique(np.concatenate([each.fingerprints for each in values]), return_index=True)
    pairs = [each.quantities for each in values if each.quantities is not None]
    numbers, days = (np.concatenate([pair[side] for pair in pairs])[first] for side in (0, 1))
    real = marks != NULL
    domain = [fingerprint(value) for value in kind.domain or ()] if isinstance(kind, Category) else ()
    missing = frozenset() if kind is None else frozenset(fingerprint(word) for word in kind.form.missing)
    coded = code_values(marks[real].tolist(), kind, numbers[real], days[real], domain, missing)
    _, merged = np.unique(coded.merged, return_inverse=True)  # without gaps; what counts as a blank is the last
    codes = np.full(len(marks), merged[-1], np.int32)
    codes[real] = merged[coded.codes]
    return marks, codes, int(merged[-1]) + 1
