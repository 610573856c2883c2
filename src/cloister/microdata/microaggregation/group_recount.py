"""The written output, counted again before anybody sees it: its tuples are those that were planned, each of k rows or people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.encode import Encoded, Encoding
from cloister.errors import EngineError
from cloister.kernels.loops.arrays import I32, I64
from cloister.microdata.microaggregation.centroids import PublishedColumn, distinct_values
from cloister.microdata.microaggregation.grouping import Grouping
from cloister.schema.arrow_numpy import to_numbers
from cloister.schema.cell_values import days, numbers, texts
from cloister.vault import Holder

__all__ = ["PublishedTuples", "count_published", "plan_published"]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCells:
    """The code of each written cell: its place among the values that the column was to be written as; any other has the last."""

    name: str
    kind: str
    values: pa.Array  # different, a null among them if blanks are written

    def look_up(self, cells: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        if self.kind == "category":
            known = self.values.fill_null("")
            places = pc.index_in(texts(cells).cast(pa.string()).fill_null(""), value_set=known)
            codes: NDArray[np.int32] = to_numbers(places, null=len(known)).astype(np.int32)
            return codes
        read = days if self.kind == "date" else numbers
        known_numbers, found = read(self.values), read(cells)
        order = np.argsort(known_numbers, kind="stable")  # a blank, NaN, comes last
        at = np.minimum(np.searchsorted(known_numbers[order], found), len(order) - 1)
        there = known_numbers[order][at]
        is_known = (there == found) | (np.isnan(there) & np.isnan(found))
        return np.where(is_known, order[at], len(order)).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class KnownTuples:
    """The number of each row's tuple among known ones; -1 for any other. One column is matched after another."""

    tuples: tuple[I64, ...]  # for every column: the known pairs of (number so far, code), in rising order
    sizes: tuple[int, ...]  # the codes of each column
    width: int = 1

    @classmethod
    def among(cls, codes: Sequence[I64], sizes: Sequence[int]) -> tuple[KnownTuples, I64]:
        """The tuples that are made of these codes, and the number of each of them."""
        so_far = np.zeros(len(codes[0]), np.int64)
        steps = []
        for column, size in zip(codes, sizes, strict=True):
            pairs, so_far = np.unique(so_far * size + column, return_inverse=True)
            steps.append(pairs)
        return cls(tuple(steps), tuple(sizes)), so_far

    def keys(self, rows: Encoded) -> I64:
        """The number of each row, (n, 1)."""
        number = np.zeros(len(rows), np.int64)
        for j, (pairs, size) in enumerate(zip(self.tuples, self.sizes, strict=True)):
            pair = np.where(rows.codes[:, j] < size, number * size + rows.codes[:, j], -1)
            at = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
            number = np.where((number >= 0) & (pairs[at] == pair), at, -1)
        return number[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTuples:
    """What the output should hold: different tuples with their rows, and the people behind them where k counts people."""

    cells: tuple[PublishedCells, ...]
    known: KnownTuples
    counts: I64  # (tuples,) rows
    people: I64 | None  # (tuples,)

    @property
    def fewest(self) -> int:
        """The rows or people of the tuple that has fewest."""
        return int((self.counts if self.people is None else self.people).min())


def plan_published(published: Sequence[PublishedColumn], grouping: Grouping, people: I32) -> PublishedTuples:
    """What the output should hold. Two groups with the same centroid are one tuple to whoever reads them."""
    values = [distinct_values(column) for column in published]
    cells = tuple(
        PublishedCells(column.name, column.kind, some) for column, (some, _) in zip(published, values, strict=True)
    )
    known, number = KnownTuples.among([codes for _, codes in values], [len(some) for some, _ in values])
    of = number[grouping.of]  # (n,)
    counts = np.bincount(of)
    if not len(people):
        return PublishedTuples(cells, known, counts, None)
    persons = int(people.max()) + 1
    return PublishedTuples(cells, known, counts, np.bincount(np.unique(of * persons + people) // persons))


def count_published(output: Holder, plan: PublishedTuples, k: int) -> None:
    """Count what was written, and refuse an output that is not what was planned or has a tuple of fewer than k.

    People are not in the output: they are counted on the table, over tuples that by then are known to be those of the output.
    """
    counted = output.count(Encoding(categories=plan.cells), plan.known).value
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
