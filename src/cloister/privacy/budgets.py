"""Budgets as exact values: how much a release may reveal.

A number that a user types is kept as the decimal it was typed as: ``PureDP(0.1)`` is one tenth, and ten of them are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError, by_door
from cloister.privacy.identifiability import check_worlds, epsilon_from_rho
from cloister.schema import Neighbours
from cloister.schema.numerals import MOST_DIGITS, Number, amount_text, exact_number, has_few_digits

__all__ = [
    "ApproxDP",
    "LARGEST_EPSILON",
    "Budget",
    "Identifiability",
    "Number",
    "Parts",
    "PureDP",
    "as_budget",
    "check_digits",
    "exact",
]

HINTS = {
    "epsilon": " Give a number such as 0.5 or 1",
    "delta": " Leave it out for none, or give a small one such as 1e-6.",
    "rho": " Give a probability between a blind guess and 1, such as 0.05.",
}
SMALLEST_EPSILON = Fraction(1, 10_000)
LARGEST_EPSILON = 10**9  # no guarantee to speak of from 50 on; runs that show what noise costs use more, a slip even more
SMALLEST_DELTA = Fraction(1, 10**20)


def exact(value: object, name: str) -> Fraction:
    """The positive number a user typed, as an exact fraction.

    >>> exact(0.1, "epsilon")
    Fraction(1, 10)
    """
    hint = HINTS.get(name, "")
    if name == "epsilon":
        hint += by_door("; with a delta, ApproxDP(epsilon, delta).", ".")
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9},[0-9]{1,9}\s*", value):
        hint = f" Write it with a point: {value.strip().replace(',', '.')}."
    problem = UsageError(f"{name} must be a positive finite number.{hint}")
    try:
        number = exact_number(value)
    except ValueError:
        raise problem from None
    if number <= 0:
        raise problem
    return number


def sensible(epsilon: Fraction) -> Fraction:
    """An epsilon that leaves something but noise, and that can be computed with."""
    if epsilon > LARGEST_EPSILON:
        raise UsageError(
            f"epsilon must be at most {LARGEST_EPSILON:,}: nothing is hidden long before that. Give a smaller one."
        )
    if epsilon < SMALLEST_EPSILON:
        raise UsageError("epsilon must be at least 0.0001: below that nothing is left but noise. Give a larger one.")
    check_digits(epsilon, "epsilon")
    return epsilon


def check_digits(amount: Fraction, name: str) -> None:
    """Refuse an amount whose digits would fill ledgers and certificates."""
    if not has_few_digits(amount):
        raise UsageError(f"{name} has more than {MOST_DIGITS} digits. Round it to a decimal such as 0.333333.")


class Parts(Mapping[str, Fraction]):
    """Named shares that add up exactly: ``parts.votes``, never a tuple to unpack."""

    def __init__(self, shares: Mapping[str, Fraction]) -> None:
        self._shares = dict(shares)

    def __getitem__(self, name: str) -> Fraction:
        return self._shares[name]

    def __getattr__(self, name: str) -> Fraction:
        try:
            return self._shares[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return "Parts(" + ", ".join(f"{name}={float(share):.6g}" for name, share in self._shares.items()) + ")"


def split(whole: Fraction, weights: Mapping[str, Number]) -> Parts:
    """Cut a whole by positive weights, exactly.

    >>> split(Fraction(1), {"votes": 13, "sums": 7}).sums
    Fraction(7, 20)
    """
    exact_weights = {name: exact(weight, f"the weight of {name}") for name, weight in weights.items()}
    total = sum(exact_weights.values())
    return Parts({name: whole * weight / total for name, weight in exact_weights.items()})


class _Pure:
    """A budget without a delta, whose epsilon can be cut exactly."""

    __slots__ = ()
    epsilon: Fraction

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    def split(self, **weights: Number) -> Parts:
        """Cut epsilon by named weights, exactly."""
        return split(self.epsilon, weights)


@dataclass(frozen=True, slots=True, init=False)
class PureDP(_Pure):
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


@dataclass(frozen=True, slots=True, init=False)
class Identifiability(_Pure):
    """The largest probability rho with which one of m equally likely worlds may be identified after the release.

    It is the replace-one guarantee with epsilon = ln((m-1) rho / (1-rho)) and delta = 0 (Lee and Clifton 2012).

    >>> round(float(Identifiability(rho=0.05, worlds=10_001).epsilon), 4)
    6.2659
    """

    rho: Fraction
    worlds: int
    epsilon: Fraction

    def __init__(self, rho: Number, worlds: int) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho"))
        check_digits(self.rho, "rho")
        object.__setattr__(self, "worlds", check_worlds(worlds))
        object.__setattr__(self, "epsilon", epsilon_from_rho(self.rho, self.worlds))
        if self.epsilon < SMALLEST_EPSILON:
            raise UsageError(
                f"rho is so close to 1/{self.worlds}, a blind guess, that its epsilon is below 0.0001: nothing is left but "
                "noise. Raise --rho, or the number of worlds."
            )

    def __str__(self) -> str:
        return f"rho {amount_text(self.rho)} among {self.worlds} worlds (epsilon {amount_text(self.epsilon)})"

    def __repr__(self) -> str:
        return f"Identifiability(rho={amount_text(self.rho)}, worlds={self.worlds})"


Budget = PureDP | ApproxDP | Identifiability


def as_budget(value: Any) -> Budget:
    """A budget as it is; a plain number is PureDP. None is refused: what may be revealed is nobody else's choice."""
    if value is None:
        raise UsageError(
            "how much may be revealed? Give budget=1 (an epsilon; 1 is a common choice), or a PureDP, ApproxDP or "
            "Identifiability."
        )
    return value if isinstance(value, PureDP | ApproxDP | Identifiability) else PureDP(value)


def relation(budget: Budget, neighbours: Neighbours | str | None) -> Neighbours:
    """The neighbour relation a budget is spent under, where the user named `neighbours` or nothing."""
    if neighbours is not None and (not isinstance(neighbours, str) or neighbours not in list(Neighbours)):
        raise UsageError('neighbours must be "add-remove" or "replace-one".')
    neighbours = Neighbours(neighbours) if neighbours else None
    if isinstance(budget, Identifiability):
        if neighbours is Neighbours.ADD_REMOVE:
            raise UsageError(
                'rho bounds replace-one neighbours, and this table is "add-remove". '
                'Set neighbours = "replace-one", or give --epsilon instead of --rho.'
            )
        return Neighbours.REPLACE_ONE
    return neighbours or Neighbours.ADD_REMOVE
