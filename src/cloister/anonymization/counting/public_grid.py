"""Public grids of numbers and days: where intervals may begin and end, whatever the rows hold.

Numbers are cut at multiples of 1, 2 and 5 times a power of ten; with a step in the schema at multiples of 1, 2 and 5 times
a power of ten of steps. Days are cut where months, quarters, halves and numbers of years begin, never at a single day.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cloister.schema.numerals import exact_label_text

__all__ = ["MOST_PLACES", "CutGrid", "MonthGrid", "NumberGrid", "Width", "power_below", "word"]

Width: TypeAlias = Fraction  # of numbers, or of months

_EXACT = 2**53  # integers that float64 holds
MOST_PLACES = 2**50  # intervals between the origin and a value, so that places are exact
_LARGEST = float(np.finfo(np.float64).max)
_LEAST = Fraction(float(np.finfo(np.float64).tiny))  # a narrower width has not all digits of a float


class CutGrid(Protocol):
    """Intervals of several widths over a whole axis; all of them are public."""

    def widths(self, values: NDArray[np.float64]) -> Sequence[Width]:
        """The widths by which these rising values may be told apart, the widest first."""
        ...

    def places(self, values: NDArray[np.float64], width: Width) -> NDArray[np.int64]:
        """The number of the interval that holds each value."""
        ...

    def starts(self, places: NDArray[np.int64], width: Width) -> NDArray[np.float64]:
        """Where intervals begin."""
        ...


@dataclass(frozen=True, slots=True)
class NumberGrid:
    """Multiples of 1, 2 and 5 times a power of ten.

    Parameters
    ----------
    step : Fraction, optional
        The public distance between two values of the column, or the narrowest interval that was counted: no width is
        finer.
    origin : Fraction
        A value of the column's public grid that all multiples are counted from.

    Examples
    --------
    >>> grid = NumberGrid()
    >>> [str(width) for width in grid.widths(np.array([17.0, 18.0, 40.0]))]
    ['200', '100', '50', '20', '10', '5', '2', '1', '1/2', '1/5']
    >>> grid.starts(grid.places(np.array([17.0, 0.3]), Fraction(1, 10)), Fraction(1, 10)).tolist()
    [17.0, 0.3]
    """

    step: Fraction | None = None
    origin: Fraction = Fraction(0)

    def widths(self, values: NDArray[np.float64]) -> list[Width]:
        """From the first that has all values beside the origin to a fifth of their least distance."""
        if len(values) < 2:
            return []
        unit = self.step or Fraction(1)
        ends = [Fraction(float(values[at])) for at in (0, -1)]
        farthest = max(abs(end - self.origin) for end in ends)
        with np.errstate(over="ignore"):
            gap = min(float(np.diff(values).min()), _LARGEST)
        finest = unit if self.step is not None else Fraction(gap) / 5
        least = max(finest, farthest / MOST_PLACES, _LEAST)
        most = min(5 * max(farthest, ends[1] - ends[0]), Fraction(_LARGEST))
        widths: list[Width] = []
        power = power_below(most / unit)
        while True:
            for nice in (5, 2, 1):
                width = nice * power * unit
                if width < least:
                    return widths
                if width <= most:
                    widths.append(width)
            power /= 10

    def places(self, values: NDArray[np.float64], width: Width) -> NDArray[np.int64]:
        """The number of the interval that holds each value."""
        guess = np.floor((values - float(self.origin)) / float(width)).astype(np.int64)
        for _ in range(3):  # a division of floats may be one off
            below, above = self.starts(guess, width) > values, self.starts(guess + 1, width) <= values
            if not (below.any() or above.any()):
                break
            guess = guess - below + above
        return guess

    def starts(self, places: NDArray[np.int64], width: Width) -> NDArray[np.float64]:
        """The nearest float64 number to each multiple, which is what its decimal digits read back as."""
        shared = math.lcm(self.origin.denominator, width.denominator)
        first, by = int(self.origin * shared), int(width * shared)
        farthest = int(np.abs(places).max(initial=0))
        if shared < _EXACT and abs(first) + (farthest + 1) * by < _EXACT:
            exact: NDArray[np.float64] = (first + places * by) / np.float64(shared)
            return exact
        different, back = np.unique(places, return_inverse=True)
        starts = np.array([_nearest(first + place * by, shared) for place in different.tolist()], np.float64)
        return starts[back]


_MONTHS = (1, 3, 6, 12, 24, 60)  # then 10, 20, 50 ... years


@dataclass(frozen=True, slots=True)
class MonthGrid:
    """The beginnings of months, quarters, halves, years, and 2, 5, 10 ... years, as days since 1970.

    >>> grid = MonthGrid()
    >>> day = np.array([np.datetime64("1984-03-16").astype(float)])
    >>> [str(np.datetime64(int(grid.starts(grid.places(day, w), w)[0]), "D")) for w in (Fraction(1), Fraction(120))]
    ['1984-03-01', '1980-01-01']
    """

    def widths(self, values: NDArray[np.float64]) -> list[Width]:
        """From the first that is wider than all values to a month."""
        if len(values) < 2:
            return []
        months = _month(values[[0, -1]])
        span = int(months[1] - months[0]) + 1
        widths = list(_MONTHS)
        while widths[-1] < span:
            widths += [nice * 12 * 10 ** ((len(widths) - 3) // 3) for nice in (1, 2, 5)]
        return [Fraction(width) for width in reversed(widths) if width <= 5 * span]

    def places(self, values: NDArray[np.float64], width: Width) -> NDArray[np.int64]:
        """The number of the interval that holds each day."""
        return _month(values) // int(width)

    def starts(self, places: NDArray[np.int64], width: Width) -> NDArray[np.float64]:
        """The first day of each."""
        months = (places * int(width) - 1970 * 12).astype("M8[M]")
        starts: NDArray[np.float64] = months.astype("M8[D]").astype(np.int64).astype(np.float64)
        return starts


def power_below(number: Fraction) -> Fraction:
    """The largest power of ten that is not above a positive number.

    >>> power_below(Fraction(999)), power_below(Fraction(1, 30))
    (Fraction(100, 1), Fraction(1, 100))
    """
    power = Fraction(10) ** (len(str(number.numerator)) - len(str(number.denominator)))
    return power if power <= number else power / 10


def word(value: float, *, is_date: bool) -> str:
    """A number or a day in a label, as text that reads back as the same.

    >>> word(2.0**53, is_date=False), word(0.1, is_date=False)
    ('9007199254740992', '0.1')
    """
    if is_date:
        return str(np.datetime64(int(value), "D"))
    return exact_label_text(value)


def _nearest(number: int, below: int) -> float:
    """The nearest float64 number to a fraction; infinite beyond the largest."""
    try:
        return number / below
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _month(days: NDArray[np.float64]) -> NDArray[np.int64]:
    """The months since the year 0 that each day lies in."""
    months: NDArray[np.int64] = np.floor(days).astype("M8[D]").astype("M8[M]").astype(np.int64) + 1970 * 12
    return months
