"""How far the bins of a column reach, for the measures that steer a search: by public places alone.

Privacy
-------
Which labels a search ends in is seen by everybody. Measured by the cells in it, a bin would be as wide as one row makes it, a
removed one perhaps, and the labels of all others would tell where that row lies. So a bin reaches from its cut to the next, and
what lies beyond the outermost cuts counts as wide as bins usually are, or as far as the public bounds, if those are nearer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.scale import CutBins

__all__ = ["bin_reach", "finite_unit"]

_LARGE_EXPONENT = 400  # of two: squares of such numbers come near the largest of float64


def bin_reach(bins: CutBins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first and the last place of each bin, counted from the first cut in steps, or without a step in another unit.

    A bin of one step, or without a step the narrowest bin, is one place, so that it loses nothing. A column without a cut loses
    everything. The outermost bins are as wide as the median of the others, or reach to the public bounds.

    Examples
    --------
    Whole numbers up to 19, from 20 to 29, from 30 to 34, 35, and 36 to 37, where the bounds end:

    >>> from fractions import Fraction
    >>> bins = CutBins(np.array([20.0, 30.0, 35.0, 36.0]), np.ones(5, np.int64), (0.0, 37.0), step=Fraction(1))
    >>> low, high = bin_reach(bins)
    >>> (low + 20).tolist(), (high + 20).tolist()
    ([15.0, 20.0, 30.0, 35.0, 36.0], [19.0, 29.0, 34.0, 35.0, 37.0])
    """
    if not len(bins.cuts):
        return np.zeros(1), np.ones(1)
    unit = finite_unit(bins.cuts) if bins.step is None else float(bins.step)
    origin = float(bins.cuts[0]) / unit
    cuts, low, high = bins.cuts / unit - origin, bins.ends[0] / unit - origin, bins.ends[1] / unit - origin
    if bins.step is not None:
        cuts, high = np.rint(cuts), high + 1  # the last step is a value too
    usual = float(np.median(np.diff(cuts))) if len(cuts) > 1 else 1.0
    edges = np.concatenate([[-min(usual, -low)], cuts, [cuts[-1] + min(usual, high - cuts[-1])]])
    widths = np.diff(edges)
    one = 1.0 if bins.step is not None else widths[widths > 0].min()
    return edges[:-1], np.maximum(edges[1:] - one, edges[:-1])


def finite_unit(values: NDArray[np.float64]) -> float:
    """A power of two in which differences of values, their squares and sums of those are finite; shares do not change."""
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return 1.0 if exponent < _LARGE_EXPONENT else float(np.ldexp(1.0, int(exponent) - 1))
