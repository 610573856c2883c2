"""Ordered columns without a hierarchy: values as they are counted, and the bins between public cuts that a search joins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.public_grid import MOST_PLACES, CutGrid, MonthGrid, NumberGrid, word
from cloister.schema.cell_format import PLAIN, CellFormat

__all__ = ["CutBins", "Scale"]


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Ordered values of a column without a hierarchy: code i is the i-th value, and nulls, if any, are the last code.

    Parameters
    ----------
    values : array of float64, (m,)
        The values, rising.
    has_null : bool
        Whether code m stands for nulls.
    is_date : bool
        Whether the values are days since 1970.
    width : Fraction, optional
        Code i is not one value but an interval of the public grid that begins at the i-th: of numbers an interval of this
        width, of days a month. The outermost hold all that lies beyond them.
    bounds : pair of float, optional
        Public bounds of the column: what the outermost intervals are published with. Without them those are open:
        ``(-inf, 20)``, ``[60, inf)``. A value outside belongs to no code.
    step : float, optional
        The public distance between two values: that of the schema, 1 for a column of whole numbers.
    form : CellFormat
        How the cells of the column are written.
    is_on_step : bool
        Of intervals: whether no row was found between two steps. Of values it is plain to see.

    Attributes
    ----------
    edges : array of float64, (m + 1,)
        Where the values of each code begin and end, for counting; they are not published.

    Privacy
    -------
    The values are cells of the table, for the holder. A search gets `CutBins`.
    """

    values: NDArray[np.float64]
    has_null: bool = False
    is_date: bool = False
    width: Fraction | None = None
    bounds: tuple[float, float] | None = None
    step: float | None = None
    form: CellFormat = PLAIN
    is_on_step: bool = False
    edges: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high = self.ends
        if self.width is None and self.bounds is None and len(self.values):
            low, high = float(self.values[0]), float(self.values[-1])
            if self.is_date:
                high = float(np.nextafter(high + 1, high))  # the last day, but not the next midnight
        object.__setattr__(self, "edges", np.concatenate([[low], self.values[1:], [high]]))

    @property
    def ends(self) -> tuple[float, float]:
        """What the outermost intervals are published with: public bounds, else nothing."""
        return self.bounds or (-np.inf, np.inf)

    @property
    def leaves(self) -> int:
        """How many codes there are."""
        return len(self.values) + self.has_null

    @property
    def is_open(self) -> bool:
        """Whether the outermost codes hold all that lies beyond them."""
        return self.width is not None and self.bounds is None and not self.is_date

    @property
    def grid(self) -> CutGrid:
        """Where the column may be cut: by public facts alone."""
        return MonthGrid() if self.is_date else self._numbers

    @property
    def _numbers(self) -> NumberGrid:
        if self.step is None:
            return NumberGrid(self.width)
        step, low = Fraction(repr(self.step)), Fraction(repr(self.ends[0])) if self.bounds else Fraction(0)
        finest = step if self.width is None else self.width
        return NumberGrid(finest, Fraction(0) if low % step == 0 else low)

    @property
    def value_step(self) -> Fraction | None:
        """How wide an interval is that holds one value; None where none is: days, or cells that are not on the step's grid."""
        if self.step is None or self.is_date or not len(self.values):
            return None
        step = Fraction(repr(self.step))
        if self.width is not None:
            return step if self.is_on_step and self.width == step else None
        return step if self.are_on_step(self.step).all() else None

    def are_on_step(self, step: float) -> NDArray[np.bool_]:
        """Which values are on the grid that a step makes."""  # (m,)
        by, grid = Fraction(repr(step)), replace(self, step=step)._numbers
        is_far = np.abs(self.values) >= float(by) * (MOST_PLACES // 2)  # one by one: places are not exact there
        near, far = self.values[~is_far], self.values[is_far]
        are_on = np.ones(len(self.values), bool)
        are_on[~is_far] = grid.starts(grid.places(near, by), by) == near
        are_on[is_far] = [(Fraction(value) - grid.origin) % by == 0 for value in far.tolist()]
        return are_on


@dataclass(frozen=True, slots=True, eq=False)
class CutBins:
    """What lies between public cuts: code i is all from the i-th cut up to the next, and nulls, if any, are the last code.

    Parameters
    ----------
    cuts : array of float64, (m - 1,)
        Points of a public grid, rising.
    held : array of int64, (m,)
        The different values of each bin: facts of single rows, for the loss that the holder is told and for no search.
    ends : pair of float
        What the outermost intervals are published with.
    has_null, is_date, form
        As in `Scale`.
    step : Fraction, optional
        How wide an interval is that holds one value, and is labelled by it.

    Privacy
    -------
    Intervals of bins end at public cuts or at public ends, and how they are written does not depend on what their rows hold:
    a label that named a value because all rows between two cuts hold it would show where others, fewer than k, do not. Where
    in its bin a row lies is not here, so that no search can follow it.
    """

    cuts: NDArray[np.float64]
    held: NDArray[np.int64]
    ends: tuple[float, float]
    has_null: bool = False
    is_date: bool = False
    step: Fraction | None = None
    form: CellFormat = PLAIN

    @property
    def count(self) -> int:
        """How many bins there are, nulls aside."""
        return len(self.cuts) + 1

    @property
    def leaves(self) -> int:
        """How many codes there are."""
        return self.count + self.has_null

    @property
    def edges(self) -> NDArray[np.float64]:
        """Where each bin begins and ends."""  # (m + 1,)
        return np.concatenate([[self.ends[0]], self.cuts, [self.ends[1]]])

    def label(self, low: int, high: int) -> str:
        """The interval of the bins from `low` up to `high`, or the one value in it; ``*`` for everything."""
        if low == 0 and high == self.count and not self.has_null:
            return "*"
        if (value := self.single(low, high)) is not None:
            return word(value, is_date=False)
        first, last = float(self.edges[low]), float(self.edges[high])
        start = "(-inf" if first == -np.inf else f"[{word(first, is_date=self.is_date)}"
        if last == np.inf:
            return f"{start}, inf)"
        return f"{start}, {word(last, is_date=self.is_date)}{']' if high == self.count else ')'}"

    def single(self, low: int, high: int) -> float | None:
        """The value that the bins from `low` up to `high` begin with, where the step leaves room for no other; else None."""
        first, last = float(self.edges[low]), float(self.edges[high])
        if self.step is None or not (np.isfinite(first) and np.isfinite(last)):
            return None
        width = Fraction(repr(last)) - Fraction(repr(first))
        is_one = width < self.step if high == self.count else width == self.step  # the last interval holds its end
        return first if is_one else None
