"""Rho and epsilon, both ways: what a budget means as a probability of being identified.

A prior of m equally likely worlds that differ in one row becomes, after a release that is epsilon-private under
replace-one, a posterior of at most 1 / (1 + (m-1) e^-epsilon) for any one of them: the likelihood of what was released
is at most e^epsilon times that in each of the m - 1 others. Releases that are chosen one after the other multiply those
factors, so their epsilons add. It bounds one exact world, not every statement about a person: at epsilon 6.27 a fifty-fifty
guess can become 99.8%.

References
----------
J. Lee and C. Clifton, "Differential identifiability", KDD 2012; T. Shang et al., "Differential identifiability clustering
algorithms for big data analysis", 2021 (whose sequential composition is `printed_composition`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from cloister.errors import UsageError, by_door
from cloister.schema import Neighbours
from cloister.schema.numerals import decimal_context

__all__ = ["check_worlds", "epsilon_from_rho", "largest_rho", "printed_composition", "rho_from_epsilon"]

DIGITS = 50  # working precision of the logarithms
MOST_WORLDS = 10**18
PLACES = Decimal("1e-15")  # what they are rounded to
SHORT = 10**12  # a rho that somebody typed has no more places than this


def check_worlds(worlds: object) -> int:
    """The number of worlds as an integer of at least 2."""
    if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 2:
        raise UsageError(
            "the number of worlds must be a whole number of at least 2. Give "
            f"{by_door('worlds=2', '--worlds 2')} or more, or leave it out where columns of a schema are used."
        )
    if worlds > MOST_WORLDS:
        raise UsageError("the number of worlds must be at most 10^18: more values than a column has. Lower it.")
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
    return float(min(Decimal(1), _posterior(epsilon, worlds, neighbours, ROUND_CEILING)))


def largest_rho(epsilon: Fraction, worlds: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Fraction:
    """The largest rho that an epsilon has room for, rounded down: under replace-one `epsilon_from_rho` of it is no more.

    What was rounded down on the way from a short rho to its epsilon comes back as that rho.

    >>> largest_rho(epsilon_from_rho(Fraction("0.3"), 81), 81), largest_rho(Fraction(0), 4)
    (Fraction(3, 10), Fraction(1, 4))
    """
    below = Fraction(_posterior(epsilon, worlds, neighbours, ROUND_FLOOR))
    short = Fraction(-(-below * SHORT // 1), SHORT)
    whole = 2 * epsilon if neighbours is Neighbours.ADD_REMOVE else epsilon
    fits = Fraction(1, worlds) < short < 1 and epsilon_from_rho(short, worlds) <= whole
    return short if fits else below


def printed_composition(rhos: Sequence[float], worlds: int) -> Decimal:
    """The bound that Shang et al. 2021 print for releases of these rhos: m^(n-1) times their product. Often above 1.

    It is no bound where the rhos are posteriors that were computed in another way than through epsilon. Where they are
    `rho_from_epsilon` it holds: with X_i = e^eps_i for the true world and 1 for the m - 1 others, the mean over the worlds of
    the product of the X_i is at least the product of their means. The true bound is `rho_from_epsilon` of the sum.

    >>> printed_composition([0.05, 0.05], 10_001)
    Decimal('25.0025')
    """
    with localcontext(decimal_context(DIGITS)):
        product = Decimal(1)
        for rho in rhos:
            product *= Decimal(repr(float(rho)))
        return (Decimal(check_worlds(worlds)) ** (len(rhos) - 1) * product).normalize()


def _posterior(epsilon: Fraction, worlds: int, neighbours: Neighbours, rounding: str) -> Decimal:
    check_worlds(worlds)
    factor = 2 if neighbours is Neighbours.ADD_REMOVE else 1
    with localcontext(decimal_context(DIGITS)):
        exponent = -Decimal(factor * epsilon.numerator) / Decimal(epsilon.denominator)
        return (1 / (1 + (worlds - 1) * exponent.exp())).quantize(PLACES, rounding=rounding)
