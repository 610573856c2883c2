"""What releases cost together, in closed form.

Pure parts add. A plan of Gaussian releases is one Gaussian: in units of sensitivity the precisions 1/sigma^2 add, and the
pair (epsilon, delta) follows from the analytic Gaussian. What runs on one secret Poisson sample is amplified as a whole.
A heavy accountant is the oracle in the tests; importing one would take longer than a fit.

References
----------
B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism", ICML 2018.
J. Dong, A. Roth and W. Su, "Gaussian differential privacy", JRSS-B 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import inf, sqrt

from cloister.privacy.budgets import Budget
from cloister.privacy.identifiability import DIGITS, PLACES

__all__ = [
    "Event",
    "GaussianEvent",
    "LaplaceEvent",
    "SampledEvent",
    "amplified_epsilon",
    "delta_of",
    "epsilon_before_sampling",
    "gaussian_delta",
    "gaussian_precision",
    "within",
]

SLACK = 1e-9
"""Part of delta that calibration leaves unspent: it covers rounding of the error function and of the sampler."""


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """A pure release: `epsilon` is exact."""

    step: str
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """A Gaussian release: `precision` is the squared sensitivity over the variance, the mu^2 of Gaussian privacy."""

    step: str
    precision: Fraction


@dataclass(frozen=True, slots=True)
class SampledEvent:
    """Everything that ran on one secret Poisson sample of the rows at this rate, with the epsilon of its total there."""

    step: str
    rate: Fraction
    epsilon: Fraction
    events: tuple[LaplaceEvent | GaussianEvent, ...]


Event = LaplaceEvent | GaussianEvent | SampledEvent


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest delta of a Gaussian release whose sensitivity is mu standard deviations (Balle and Wang, theorem 8).

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    from scipy.special import log_ndtr

    if mu <= 0:
        return 0.0
    import numpy as np

    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    lower = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return float(-np.expm1(min(0.0, lower - upper)) * np.exp(upper))


@lru_cache(maxsize=256)
def gaussian_precision(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest mu^2 at which a Gaussian release is (epsilon, delta)-private, rounded down."""
    target = float(delta) * (1 - SLACK)
    goal = float(epsilon)
    low, high = 0.0, 1.0
    while gaussian_delta(goal, high) <= target:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if gaussian_delta(goal, middle) <= target:
            low = middle
        else:
            high = middle
    return Fraction(low) ** 2


def amplified_epsilon(epsilon: Fraction, rate: Fraction) -> Fraction:
    """What a pure epsilon on a Poisson sample costs on the table: ln(1 + q (e^epsilon - 1)), rounded up."""
    with localcontext() as context:
        context.prec = DIGITS
        grown = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp() - 1
        cost = (1 + Decimal(rate.numerator) / Decimal(rate.denominator) * grown).ln()
        return min(epsilon, Fraction(cost.quantize(PLACES, rounding=ROUND_CEILING)))


def epsilon_before_sampling(cost: Fraction, rate: Fraction) -> Fraction:
    """The pure epsilon that may be spent on a Poisson sample for this cost on the table, rounded down."""
    with localcontext() as context:
        context.prec = DIGITS
        grown = (Decimal(cost.numerator) / Decimal(cost.denominator)).exp() - 1
        log = (1 + grown * Decimal(rate.denominator) / Decimal(rate.numerator)).ln()
        epsilon = Fraction(log.quantize(PLACES, rounding=ROUND_FLOOR))
    while amplified_epsilon(epsilon, rate) > cost:  # both round: step down until the charge fits
        epsilon -= Fraction(PLACES)
    return max(epsilon, cost)


def sampled_cost(event: SampledEvent) -> tuple[Fraction, float]:
    """What a secret sample costs on the table: (ln(1 + q (e^eps - 1)), q delta) for the total on the sample.

    The total is read at `event.epsilon`: whatever its pure parts leave of that is where its Gaussian parts' delta is read.
    """
    pure, precision = totals(event.events)
    delta = curve(event.epsilon - pure, precision)
    return amplified_epsilon(event.epsilon, event.rate), float(event.rate) * delta


def totals(events: Sequence[LaplaceEvent | GaussianEvent]) -> tuple[Fraction, Fraction]:
    """The sum of the pure epsilons and the sum of the Gaussian precisions."""
    pure = sum((event.epsilon for event in events if isinstance(event, LaplaceEvent)), Fraction(0))
    precision = sum((event.precision for event in events if isinstance(event, GaussianEvent)), Fraction(0))
    return pure, precision


def curve(epsilon: Fraction, precision: Fraction) -> float:
    """Delta of a Gaussian of this precision at epsilon; without a Gaussian it is all or nothing."""
    if epsilon < 0:
        return inf
    return gaussian_delta(float(epsilon), sqrt(precision)) if precision else 0.0


def delta_of(events: Sequence[Event], epsilon: Fraction) -> float:
    """The delta at which all these events together are (epsilon, delta)-private; infinite when epsilon cannot be met.

    >>> delta_of([LaplaceEvent("votes", Fraction(1, 2)), LaplaceEvent("sums", Fraction(1, 2))], Fraction(1))
    0.0
    """
    plain = [event for event in events if not isinstance(event, SampledEvent)]
    pure, precision = totals(plain)
    extra = 0.0
    for event in events:
        if isinstance(event, SampledEvent):
            cost, delta = sampled_cost(event)
            pure += cost
            extra += delta
    return curve(epsilon - pure, precision) + extra


def within(events: Sequence[Event], budget: Budget) -> bool:
    """Whether all these events together keep the budget."""
    delta = delta_of(events, budget.epsilon)
    return delta == 0 if budget.delta == 0 else delta <= float(budget.delta)
