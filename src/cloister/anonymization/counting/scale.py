"""Ordered columns without a hierarchy: values as they are counted, and the bins between public cuts that a search joins."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.public_grid import CutGrid, MonthGrid, NumberGrid, word
from cloister.schema.cell_format import PLAIN, CellFormat

__all__ = ["CutBins", "Scale", "value_text"]


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
        The public distance between two values.
    form : CellFormat
        How the cells of the column are written.

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
    def grid(self) -> CutGrid:
        """Where the column may be cut: by public facts alone."""
        if self.is_date:
            return MonthGrid()
        if self.step is None:
            return NumberGrid(self.width)
        step, low = Fraction(repr(self.step)), Fraction(repr(self.ends[0])) if self.bounds else Fraction(0)
        finest = step if self.width is None else self.width
        return NumberGrid(finest, Fraction(0) if low % step == 0 else low)


@dataclass(frozen=True, slots=True, eq=False)
class CutBins:
    """What lies between public cuts: code i is all from the i-th cut up to the next, and nulls, if any, are the last code.

    Parameters
    ----------
    cuts : array of float64, (m - 1,)
        Points of a public grid, rising.
    low, high : array of float64, (m,)
        The least and the largest value of each bin, for the measures of a search; they are not published.
    held : array of int64, (m,)
        The different values of each bin.
    ends : pair of float
        What the outermost intervals are published with.
    has_null, is_date, form
        As in `Scale`.
    is_fine : bool
        Whether values are known one by one: where all rows with a label hold the same one, that is the label.

    Privacy
    -------
    Intervals of bins end at public cuts or at public ends.
    """

    cuts: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    held: NDArray[np.int64]
    ends: tuple[float, float]
    has_null: bool = False
    is_date: bool = False
    is_fine: bool = True
    form: CellFormat = PLAIN

    @property
    def leaves(self) -> int:
        """How many codes there are."""
        return len(self.low) + self.has_null

    @property
    def edges(self) -> NDArray[np.float64]:
        """Where each bin begins and ends."""  # (m + 1,)
        return np.concatenate([[self.ends[0]], self.cuts, [self.ends[1]]])

    def label(self, low: int, high: int) -> str:
        """The interval of the bins from `low` up to `high`; ``*`` for everything."""
        if low == 0 and high == len(self.low) and not self.has_null:
            return "*"
        first, last = float(self.edges[low]), float(self.edges[high])
        start = "(-inf" if first == -np.inf else f"[{word(first, is_date=self.is_date)}"
        if last == np.inf:
            return f"{start}, inf)"
        return f"{start}, {word(last, is_date=self.is_date)}{']' if high == len(self.low) else ')'}"


def value_text(value: float, *, is_date: bool) -> str:
    """A value as a label: its text reads back as the same number."""
    return word(value, is_date=is_date)
