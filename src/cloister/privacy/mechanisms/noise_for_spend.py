"""What a step may spend, and which noise that buys: the one place that knows an epsilon buys Laplace, a precision Gaussian.

A pure budget is spent in parts of its epsilon. An approximate one is spent in parts of the one Gaussian precision that the
pair (epsilon, delta) is worth. Plans cut and add spends here, and ask `norm_of` where their own arithmetic depends on the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from cloister.privacy.accounting import epsilon_before_sampling, gaussian_precision, sampled_gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, Number, split
from cloister.privacy.events import Event, GaussianEvent, LaplaceEvent

__all__ = [
    "Norm",
    "Precision",
    "Spend",
    "amount_of",
    "cut",
    "event_of",
    "explain_noise",
    "norm_of",
    "part_of",
    "shares",
    "spend_on_sample",
    "whole_spend",
]


@dataclass(frozen=True, slots=True)
class Precision:
    """A spend in Gaussian terms: squared sensitivity over variance."""

    value: Fraction


Spend = Fraction | Precision
"""What a step may cost: a pure epsilon, or a Gaussian precision."""

Norm = Literal["L1", "L2"]


def norm_of(spend: Spend) -> Norm:
    """The norm that the noise of a spend is calibrated to, in which moves are best clipped: L1 for Laplace, L2 for Gaussian.

    In L2 the noise of t equal parts grows with sqrt t, in L1 with t.
    """
    return "L2" if isinstance(spend, Precision) else "L1"


def explain_noise(budget: Budget) -> str:
    """Which noise a budget buys and why, for a plan's list of choices."""
    return "Gaussian, since delta > 0" if isinstance(budget, ApproxDP) else "Laplace, since delta = 0"


def whole_spend(budget: Budget, epsilon: Fraction) -> Spend:
    """All that can be spent at once of a budget of which this epsilon is left."""
    return Precision(gaussian_precision(epsilon, budget.delta)) if isinstance(budget, ApproxDP) else epsilon


def spend_on_sample(budget: Budget, epsilon: Fraction, share: Fraction, rate: Fraction) -> Spend:
    """What may be spent on a secret sample of this rate so that it costs a share of the whole spend.

    Privacy: a pure epsilon is amplified by itself. A Gaussian on the sample is accounted for together with the Gaussian that
    spends the other shares on the table.
    """
    whole = whole_spend(budget, epsilon)
    if rate == 1:
        return part_of(whole, share)
    if isinstance(whole, Precision):
        return Precision(sampled_gaussian_precision(epsilon, budget.delta, rate, whole.value * (1 - share)))
    return epsilon_before_sampling(whole * share, rate)


def amount_of(spend: Spend) -> Fraction:
    """The number of a spend: its epsilon or its precision."""
    return spend.value if isinstance(spend, Precision) else spend


def part_of(spend: Spend, share: Fraction) -> Spend:
    """A share of a spend: of epsilon, or of precision."""
    return Precision(spend.value * share) if isinstance(spend, Precision) else spend * share


def cut(spend: Spend, weights: Mapping[str, Number]) -> dict[str, Spend]:
    """Cut a spend by named weights."""
    if isinstance(spend, Precision):
        return {name: Precision(part) for name, part in split(spend.value, weights).items()}
    return dict(split(spend, weights))


def shares(budget: Budget, weights: Mapping[str, Number]) -> dict[str, Spend]:
    """Cut a budget into named spends."""
    return cut(whole_spend(budget, budget.epsilon), weights)


def event_of(step: str, spend: Spend) -> Event:
    """The event of a step that spends all it may."""
    return GaussianEvent(step, spend.value) if isinstance(spend, Precision) else LaplaceEvent(step, spend)
