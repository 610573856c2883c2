"""The Gaussian mechanism, rounded to integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.kernels import Sensitivity
from cloister.privacy import noise
from cloister.privacy.budgets import Number, split
from cloister.privacy.events import GaussianEvent
from cloister.privacy.mechanisms.base import checked_scale

__all__ = ["Gaussian", "root_up"]

SIGMA_BITS = 32  # standard deviations lie on multiples of 2**-32, rounded up
INTERVAL_WIDTH = 1.96  # standard deviations to either side in a 95% interval


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Gaussian noise of standard deviation sigma, rounded to integers: post-processing of the continuous Gaussian.

    Privacy: a release costs the precision sum over parts of l2^2 / sigma^2, for the worst move.
    """

    sigmas: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        for sigma in self.sigmas.values():
            checked_scale(sigma, noise.LARGEST_SIGMA)

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, precision: Fraction, weights: Mapping[str, Number]) -> Gaussian:
        """The least noise that a precision buys, its parts sharing it by weight; deviations are rounded up."""
        shares = split(precision, weights)
        variances = {part: Fraction(max(1, sensitivity.l2_squared(part))) / shares[part] for part in sensitivity.moves[0]}
        used = _worst_precision(sensitivity, variances)
        ratio = used / precision if used else Fraction(1)
        return cls({part: root_up(variance * ratio) for part, variance in variances.items()})

    def event(self, step: str, sensitivity: Sensitivity) -> GaussianEvent:
        """What one release costs."""
        return GaussianEvent(step, self.precision(sensitivity))

    def precision(self, sensitivity: Sensitivity) -> Fraction:
        """The precision of one release: that of its worst move."""
        return _worst_precision(sensitivity, {part: sigma**2 for part, sigma in self.sigmas.items()})

    def deviation(self) -> dict[str, float]:
        """The standard deviation of each part's noise, rounding to integers included."""
        return {part: float(np.sqrt(float(sigma) ** 2 + 1 / 12)) for part, sigma in self.sigmas.items()}

    def draw(self, part: str, size: int) -> NDArray[np.int64]:
        """Noise for so many entries of a part."""
        return noise.gaussian(self.sigmas[part], size)

    def equivalent_epsilon(self, part: str) -> float:
        """The epsilon of the Laplace noise with the same standard deviation: sqrt 2 / sigma."""
        return sqrt(2) / float(self.sigmas[part])

    def tail(self, part: str, exponent: float, draws: int = 1) -> float:
        """What the sum of so many draws passes with a probability of at most exp(-exponent) / 2: it is normal before rounding."""
        return float(self.sigmas[part]) * sqrt(2 * exponent * draws) + draws / 2

    def interval_width(self) -> float:
        """Standard deviations to either side in a 95% interval."""
        return INTERVAL_WIDTH


def _worst_precision(sensitivity: Sensitivity, variances: Mapping[str, Fraction]) -> Fraction:
    return max(
        sum((change.l2_squared / variances[part] for part, change in move.items()), Fraction(0))
        for move in sensitivity.moves
    )


def root_up(square: Fraction) -> Fraction:
    """The square root, rounded up to a multiple of 2**-SIGMA_BITS.

    >>> root_up(Fraction(9))
    Fraction(3, 1)
    """
    scaled = -(-(square.numerator << 2 * SIGMA_BITS) // square.denominator)
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << SIGMA_BITS)
