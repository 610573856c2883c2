"""The discrete Laplace mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.kernels import Sensitivity
from cloister.privacy import noise
from cloister.privacy.budgets import Number, split
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.mechanisms.base import checked_scale

__all__ = ["Laplace"]

INTERVAL_WIDTH = log(20) / sqrt(2)  # standard deviations to either side in a 95% interval


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise: P(x) ~ exp(-|x| / scale) on every entry of each part.

    Privacy: neighbours whose summaries differ by l1 in a part give any output with probabilities within a factor
    exp(l1 / scale); over the parts of one move the exponents add, and the worst move counts.
    """

    scales: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        # a smaller scale would leave no noise at all, and more noise is safe
        widened = {part: max(checked_scale(scale), noise.SMALLEST_SCALE) for part, scale in self.scales.items()}
        object.__setattr__(self, "scales", widened)

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, epsilon: Fraction, weights: Mapping[str, Number]) -> Laplace:
        """The least noise that an epsilon buys, its parts sharing it by weight."""
        shares = split(epsilon, weights)
        scales = {part: Fraction(max(1, sensitivity.l1(part))) / shares[part] for part in sensitivity.moves[0]}
        used = _worst_epsilon(sensitivity, scales)
        ratio = used / epsilon if used else Fraction(1)
        return cls({part: scale * ratio for part, scale in scales.items()})

    def event(self, step: str, sensitivity: Sensitivity) -> LaplaceEvent:
        """What one release costs."""
        return LaplaceEvent(step, self.epsilon(sensitivity))

    def epsilon(self, sensitivity: Sensitivity) -> Fraction:
        """The epsilon of one release: that of its worst move."""
        return _worst_epsilon(sensitivity, self.scales)

    def deviation(self) -> dict[str, float]:
        """The standard deviation of each part's noise: var = 2a / (1-a)^2 with a = exp(-1/scale)."""
        return {
            part: float(np.sqrt(2) * np.exp(-0.5 / float(scale)) / -np.expm1(-1 / float(scale)))
            for part, scale in self.scales.items()
        }

    def draw(self, part: str, size: int) -> NDArray[np.int64]:
        """Noise for so many entries of a part."""
        return noise.laplace(self.scales[part], size)

    def equivalent_epsilon(self, part: str) -> float:
        """The epsilon whose noise on counts under add-remove would be as large: 1/scale."""
        return float(1 / self.scales[part])

    def tail(self, part: str, exponent: float, draws: int = 1) -> float:
        """What the sum of so many draws passes with a probability of at most exp(-exponent) / 2.

        One draw: P(x > t) <= a^t / (1 + a) with a = exp(-1/scale), exactly. Several: Chernoff's bound, E exp(u x / scale) =
        (1-a)^2 / ((1 - a^(1-u)) (1 - a^(1+u))); it holds for every u between 0 and 1, and the best of a hundred is taken.
        """
        scale = float(self.scales[part])
        if draws == 1:
            return scale * (exponent + log(2) - log1p(exp(-1 / scale)))
        u = np.linspace(0.01, 0.99, 99)
        log_moment = 2 * log(-expm1(-1 / scale)) - np.log(-np.expm1(-(1 - u) / scale)) - np.log(-np.expm1(-(1 + u) / scale))
        return float(scale * ((exponent + log(2) + draws * log_moment) / u).min())

    def interval_width(self) -> float:
        """Standard deviations to either side in a 95% interval; those of sums of several lie between this and a normal's."""
        return INTERVAL_WIDTH


def _worst_epsilon(sensitivity: Sensitivity, scales: Mapping[str, Fraction]) -> Fraction:
    return max(sum((change.l1 / scales[part] for part, change in move.items()), Fraction(0)) for move in sensitivity.moves)
