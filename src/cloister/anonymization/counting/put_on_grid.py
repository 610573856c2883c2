"""From counted values to bins between public cuts: all that a search sees of numbers and days without a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.cut_points import Holders, offered_cuts
from cloister.anonymization.counting.public_grid import CutGrid
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.counting.wide_columns import narrowest_width
from cloister.schema.hierarchies import Hierarchy

__all__ = ["GridTable", "put_on_grid"]


@dataclass(frozen=True, slots=True, eq=False)
class GridTable:
    """A counted table whose numbers and days are in bins.

    Parameters
    ----------
    rows : TupleCounts
        The tuples in the order of the counted table. A tuple of bins occurs as often as tuples of values fall into it.
    columns : sequence of Hierarchy or CutBins
    names : sequence of str
    """

    rows: TupleCounts
    columns: Sequence[Hierarchy | CutBins]
    names: Sequence[str]

    def take(self, rows: NDArray[np.int64]) -> GridTable:
        """Some of the tuples."""
        return replace(self, rows=self.rows.take(rows))


def put_on_grid(table: CountedTable, k: int) -> GridTable:
    """Join the values of ordered columns to bins of at least k rows (people) between public cuts."""
    codes = table.rows.codes.copy()
    columns: list[Hierarchy | CutBins] = []
    for j, column in enumerate(table.columns):
        if isinstance(column, Hierarchy):
            columns.append(column)
            continue
        bins, bin_of = make_bins(column, codes[:, j].astype(np.int64), table.rows, k)
        columns.append(bins)
        codes[:, j] = bin_of[codes[:, j]]
    return GridTable(replace(table.rows, codes=codes), columns, table.names)


def make_bins(scale: Scale, codes: NDArray[np.int64], rows: TupleCounts, k: int) -> tuple[CutBins, NDArray[np.int32]]:
    """The bins of a column, and the bin of each of its codes."""  # (codes,)
    values, m = scale.values, len(scale.values)
    is_number = codes < m
    persons = None if rows.persons is None else rows.persons[is_number]
    holders = Holders.of(codes[is_number], rows.counts[is_number], persons)
    finest = _finest(scale, holders.between(k))
    grid = scale.grid if finest is None else replace(scale, width=finest).grid
    cuts = cuts_of(scale, holders, k, grid, Fraction(1) if scale.is_date and scale.width is None else finest)
    bin_of = np.searchsorted(cuts, values, side="right")
    held = np.bincount(bin_of, minlength=len(cuts) + 1).astype(np.int64)
    step = scale.value_step if finest is None or finest == scale.value_step else None
    bins = CutBins(cuts, held, scale.ends, scale.has_null, scale.is_date, step, scale.form)
    return bins, np.append(bin_of, bins.count).astype(np.int32)


def cuts_of(scale: Scale, holders: Holders, k: int, grid: CutGrid, finest: Fraction | None) -> NDArray[np.float64]:
    """The cuts of a column; single values are first joined to the narrowest intervals, as very many of them are counted.

    So one more different value, after which they are counted in these, offers no other cuts.
    """
    inner = holders.between(k)
    is_step = not scale.is_date and scale.step is not None and finest == Fraction(repr(scale.step))
    if finest is None or is_step or inner.start >= inner.stop:  # each value is an interval of its own
        return offered_cuts(scale.values, holders, k, grid, is_open=scale.is_open)
    of_values, is_open = grid.places(scale.values, finest), scale.bounds is None and not scale.is_date
    if is_open:  # beyond the k-th rows from both ends one interval holds all
        ends = of_values[inner.start] - 1, of_values[inner.stop - 1] + 1
        of_values = np.clip(of_values, *ends)
        places = np.unique([*of_values, *ends])
    else:
        places = np.unique(of_values)
    joined = replace(holders, codes=np.searchsorted(places, of_values)[holders.codes])
    return offered_cuts(grid.starts(places, finest), joined, k, grid, is_open=is_open)


def _finest(scale: Scale, inner: slice) -> Fraction | None:
    """The narrowest interval of single values with a step: as wide as if there were very many of them; None for others."""
    if scale.step is None or scale.is_date or scale.width is not None or inner.start >= inner.stop:
        return None
    low, high = scale.bounds or (float(scale.values[inner.start]), float(scale.values[inner.stop - 1]))
    return narrowest_width(low, high, scale.step, scale.bounds)
