"""The unbiased estimate of a joint table: the channels of randomized response are undone axis by axis.

The table of reports is, in expectation, the true table multiplied by the Kronecker product of the channels' matrices. The inverse
of that is the product of the inverses, and one axis is undone by (x - q * sum) / (p - q): cells x axes operations in all.

Privacy
-------
Reads reports alone, which are public: everything here is post-processing.

References
----------
A. Chaudhuri, R. Mukerjee: Randomized response, 1988. Paper 002, equations 6 to 9, for two questions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cloister.collect.estimating.kronecker import Mixing, Table, mix
from cloister.collect.protocols.channel import Channel
from cloister.errors import UsageError

__all__ = ["check_shape", "invert", "standard_errors"]

Counts = npt.NDArray[np.int64]


def invert(counts: Counts | Table, channels: Sequence[Channel]) -> Table:
    """The unbiased estimate of how many people hold each combination of answers: it may be negative, and sums to the reports.

    Parameters
    ----------
    counts
        The reports, with one axis for each question. A marginal of them works too, with the channels of the axes it keeps.
    channels
        The channel of each axis.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from cloister.collect.protocols.channel import channel_for
    >>> [round(float(count)) for count in invert(np.array([731, 269]), [channel_for(Fraction(1), 2)])]
    [1000, 0]
    """
    check_shape(counts, channels)
    estimate = np.array(counts, dtype=np.float64, order="C")
    mix(estimate, [Mixing(one.size, 1 / one.contrast, -float(one.lie) / one.contrast) for one in channels])
    return estimate


def standard_errors(counts: Counts | Table, channels: Sequence[Channel]) -> Table:
    """The standard error of each cell of `invert`, estimated from the reports.

    The estimate of a cell is a sum over people of the inverse's entry at their report. Its variance is that of n independent
    draws: the sum of the squared entries, less the square of the estimate over n.
    """
    check_shape(counts, channels)
    total = float(counts.sum())
    variance = np.array(counts, dtype=np.float64, order="C")
    mix(variance, [_squared_inverse(one) for one in channels])
    if total:
        estimate = invert(counts, channels)
        estimate *= estimate
        estimate /= total
        variance -= estimate
    np.maximum(variance, 0, out=variance)  # rounding may leave a certain cell just below 0
    return np.sqrt(variance, out=variance)


def check_shape(counts: npt.NDArray[np.generic], channels: Sequence[Channel]) -> None:
    """Refuse a table whose axes are not those of the channels."""
    sizes = tuple(channel.size for channel in channels)
    if not sizes or counts.shape != sizes:
        raise UsageError(f"the table of reports has the shape {counts.shape}, and the questions ask for {sizes}.")


def _squared_inverse(channel: Channel) -> Mixing:
    """The inverse of a channel with each entry squared."""
    contrast, lie = channel.contrast, float(channel.lie)
    beside = (lie / contrast) ** 2  # the diagonal of the inverse is (1 - q) / (p - q), what stands beside it -q / (p - q)
    return Mixing(channel.size, ((1 - lie) / contrast) ** 2 - beside, beside)
