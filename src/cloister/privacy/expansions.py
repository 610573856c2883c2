"""Binary expansions of the probabilities that the exact samplers compare random bytes with.

Computed with the standard library's `decimal`, whose exp is correctly rounded, at a precision that leaves no doubt
about any of the 256 places. They are public: they depend on the noise's scale alone.

References
----------
A. Ziv: Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991 (raise the precision
until the error cannot reach the last place).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

PLACES = 256
UNIT = 1 << PLACES


@lru_cache(maxsize=256)
def geometric_expansion(scale: Fraction) -> NDArray[np.uint8]:
    """Expand what a geometric draw of ratio exp(-1 / scale) is made of.

    Row i is the probability that its binary digit i is 1, which is 1 / (1 + exp(2**i / scale)). The last row is the
    ratio of the geometric distribution above the digits, exp(-2**digits / scale), and is below 2**-32.

    Privacy
    -------
    Rounded down to a multiple of 2**-256, so a trial that uses a row is exact to 2**-256.
    """
    digits = (ceil(23 * scale) - 1).bit_length()  # exp(-23) < 2**-32
    rows = [expand(2**digit / scale, _odds) for digit in range(digits)]
    rows.append(expand(2**digits / scale, _itself))
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(digits + 1, PLACES // 8)  # (digits + 1, 32)


@lru_cache(maxsize=1)
def root_expansion() -> NDArray[np.uint8]:
    """Expand exp(-1/2), the one probability that a normal draw needs.

    Privacy
    -------
    Rounded down to a multiple of 2**-256.
    """
    return np.frombuffer(expand(Fraction(1, 2), _itself), dtype=np.uint8).reshape(1, PLACES // 8)  # (1, 32)


def expand(exponent: Fraction, law: Callable[[Decimal, Context], Decimal]) -> bytes:
    """Write the first 256 binary places of law(exp(-exponent)), a number between 0 and 1, rounded down.

    The division before exp, and a law of slope at most 1 after it, leave an error below 10**(2 - precision), whatever
    the exponent. The loop ends since exp of a rational other than 0 is never rational.
    """
    precision = 100
    while True:
        context = Context(
            precision, ROUND_HALF_EVEN, -999, 999, capitals=1, clamp=0, flags=[], traps=[]
        )  # nothing is the thread's
        # copy_negate and not a minus sign, which would round to the precision of the thread's own context.
        argument = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)).copy_negate()
        value = Fraction(law(context.exp(argument), context)) * UNIT
        error = Fraction(UNIT, 10 ** (precision - 2))
        low, high = max(0, floor(value - error)), floor(value + error)
        if low == high:
            return low.to_bytes(PLACES // 8, "big")
        precision += 50


def _itself(power: Decimal, context: Context) -> Decimal:
    return power


def _odds(power: Decimal, context: Context) -> Decimal:
    """1 / (1 + 1 / power), without the overflow."""
    return context.divide(power, context.add(1, power))
