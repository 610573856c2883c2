"""Mechanisms, one a file, and which of them a spend buys. A mechanism never sees a row.

A new noise distribution is a file with a class that follows `base.Mechanism`, and its line in `calibrate`; one that is
paid for in a unit of its own has that unit in `noise_for_spend`.
"""

from __future__ import annotations

from collections.abc import Mapping

from cloister.kernels import Sensitivity
from cloister.privacy.budgets import Number
from cloister.privacy.mechanisms.base import KeyedMechanism, Mechanism, Released, add_noise
from cloister.privacy.mechanisms.gaussian import Gaussian
from cloister.privacy.mechanisms.laplace import Laplace
from cloister.privacy.mechanisms.noise_for_spend import (
    Norm,
    Precision,
    Spend,
    amount_of,
    cut,
    event_of,
    explain_noise,
    norm_of,
    part_of,
    shares,
    spend_on_sample,
    whole_spend,
)

__all__ = [
    "Gaussian",
    "KeyedMechanism",
    "Laplace",
    "Mechanism",
    "Norm",
    "Precision",
    "Released",
    "Spend",
    "add_noise",
    "amount_of",
    "calibrate",
    "cut",
    "event_of",
    "explain_noise",
    "norm_of",
    "part_of",
    "shares",
    "spend_on_sample",
    "whole_spend",
]


def calibrate(sensitivity: Sensitivity, spend: Spend, weights: Mapping[str, Number] | None = None) -> Mechanism:
    """The least noise that a spend buys, its parts sharing it by weight: Laplace for an epsilon, Gaussian for a precision.

    A part that cannot move (the number of rows under replace-one) still gets a draw, of the smallest scale.
    When no move needs all that the parts' shares allow, all noise shrinks together until the worst move does.
    """
    weights = weights or dict.fromkeys(sensitivity.moves[0], 1)
    if isinstance(spend, Precision):
        return Gaussian.calibrated(sensitivity, spend.value, weights)
    return Laplace.calibrated(sensitivity, spend, weights)
