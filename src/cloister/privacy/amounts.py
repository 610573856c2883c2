"""Amounts of privacy as exact values: an epsilon, a delta or a rho as it was typed, and shares that add up.

A number that a user types is kept as the decimal it was typed as: one tenth is one tenth, and ten of them are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol

from cloister.errors import UsageError, by_door
from cloister.schema.numerals import MOST_DIGITS, Number, exact_number, has_few_digits

__all__ = ["LARGEST_EPSILON", "SMALLEST_EPSILON", "Parts", "WithoutDelta", "check_digits", "exact", "sensible", "split"]

HINTS = {
    "epsilon": " Give a number such as 0.5 or 1",
    "delta": " Leave it out for none, or give a small one such as 1e-6.",
    "rho": " Give a probability between a blind guess and 1, such as 0.05.",
}
SMALLEST_EPSILON = Fraction(1, 10_000)
LARGEST_EPSILON = 10**9  # no guarantee to speak of from 50 on; runs that show what noise costs use more, a slip even more


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


class HasEpsilon(Protocol):
    """What has an epsilon."""

    @property
    def epsilon(self) -> Fraction: ...


class WithoutDelta:
    """A budget without a delta, whose epsilon can be cut exactly."""

    __slots__ = ()

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    def split(self: HasEpsilon, **weights: Number) -> Parts:
        """Cut epsilon by named weights, exactly."""
        return split(self.epsilon, weights)
