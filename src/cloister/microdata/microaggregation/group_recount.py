"""The written output, counted again before anybody sees it: its tuples are those that were planned, each of k rows or people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.errors import EngineError
from cloister.kernels.loops.arrays import I32, I64
from cloister.microdata.microaggregation.centroids import PublishedColumn
from cloister.microdata.microaggregation.grouping import Grouping
from cloister.schema.arrow_numpy import to_numbers
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers, texts
from cloister.vault import Holder

__all__ = ["PublishedTuples", "count_published", "plan_published"]

MOST_NUMBER = 2**62  # that codes are joined to


@dataclass(frozen=True, slots=True, eq=False)
class WrittenCells:
    """The code of each written cell: its place among the values that the column was to be written as; any other has the last.

    Numbers and days are in rising order, a blank (NaN) last; words are as they come, a blank is the empty one.
    """

    name: str
    kind: str
    values: NDArray[np.float64] | pa.Array  # different
    form: CellFormat = PLAIN  # how a text file has its numbers

    @classmethod
    def of(cls, column: PublishedColumn) -> tuple[WrittenCells, I64]:
        """The cells that a column is written as, and the code of each group's."""
        if column.kind == "category":
            coded = column.values.fill_null("").dictionary_encode()
            return cls(column.name, column.kind, coded.dictionary), to_numbers(coded.indices).astype(np.int64)
        read = days if column.kind == "date" else numbers
        values, codes = np.unique(read(column.values), return_inverse=True)
        return cls(column.name, column.kind, values), codes.astype(np.int64)

    def look_up(self, cells: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        if self.kind == "category":
            places = pc.index_in(texts(cells).cast(pa.string()).fill_null(""), value_set=self.values)
            codes: NDArray[np.int32] = to_numbers(places, null=len(self.values)).astype(np.int32)
            return codes
        found = days(cells) if self.kind == "date" else numbers(cells, self.form)
        at = np.minimum(np.searchsorted(self.values, found), len(self.values) - 1)
        there = self.values[at]
        is_known = (there == found) | (np.isnan(there) & np.isnan(found))
        return np.where(is_known, at, len(self.values)).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class KnownTuples:
    """The number of each row's tuple among known ones; -1 for any other.

    Codes are joined to one number, column by column; where the next would not fit 64 bits, and at the end, the number is
    looked up among those of known tuples and becomes its place there.
    """

    sizes: tuple[int, ...]  # the codes of each column
    known: tuple[
        I64 | None, ...
    ]  # behind each column: the numbers of known tuples in rising order; None: not looked up there
    width: int = 1

    @classmethod
    def among(cls, codes: Sequence[I64], sizes: Sequence[int]) -> tuple[KnownTuples, I64]:
        """The tuples that are made of these codes, and the number of each of them."""
        number = np.zeros(len(codes[0]), np.int64)
        known: list[I64 | None] = []
        reach = 1
        for j, (column, size) in enumerate(zip(codes, sizes, strict=True)):
            number = number * size + column
            reach *= size
            is_last = j == len(sizes) - 1
            places = None
            if is_last or reach * sizes[j + 1] > MOST_NUMBER:
                places, number = np.unique(number, return_inverse=True)
                reach = len(places)
            known.append(places)
        return cls(tuple(sizes), tuple(known)), number

    def keys(self, rows: Encoded) -> I64:
        """The number of each row, (n, 1)."""
        number = np.zeros(len(rows), np.int64)
        is_known = np.ones(len(rows), np.bool_)
        for j, (size, places) in enumerate(zip(self.sizes, self.known, strict=True)):
            is_known &= rows.codes[:, j] < size
            number = number * size + np.minimum(rows.codes[:, j], size - 1)
            if places is not None:
                at = np.minimum(np.searchsorted(places, number), len(places) - 1)
                is_known &= places[at] == number
                number = at
        return np.where(is_known, number, -1)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTuples:
    """What the output should hold: different tuples with their rows, and the people behind them where k counts people."""

    cells: tuple[WrittenCells, ...]
    known: KnownTuples
    counts: I64  # (tuples,) rows
    people: I64 | None  # (tuples,)

    @property
    def fewest(self) -> int:
        """The rows or people of the tuple that has fewest."""
        return int((self.counts if self.people is None else self.people).min())


def plan_published(published: Sequence[PublishedColumn], grouping: Grouping, people: I32) -> PublishedTuples:
    """What the output should hold. Two groups with the same centroid are one tuple to whoever reads them."""
    cells, codes = zip(*map(WrittenCells.of, published), strict=True)
    known, number = KnownTuples.among(codes, [len(column.values) for column in cells])
    of = number[grouping.of]  # (n,)
    counts = np.bincount(of)
    if not len(people):
        return PublishedTuples(cells, known, counts, None)
    persons = int(people.max()) + 1
    return PublishedTuples(cells, known, counts, np.bincount(np.unique(of * persons + people) // persons))


def count_published(output: Holder, plan: PublishedTuples, k: int, form: CellFormat = PLAIN) -> None:
    """Count what was written, and refuse an output that is not what was planned or has a tuple of fewer than k.

    `form`: how a text file has its numbers.

    People are not in the output: they are counted on the table, over tuples that by then are known to be those of the output.
    """
    cells = tuple(replace(column, form=form) for column in plan.cells)
    counted = output.count(Encoding(categories=cells), plan.known).value
    if not (np.array_equal(counted.keys[:, 0], np.arange(len(plan.counts))) and np.array_equal(counted.counts, plan.counts)):
        raise EngineError(
            "the output was counted again and does not hold the rows that were planned: the table changed on the way. Nothing "
            "was published; run it again."
        )
    if plan.fewest < k:
        raise EngineError(
            f"the output was counted again and a tuple has fewer than k = {k:,}. Nothing was published. This is a bug: please "
            "report it."
        )
