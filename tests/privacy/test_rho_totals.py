"""Totals of a ledger that are stated as a rho: kept as an epsilon, shown as a rho, read by whoever knows nothing of it."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import fields
from fractions import Fraction
from typing import Any

import pytest

import cloister as cl
from cloister.errors import BudgetExceeded, LedgerError, UsageError
from cloister.privacy.identifiability import epsilon_from_rho, rho_from_epsilon
from cloister.privacy.ledger import Account, Ledger
from cloister.privacy.ledger.chain_records import read_account
from cloister.privacy.ledger.rho_totals import RhoTotal, accounts_in_rho
from cloister.privacy.ledger.stored_records import select_records

TOTAL = cl.Identifiability(rho=0.3, worlds=81)
PERCENT = Fraction(3, 10)


def in_rho(ledger: Ledger, worlds: int | None = None) -> Any:
    """What is shown of the accounts as a rho."""
    return accounts_in_rho(ledger.accounts(), ledger.rho_totals(), worlds)


def test_the_total_is_an_epsilon_and_the_rho_stands_beside_it(ledger: Ledger) -> None:
    """On either store; the chain verifies, and accounts without a rho are as before."""
    account = ledger.create("pupils", "replace-one", TOTAL)
    assert account.epsilon_total == epsilon_from_rho(PERCENT, 81)
    assert ledger.rho_totals() == {"pupils": RhoTotal(PERCENT, 81)}
    assert ledger.verify().accounts["pupils"] == account
    assert in_rho(ledger).keys() == {"pupils"}


def test_what_is_left_as_a_rho_can_be_spent_and_no_more(ledger: Ledger) -> None:
    """The whole rho before the first charge; afterwards odds multiply, and nothing is left at the end."""
    ledger.create("pupils", "replace-one", TOTAL)
    assert (in_rho(ledger)["pupils"].left, in_rho(ledger)["pupils"].so_far) == (PERCENT, pytest.approx(1 / 81, abs=1e-12))
    first = cl.Identifiability(rho=0.1, worlds=81)
    ledger.charge("pupils", "replace-one", first.epsilon, 0, "one")
    shown = in_rho(ledger)["pupils"]
    assert float(shown.so_far) == pytest.approx(0.1, abs=1e-12)
    odds = Fraction(3, 7) / (Fraction(1, 9) * 80)  # of the total, over the factor that was spent
    assert float(shown.left) == pytest.approx(float(odds / (odds + 1)), abs=1e-12)
    more = shown.left + Fraction(1, 10**6)
    with pytest.raises(BudgetExceeded):
        ledger.charge("pupils", "replace-one", cl.Identifiability(more, 81).epsilon, 0, "too much")
    ledger.charge("pupils", "replace-one", cl.Identifiability(shown.left, 81).epsilon, 0, "all")
    assert in_rho(ledger)["pupils"].left is None
    assert float(in_rho(ledger)["pupils"].so_far) == pytest.approx(0.3, abs=1e-9)


def test_any_account_can_be_shown_as_a_rho(ledger: Ledger) -> None:
    """Among as many worlds as a reader asks for; under add-remove an epsilon counts twice, and with a delta nothing is said."""
    ledger.create("pupils", "replace-one", 2)
    ledger.create("visits", "add-remove", 1)
    shown = in_rho(ledger, 100)
    assert shown.keys() == {"pupils", "visits"}
    assert float(shown["pupils"].total) == float(shown["visits"].total)
    assert float(shown["pupils"].total) == pytest.approx(rho_from_epsilon(Fraction(2), 100), abs=1e-12)


def test_an_older_reader_finds_what_it_knows(ledger: Ledger) -> None:
    """The account in every record has the fields of version 2 and no other; the rho is in the body of one record alone."""
    ledger.create("pupils", "replace-one", TOTAL)
    ledger.charge("pupils", "replace-one", 1, 0, "k-means")
    with ledger._connection() as connection:
        records = [record for record in select_records(connection) if record.table == "pupils"]
    known = {field.name for field in fields(Account)}
    assert known == {
        "table", "neighbours", "epsilon_total", "delta_total", "epsilon_spent", "delta_spent", "releases", "holder_uses",
        "created", "unit",
    }  # fmt: skip
    for record in records:
        assert record.facts()["account"].keys() == known
        assert read_account(record.facts()["account"]).table == "pupils"
    assert [record.facts().get("rho") for record in records] == ["0.3", None]


@pytest.mark.parametrize(
    ("neighbours", "total", "delta", "words"),
    [
        ("add-remove", TOTAL, 0, "replace-one"),
        ("replace-one", TOTAL, "1e-6", "without delta"),
        ("replace-one", cl.Identifiability(0.3), 0, "number of worlds"),
    ],
)
def test_a_total_that_no_rho_allows_is_refused(ledger: Ledger, neighbours: str, total: Any, delta: Any, words: str) -> None:
    """And nothing is written."""
    with pytest.raises(UsageError, match=words):
        ledger.create("pupils", neighbours, total, delta)
    assert [account.table for account in ledger.accounts()] == ["students"]


def test_the_total_of_a_mixed_table(ledger: Ledger) -> None:
    """Its epsilons add, and it is shown among the fewer worlds."""
    heart = cl.Identifiability.mixed((0.05, 10_001), (0.7, 2))
    assert ledger.create("heart", "replace-one", heart).epsilon_total == heart.epsilon
    assert ledger.rho_totals()["heart"] == RhoTotal(heart.rho, 2)


def test_a_refused_charge_names_the_rho_that_fits(tmp_path: Any) -> None:
    """In the words of the one who asked for a rho."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "replace-one", "0.5")
    rows = [[0.1], [0.9]] * 50
    model = cl.KMeans(2, cl.Identifiability(0.3, 81), bounds=(0, 1), columns=["x"], table="t", ledger=ledger)
    with pytest.raises(BudgetExceeded, match=r"needs epsilon 3\.53473, and 0\.5 of 0\.5 is left.*Lower rho to 0\.02019"):
        model.fit(rows)


@pytest.mark.parametrize("change", [("0.3", "0.2"), ('"worlds":81', '"worlds":91')])
def test_a_changed_rho_is_found(tmp_path: Any, change: tuple[str, str]) -> None:
    """By whoever looks at it, though no total follows from it."""
    import sqlite3

    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("pupils", "replace-one", TOTAL)
    for entry in range(4):  # beyond the records that every use looks at
        ledger.charge("pupils", "replace-one", "0.1", 0, f"charge {entry}")
    assert json.dumps("0.3") in json.dumps(ledger.rho_totals()["pupils"].facts())
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection, connection:
        connection.execute(
            "UPDATE cloister_ledger_records SET body = replace(body, ?, ?) WHERE kind = 'account'",
            change,
        )
    with pytest.raises(LedgerError, match="was changed"):
        ledger.rho_totals()
