"""k-ary randomized response as a channel: what an answer becomes, and with which exact probabilities.

Privacy
-------
What is released: one value of the domain. Neighbours: any two answers of one person to one question (the local model: nobody is
trusted, and every other person may be the attacker). A report is the true value with probability p = 1 - (k - 1) q, and each of
the k - 1 others with probability q. q is 1 / (e**epsilon + k - 1) **rounded up** to a multiple of 2**-64, so that
p / q = 1 / q - (k - 1) <= e**epsilon holds exactly; that p is not below q is checked in integers. Both probabilities are
multiples of 2**-64, drawn by comparing one integer of 64 bits: no floating point decides anything.

References
----------
S. Warner: Randomized response, 1965. P. Kairouz, S. Oh, P. Viswanath: Extremal mechanisms for local differential privacy, 2014.
Paper 002, equation 4: its distance-first sampler is this law, independently for each question.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, Overflow
from fractions import Fraction
from functools import lru_cache

from cloister.errors import UsageError
from cloister.schema.numerals import decimal_context

__all__ = ["UNIT", "Channel", "channel_for", "lie_units"]

UNIT = 2**64  # probabilities are multiples of 1 / UNIT
MOST_VALUES = 2**20  # of a question: more need another protocol than those here


@dataclass(frozen=True, slots=True)
class Channel:
    """What an answer to a question of `size` values becomes: each value that it is not with probability `lie_units` / 2**64."""

    size: int
    lie_units: int

    @property
    def lie(self) -> Fraction:
        """q: the probability of each value other than the true one."""
        return Fraction(self.lie_units, UNIT)

    @property
    def truth(self) -> Fraction:
        """p: the probability of the true value."""
        return 1 - (self.size - 1) * self.lie

    @property
    def contrast(self) -> float:
        """p - q: how much of an answer gets through."""
        return float(self.truth - self.lie)


@lru_cache(maxsize=1024)
def channel_for(epsilon: Fraction, size: int) -> Channel:
    """The channel of a question with so many values at this epsilon.

    Examples
    --------
    >>> two = channel_for(Fraction(1), 2)  # paper 002, table 1: the squares and the product of 0.731 and 0.269
    >>> [round(float(share), 5) for share in (two.truth**2, two.truth * two.lie, two.lie**2)]
    [0.53445, 0.19661, 0.07233]
    """
    if not 2 <= size <= MOST_VALUES:
        raise UsageError(f"a question has between 2 and {MOST_VALUES:,} values to answer with, not {size:,}.")
    units = lie_units(epsilon, size - 1)
    if units * size > UNIT:
        raise UsageError("the epsilon of a question is so small that no answer would get through. Give a larger one.")
    return Channel(size, units)


def lie_units(epsilon: Fraction, others: int) -> int:
    """1 / (e**epsilon + others) in units of 2**-64, rounded up.

    Privacy
    -------
    Never less than the exact number: the precision is raised until the rounding is beyond doubt, which ends since e**epsilon of a
    rational other than 0 is not rational.
    """
    if epsilon <= 0:
        raise UsageError("the epsilon of a question must be above 0.")
    digits = 60
    while True:
        context = decimal_context(digits)
        try:
            power = Fraction(context.exp(context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))))
        except Overflow:
            return 1
        error = power / 10 ** (digits - 3)
        low, high = (int(UNIT // (power + side * error + others)) for side in (1, -1))
        if low == high:
            return low + 1
        digits += 40
