"""Choosing among very many candidates: how likely each band of gaps is, as exact integers.

Candidates that lie `gap` behind the best have the weight exp(-gap / scale). They are put into bands of gaps from m width to
(m + 1) width, width about one scale, and a last band of all gaps beyond. A band is drawn by how many candidates it has and the
weight at its beginning, a candidate of it uniformly, and that is kept with probability exp(-(gap - m width) / scale); otherwise
all is drawn anew. In all bands but the last this is at least 1/e, and the last is next to never drawn: its weight is e^-64 or
less where the scale is 1 or less, and e^-32 or less in any case.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor

from cloister.schema.numerals import decimal_context

__all__ = ["BANDS", "band_weights", "band_width"]

BANDS = 64  # before the last one
DIGITS = 120  # that a weight has; 100 of them count below, and 2**-332 is 1e-100


def band_width(scale: Fraction) -> int:
    """How many gaps a band has: as many as the scale, so that weights fall by at most e inside it; at least one."""
    return max(1, floor(scale))


@lru_cache(maxsize=64)
def band_weights(scale: Fraction) -> tuple[int, ...]:
    """The weight of a candidate at the beginning of each band, as integers in the ratio exp(-m width / scale).

    Privacy
    -------
    Each is right up to a factor of 1 +- 2**-300, the smallest too: decimals keep their digits however small they are.

    >>> weights = band_weights(Fraction(7))
    >>> len(weights), round(weights[0] / weights[1], 6)
    (65, 2.718282)
    """
    context = decimal_context(DIGITS)
    step = context.divide(Decimal(band_width(scale) * scale.denominator), Decimal(scale.numerator))
    weights = [context.exp(context.multiply(Decimal(-band), step)) for band in range(BANDS + 1)]
    places = DIGITS - weights[-1].adjusted()  # after the point, so that the smallest has all its digits
    return tuple(int(Fraction(weight) * 10**places) for weight in weights)
