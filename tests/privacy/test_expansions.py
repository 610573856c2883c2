"""The binary expansions are right in every place."""

from __future__ import annotations

import decimal
from fractions import Fraction

import pytest

from cloister.privacy import expansions

SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1000), Fraction(10**12)]


def exp_minus(exponent: Fraction, bits: int) -> int:
    """floor(2**bits exp(-exponent)) give or take a few units, by a Taylor series in integers and repeated squaring."""
    guard = bits + 80
    halvings = max(0, int(exponent).bit_length() + 1)
    x = (exponent.numerator << guard) // (exponent.denominator << halvings)
    term, total, n = 1 << guard, 1 << guard, 0
    while term:
        n += 1
        term = term * x // n >> guard
        total += -term if n % 2 else term
    for _ in range(halvings):
        total = total * total >> guard
    return total >> 80


@pytest.mark.parametrize("scale", [*SCALES, Fraction(41_152, 263), Fraction(1, 500), Fraction(2**50)])
def test_expansions_are_right_in_every_place(scale: Fraction) -> None:
    """All 256 places of every digit's probability agree with a Taylor series in integers."""
    table = expansions.geometric_expansion(scale)
    for digit, row in enumerate(table):
        power = exp_minus(2**digit / scale, 400)
        expected = power if digit == len(table) - 1 else (power << 400) // ((1 << 400) + power)
        # The few units of doubt in place 400 reach place 256 with probability 2**-140.
        assert int.from_bytes(row.tobytes(), "big") == expected >> 144


def test_the_ratio_above_the_digits_is_small() -> None:
    """The run above the digits goes on with probability below 2**-32."""
    for scale in SCALES:
        ratio = expansions.geometric_expansion(scale)[-1]
        assert not ratio[:4].any()


def test_precision_of_the_thread_does_not_matter() -> None:
    """An expansion is the same under a decimal context of three digits."""
    expected = expansions.expand(Fraction(1, 2), lambda power, context: power)
    with decimal.localcontext(decimal.Context(prec=3)):
        assert expansions.expand(Fraction(1, 2), lambda power, context: power) == expected
