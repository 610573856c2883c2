"""Bins of a histogram: where numbers lie on steps each holds as many, or a picture has a comb that the data has not."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from numpy.typing import NDArray

__all__ = ["bins_around", "common_step", "round_length", "value_bins"]

MOST_DECIMALS = 6  # of numbers that are taken to lie on steps
LARGEST = 2.0**53  # up to which whole numbers are exact
Array = NDArray[np.float64]


def value_bins(numbers: Array, most: int) -> Array:
    """The edges of at most so many bins around these numbers: of whole steps where they lie on some, else evenly.

    >>> value_bins(np.array([17.0, 18, 90]), 30)[:3].tolist()
    [16.5, 19.5, 22.5]
    """
    if not len(numbers):
        return np.linspace(0.0, 1.0, most + 1)
    low, high = float(numbers.min()), float(numbers.max())
    step = common_step(numbers)
    if step is not None:
        return bins_around(low, high, step, most)
    return np.linspace(low, high, most + 1) if high > low else np.array([low - 0.5, low + 0.5])


def bins_around(low: float, high: float, step: float, most: int) -> Array:
    """The edges of at most so many bins of as many steps each, half a step before the values low, low + step ... high.

    The last may reach beyond the highest value.

    >>> bins_around(17, 90, 1, 30)[[0, 1, -1]].tolist(), len(bins_around(17, 90, 1, 30)) - 1
    ([16.5, 19.5, 91.5], 25)
    """
    values = round((high - low) / step) + 1
    each = -(-values // most)
    places = np.arange(-(-values // each) + 1, dtype=np.float64)
    return low - step / 2 + step * each * places


def common_step(numbers: Array) -> float | None:
    """The largest step on which all of these numbers lie; None: on none that has few decimals, or there is one number alone.

    >>> common_step(np.array([3.0, 9, 15])), common_step(np.array([0.5, 1.25])), common_step(np.array([0.1234567, 1]))
    (6.0, 0.75, None)
    """
    values = np.unique(numbers)
    if len(values) < 2:
        return None
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max() >= LARGEST:
            return None
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= 1e-9 * np.maximum(1.0, np.abs(scaled))).all():
            return int(np.gcd.reduce(np.diff(whole).astype(np.int64))) / 10.0**decimals
    return None


def round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten: the largest that is no longer.

    >>> [round_length(length) for length in (10, 7.4, 0.3, 250)]
    [10.0, 5.0, 0.2, 200.0]
    """
    power = floor(log10(length) + 1e-9)
    leading = max(digit for digit in (1, 2, 5) if digit <= length / 10.0**power * (1 + 1e-9))
    return float(f"{leading}e{power}")
