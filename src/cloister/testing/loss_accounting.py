"""What losses add up to, computed apart from `privacy.accounting`, which is to be checked by it.

Pure losses add. Gaussian steps add in precision. What ran on a secret sample is amplified as a whole: for pure losses by the
closed form, for Gaussian ones by an integral over the steps on the table, where `privacy.accounting` integrates over those on
the sample.

References
----------
B. Balle and Y.-X. Wang 2018 (theorem 8); Y. Zhu, J. Dong and Y.-X. Wang 2022 (theorem 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Losses"]

NODES = 4001  # of the trapezoid rule; a power of two more changes no digit that is shown
REACH = 10.0  # standard deviations


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of one pair of walks: on the table, and on a secret sample of it.

    Attributes
    ----------
    pure, precision
        The sum of the pure losses and of the Gaussian precisions of the steps on the table.
    rate
        Of the secret sample; 1: none was drawn.
    sample_pure, sample_precision
        The same sums of the steps on the sample.
    """

    pure: float = 0.0
    precision: float = 0.0
    rate: float = 1.0
    sample_pure: float = 0.0
    sample_precision: float = 0.0

    @property
    def pure_total(self) -> float:
        """The pure loss on the table, that of the sample amplified: ln(1 + q (e^loss - 1))."""
        sampled = self.sample_pure
        if sampled > 600:  # e^sampled would overflow
            return self.pure + sampled + log(self.rate)
        return self.pure + log1p(self.rate * expm1(sampled))

    @property
    def is_pure(self) -> bool:
        """Whether no Gaussian is in it."""
        return not self.precision and not self.sample_precision

    def delta(self, epsilon: float) -> float:
        """The smallest delta that covers these losses at an epsilon."""
        left = epsilon - self.pure_total
        if self.is_pure:
            return max(0.0, -expm1(left)) if left < 0 else 0.0
        on_table, on_sample = sqrt(self.precision), sqrt(self.sample_precision)
        if not on_sample:
            return float(gaussian_delta(np.array([left]), on_table)[0])
        if not on_table:
            there, missing = sampled_deltas(np.array([left]), self.rate, on_sample)
            return float(max(there[0], missing[0]))
        # the loss of the steps on the table is nu x + nu^2 / 2 for standard normal x, whichever of the tables is the true one
        x = np.linspace(-REACH, REACH, NODES)
        weight = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
        there, missing = sampled_deltas(left - (on_table * x + on_table**2 / 2), self.rate, on_sample)
        return float(max(weight @ there, weight @ missing))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that covers these losses with a delta."""
        if self.is_pure:
            return self.pure_total
        if delta <= 0:
            return inf
        low, high = -1.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high + 1
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return max(0.0, high)


def gaussian_delta(epsilon: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """delta(epsilon) of two normals that lie mu apart: P(loss > epsilon) under one less e^epsilon times that under the other."""
    from scipy.special import log_ndtr

    under_one = np.exp(log_ndtr(-epsilon / mu + mu / 2))
    under_other = np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))
    return np.asarray(np.maximum(0.0, under_one - under_other))


def sampled_deltas(epsilon: NDArray[np.float64], rate: float, mu: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """delta(epsilon) of (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), and of the two exchanged.

    The log-ratio l(x) = ln(1 - q + q e^(mu x - mu^2 / 2)) rises with x: the events of the first kind are x > t where
    l(t) = epsilon, of the second x < t where l(t) = -epsilon.
    """
    from scipy.special import ndtr

    def cut(level: NDArray[np.float64]) -> NDArray[np.float64]:
        inner = np.expm1(level) / rate + 1  # (e^level - (1 - q)) / q
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(inner > 0, np.log(np.maximum(inner, 1e-300)) / mu + mu / 2, -np.inf)

    level = np.minimum(epsilon, 700.0)
    t = cut(level)
    there = (1 - rate) * ndtr(-t) + rate * ndtr(mu - t) - np.exp(level) * ndtr(-t)
    t = cut(np.minimum(-epsilon, 700.0))
    with np.errstate(over="ignore", invalid="ignore"):
        missing = np.where(np.isinf(t), 0.0, ndtr(t) - np.exp(level) * ((1 - rate) * ndtr(t) + rate * ndtr(t - mu)))
    return np.maximum(0.0, there), np.maximum(0.0, missing)
