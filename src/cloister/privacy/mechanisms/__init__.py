"""Mechanisms, one a file, and which of them a spend buys. A mechanism never sees a row."""

from __future__ import annotations

from collections.abc import Mapping

from cloister.kernels import Sensitivity
from cloister.privacy.budgets import Number
from cloister.privacy.mechanisms.base import KeyedMechanism, Mechanism, Precision, Released, Spend, add_noise
from cloister.privacy.mechanisms.gaussian import Gaussian
from cloister.privacy.mechanisms.laplace import Laplace

__all__ = [
    "Gaussian",
    "KeyedMechanism",
    "Laplace",
    "Mechanism",
    "Precision",
    "Released",
    "Spend",
    "add_noise",
    "calibrate",
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
