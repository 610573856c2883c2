"""How rounds share one spend: pure functions of the number of rounds, whose parts are positive and add up to exactly 1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

__all__ = ["Parts", "equal_parts", "halving_parts"]

Parts = Callable[[int], tuple[Fraction, ...]]
"""The number of rounds -> the part of each."""


def equal_parts(rounds: int) -> tuple[Fraction, ...]:
    """As much for each round as for any other.

    >>> [str(part) for part in equal_parts(3)]
    ['1/3', '1/3', '1/3']
    """
    return (Fraction(1, rounds),) * rounds


def halving_parts(rounds: int) -> tuple[Fraction, ...]:
    """Each round takes half of what is left, and the last one all that is left.

    >>> [str(part) for part in halving_parts(4)]
    ['1/2', '1/4', '1/8', '1/8']
    """
    halves = tuple(Fraction(1, 2**i) for i in range(1, rounds))
    return (*halves, 1 - sum(halves, Fraction(0)))
