"""Rho and epsilon, both ways: what a budget means as a probability of being identified.

A prior of m equally likely worlds that differ in one row becomes, after a release that is epsilon-private under
replace-one, a posterior of at most 1 / (1 + (m-1) e^-epsilon) for any one of them. It bounds one exact world, not every
statement about a person: at epsilon 6.27 a fifty-fifty guess can become 99.8%.

References
----------
J. Lee and C. Clifton, "Differential identifiability", KDD 2012.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from cloister.errors import UsageError
from cloister.schema import Neighbours
from cloister.schema.numerals import decimal_context

__all__ = ["check_worlds", "epsilon_from_rho", "rho_from_epsilon"]

DIGITS = 50  # working precision of the logarithms
MOST_WORLDS = 10**18
PLACES = Decimal("1e-15")  # what they are rounded to


def check_worlds(worlds: object) -> int:
    """The number of worlds as an integer of at least 2."""
    if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 2:
        raise UsageError("the number of worlds must be a whole number of at least 2. Give --worlds 2 or more.")
    if worlds > MOST_WORLDS:
        raise UsageError("the number of worlds must be at most 10^18: more values than a column has. Lower --worlds.")
    return worlds


def epsilon_from_rho(rho: Fraction, worlds: int) -> Fraction:
    """The replace-one epsilon that bounds the posterior by rho, rounded down.

    >>> round(float(epsilon_from_rho(Fraction(7, 10), 2)), 4)
    0.8473
    """
    check_worlds(worlds)
    if not Fraction(1, worlds) < rho < 1:
        hint = "lower it" if rho >= 1 else f"raise it above {1 / worlds:.3g}, or raise the number of worlds"
        raise UsageError(f"rho must lie above 1/{worlds} (a blind guess among the worlds) and below 1: {hint}.")
    odds = (worlds - 1) * rho / (1 - rho)
    with localcontext(decimal_context(DIGITS)):
        log = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
        return Fraction(log.quantize(PLACES, rounding=ROUND_FLOOR))


def rho_from_epsilon(epsilon: Fraction, worlds: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """The largest posterior of one of `worlds` equally likely worlds, rounded up.

    An add-remove epsilon counts twice: replacing a row is removing one and adding one.

    >>> round(rho_from_epsilon(Fraction("6.2659"), 10_001), 4)
    0.05
    """
    check_worlds(worlds)
    factor = 2 if neighbours is Neighbours.ADD_REMOVE else 1
    with localcontext(decimal_context(DIGITS)):
        exponent = -Decimal(factor * epsilon.numerator) / Decimal(epsilon.denominator)
        rho = 1 / (1 + (worlds - 1) * exponent.exp())
        return float(min(Decimal(1), rho.quantize(PLACES, rounding=ROUND_CEILING)))
