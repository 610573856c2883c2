"""How near to the best a private choice is, in words: the choice says so, and a certificate is held to it."""

from __future__ import annotations

from fractions import Fraction

from cloister.privacy.mechanisms.exponential import CONFIDENCE
from cloister.schema.numerals import amount_text, is_short_decimal

__all__ = ["nearness_words"]


def nearness_words(score: str, within: float, quantile: Fraction | None, *, has_options: bool, is_day: bool) -> str:
    """The sentence of a choice by this score.

    >>> nearness_words("count", 12.0, None, has_options=False, is_day=False)
    'With probability 95% no other value has over 12 rows more than this one.'
    """
    surely, near = f"With probability {CONFIDENCE:.0%}", f"{within:,.6g}"
    if score == "count":
        return f"{surely} no other {'option' if has_options else 'value'} has over {near} rows more than this one."
    if score == "rank":
        assert quantile is not None
        share = amount_text(quantile) if is_short_decimal(quantile) else str(quantile)
        target = f"{share} times the number of rows"
        if has_options:
            return f"{surely} no other option is more than {near} ranks nearer to the target, {target}."
        return f"{surely} its rank is within {near} of the target, {target}."
    unit = "days" if is_day else "units of the column"
    return f"{surely} the distances of all rows to no other option add up to less by more than {near} {unit}."
