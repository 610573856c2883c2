"""Rows from the cells of one table: each cell as often as its weight says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rows_from_cells", "whole_counts"]


def rows_from_cells(weights: NDArray[np.float64], rows: int, random: np.random.Generator) -> NDArray[np.int32]:  # public
    """So many rows whose cells follow the weights, (rows, axes), cell by cell.

    A cell of weight w gets floor(w) or ceil(w) rows, ceil with the probability of the rest: no count is off by 1 or more, where
    drawing each row by itself would be off by its square root.

    Parameters
    ----------
    weights : array, one axis a column; not negative
    rows : int
    random : numpy Generator, public

    Examples
    --------
    >>> rows_from_cells(np.array([[2.0, 0.0], [0.0, 1.0]]), 3, np.random.default_rng(0)).tolist()
    [[0, 0], [0, 0], [1, 1]]
    """
    cells = np.repeat(np.arange(weights.size), whole_counts(weights.ravel(), rows, random))
    places = np.unravel_index(cells, weights.shape)
    return np.stack(places, axis=1).astype(np.int32)


def whole_counts(weights: NDArray[np.float64], total: int, random: np.random.Generator) -> NDArray[np.int64]:  # public
    """Whole numbers that add up to the total, each within 1 of its share of it: one systematic draw."""
    whole = weights.sum()
    shares = weights * (total / whole) if whole > 0 else np.full(weights.size, total / weights.size)
    # random.random() is below 1: the last end is pulled to the total, whatever rounding made of it
    ends = np.floor(np.cumsum(shares) + random.random())
    ends[-1] = total
    ends = np.clip(ends, 0, total)
    return np.diff(ends, prepend=0.0).astype(np.int64)
