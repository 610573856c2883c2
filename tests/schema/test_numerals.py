"""Numbers as text: read exactly, written as before."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.schema.numerals import (
    amount_text,
    coordinate_text,
    exact_number,
    exact_text,
    label_text,
    read_exact_text,
    short_decimal,
)


@pytest.mark.parametrize("typed", [0.1, "0.1", " 0.1 ", "1/10", Decimal("0.1"), np.float64(0.1), Fraction(1, 10)])
def test_a_number_is_read_as_it_was_typed(typed: object) -> None:
    """One tenth is one tenth, however it is given."""
    assert exact_number(typed) == Fraction(1, 10)


@pytest.mark.parametrize("wrong", ["", "x", "nan", "inf", "1e999999999", "1/0", "1/x", float("nan"), None, True, [1], b"1"])
def test_what_is_no_finite_number_is_refused(wrong: object) -> None:
    """Nothing but a finite number of reasonable length is one."""
    with pytest.raises(ValueError):
        exact_number(wrong)


@given(st.fractions())
def test_exact_text_loses_nothing(value: Fraction) -> None:
    """What is written exactly is read back as the same number, also when it is long."""
    assert read_exact_text(exact_text(value)) == value
    assert read_exact_text(exact_text(value / 7**9000)) == value / 7**9000


@given(st.fractions(min_value=0))
def test_rounded_texts_keep_their_side(value: Fraction) -> None:
    """What is left is never shown larger than it is, and what is needed never smaller."""
    assert Fraction(short_decimal(value)) <= value <= Fraction(short_decimal(value, up=True))


@pytest.mark.parametrize(
    ("value", "text"),
    [("1", "1"), ("0.1", "0.1"), ("1e-6", "0.000001"), ("1e-12", "1e-12"), ("2/3", "0.666667"), ("123456.5", "123456.5")],
)
def test_an_amount_is_short(value: str, text: str) -> None:
    """An epsilon is shown as it was typed, or in six digits."""
    assert amount_text(Fraction(value)) == text


def test_labels_and_coordinates() -> None:
    """Labels keep twelve digits; coordinates four, with all digits before the point."""
    assert [label_text(value) for value in (1.0, 0.1, 1e20, 1 / 3)] == ["1", "0.1", "1e+20", "0.333333333333"]
    assert [coordinate_text(value) for value in (0.0, 0.123456, 12345.6, 1e-9)] == ["0", "0.1235", "12,346", "1e-09"]


@pytest.mark.parametrize(
    "wrong",
    [
        "1e9999999",
        "1e-9999999",
        "1" * 5000,
        "0." + "1" * 5000,
        "9" * 900 + "/7",
        10**100_000,
        Fraction(1, 10**100_000),
        [],
        None,
        np.zeros(3),
        Decimal("1e9999999"),
        Decimal("nan"),
        Decimal("sNaN"),
    ],
    ids=lambda wrong: str(type(wrong)),
)
def test_a_number_beyond_reach_is_refused_before_it_is_made(wrong: object) -> None:
    """A few characters may stand for megabytes of digits: the exponent is looked at first."""
    with pytest.raises(ValueError):
        exact_number(wrong)


@pytest.mark.parametrize("text", ["1e9999999", "1e-9999999", "nan", "1" * 70_000, "", 1, None, [1]])
def test_an_exact_text_beyond_reach_is_refused(text: object) -> None:
    """The same for numbers that Cloister wrote: a certificate or a ledger may have been changed."""
    with pytest.raises(ValueError):
        read_exact_text(text)
