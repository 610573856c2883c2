"""Ordered values of a column without a hierarchy: what numbers and days are counted by before a search splits them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.cut_points import inner_edges
from cloister.schema.cell_format import PLAIN, CellFormat

__all__ = ["Scale"]


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
    top : float, optional
        Code i is not one value but all from the i-th up to the next; the last reaches to `top`.
    bounds : pair of float, optional
        Public bounds of the column: what the outermost intervals are published with. Without them, or where a value lies
        outside, those are open: ``(-inf, 20)``, ``[60, inf)``.
    form : CellFormat
        How the cells of the column are written.

    Attributes
    ----------
    edges : array of float64, (m + 1,)
        Where the interval of each code begins and ends: round numbers between the values, and the outermost values
        themselves.

    Privacy
    -------
    The values are cells of the table. Labels show a value only where all rows of a class hold it; the ends of intervals
    are round numbers between two values, or public bounds.
    """

    values: NDArray[np.float64]
    has_null: bool = False
    is_date: bool = False
    top: float | None = None
    bounds: tuple[float, float] | None = None
    form: CellFormat = PLAIN
    edges: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.values):
            object.__setattr__(self, "edges", np.zeros(1))
            return
        last = float(self.values[-1])
        end = last if self.top is None else self.top
        if self.is_date:
            end = float(np.nextafter(last + 1, last))  # the last day, but not the next midnight
        inner = self.values[1:] if self.top is not None else inner_edges(self.values, is_date=self.is_date)
        object.__setattr__(self, "edges", np.concatenate([self.values[:1], inner, [end]]))

    @property
    def ends(self) -> tuple[float, float]:
        """What the outermost intervals are published with: public bounds that hold every value, else nothing."""
        low, high = self.bounds or (-np.inf, np.inf)
        most = self.values[-1] if self.top is None else self.top
        return low if low <= self.values[0] else -np.inf, high if high >= most else np.inf

    @property
    def leaves(self) -> int:
        """How many codes there are."""
        return len(self.values) + self.has_null
