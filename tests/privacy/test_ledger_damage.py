"""A ledger whose file is damaged: told in a sentence, never by a raw error, and never charged on other totals.

``CLOISTER_FUZZ=50000`` flips that many bits; ``CLOISTER_FUZZ=all`` flips every bit of the file.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from cloister.errors import BudgetExceeded, CloisterError, LedgerError
from cloister.privacy.ledger import Account, Ledger

SPENT = Fraction(5, 2)


@pytest.fixture
def sound(tmp_path: Path) -> bytes:
    """The file of a ledger with 0.5 of 3 left."""
    ledger = Ledger(tmp_path / "sound.sqlite")
    ledger.create("students", "add-remove", 3, "1e-6")
    ledger.complete(ledger.charge("students", "add-remove", SPENT, "1e-7", "k-means"), "ab" * 32)
    ledger.record_holder("students", "risk")
    return (tmp_path / "sound.sqlite").read_bytes()


def row_bits(content: bytes) -> range:
    """The bits of the account's row, its header included."""
    start = content.index(b"studentsadd-remove30.000001")
    end = content.index(b"row", start) + len(b"row")
    return range(8 * (start - 14), 8 * end)


def check_flips(content: bytes, bits: Iterable[int], path: Path, truth: Account) -> int:
    """Fail unless a ledger with one bit flipped has the same totals or is refused; gives how many were refused."""
    refused = 0
    for bit in bits:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        for leftover in path.parent.glob(path.name + "*"):
            leftover.unlink()
        path.write_bytes(damaged)
        try:
            Ledger(path).charge("students", "add-remove", 1, 0, "more than is left")
        except BudgetExceeded:
            assert Ledger(path).account("students") == truth, f"bit {bit}: another account"
            continue
        except CloisterError:
            refused += 1
            continue
        pytest.fail(f"bit {bit}: the total was passed")
    return refused


def test_no_bit_of_the_account_can_be_flipped(sound: bytes, tmp_path: Path) -> None:
    """Every bit of the row: none lets a charge pass that the total refuses, and what is read is what was written."""
    truth = Ledger(tmp_path / "sound.sqlite").account("students")
    bits = row_bits(sound)
    assert len(bits) > 600
    assert check_flips(sound, bits, tmp_path / "damaged.sqlite", truth) > len(bits) * 0.8


def test_bits_anywhere_in_the_file(sound: bytes, tmp_path: Path) -> None:
    """Headers, indexes, the schema and the records: a sample of all bits that are not empty space, and some that are."""
    truth = Ledger(tmp_path / "sound.sqlite").account("students")
    wanted = os.environ.get("CLOISTER_FUZZ", "600")
    full = [place for place, byte in enumerate(sound) if byte]
    draw = random.Random(12)
    bits: Iterable[int] = range(8 * len(sound))
    if wanted != "all":
        bits = [8 * draw.choice(full if i % 10 else range(len(sound))) + draw.randrange(8) for i in range(int(wanted))]
    assert check_flips(sound, bits, tmp_path / "damaged.sqlite", truth)


def test_the_flips_catch_a_charge_that_trusts_the_account(
    sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: without the check of the chain's end some flips of the account let a charge pass, or change what is read."""
    from cloister.privacy.ledger import chain

    truth = Ledger(tmp_path / "sound.sqlite").account("students")
    monkeypatch.setattr(chain, "_is_sound", lambda *_: True)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=r"another account|total was passed"):
        check_flips(sound, row_bits(sound), tmp_path / "damaged.sqlite", truth)


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 99, 100, 101, 511, 512, 1000, 4095, 4096, 4097, 8192, 12288])
def test_a_file_that_was_cut_is_damaged(sound: bytes, tmp_path: Path, size: int) -> None:
    """No use takes it for a new ledger, and none makes a new one of it."""
    path = tmp_path / "cut.sqlite"
    path.write_bytes(sound[:size])
    ledger = Ledger(path)
    uses = (
        lambda: ledger.charge("students", "add-remove", "0.1", 0, "x"),
        lambda: ledger.create("students", "add-remove", 3),
        lambda: ledger.account("students"),
        ledger.accounts,
        ledger.verify,
    )
    for use in uses:
        with pytest.raises(LedgerError, match=r"damaged|another kind"):
            use()
    assert path.read_bytes()[:size] == sound[:size]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE cloister_ledger_accounts SET epsilon_spent = CAST(x'ff' AS TEXT)",
        "UPDATE cloister_ledger_accounts SET epsilon_spent = x'32'",
        "UPDATE cloister_ledger_accounts SET epsilon_total = '1/0'",
        "UPDATE cloister_ledger_accounts SET epsilon_total = '1e999999999'",
        "UPDATE cloister_ledger_accounts SET releases = 'many'",
        "UPDATE cloister_ledger_accounts SET unit = 5",
        "UPDATE cloister_ledger_records SET body = CAST(x'ff' AS TEXT)",
        "UPDATE cloister_ledger_records SET body = '{'",
        "UPDATE cloister_ledger_records SET entry = 1.5",
        "UPDATE cloister_ledger_keys SET key = x'00'",
        "UPDATE cloister_ledger_meta SET value = CAST(x'ff' AS TEXT)",
        "UPDATE cloister_ledger_meta SET value = x'32'",
        "UPDATE cloister_ledger_meta SET value = '0'",
        "DELETE FROM cloister_ledger_meta",
        "DELETE FROM cloister_ledger_records",
        "DELETE FROM cloister_ledger_accounts",
        "DELETE FROM cloister_ledger_keys",
    ],
)
def test_values_of_another_kind_are_told(sound: bytes, tmp_path: Path, change: str) -> None:
    """Text that is none, numbers that are none, rows that are gone: an error of the ledger, whatever is asked of it."""
    ledger = Ledger(tmp_path / "sound.sqlite")
    with ledger._store._connection(write=True, check=False) as connection:
        connection.exec_driver_sql(change)
    uses = (
        lambda: ledger.charge("students", "add-remove", "0.1", 0, "x"),
        lambda: ledger.create("pupils", "add-remove", 3),
        lambda: ledger.complete(1, "cd" * 32),
        lambda: ledger.entries("students"),
        lambda: ledger.audit("students"),
        ledger.accounts,
        ledger.keys,
        ledger.verify,
    )
    for use in uses:
        with pytest.raises(LedgerError):
            use()
