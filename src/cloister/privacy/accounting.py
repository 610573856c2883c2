"""Closed forms of what releases cost; `events` puts them together.

Pure parts add. A plan of Gaussian releases is one Gaussian: in units of sensitivity the precisions 1/sigma^2 add, and the
pair (epsilon, delta) follows from the analytic Gaussian. What runs on one secret Poisson sample is amplified as a whole.
A heavy accountant is the oracle in the tests; importing one would take longer than a fit.

References
----------
B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism", ICML 2018.
J. Dong, A. Roth and W. Su, "Gaussian differential privacy", JRSS-B 2022.
Y. Zhu, J. Dong and Y.-X. Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import exp, sqrt
from typing import TYPE_CHECKING

from cloister.privacy.identifiability import DIGITS, PLACES
from cloister.schema.numerals import decimal_context

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "LARGEST_EPSILON",
    "MOST_DRAWS",
    "amplified_epsilon",
    "epsilon_before_sampling",
    "gaussian_delta",
    "gaussian_precision",
    "sampled_gaussian_delta",
    "sampled_gaussian_precision",
    "sampler_delta",
]

SLACK = 1e-7
"""Part of delta that calibration leaves unspent: it covers rounding of the error function, and `sampler_delta`."""

DRAW_ERROR = 2.0**-205
"""How far one draw of `noise.gaussian` is from its law, in total variation, at its largest sigma."""

MOST_DRAWS = 2**40
"""The most Gaussian draws of a release; the vault counts them. Their error is below a tenth of the slack at any delta."""

LARGEST_EPSILON = 50
"""The largest epsilon that Gaussian noise is calibrated to: beyond, its tails would have to be rarer than its sampler's error."""

ULP, ROUNDINGS, FARTHEST = 2.0**-53, 16, 1e9
"""The error of one rounding, how many of them a difference is taken to have, and a deviation beyond which all is 0."""

LARGE = 1000
"""A pure epsilon on a sample whose e^-epsilon is far below any rate."""

SAMPLED_SLACK = 2e-5
"""The same where an integral comes in."""

LARGEST_MU = 10.0
"""The largest mu on a sample that is integrated: calibration stays below 8, as epsilon is at most 50 and delta a thousandth."""

POINTS, TAIL = 40_001, 13.0
"""Of the integral: its points, and how many standard deviations it reaches beyond both means."""

BEYOND = 1.3e-38
"""More than the probability of both tails that it leaves out."""

MOST_SAMPLE_DELTA = Fraction(1, 1000)
"""The largest delta for the rows of a sample, however rarely a row is in it."""


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest delta of a Gaussian release whose sensitivity is mu standard deviations (Balle and Wang, theorem 8).

    It is off by less than `SLACK` / 2 of itself, or rounded up.

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    import numpy as np

    return float(gaussian_deltas(np.array([epsilon]), mu)[0]) if mu > 0 else 0.0


