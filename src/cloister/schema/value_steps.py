"""The values that a number column can take, as its schema says them: public bounds and a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.schema.numerals import WHOLE_NUMBERS, label_text

__all__ = ["ValueSteps", "short_text"]

MOST_DECIMALS = 15
ROUNDING = 1e-12  # of a number of steps: what floating-point division may be off by
FEW_DIGITS, MOST_DIGITS = 7, 12


@dataclass(frozen=True, slots=True)
class ValueSteps:
    """The values origin + i step between low and high.

    >>> ValueSteps(0, 0.1, 3, 25).nearest(np.array([13.500005722, 2.0, 26.0])).tolist()
    [13.5, 3.0, 25.0]
    """

    origin: float
    step: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (all(map(math.isfinite, (self.origin, self.step, self.low, self.high))) and self.step > 0):
            raise ValueError("a step above 0 between finite bounds")

    def nearest(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each number the nearest value; as it is where no value lies between the bounds."""
        origin, step, low, high = (Fraction(repr(float(end))) for end in (self.origin, self.step, self.low, self.high))
        first, last = math.ceil((low - origin) / step), math.floor((high - origin) / step)
        if first > last:
            return numbers
        if max(-first, last) > WHOLE_NUMBERS:  # finer than numbers are
            return np.clip(numbers, self.low, self.high)
        places = np.clip(np.rint((numbers - self.origin) / self.step), float(first), float(last))
        decimals = max(_decimals(self.origin), _decimals(self.step))
        values: NDArray[np.float64] = self.origin + places * self.step
        return np.round(values, decimals) if decimals <= MOST_DECIMALS else values

    def span(self, low: float, high: float) -> tuple[float, float]:
        """What the values from low to high stand for, both included: half a step to either side of the first and the last.

        A range that reaches a bound has no end there. One that holds no value ends before it begins.

        >>> ValueSteps(0, 1, 0, 99).span(7, 7), ValueSteps(0, 1, 0, 99).span(6.8, 200), ValueSteps(0, 1, 0, 99).span(7.2, 7.8)
        ((6.5, 7.5), (6.5, inf), (7.5, 7.5))
        """
        first, last = low, high
        if math.isfinite(low):
            place = (low - self.origin) / self.step
            first = self.origin + (math.ceil(place - ROUNDING * max(1.0, abs(place))) - 0.5) * self.step
        if math.isfinite(high):
            place = (high - self.origin) / self.step
            last = self.origin + (math.floor(place + ROUNDING * max(1.0, abs(place))) + 0.5) * self.step
        return (-math.inf if low <= self.low else first), (math.inf if high >= self.high else last)


def short_text(number: float, error: float) -> str:
    """The shortest decimal that is less than `error` away from a number that has many digits; a number of few as it is.

    >>> short_text(13.500005722, 1e-5), short_text(55.0, 10)
    ('13.5', '55')
    """
    label = label_text(number)
    if float(f"{number:.{FEW_DIGITS}g}") == float(label):
        return label
    rounded = (f"{number:.{digits}g}" for digits in range(1, MOST_DIGITS))
    return next((label_text(float(text)) for text in rounded if abs(float(text) - number) < error), label)


def _decimals(number: float) -> int:
    """How many digits a number has after its point, as it is typed."""
    below = Fraction(repr(float(number))).denominator  # a divisor of a power of ten
    return next((digits for digits in range(MOST_DECIMALS + 1) if 10**digits % below == 0), MOST_DECIMALS + 1)
