"""The axes of a table from public facts: categories by their domain, numbers by their bins, measures by their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.column_names import missing_column, nearest_name
from cloister.encode import BinGrid, Codes, DayGrid, Encoding, Grid, MadeUp
from cloister.errors import UsageError
from cloister.parameters import check_reach
from cloister.schema import Category, Date, Number, Schema
from cloister.schema.kinds import OTHER
from cloister.schema.stated_kinds import kind_of, number_of
from cloister.schema.value_steps import ValueSteps
from cloister.tabulation.day_bins import cut_days, day_number
from cloister.tabulation.number_bins import cut_numbers, has_bin_for_each_value
from cloister.tabulation.quantile_bins import QuantileBins, bin_quantiles

__all__ = ["ALL", "Axis", "TableContents", "TableLayout", "axis_of", "lay_out"]

ALL = "*"  # stands for a column that a margin adds up

ADDED = ("sum of ", "mean of ", "median of ", "quantile ", "standard_error of ", "low of ", "high of ")  # names of its own
HALF = 2**20  # grid steps from the middle of a summed number's bounds to their end
AS_FLOAT32 = 2.0**-23  # how far from a number its float32 may lie, relative to it
NEAR = 1e-3  # of a bin: no more than that counts as its upper edge


@dataclass(frozen=True, slots=True)
class Axis:
    """A column that makes cells: its labels, and for a number its inner edges in grid steps.

    `ends` are where the bins of a number begin and where the last one ends, in the column's own units; of a date in days.
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[int, ...] | None = None
    ends: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class TableContents:
    """What a table says of numbers in each cell, beside the count: whose sums are wanted, whose means, and which quantiles."""

    measures: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    quantiles: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that it speaks of, each once."""
        return tuple(dict.fromkeys((*self.summed, *(name for name, _ in self.quantiles))))

    @property
    def summed(self) -> tuple[str, ...]:
        """The columns whose sums are bought, each once."""
        return tuple(dict.fromkeys((*self.measures, *self.means)))


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table's axes as the user ordered them, how rows are read, and in which order the kernel has the axes."""

    axes: tuple[Axis, ...]
    encoding: Encoding
    summed: tuple[Grid, ...]
    contents: TableContents = TableContents()
    ranked: tuple[QuantileBins, ...] = ()  # the numbers whose quantiles are shown
    missing: tuple[str, ...] = ()  # the columns whose made-up values are counted

    @property
    def kernel_order(self) -> tuple[int, ...]:
        """The kernel has number axes first: its axis i is the user's axis kernel_order[i]."""
        numbers = [i for i, axis in enumerate(self.axes) if axis.edges is not None]
        return tuple(numbers + [i for i, axis in enumerate(self.axes) if axis.edges is None])

    @property
    def edges(self) -> tuple[tuple[int, ...], ...]:
        return tuple(axis.edges for axis in self.axes if axis.edges is not None)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(axis.labels) for axis in self.axes if axis.edges is None)

    @property
    def halves(self) -> tuple[int, ...]:
        return tuple(grid.half for grid in self.summed)

    @property
    def shape(self) -> tuple[int, ...]:
        """In the kernel's order."""
        return tuple(len(self.axes[i].labels) for i in self.kernel_order)

    @property
    def own_shape(self) -> tuple[int, ...]:
        """In the user's order."""
        return tuple(len(axis.labels) for axis in self.axes)

    def in_own_order(self, cells: NDArray[Any]) -> NDArray[Any]:
        """An array whose first axes are the kernel's, with the user's in their place."""
        turn = np.argsort(self.kernel_order)
        return cells.transpose(*turn, *range(len(turn), cells.ndim))

    def in_order(self, margins: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The kernel's axes as the user's."""
        return [tuple(self.kernel_order[axis] for axis in kept) for kept in margins]


def lay_out(
    by: tuple[str, ...],
    contents: TableContents,
    bins: Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    domains: Mapping[str, Sequence[str]],
    schema: Schema | None,
    names: Sequence[str],
    count_missing: bool = False,
) -> TableLayout:
    """The axes and the encoding that the user's public facts make.

    Each of the many parameters is what a user of `tabulate` says by that name.
    """
    check_names(by, contents.names, bins, names, () if schema is None else schema.names)
    axes: list[Axis] = []
    grids: list[Grid] = []
    categories: list[Codes] = []
    for name in by:
        axis, column = axis_of(name, kind_of(name, bounds, domains, schema), bins.get(name))
        axes.append(axis)
        if isinstance(column, Codes):
            categories.append(column)
        else:
            grids.append(column)
    if marked := [axis.name for axis in axes if any(label.strip() == ALL for label in axis.labels)]:
        raise UsageError(
            f'the domain of "{marked[0]}" holds "{ALL}", by which a table marks what it adds up. Rename that value first.'
        )
    summed = tuple(measure_of(name, number_of(name, bounds, schema), grids) for name in contents.summed)
    ranked = tuple(
        bin_quantiles(name, number_of(name, bounds, schema), wanted, grids) for name, wanted in contents.quantiles
    )
    check_one_kind(contents.names, categories)
    bins_of_values = tuple(bins.grid for bins in ranked)
    flags = made_up_columns((*grids, *bins_of_values, *summed, *categories)) if count_missing else ()
    encoding = Encoding((*grids, *bins_of_values, *summed), (*categories, *flags))
    return TableLayout(tuple(axes), encoding, summed, contents, ranked, tuple(flag.name for flag in flags))


def axis_of(name: str, kind: Number | Date | Category, wanted: Any) -> tuple[Axis, Grid | Codes]:
    """The cells that a column makes, and how it is read; `wanted` are the bins that were asked for, None for the usual ones."""
    if isinstance(kind, Category):
        if wanted is not None:
            raise UsageError(f'bins are given for "{name}", which is a category: its cells are the values of its domain.')
        return Axis(name, kind.cells), Codes.over(name, kind)
    if isinstance(kind, Date):
        ends, labels = cut_days(name, kind, wanted)
        days = day_grid(name, kind)
        inner = inner_edges(days, ends)
        if len(set(inner)) < len(inner):
            raise UsageError(f'the bins of "{name}" are too narrow for its bounds. Use wider ones.')
        return Axis(name, labels, inner, tuple(ends)), days
    ends, labels = cut_numbers(name, kind, wanted)
    return Axis(name, labels, tuple(range(1, len(ends) - 1)), tuple(ends)), bin_grid(name, kind, wanted, ends)


def made_up_columns(columns: Sequence[Grid | Codes]) -> tuple[MadeUp, ...]:
    """A flag for each column whose default might pass for a value; "(other)" has a cell of its own, which counts it."""
    different = {column.name: column for column in columns if column.default_value != OTHER}
    if not different:
        raise UsageError('there is nothing to count: missing values of every column have a cell of their own, "(other)".')
    return tuple(MadeUp(column) for column in different.values())


def check_names(
    by: tuple[str, ...],
    measures: tuple[str, ...],
    bins: Mapping[str, Any],
    names: Sequence[str],
    described: Sequence[str] = (),
) -> None:
    """Refuse columns that are missing, doubled, or named like those that a table adds."""
    if repeated := [name for name in by if by.count(name) > 1]:
        raise UsageError(f'column "{repeated[0]}" is there twice in by.')
    for name in [*by, *measures]:
        if names and name not in names:
            raise missing_column(name, names, [*by, *measures], described=described)
    added_by_table = {"count", "standard_error", "low", "high"}
    if clash := [name for name in by if name in added_by_table or name.startswith(ADDED)]:
        raise UsageError(f'a table has a column "{clash[0]}" of its own. Rename that of the data first.')
    if unknown := [name for name in bins if name not in by]:
        hint = nearest_name(unknown[0], by)
        raise UsageError(f'bins are given for "{unknown[0]}", which is not one of the columns of the table.{hint}')


def check_one_kind(measures: Sequence[str], categories: Sequence[Codes]) -> None:
    """Refuse to sum a column whose cells are categories: a missing value would be two values at once."""
    if both := [column.name for column in categories if column.name in measures]:
        raise UsageError(
            f'column "{both[0]}" is a category in by and a number in measures. Take it out of one of them, or give it bins.'
        )


def measure_of(name: str, kind: Number, cells: Sequence[Grid]) -> Grid:
    """A number that is summed, on a fine grid from bound to bound on which the values of a coarse public step lie.

    Sums and the squares of their errors must be numbers, however many rows there are. Where the column makes cells too, a
    missing value is summed as what it was counted as.
    """
    assert kind.bounds is not None
    check_reach(*kind.bounds, f'the bounds of "{name}"')
    is_coarse = kind.worlds is not None and kind.worlds <= HALF
    default = next((cell.default_value for cell in cells if cell.name == name), kind.fallback)
    assert isinstance(default, float | int)
    return Grid.over(name, kind.bounds, kind.step if is_coarse else None, default, kind.form, finest=HALF)


def bin_grid(name: str, kind: Number, wanted: Any, edges: Sequence[float]) -> BinGrid:
    """The bins of a number that makes cells. Where each of its values has one, the default is a value, too."""
    assert kind.bounds is not None
    assert kind.fallback is not None
    default = kind.fallback
    if has_bin_for_each_value(kind, wanted):
        assert kind.step is not None
        default = float(ValueSteps(kind.bounds[0], kind.step, *kind.bounds).nearest(np.array([default]))[0])
    cuts = cuts_before(edges)
    if not (np.diff(cuts) > 0).all():
        raise UsageError(f'the bins of "{name}" are too narrow for its bounds. Use wider ones.')
    return BinGrid.cut(name, cuts, kind.bounds, default, kind.form)


def cuts_before(edges: Sequence[float]) -> list[float]:
    """Where bins begin, but for the first: so little before each edge that 0.7 as float32 holds it belongs to [0.7, ...)."""
    below, at = np.array(edges[:-2], dtype=np.float64), np.array(edges[1:-1], dtype=np.float64)
    cuts: list[float] = (at - np.minimum(np.abs(at) * AS_FLOAT32, NEAR * (at - below))).tolist()
    return cuts


def day_grid(name: str, kind: Date) -> Grid:
    """The days of the bounds."""
    assert kind.bounds is not None
    assert kind.fallback is not None
    first, last = (float(day_number(day)) for day in kind.bounds)
    grid = Grid.over(name, (first, last), 1.0, float(day_number(kind.fallback)), kind.form)
    return DayGrid(name, grid.center, grid.step, grid.half, grid.default, grid.form)


def inner_edges(grid: Grid, edges: Sequence[float]) -> tuple[int, ...]:
    """Where bins begin on the grid, but for the first; one that begins above the upper bound is out of reach of every row."""
    places = np.rint((np.array(edges[1:-1], dtype=np.float64) - grid.center) / grid.step)
    return tuple(int(place) for place in np.clip(places, -grid.half, grid.half + 1))
