"""What a guarantee leaves to the best attacker: how often somebody is found, when so many others are accused wrongly.

Somebody who knows all of a table but one row has to decide between two neighbouring tables from what was released. The attack
is a set S of releases that count as "it is the second table": P1(S) is how often that is right, P0(S) how often it is a
false alarm. (epsilon, delta) says of every set P1(S) <= e^epsilon P0(S) + delta, and of the rest, with the tables the other way
round, 1 - P0(S) <= e^epsilon (1 - P1(S)) + delta. At a false alarm rate of a that leaves

    P1(S) <= min(e^epsilon a + delta,  1 - e^-epsilon (1 - a - delta),  1),

which is one minus the trade-off function of the guarantee: some mechanism that keeps it reaches this at every a. A mechanism of
one's own may leave less.

References
----------
L. Wasserman and S. Zhou, "A statistical framework for differential privacy", 2010; P. Kairouz, S. Oh and P. Viswanath, "The
composition theorem for differential privacy", 2015; J. Dong, A. Roth and W. Su, "Gaussian differential privacy", 2022.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from cloister.privacy.identifiability import DIGITS, PLACES
from cloister.schema.numerals import decimal_context

__all__ = ["FALSE_ALARMS", "true_positive_rate"]

FALSE_ALARMS = Fraction(1, 20)


def true_positive_rate(epsilon: Fraction, delta: Fraction = Fraction(0), false_alarms: Fraction = FALSE_ALARMS) -> float:
    """The largest true-positive rate of any attack with so many false alarms, rounded up.

    >>> true_positive_rate(Fraction(0)), round(true_positive_rate(Fraction(1)), 4), round(true_positive_rate(Fraction(5)), 4)
    (0.05, 0.1359, 0.9936)
    """
    with localcontext(decimal_context(DIGITS)):
        alarms, slack = (Decimal(part.numerator) / Decimal(part.denominator) for part in (false_alarms, delta))
        shrink = (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()  # e^-epsilon: it does not overflow
        found_by_alarms = alarms / shrink + slack if shrink > alarms else Decimal(1)
        left_by_silence = 1 - shrink * (1 - alarms - slack)
        least = min(found_by_alarms, left_by_silence, Decimal(1))
        return float(least.quantize(PLACES, rounding=ROUND_CEILING))
