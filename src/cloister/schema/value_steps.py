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
