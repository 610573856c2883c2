"""Where intervals of numbers and days are cut: at round numbers between two cells, not at the cells themselves.

Privacy
-------
A label is read by everybody, and a cell beside a cut may be that of a row which was removed. So a cut says as little of
its neighbours as it can: it is the roundest number between them.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from cloister.schema.numerals import label_text

__all__ = ["day_between", "inner_edges", "number_between", "word"]

_MOST_DIGITS = 17  # enough to tell any two float64 numbers apart


def inner_edges(values: NDArray[np.float64], *, is_date: bool) -> NDArray[np.float64]:
    """A cut between each two neighbours of rising values: above the lower, not above the upper."""  # (m - 1,)
    between = day_between if is_date else number_between
    pairs = zip(values[:-1].tolist(), values[1:].tolist(), strict=True)
    return np.array([between(low, high) for low, high in pairs], np.float64)


def number_between(low: float, high: float) -> float:
    """The x with low < x <= high that has the fewest significant digits, and of those the nearest to `low`.

    Above low = 0 there is no nearest one; then it is the largest power of ten up to `high`.

    Examples
    --------
    >>> number_between(58, 1_234_567), number_between(58, 59), number_between(-7.25, 3), number_between(-20, -11)
    (60.0, 59.0, 0.0, -19.0)
    """
    if low < 0 <= high:
        return 0.0
    a = Decimal(repr(low))
    if low == 0:
        power = float(Decimal(1).scaleb(Decimal(repr(high)).adjusted()))
        return power if 0 < power <= high else high
    size = a.adjusted()
    if low < 0 and -a == Decimal(1).scaleb(size):
        size -= 1  # the next number towards zero is a digit shorter
    for digits in range(1, _MOST_DIGITS + 1):
        place = size - digits + 1
        steps = a.scaleb(-place)
        near = steps.to_integral_value(ROUND_FLOOR) + 1  # the next multiple, towards zero if it is negative
        x = float(near.scaleb(place))
        if low < x <= high:
            return x
    return high


def day_between(low: float, high: float) -> float:
    """The first beginning of a year after `low` if it is not after `high`, else that of a month, else the day after."""
    day = np.datetime64(int(low), "D")
    for unit in ("Y", "M"):
        start = float((day.astype(f"M8[{unit}]") + 1).astype("M8[D]").astype(np.int64))
        if start <= high:
            return start
    return low + 1


def word(value: float, *, is_date: bool) -> str:
    """An end of an interval as text that reads back as the same number."""
    if is_date:
        return str(np.datetime64(int(value), "D"))
    short = label_text(value)
    return short if float(short) == value else repr(float(value))
