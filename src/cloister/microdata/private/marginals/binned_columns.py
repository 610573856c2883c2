"""Columns as cells: values of categories, stated bins or few values of numbers and dates, and bins that follow the rows.

A number or date column without stated bins and with more than `FIRST_BINS` values gets bins where its rows are: passes over its
range find fine ones (`single_columns`), which are joined into coarse ones of about equal weight for pairs of columns. A number is
then drawn by the shares of the fine bins within its coarse one. How many coarse bins there may be is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.encode import Codes, Encoding
from cloister.errors import UsageError, by_door
from cloister.kernels import Histogram, ValueBins
from cloister.microdata.private.row_columns import NumberFacts, number_facts
from cloister.microdata.private.row_task import RowTask
from cloister.microdata.private.single_columns.column_marginals import ColumnMarginals, most_coarse
from cloister.microdata.private.single_columns.column_passes import FIRST_BINS
from cloister.microdata.private.single_columns.number_places import Ends, MarginalPlaces
from cloister.schema import Category
from cloister.tabulation.axes import Axis, axis_of

__all__ = ["COARSE_BINS", "MOST_VALUES", "BinnedColumns", "bin_columns"]

COARSE_BINS = 8  # about, of a number whose bins follow the rows; 12 and 16 are no better on the whole (Adult, heart, magic)
MOST_VALUES = 1024  # of a column: with more, no pair of columns is learned that has it
ROUNDING = 1e-9  # of a number of steps: what floating-point division may be off by


@dataclass(frozen=True, slots=True)
class BinnedColumns:
    """The columns that make cells, and how rows are read into them: in the order of the fields, numbers and dates first."""

    followed: tuple[MarginalPlaces, ...]  # numbers and dates whose bins follow the rows
    axes: tuple[Axis, ...]  # the others: numbers and dates, then categories
    facts: tuple[NumberFacts, ...]  # of the numbers and dates among the axes
    encoding: Encoding

    @property
    def fixed(self) -> ValueBins:
        """The cells of the columns whose bins follow from public facts."""
        edges = tuple(axis.edges for axis in self.axes if axis.edges is not None)
        return ValueBins(edges, tuple(len(axis.labels) for axis in self.axes if axis.edges is None))

    def cells(self, coarse: Sequence[Ends]) -> Histogram:
        """The cells of all columns, as kernels have them, when bins that follow the rows end there."""
        cuts = tuple(places.cuts(ends) for places, ends in zip(self.followed, coarse, strict=True))
        return Histogram((*cuts, *self.fixed.cuts), self.fixed.sizes)

    @property
    def most_cells(self) -> tuple[int, ...]:
        """How many cells each column has at most: public."""
        return (*(min(most_coarse(COARSE_BINS), places.count) for places in self.followed), *self.fixed.widths)

    @property
    def usual_cells(self) -> tuple[int, ...]:
        """How many cells each column is expected to have."""
        return (*(COARSE_BINS for _ in self.followed), *self.fixed.widths)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return (*(places.grid.name for places in self.followed), *(axis.name for axis in self.axes))

    def values(  # public
        self, places: NDArray[np.int32], alone: ColumnMarginals, random: PublicChance
    ) -> dict[str, NDArray[Any]]:
        """Values by column for rows of places, (n, columns): codes of categories, numbers and days drawn within their bins.

        `alone` are the released shares of the columns whose bins follow the rows.
        """
        drawn: dict[str, NDArray[Any]] = {}
        for i, column in enumerate(self.followed):
            drawn[column.grid.name] = alone.values(i, places[:, i].astype(np.int64), random)
        for i, axis in enumerate(self.axes):
            own = places[:, len(self.followed) + i]
            drawn[axis.name] = within_bins(own, axis.ends, self.facts[i], random) if axis.ends else own
        return drawn


def within_bins(  # public
    places: NDArray[np.int32], ends: tuple[float, ...], facts: NumberFacts, random: PublicChance
) -> NDArray[np.float64]:
    """A number in the bin of each place, evenly among those that the column's step allows.

    A bin holds its lower end and not its upper one, but for the last. One without a value of the step gives its middle.
    """
    edges = np.array(ends, dtype=np.float64)
    chance = random.random(len(places))
    if facts.step is None:
        return np.asarray(edges[places] + (edges[places + 1] - edges[places]) * chance)
    steps = (edges - facts.low) / facts.step
    first = np.ceil(steps[:-1] - ROUNDING)
    after = np.ceil(steps[1:] - ROUNDING)
    after[-1] = np.floor(steps[-1] + ROUNDING) + 1
    counts = after - first
    drawn = facts.low + (first[places] + np.floor(chance * counts[places])) * facts.step
    return np.where(counts[places] > 0, drawn, (edges[places] + edges[places + 1]) / 2)


def bin_columns(task: RowTask) -> BinnedColumns:
    """The cells of a task's columns, from public facts; refuses bins and domains that cannot be used."""
    columns = task.columns
    if unknown := [name for name in task.bins if name not in columns.kinds]:
        raise UsageError(f'bins are given for "{unknown[0]}", which is not one of the columns of the rows.')
    if not (*columns.numbers, *columns.categories):
        raise UsageError("every column has a single value, which is public: there is nothing to release.")
    followed = followed_columns(task)
    follows = {places.grid.name for places in followed}
    numbers = [name for name in columns.numbers if name not in follows]
    made = [axis_of(name, columns.kinds[name], task.bins.get(name)) for name in (*numbers, *columns.categories)]
    for axis, _ in made:
        if len(axis.labels) > MOST_VALUES:
            is_category = isinstance(columns.kinds[axis.name], Category)
            raise UsageError(
                f'column "{axis.name}" has {len(axis.labels):,} {"values" if is_category else "bins"}, and method "marginals" '
                f"takes at most {MOST_VALUES:,}. "
                + (
                    f"Group them, or leave it out of {by_door('columns', '--columns')}."
                    if is_category
                    else f"Give it fewer in {by_door('bins', '--bins')}."
                )
            )
    grids = (*(places.grid for places in followed), *(column for _, column in made if not isinstance(column, Codes)))
    codes = tuple(column for _, column in made if isinstance(column, Codes))
    facts = tuple(number_facts(columns.kinds[name]) for name in numbers)
    return BinnedColumns(followed, tuple(axis for axis, _ in made), facts, Encoding(grids, codes))


def followed_columns(task: RowTask) -> tuple[MarginalPlaces, ...]:
    """The number and date columns whose bins follow the rows: those without stated bins and with many values."""
    if all(name in task.bins for name in task.columns.numbers):
        return ()
    grids = [grid for grid in task.domain.encoding.numbers if task.bins.get(grid.name) is None]
    return tuple(places for places in map(MarginalPlaces.of, grids) if places.count > FIRST_BINS)
