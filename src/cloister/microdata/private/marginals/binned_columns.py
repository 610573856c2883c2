"""Columns as cells: the values of categories, the bins of numbers and dates; and values drawn evenly within their bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.encode import Codes, Encoding
from cloister.errors import UsageError, by_door
from cloister.kernels import Histogram
from cloister.microdata.private.row_columns import NumberFacts, number_facts
from cloister.microdata.private.row_task import RowTask
from cloister.schema import Category
from cloister.tabulation.axes import Axis, axis_of

__all__ = ["MOST_VALUES", "BinnedColumns", "bin_columns"]

MOST_VALUES = 1024  # of a column: with more, no pair of columns is learned that has it
ROUNDING = 1e-9  # of a number of steps: what floating-point division may be off by


@dataclass(frozen=True, slots=True)
class BinnedColumns:
    """The columns that make cells, numbers and dates first, and how rows are read into them."""

    axes: tuple[Axis, ...]
    facts: tuple[NumberFacts, ...]  # of the numbers and dates
    encoding: Encoding

    @property
    def cells(self) -> Histogram:
        """The cells of all columns, as kernels have them."""
        edges = tuple(axis.edges for axis in self.axes if axis.edges is not None)
        return Histogram(edges, tuple(len(axis.labels) for axis in self.axes if axis.edges is None))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(axis.name for axis in self.axes)

    def values(self, places: NDArray[np.int32], random: PublicChance) -> dict[str, NDArray[Any]]:  # public
        """Values by column for rows of places, (n, columns): codes of categories, numbers and days drawn within their bins."""
        drawn: dict[str, NDArray[Any]] = {}
        for i, axis in enumerate(self.axes):
            drawn[axis.name] = within_bins(places[:, i], axis.ends, self.facts[i], random) if axis.ends else places[:, i]
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
    used = (*columns.numbers, *columns.categories)
    if unknown := [name for name in task.bins if name not in columns.kinds]:
        raise UsageError(f'bins are given for "{unknown[0]}", which is not one of the columns of the rows.')
    if not used:
        raise UsageError("every column has a single value, which is public: there is nothing to release.")
    made = [axis_of(name, columns.kinds[name], task.bins.get(name)) for name in used]
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
    grids = tuple(column for _, column in made if not isinstance(column, Codes))
    codes = tuple(column for _, column in made if isinstance(column, Codes))
    facts = tuple(number_facts(columns.kinds[name]) for name in columns.numbers)
    return BinnedColumns(tuple(axis for axis, _ in made), facts, Encoding(grids, codes))
