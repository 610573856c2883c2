"""The bins in which numbers are counted when shares of two tables are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.schema import Kind, Number

__all__ = ["MOST_BINS", "bin_cuts"]

MOST_BINS = 20


def bin_cuts(amounts: NDArray[np.float64], counts: NDArray[np.float64], kind: Kind | None = None) -> NDArray[np.float64]:
    """Between which numbers the bins of a column lie: a number that equals a cut is in the bin below it.

    Where the schema's steps, or the original, have at most `MOST_BINS` values, each has a bin of its own, up to half way to the
    next. Else the bins hold about as many original rows each, so that a column whose values crowd at one end is looked at where
    its rows are.

    Parameters
    ----------
    amounts, counts : arrays of float64, (v,)
        The different numbers of the original, NaN for none, and how many rows hold each.

    Examples
    --------
    >>> bin_cuts(np.array([1.0, 2.0, 4.0, np.nan]), np.ones(4)).tolist()
    [1.5, 3.0]
    """
    if isinstance(kind, Number) and kind.bounds and kind.step and (kind.worlds or 0) <= MOST_BINS:
        return _between(kind.bounds[0] + kind.step * np.arange(kind.worlds or 0, dtype=np.float64))
    is_number = np.isfinite(amounts)
    values, place = np.unique(amounts[is_number], return_inverse=True)
    if len(values) <= MOST_BINS:
        return _between(values)
    cumulated = np.cumsum(np.bincount(place, counts[is_number]))
    wanted = cumulated[-1] * np.arange(1, MOST_BINS) / MOST_BINS
    return np.unique(values[np.searchsorted(cumulated, wanted, side="left")])


def _between(values: NDArray[np.float64]) -> NDArray[np.float64]:
    middles: NDArray[np.float64] = (values[:-1] + values[1:]) / 2
    return middles
