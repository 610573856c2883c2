"""What a ledger keeps of each table: an account, its entries, and how their exact numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["Account", "Entry", "exact_text", "short_decimal"]


@dataclass(frozen=True, slots=True)
class Account:
    """What one table may spend, has spent and has let out.

    Privacy
    -------
    Everything that was released from the table, together, is (`epsilon_spent`, `delta_spent`) differentially
    private under `neighbours`, as long as `holder_uses` results stayed with the holder.
    """

    table: str
    neighbours: str
    epsilon_total: Fraction
    delta_total: Fraction
    epsilon_spent: Fraction
    delta_spent: Fraction
    releases: int
    holder_uses: int
    created: str
    unit: str = ""  # whom the charges protect, as the first of them said: a row, or a person; empty before

    @property
    def epsilon_left(self) -> Fraction:
        """What may still be spent of epsilon."""
        return self.epsilon_total - self.epsilon_spent

    @property
    def delta_left(self) -> Fraction:
        """What may still be spent of delta."""
        return self.delta_total - self.delta_spent


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: a charge, or exact results that the holder was given.

    A charge stays ``"charged"`` when its process died before the release; it is spent all the same.
    """

    id: int
    table: str
    when: str
    kind: str
    purpose: str
    epsilon: Fraction
    delta: Fraction
    status: str
    release_hash: str = ""


def exact_text(value: Fraction) -> str:
    """Write a fraction as text that loses nothing: ``0.1``, ``1/3``.

    Examples
    --------
    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4096:
        # Python refuses to write or read decimal integers of more than 4,300 digits; base 16 has no such limit.
        return f"{value.numerator:#x}/{value.denominator:#x}"
    decimal = Context(prec=30).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{decimal:f}" if Fraction(decimal) == value and decimal.adjusted() > -20 else str(value)


def short_decimal(value: Fraction, *, up: bool = False) -> str:
    """Write a fraction for people, in six digits, rounded down (or `up`): never more is left than there is.

    Examples
    --------
    >>> short_decimal(Fraction(2, 3)), short_decimal(Fraction(2, 3), up=True), short_decimal(Fraction(1, 10**6))
    ('0.666666', '0.666667', '1e-6')
    """
    digits = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    decimal = digits.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(digits)
    return f"{decimal:f}" if decimal == 0 or -5 < decimal.adjusted() < 12 else f"{decimal:e}"
