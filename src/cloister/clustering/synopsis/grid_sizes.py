"""How fine a grid should be: rules from the literature, as pure functions of released or public numbers.

A finer grid has less error from taking a cell's rows for its middle, and more noise a row. The rules balance the two for
Laplace noise of scale 1/epsilon on each count. With other noise `rule_epsilon` says which epsilon its size stands for.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.privacy.mechanisms import Mechanism

__all__ = [
    "C1",
    "C2",
    "capped_sides",
    "check_cap",
    "coarser_note",
    "first_side",
    "largest_side",
    "rule_epsilon",
    "second_sides",
    "uniform_side",
]

UNIFORM = 10.0  # Su et al. 2016: theta
C1, C2 = 10.0, 5.0  # Qardaji, Yang and Li 2013, section IV; LETEO, section 4.2, takes over their rule and prints no value
FEWEST_FIRST = 100.0  # cells at the first level
LARGEST_SIDE = 2.0**20
LARGEST_EPSILON = 10.0  # noise of a tenth of a row: finer cells would gain nothing, and their number would have no end


def rule_epsilon(mechanism: Mechanism, part: str = "counts") -> float:
    """The epsilon whose add-remove Laplace noise would be as large; at most 10."""
    return min(LARGEST_EPSILON, mechanism.equivalent_epsilon(part))


def cells(rows: float, epsilon: float, columns: int, constant: float) -> float:
    """(N epsilon / c)^(2d / (2 + d)): how many cells N rows of d columns are worth."""
    return float((max(rows, 0.0) * epsilon / constant) ** (2 * columns / (2 + columns)))


def uniform_side(rows: float, epsilon: float, columns: int) -> int:
    """Into how many intervals a uniform grid cuts each column: the d-th root of M = (N eps / 10)^(2d/(2+d)), rounded.

    >>> uniform_side(5000, 1.0, 2)
    22

    References
    ----------
    D. Su et al., "Differentially private k-means clustering", CODASPY 2016, section 4 (EUGkM).
    """
    side = float(cells(rows, epsilon, columns, UNIFORM) ** (1 / columns))
    return max(1, round(min(LARGEST_SIDE, side)))


def first_side(rows: float, epsilon: float, columns: int, c1: float = C1) -> int:
    """m1 = ceil(max(100^(1/d), M1^(1/d) / 4)) with M1 = (N eps / c1)^(2d/(2+d)) (LETEO, section 4.2).

    >>> first_side(5000, 1.0, 2), first_side(100_000, 1.0, 2)
    (10, 25)
    """
    side = float(max(FEWEST_FIRST ** (1 / columns), cells(rows, epsilon, columns, c1) ** (1 / columns) / 4))
    return ceil(min(LARGEST_SIDE, side) - 1e-9)  # 1e-9: the square root of 100 is 10 and not a little more


def second_sides(counts: NDArray[np.int64], epsilon: float, columns: int, c2: float = C2) -> NDArray[np.int64]:
    """m2 = ceil(M2^(1/d)) with M2 = (N' (1-alpha) eps / c2)^(2d/(2+d)) for each first-level cell (LETEO, section 4.2).

    `epsilon` is the second level's, (1-alpha) eps. A negative N' counts as 0, and m2 is at least 1.

    >>> second_sides(np.array([-3, 0, 40, 150]), 0.5, 2).tolist()
    [1, 1, 2, 4]
    """
    worth = (np.maximum(counts, 0) * epsilon / c2) ** (2 * columns / (2 + columns))
    sides = np.ceil(np.minimum(LARGEST_SIDE, worth ** (1 / columns)) - 1e-9)
    return np.maximum(1, sides).astype(np.int64)


def largest_side(columns: int, most: int) -> int:
    """The most intervals a column whose grid has at most so many cells.

    >>> largest_side(2, 2**22), largest_side(10, 2**22), largest_side(23, 2**22)
    (2048, 4, 1)
    """
    side: int = round(most ** (1 / columns))
    return max(1, side if side**columns <= most else side - 1)


def capped_sides(inner: NDArray[np.int64], columns: int, most: int, finest: int) -> NDArray[np.int64]:
    """The sides of second-level cells, the largest made smaller until all cells together are at most so many.

    The first level alone has no more than `most`, so that sides of 1 always fit.

    >>> capped_sides(np.array([1, 2, 9]), 2, 40, 1000).tolist()
    [1, 2, 5]
    """
    low, high = 1, int(min(inner.max(initial=1), finest))
    while low < high:
        middle = (low + high + 1) // 2
        fits = float((np.minimum(inner, middle).astype(np.float64) ** columns).sum()) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    return np.minimum(inner, low)


def check_cap(columns: int, coarsest: int, most: int) -> None:
    """Refuse, before a charge, columns whose coarsest grid has more cells than the cap."""
    if coarsest**columns > most:
        raise UsageError(
            f"the grid would have {coarsest} ** {columns} cells at its coarsest, for {columns} columns, and at most {most:,} are "
            "allowed. Use method tree, which grows with the rows and not with the columns, fewer columns, or a sparse grid "
            "(threshold)."
        )


def coarser_note(most: int) -> str:
    """What a certificate says of a grid that its cap made coarser than the rule."""
    return (
        f"The grid is coarser than its rule asks for, to stay within {most:,} cells (most_cells). Method tree is finer where "
        "rows are, in any number of columns."
    )
