"""Mechanisms: integer noise on a summary, its calibration and what it costs. A mechanism never sees a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.kernels import Sensitivity, Summary
from cloister.privacy import noise
from cloister.privacy.accounting import GaussianEvent, LaplaceEvent
from cloister.privacy.budgets import Number, split

__all__ = ["Gaussian", "Laplace", "Mechanism", "Precision", "Released", "Spend", "calibrate"]

SIGMA_BITS = 32  # standard deviations lie on multiples of 2**-32, rounded up

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Precision:
    """A spend in Gaussian terms: squared sensitivity over variance."""

    value: Fraction


Spend = Fraction | Precision
"""What a step may cost: a pure epsilon, or a Gaussian precision."""


@dataclass(frozen=True, slots=True)
class Released(Generic[T]):
    """A value that has been paid for: with its noise it may leave the building.

    `deviation` is the standard deviation of the noise of each part, a public number.
    """

    value: T
    deviation: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise: P(x) ~ exp(-|x| / scale) on every entry of each part.

    Privacy: neighbours whose summaries differ by l1 in a part give any output with probabilities within a factor
    exp(l1 / scale); over the parts of one move the exponents add, and the worst move counts.
    """

    scales: Mapping[str, Fraction]

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent:
        """What one release costs."""
        return LaplaceEvent(
            step,
            max(
                sum((change.l1 / self.scales[part] for part, change in move.items()), Fraction(0))
                for move in sensitivity.moves
            ),
        )

    def deviation(self) -> dict[str, float]:
        """The standard deviation of each part's noise: var = 2a / (1-a)^2 with a = exp(-1/scale)."""
        return {
            part: float(np.sqrt(2) * np.exp(-0.5 / float(scale)) / -np.expm1(-1 / float(scale)))
            for part, scale in self.scales.items()
        }

    def draw(self, part: str, size: int) -> NDArray[np.int64]:
        return noise.laplace(self.scales[part], size)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Gaussian noise of standard deviation sigma, rounded to integers: post-processing of the continuous Gaussian.

    Privacy: a release costs the precision sum over parts of l2^2 / sigma^2, for the worst move.
    """

    sigmas: Mapping[str, Fraction]

    def event(self, step: str, sensitivity: Sensitivity) -> GaussianEvent:
        """What one release costs."""
        return GaussianEvent(step, self.precision(sensitivity))

    def precision(self, sensitivity: Sensitivity) -> Fraction:
        return max(
            sum((change.l2_squared / self.sigmas[part] ** 2 for part, change in move.items()), Fraction(0))
            for move in sensitivity.moves
        )

    def deviation(self) -> dict[str, float]:
        """The standard deviation of each part's noise, rounding to integers included."""
        return {part: float(np.sqrt(float(sigma) ** 2 + 1 / 12)) for part, sigma in self.sigmas.items()}

    def draw(self, part: str, size: int) -> NDArray[np.int64]:
        return noise.gaussian(self.sigmas[part], size)


Mechanism = Laplace | Gaussian


def add_noise(mechanism: Mechanism, summary: Summary) -> Summary:
    """Every entry of every part gets its own draw, empty cells too."""
    return Summary(
        {name: part + mechanism.draw(name, part.size).reshape(part.shape) for name, part in summary.parts.items()}
    )


def calibrate(sensitivity: Sensitivity, spend: Spend, weights: Mapping[str, Number] | None = None) -> Mechanism:
    """The least noise that a spend buys, its parts sharing it by weight.

    A part that cannot move (the number of rows under replace-one) still gets a draw, of the smallest scale.
    When no move needs all that the parts' shares allow, all noise shrinks together until the worst move does.
    """
    parts = list(sensitivity.moves[0])
    weights = weights or dict.fromkeys(parts, 1)
    if isinstance(spend, Fraction):
        shares = split(spend, weights)
        scales = {part: Fraction(max(1, sensitivity.l1(part))) / shares[part] for part in parts}
        used = Laplace(scales).event("", sensitivity).epsilon
        ratio = used / spend if used else Fraction(1)
        return Laplace({part: scale * ratio for part, scale in scales.items()})
    shares = split(spend.value, weights)
    variances = {part: Fraction(max(1, sensitivity.l2_squared(part))) / shares[part] for part in parts}
    used = max(
        sum((change.l2_squared / variances[part] for part, change in move.items()), Fraction(0))
        for move in sensitivity.moves
    )
    ratio = used / spend.value if used else Fraction(1)
    return Gaussian({part: root_up(variance * ratio) for part, variance in variances.items()})


def root_up(square: Fraction) -> Fraction:
    """The square root, rounded up to a multiple of 2**-SIGMA_BITS.

    >>> root_up(Fraction(9))
    Fraction(3, 1)
    """
    scaled = -(-(square.numerator << 2 * SIGMA_BITS) // square.denominator)
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << SIGMA_BITS)
