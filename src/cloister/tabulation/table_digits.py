"""Numbers of a table without digits that are noise: whole counts, and sums to the digits that their errors leave.

Post-processing of released values and public noise scales. Margins are added up from rounded cells, so that they agree exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_DIGITS", "significant", "whole_counts"]

MOST_DIGITS = 15  # of a number in a table: a workbook keeps so many
PARTS = 10**6  # of a row, in which counts are compared: integers, so that no rounding of floats decides


def whole_counts(cells: NDArray[np.float64]) -> NDArray[np.int64]:
    """The counts of cells, which are not negative, as whole numbers: each is one of the two next to it, and so is the total.

    The rounded total is shared out along the first axis by largest remainders, each share along the second, and so on. So
    the margins of the first axes, too, are next to what they were; others add up roundings, which are small beside the noise.

    >>> whole_counts(np.array([[0.3, 0.3], [1.4, 2.0]])).tolist()
    [[1, 0], [1, 2]]
    """
    parts = np.rint(cells * PARTS).astype(np.int64)
    whole = np.array((parts.sum() + PARTS // 2) // PARTS)
    for axis in range(cells.ndim):
        shares = parts.sum(axis=tuple(range(axis + 1, cells.ndim)))
        down, rest = np.divmod(shares, PARTS)
        order = np.argsort(np.argsort(-rest, axis=-1, kind="stable"), axis=-1, kind="stable")  # 0: the largest remainder
        whole = down + (order < (whole - down.sum(axis=-1))[..., None])
    return whole


def significant(number: float, digits: int = 3) -> float:
    """A number with so many significant digits, such as a standard error.

    >>> significant(2.82843), significant(123456.0)
    (2.83, 123000.0)
    """
    return float(f"{number:.{digits}g}")
