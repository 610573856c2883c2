"""The values that a number column can take, counted from 0, and bins of them. Public facts alone.

A column with a public step has one place for each of its values; a column without one, or with more values than half of its
grid, has one for each grid point. Bins are runs of places, so that no cut falls between two ways to write the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Grid

__all__ = ["Ends", "MarginalPlaces", "split_bins"]

Ends = NDArray[np.int64]  # (bins + 1,): where bins of places begin, and after the last one all places
ROUNDING = 1e-9  # of a number of steps: what floating-point division may be off by


@dataclass(frozen=True, slots=True)
class MarginalPlaces:
    """The places of one column.

    >>> places = MarginalPlaces.of(Grid("age", 50.0, 0.125, 400))
    >>> places.count, places.values(np.array([0, 800])).tolist()
    (801, [0.0, 100.0])
    """

    grid: Grid
    count: int
    first: float  # the value of place 0
    step: float  # between places, in the column's own units

    @classmethod
    def of(cls, grid: Grid) -> MarginalPlaces:
        """The places of a column on its grid."""
        if grid.values is not None:
            values = floor((grid.values.high - grid.values.low) / grid.values.step * (1 + ROUNDING)) + 1
            if values <= grid.half:
                return cls(grid, values, grid.values.low, grid.values.step)
        return cls(grid, 2 * grid.half + 1, grid.center - grid.half * grid.step, grid.step)

    def first_bins(self, bins: int) -> Ends:
        """About so many bins of equal width, and both ends by themselves: what lies beyond the bounds was clipped to them.

        >>> MarginalPlaces.of(Grid("age", 50.0, 0.125, 400)).first_bins(4).tolist()
        [0, 1, 200, 400, 601, 800, 801]
        """
        if self.count <= bins:
            return np.arange(self.count + 1)
        even = np.rint(np.linspace(0, self.count, bins + 1)).astype(np.int64)
        return np.unique(np.concatenate([even, [1, self.count - 1]]))

    def cuts(self, ends: Ends) -> tuple[int, ...]:
        """The inner edges of bins in grid units: halfway between the last place of a bin and the first of the next."""
        edges = self.first + (ends[1:-1] - 0.5) * self.step
        return tuple(int(cut) for cut in np.ceil((edges - self.grid.center) / self.grid.step))

    def values(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The values of places, in the column's own units."""
        return self.first + places.astype(np.float64) * self.step


def split_bins(ends: Ends, pieces: NDArray[np.int64]) -> Ends:
    """Each bin cut into so many pieces of about equal width, as far as it has places for them.

    >>> split_bins(np.array([0, 10, 12]), np.array([2, 5])).tolist()
    [0, 5, 10, 11, 12]
    """
    widths = np.diff(ends)
    pieces = np.clip(pieces, 1, widths)
    starts, counts = np.repeat(ends[:-1], pieces), np.repeat(pieces, pieces)
    nth = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)  # 0, 1, ... within each bin
    return np.append(starts + nth * np.repeat(widths, pieces) // counts, ends[-1])
