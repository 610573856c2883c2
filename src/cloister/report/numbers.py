"""Shares and probabilities for a person to read, and how many digits of a noisy number are worth it."""

from __future__ import annotations

from math import floor, log10

__all__ = ["decimals_left", "percent", "posterior_percent"]

ALMOST_CERTAIN = 0.9999
ROUNDED_UP = 0.9995  # from which on three digits would say 100%


def percent(share: float) -> str:
    """A share with enough digits to tell small ones from none.

    >>> percent(1), percent(0.2), percent(0.00012), percent(1e-9), percent(0)
    ('100%', '20%', '0.012%', '< 0.001%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 1e-5:
        return "< 0.001%"
    digits = 1 if share >= 0.01 else 3
    return f"{share * 100:.{digits}f}".rstrip("0").rstrip(".") + "%"


def posterior_percent(probability: float) -> str:
    """A bound on a posterior, with three digits or, near certainty, four: it is not rounded up to that, and keeps its order.

    >>> posterior_percent(1 / 21), posterior_percent(0.9996), posterior_percent(0.99999)
    ('4.76%', '99.96%', '>99.99%')
    """
    if probability > ALMOST_CERTAIN:
        return ">99.99%"
    return f"{100 * probability:.2f}%" if probability >= ROUNDED_UP else f"{100 * probability:.3g}%"


def decimals_left(error: float) -> int:
    """To how many decimals a number with this standard error is worth writing: two digits of the error.

    >>> decimals_left(0.137), decimals_left(28.4), decimals_left(12345.0)
    (2, 0, -3)
    """
    return 1 - floor(log10(error))