def gaussian_deltas(epsilon: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """The same for many epsilons, also negative ones, for which delta is 1 - e^epsilon + e^epsilon delta(-epsilon).

    With x = epsilon / mu, delta is F(mu/2 - x) - e^epsilon F(-mu/2 - x). Where these cancel, it is computed from Mills ratios R,
    as f(mu/2 - x) (R(x - mu/2) - R(x + mu/2)) with what rounding may take away added, and is at most mu f(min(0, mu/2 - x)),
    since f(mu/2 - epsilon/mu) is its derivative by mu.
    """
    import numpy as np
    from scipy.special import erfcx, log_ndtr

    size = np.abs(epsilon)
    x = np.minimum(size / mu, FARTHEST)
    near, far = mu / 2 - x, -mu / 2 - x
    upper = log_ndtr(near)
    gap = np.minimum(0.0, size + log_ndtr(far) - upper)
    delta = -np.expm1(gap) * np.exp(upper)
    cancelled = -gap * SLACK / 4 < ULP * (2 + size - 2 * upper) * ROUNDINGS
    if np.any(cancelled):
        density = np.exp(-(near[cancelled] ** 2) / 2) / np.sqrt(2 * np.pi)
        ratio, other = (np.sqrt(np.pi / 2) * erfcx(-t[cancelled] / np.sqrt(2)) for t in (near, far))
        bound = mu * np.exp(-(np.minimum(0.0, near[cancelled]) ** 2) / 2) / np.sqrt(2 * np.pi)
        delta[cancelled] = np.minimum(bound, density * (np.maximum(0.0, ratio - other) + ROUNDINGS * ULP * ratio))
    return np.asarray(np.where(epsilon < 0, -np.expm1(np.minimum(0.0, epsilon)) + np.exp(-size) * delta, delta))


def sampler_delta(epsilon: float) -> float:
    """What the sampler's error adds to the delta of Gaussian releases: the law of up to `MOST_DRAWS` draws is off by eta.

    From P'(S) <= P(S) + eta <= e^epsilon Q(S) + delta + eta <= e^epsilon Q'(S) + delta + (1 + e^epsilon) eta.

    >>> sampler_delta(50.0) < SLACK * 1e-20 / 5
    True
    """
    return (1 + exp(epsilon)) * MOST_DRAWS * DRAW_ERROR


@lru_cache(maxsize=256)
def gaussian_precision(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest mu^2 at which a Gaussian release is (epsilon, delta)-private, rounded down."""
    target = float(delta) * (1 - SLACK)
    goal = min(float(epsilon), LARGEST_EPSILON)
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
    """What a pure epsilon on a Poisson sample costs on the table: ln(1 + q (e^epsilon - 1)), rounded up at every step.

    A large one is epsilon + ln(q + (1 - q) / e^epsilon): e^epsilon itself would have more digits than a decimal can.
    """
    with localcontext(decimal_context(2 * DIGITS, ROUND_CEILING)):  # exp and ln round to nearest in any context
        spent, part = (Decimal(number.numerator) / Decimal(number.denominator) for number in (epsilon, rate))
        if epsilon > LARGE:
            cost = spent + (part + Decimal(-LARGE).exp().next_plus()).ln().next_plus()
        else:
            cost = (1 + part * (spent.exp().next_plus() - 1)).ln().next_plus()
        return min(epsilon, Fraction(cost.quantize(PLACES)))


def epsilon_before_sampling(cost: Fraction, rate: Fraction) -> Fraction:
    """The pure epsilon that may be spent on a Poisson sample for this cost on the table, rounded down."""
    with localcontext(decimal_context(2 * DIGITS)):
        spent, part = (Decimal(number.numerator) / Decimal(number.denominator) for number in (cost, rate))
        log = spent - part.ln() if cost > LARGE else (1 + (spent.exp() - 1) / part).ln()
        epsilon = Fraction(log.quantize(PLACES, rounding=ROUND_FLOOR))
    while amplified_epsilon(epsilon, rate) > cost:  # both round: step down until the charge fits
        epsilon -= Fraction(PLACES)
    return max(epsilon, cost)


def sampled_gaussian_delta(epsilon: float, rate: float, mu_sample: float, mu_table: float) -> float:
    """Delta of a Gaussian on a Poisson sample of the rows together with a Gaussian on all rows, under add-remove.

    The first is dominated by (1-q) N(0,1) + q N(mu,1) against N(0,1), in both orders (Zhu, Dong and Wang 2022, theorem 11).
    For a privacy loss L of that pair the two together have delta = E[delta of the second at epsilon - L]: one integral of a
    smooth function over the line, for which the trapezoid rule converges exponentially. Without a second Gaussian the function
    has a kink, and the rule is off by less than `SAMPLED_SLACK` / 2 of delta.

    Beyond `LARGEST_MU` it is an upper bound: delta grows with mu, as noise can be added, up to where the sample is known. Then
    the row is seen with probability q, and otherwise the loss is ln(1-q).
    """
    import numpy as np

    def second(left: NDArray[np.float64]) -> NDArray[np.float64]:
        return gaussian_deltas(left, mu_table) if mu_table > 0 else np.maximum(0.0, -np.expm1(left))

    rate = max(rate, float(np.finfo(np.float64).tiny))  # delta grows with the rate
    if rate == 1:
        return gaussian_delta(epsilon, float(np.hypot(mu_sample, mu_table)))
    if mu_sample > LARGEST_MU:
        unseen = np.log1p(-rate)
        losses = np.array([unseen, -unseen])  # of a row that was removed, and of one that was added
        removed, added = map(float, second(epsilon - losses))
        return max(rate + (1 - rate) * removed, added)
    x = np.linspace(-TAIL, mu_sample + TAIL, POINTS)
    step = x[1] - x[0]
    missing = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)  # density without the row
    present = np.exp(-((x - mu_sample) ** 2) / 2) / np.sqrt(2 * np.pi)
    seen = mu_sample * x - mu_sample**2 / 2  # the loss of a row that is known to be in the sample
    loss = np.logaddexp(np.log1p(-rate), np.log(rate) + seen)
    small = np.abs(seen) < 0.5  # where the two terms above nearly add up to 1
    loss[small] = np.log1p(rate * np.expm1(seen[small]))
    removed = float(np.sum(((1 - rate) * missing + rate * present) * second(epsilon - loss)) * step)
    added = float(np.sum(missing * second(epsilon + loss)) * step)
    return max(removed, added) + BEYOND


def sampled_gaussian_precision(epsilon: Fraction, delta: Fraction, rate: Fraction, table: Fraction) -> Fraction:
    """The largest precision on a sample beside precision `table` on all rows that keeps (epsilon, delta), rounded down.

    A delta above the rate would allow publishing the sample as it is; so what runs on the sample must also keep
    (ln(1 + (e^epsilon - 1) / q), delta / q) for the rows that are in it, with delta / q at most a thousandth.
    """
    target, goal = float(delta) * (1 - SAMPLED_SLACK), min(float(epsilon), LARGEST_EPSILON)
    on_sample = epsilon_before_sampling(min(epsilon, Fraction(LARGEST_EPSILON)), rate)
    low, high = 0.0, sqrt(gaussian_precision(on_sample, min(delta / rate, MOST_SAMPLE_DELTA)))

    def fits(mu: float) -> bool:
        return sampled_gaussian_delta(goal, float(rate), mu, sqrt(table)) <= target

    if fits(high):
        return Fraction(high) ** 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Fraction(low) ** 2
