"""Numbers as people write and read them: the one place that turns text into exact numbers, and numbers into text."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from typing import Any

__all__ = [
    "MOST_DIGITS",
    "WHOLE_NUMBERS",
    "Number",
    "amount_text",
    "coordinate_text",
    "decimal_context",
    "exact_label_text",
    "exact_number",
    "exact_text",
    "has_few_digits",
    "is_short_decimal",
    "label_text",
    "read_exact_text",
    "short_decimal",
]

Number = int | float | str | Decimal | Fraction
"""What a user may type for an exact number: read as the decimal that was typed."""

LONGEST = 400  # decimal places before or after the point: more is a slip, and would fill the memory
LONGEST_TEXT = 1_000  # characters of a number that a user types
MOST_DIGITS = 60  # of an amount, above and below its fraction bar: any decimal and any float of a sensible size has fewer
_LONGEST_AMOUNT: int = 10**MOST_DIGITS
WHOLE_NUMBERS = 2**53  # from here on two whole numbers may be one float
_ALL_DIGITS = 1e22  # whole numbers below it are written without an exponent
LONGEST_BITS = 4096  # larger integers are written in hexadecimal: Python refuses decimal ones of more than 4,300 digits
LONGEST_EXACT = 1 << 16  # characters of a number that Cloister wrote: fractions of an accounting have a few thousand


def decimal_context(digits: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    """The context of every computation with decimals: all of it is set here, nothing is the thread's or the process's own.

    A program may round its own decimals as it likes (`decimal.getcontext`, `decimal.DefaultContext`); amounts, certificates
    and probabilities do not follow.
    """
    traps = [DivisionByZero, InvalidOperation, Overflow]
    return Context(digits, rounding, -999_999, 999_999, capitals=1, clamp=0, flags=[], traps=traps)


def exact_number(value: object) -> Fraction:
    """The finite number that a user typed, as an exact fraction; ValueError when it is none.

    >>> exact_number(0.1), exact_number("1e-6"), exact_number("1/3")
    (Fraction(1, 10), Fraction(1, 1000000), Fraction(1, 3))
    """
    if hasattr(value, "item") and not isinstance(value, int | float):  # NumPy scalars
        value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, Number):
        raise ValueError("not a number")
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, float):
        value = _decimal(repr(float(value)))  # float(): NumPy's repr differs
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > LONGEST:
            raise ValueError("not a finite number")
        return Fraction(value)
    number = Fraction(
        int(value.numerator), int(value.denominator)
    )  # int(): those of a fraction may be NumPy's, which overflow
    # 10^LONGEST and its inverse, in powers of two: no division of long integers
    if number and abs(abs(number.numerator).bit_length() - number.denominator.bit_length()) > 4 * LONGEST:
        raise ValueError("not a finite number")
    return number


def _from_text(text: str) -> Fraction | Decimal:
    if len(text) > LONGEST_TEXT:
        raise ValueError("not a number")
    if "/" not in text:
        return _decimal(text)
    try:
        return Fraction(text.strip())
    except ZeroDivisionError:
        raise ValueError("not a number") from None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None


def _plain(value: Any) -> object:
    """The Python number of a NumPy scalar; an array of several has none."""
    try:
        return value.item()
    except Exception:
        raise ValueError("not a number") from None


def has_few_digits(value: Fraction) -> bool:
    """Whether an amount can be added to others and written down: at most `MOST_DIGITS` digits above and below the bar.

    >>> has_few_digits(Fraction(0.1)), has_few_digits(Fraction(10**80 + 1, 10**80))
    (True, False)
    """
    return max(abs(value.numerator), value.denominator) <= _LONGEST_AMOUNT


def is_short_decimal(value: Fraction) -> bool:
    """Whether a number has at most `MOST_DIGITS` decimal places: sums of such numbers have no more.

    >>> is_short_decimal(Fraction(1, 8)), is_short_decimal(Fraction(1, 3))
    (True, False)
    """
    return _LONGEST_AMOUNT % value.denominator == 0


def exact_text(value: Fraction) -> str:
    """Write a fraction as text that loses nothing, for `read_exact_text`.

    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST_BITS:
        return f"{value.numerator:#x}/{value.denominator:#x}"
    decimal = decimal_context(30).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{decimal:f}" if Fraction(decimal) == value and decimal.adjusted() > -20 else str(value)


def read_exact_text(text: object) -> Fraction:
    """Read what `exact_text` wrote; ValueError or ZeroDivisionError when it is something else.

    The size of the number is bounded before it is made: the 9 characters ``1e9999999`` are a number of 4 megabytes.

    >>> read_exact_text("0.1"), read_exact_text("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if not isinstance(text, str) or len(text) > LONGEST_EXACT:
        raise ValueError("not an exact number")
    if "x" in text:
        numerator, _, denominator = text.partition("/")
        return Fraction(int(numerator, 16), int(denominator, 16))
    if "/" not in text:
        decimal = _decimal(text)
        if not decimal.is_finite() or abs(decimal.adjusted()) > LONGEST_EXACT:
            raise ValueError("not an exact number")
        return Fraction(decimal)
    return Fraction(text)


def short_decimal(value: Fraction, *, up: bool = False) -> str:
    """Write a fraction for people, in six digits, rounded down (or `up`), so that what is left is never overstated.

    >>> short_decimal(Fraction(2, 3)), short_decimal(Fraction(2, 3), up=True), short_decimal(Fraction(1, 10**6))
    ('0.666666', '0.666667', '1e-6')
    """
    digits = decimal_context(6, ROUND_CEILING if up else ROUND_FLOOR)
    decimal = digits.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(digits)
    return f"{decimal:f}" if decimal == 0 or -5 < decimal.adjusted() < 12 else f"{decimal:e}"


def amount_text(value: Fraction) -> str:
    """Write an epsilon, a delta or a rho as it was typed: exact where that is short, otherwise six digits, rounded up.

    >>> amount_text(Fraction(1, 10)), amount_text(Fraction(2, 3)), amount_text(Fraction(1, 10**12))
    ('0.1', '0.666667', '1e-12')
    """
    digits = decimal_context(28)
    decimal = digits.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(digits)
    if Fraction(decimal) == value and len(decimal.as_tuple().digits) <= 12:
        text = f"{decimal:f}"
        return text if len(text) <= 12 else f"{decimal:E}".replace("E", "e")
    rounded = decimal_context(6, ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(rounded):.6g}"


def label_text(value: float) -> str:
    """Write a number that stands in a label, such as the end of an interval: twelve digits, no zeros at the end."""
    return format(value, ".12g")


def exact_label_text(value: float) -> str:
    """Write a number that stands in a label, as text that reads back as the same: no exponent where it can be helped.

    >>> exact_label_text(2.0**53), exact_label_text(0.1), exact_label_text(20261116130501.0)
    ('9007199254740992', '0.1', '20261116130501')
    """
    short = label_text(value)
    if float(short) == value:
        return short
    return str(int(value)) if abs(value) < _ALL_DIGITS and float(value).is_integer() else repr(float(value))


def coordinate_text(value: float) -> str:
    """Write a coordinate for a person: four digits or all before the point, and no exponent where it can be helped."""
    if 1e-4 <= abs(value) < 1e15:
        decimals = max(0, 3 - math.floor(math.log10(abs(value))))
        return f"{value:,.{min(decimals, 8)}f}"
    return f"{value:.4g}"
