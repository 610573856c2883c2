"""Budgets as exact values: how much a release may reveal.

A number that a user types is kept as the decimal it was typed as: ``PureDP(0.1)`` is one tenth, and ten of them are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.amounts import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    Parts,
    WithoutDelta,
    check_digits,
    exact,
    sensible,
    split,
)
from cloister.privacy.rho_budgets import Identifiability, MixedIdentifiability, Rho
from cloister.schema import Neighbours
from cloister.schema.numerals import Number, amount_text

__all__ = [
    "ApproxDP",
    "LARGEST_EPSILON",
    "SMALLEST_EPSILON",
    "Budget",
    "Identifiability",
    "MixedIdentifiability",
    "Number",
    "Parts",
    "PureDP",
    "Rho",
    "as_budget",
    "check_digits",
    "exact",
    "relation",
    "split",
]

SMALLEST_DELTA = Fraction(1, 10**20)


@dataclass(frozen=True, slots=True, init=False)
class PureDP(WithoutDelta):
    """Epsilon-differential privacy with delta = 0.

    >>> PureDP(1).split(votes=13, sums=7).votes
    Fraction(13, 20)
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", sensible(exact(epsilon, "epsilon")))

    def __str__(self) -> str:
        return f"epsilon {amount_text(self.epsilon)}"

    def __repr__(self) -> str:
        return f"PureDP({amount_text(self.epsilon)})"


@dataclass(frozen=True, slots=True, init=False)
class ApproxDP:
    """(epsilon, delta)-differential privacy, 0 < delta < 1."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", sensible(exact(epsilon, "epsilon")))
        object.__setattr__(self, "delta", exact(delta, "delta"))
        if self.delta < SMALLEST_DELTA:
            raise UsageError("delta must be at least 1e-20, or left out for none: smaller ones cannot be computed.")
        if self.delta >= 1:
            raise UsageError("delta must be below 1, and well below one over the number of rows. Try 1e-6.")
        check_digits(self.delta, "delta")

    def __str__(self) -> str:
        return f"epsilon {amount_text(self.epsilon)}, delta {amount_text(self.delta)}"

    def __repr__(self) -> str:
        return f"ApproxDP({amount_text(self.epsilon)}, {amount_text(self.delta)})"


Budget = PureDP | ApproxDP | Rho


def as_budget(value: Any) -> Budget:
    """A budget as it is; a plain number is PureDP. None is refused: what may be revealed is nobody else's choice."""
    if value is None:
        raise UsageError(
            "how much may be revealed? Give budget=1 (an epsilon; 1 is a common choice), or a PureDP, ApproxDP or "
            "Identifiability."
        )
    return value if isinstance(value, Budget) else PureDP(value)


def relation(budget: Budget, neighbours: Neighbours | str | None) -> Neighbours:
    """The neighbour relation a budget is spent under, where the user named `neighbours` or nothing."""
    if neighbours is not None and (not isinstance(neighbours, str) or neighbours not in list(Neighbours)):
        raise UsageError('neighbours must be "add-remove" or "replace-one".')
    neighbours = Neighbours(neighbours) if neighbours else None
    if isinstance(budget, Rho):
        if neighbours is Neighbours.ADD_REMOVE:
            raise UsageError(
                'rho bounds replace-one neighbours, and this table is "add-remove". '
                'Set neighbours = "replace-one", or give --epsilon instead of --rho.'
            )
        return Neighbours.REPLACE_ONE
    return neighbours or Neighbours.ADD_REMOVE
