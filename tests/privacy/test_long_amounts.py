"""Amounts with very many digits: refused before a charge, and never able to make a ledger unreadable."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.privacy.ledger import Ledger
from cloister.schema.numerals import MOST_DIGITS

POWERS = (61, 900, 5_000, 50_000)  # of ten: above 4,300 digits Python writes no decimal, above 65,536 nothing is read back
LARGEST = Fraction(10**MOST_DIGITS - 1, 10**MOST_DIGITS - 3)  # the longest amount that is accepted


def nearly_one(power: int) -> Fraction:
    return Fraction(10**power + 1, 10**power)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for table in ("t", "u"):
        ledger.create(table, "add-remove", 100, Fraction(1, 2))
    return ledger


@pytest.mark.parametrize("power", POWERS)
def test_amounts_of_many_digits_are_refused_everywhere(power: int, ledger: Ledger) -> None:
    """Whether as a budget, a charge or a total."""
    long, small = nearly_one(power), Fraction(1, 10**6) * nearly_one(power)
    uses: list[Any] = [
        lambda: cl.PureDP(long),
        lambda: cl.ApproxDP(1, small),
        lambda: cl.Identifiability(rho=long / 2, worlds=100),
        lambda: ledger.charge("t", "add-remove", long, 0, "x"),
        lambda: ledger.charge("t", "add-remove", 1, small, "x"),
        lambda: ledger.create("v", "add-remove", long),
        lambda: ledger.create("v", "add-remove", 1, small),
    ]
    for use in uses:
        with pytest.raises(UsageError, match="more than 60 digits"):
            use()
    assert [account.epsilon_spent for account in ledger.accounts()] == [0, 0]


def test_a_long_decimal_is_refused_before_the_charge(ledger: Ledger) -> None:
    """A budget of five thousand places used to be charged and then lost."""
    rows = np.zeros((20, 1))
    with pytest.raises(UsageError, match="more than 60 digits"):
        cl.KMeans(1, Decimal("1." + "0" * 5_000 + "1"), bounds=(0, 1), table="t", ledger=ledger).fit(rows)
    assert ledger.account("t").epsilon_spent == 0


@pytest.mark.parametrize("method", ["votes", "lloyd", "uniform-grid"])
def test_the_longest_amount_makes_a_certificate_that_reads_back(method: str, ledger: Ledger) -> None:
    """Shares of it are written in full."""
    rows = np.random.default_rng(0).random((50, 2))
    for budget in (LARGEST, cl.ApproxDP(LARGEST, Fraction(1, 10**6 + 3))):
        fitted = cl.KMeans(2, budget, bounds=(0, 1), method=method, table="t", ledger=ledger).fit(rows)
        assert cl.Release.from_json(fitted.release_.to_json()).guarantee == fitted.release_.guarantee
    ledger.audit("t")


def test_a_sum_of_unlike_fractions_stays_readable(ledger: Ledger) -> None:
    """Denominators without a common factor multiply in a sum: a fraction is refused in the end, a decimal never is."""
    chance = random.Random(0)
    bottoms = [chance.getrandbits(190) | 1 for _ in range(100)]

    def charge_all() -> None:
        for bottom in bottoms:
            ledger.charge("t", "add-remove", Fraction(bottom // 1000, bottom), 0, "x")

    with pytest.raises(UsageError, match="no short exact sum"):
        charge_all()
    spent = ledger.account("t").epsilon_spent
    for amount in (Fraction("0.5"), Fraction(0.1), Fraction(1, 10**MOST_DIGITS)):
        ledger.charge("t", "add-remove", amount, 0, "x")
        spent += amount
    assert ledger.audit("t").epsilon_spent == spent
    assert ledger.verify().accounts["t"].epsilon_spent == spent
    assert ledger.account("u").epsilon_spent == 0


def test_thirds_still_add_up_to_a_whole(tmp_path: Path) -> None:
    """Ordinary fractions stay exact, however many there are."""
    ledger = Ledger(tmp_path / "thirds.sqlite")
    ledger.create("t", "add-remove", 1)
    for amount in (Fraction(1, 3), Fraction(1, 7), Fraction(1, 3), Fraction(4, 21)):
        ledger.charge("t", "add-remove", amount, 0, "x")
    assert ledger.account("t").epsilon_left == 0
