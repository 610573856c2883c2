"""Columns of very many different numbers: the intervals of a public grid that they are counted in.

Privacy
-------
No label ends between two of these intervals' ends, so their width is seen by everybody. Without public bounds it follows two
rows: the k-th from below and the k-th from above (of people: the k-th person). It is the least power of ten (of steps) of
which at most 20,480 intervals reach from the one to the other. Where the rows beyond them lie does not matter: all below
are one interval, and all above. Numbers that have a step are cut into more intervals, 131,072, and whether or not there are very
many of them: `narrowest_width` decides whether labels may be single values, and no count of different values does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import MOST_CODES
from cloister.anonymization.counting.public_grid import MOST_PLACES, power_below
from cloister.anonymization.counting.scale import Scale

__all__ = ["RangeCount", "intervals_of_range", "narrowest_width"]

RangeCount: TypeAlias = Callable[[Scale], tuple[int, int]]
"""From intervals to the first and the last of them that are left without the k - 1 lowest and the k - 1 highest rows."""

_MOST_INTERVALS = 5 * MOST_CODES
_MOST_STEPS = 32 * MOST_CODES  # of numbers with a step: all five-digit codes one by one
_NARROWEST = Fraction(10) ** -307  # that a float divides by with all its digits
_LARGEST = float(np.finfo(np.float64).max)
_PARTS = 4_096  # that a range of floats is cut into at each pass


@dataclass(frozen=True, slots=True)
class _Bracket:
    """The numbers among which a row's is: from `low` to `high`, both included."""

    low: float
    high: float

    def parts(self) -> NDArray[np.float64]:
        """Where parts of the bracket begin that hold equally many floats: after a few passes one float is left."""
        first, last = _order(self.low), _order(self.high)
        size = max((last - first) // _PARTS, 1)
        return _floats_at(np.array(range(first + size, last + 1, size), np.int64))

    def has_inside(self, starts: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which starts cut the bracket in two."""
        return (self.low < starts) & (starts <= self.high)

    def within(self, starts: NDArray[np.float64], at: int) -> _Bracket:
        """What the bracket and the interval at a place have in common; the outermost intervals are open."""
        low = max(self.low, float(starts[at])) if at > 0 else self.low
        high = min(self.high, float(np.nextafter(starts[at + 1], -np.inf))) if at + 1 < len(starts) else self.high
        return _Bracket(min(low, self.high), max(high, self.low))


def intervals_of_range(
    cells: NDArray[np.float64], bounds: tuple[float, float] | None, step: float | None, count: RangeCount
) -> Scale:
    """Very many different numbers as intervals of a public grid, narrow beside the range of most rows.

    Parameters
    ----------
    cells : array of float64
        Numbers of the column, the least and the largest among them.
    bounds : pair of float, optional
        Its public bounds: the range is theirs.
    step : float, optional
        The public distance between two of its values.
    count : RangeCount
        Goes through the rows: once for most columns, a few times where some rows lie far from all others.
    """
    if bounds is not None:
        low, high = bounds
        width = narrowest_width(low, high, step, bounds)
        first, last = _places([low, high], width, step, bounds)
        return _intervals(first, last, width, step, bounds)
    lowest = highest = _Bracket(float(cells.min()), float(cells.max()))  # of the k-th row from below, and from above
    while True:
        width = narrowest_width(lowest.low, highest.high, step)  # that of the widest range there can be
        places = _places([lowest.low, lowest.high, highest.low, highest.high], width, step)
        is_placed = places[0] == places[1] and places[2] == places[3]
        if is_placed and lowest.high <= highest.low and width == narrowest_width(lowest.high, highest.low, step):
            return _intervals(places[0] - 1, places[3] + 1, width, step)
        grid = _intervals(places[0], places[3], width, step).values
        starts = np.unique(np.concatenate([grid, lowest.parts(), highest.parts()]))
        starts = np.append(lowest.low, starts[lowest.has_inside(starts) | highest.has_inside(starts)])
        first, last = count(Scale(starts, step=step, width=width))
        lowest, highest = lowest.within(starts, first), highest.within(starts, last)


def narrowest_width(low: float, high: float, step: float | None, bounds: tuple[float, float] | None = None) -> Fraction:
    """The least power of ten of which at most 20,480 intervals reach from one number to another; of steps 131,072."""
    unit = Fraction(1) if step is None else Fraction(repr(step))
    ends = Fraction(low), Fraction(high)
    least = max(_NARROWEST if step is None else unit, max(map(abs, ends)) / MOST_PLACES, (ends[1] - ends[0]) / _most(step))
    width = power_below(least / unit) * unit
    while width < least or not _are_few(low, high, width, step, bounds):
        width *= 10
    return width


def _are_few(low: float, high: float, width: Fraction, step: float | None, bounds: tuple[float, float] | None) -> bool:
    first, last = _places([low, high], width, step, bounds)
    return last - first < _most(step)


def _most(step: float | None) -> int:
    return _MOST_INTERVALS if step is None else _MOST_STEPS


def _places(
    numbers: list[float], width: Fraction, step: float | None, bounds: tuple[float, float] | None = None
) -> list[int]:
    """The number of the interval that holds each number."""
    shell = Scale(np.zeros(1), bounds=bounds, step=step, width=width)
    places: list[int] = shell.grid.places(np.array(numbers), width).tolist()
    return places


def _intervals(
    first: int, last: int, width: Fraction, step: float | None, bounds: tuple[float, float] | None = None
) -> Scale:
    """Intervals of a width from one place to another; the outermost hold all that lies beyond."""
    shell = Scale(np.zeros(1), bounds=bounds, step=step, width=width)
    return replace(shell, values=np.clip(shell.grid.starts(np.arange(first, last + 1), width), -_LARGEST, _LARGEST))


def _order(number: float) -> int:
    """The place of a float among all floats; that of 0 is 0."""
    bits = int(np.float64(abs(number)).view(np.int64))
    return -bits if number < 0 else bits


def _floats_at(places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The floats at places of that order."""
    sizes: NDArray[np.float64] = np.abs(places).view(np.float64)
    return np.where(places < 0, -sizes, sizes)
