"""What a program does with its own decimals (`decimal.getcontext`) changes no amount, no certificate and no probability."""

from __future__ import annotations

import decimal
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import cloister as cl
from cloister.privacy import accounting, expansions
from cloister.privacy.identifiability import epsilon_from_rho, rho_from_epsilon
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms.split_tree import least_decay
from cloister.privacy.mechanisms.survivors import skip_expansion
from cloister.schema.numerals import amount_text, exact_text, read_exact_text, short_decimal

SOURCES = Path(cl.__file__).parent
ALL_TRAPS = list(decimal.getcontext().traps)
HOSTILE = {
    "three digits": decimal.Context(prec=3),
    "one digit, rounded up": decimal.Context(prec=1, rounding=decimal.ROUND_UP),
    "everything is trapped": decimal.Context(traps=ALL_TRAPS),
    "nothing is trapped": decimal.Context(prec=2, traps=[]),
    "small exponents": decimal.Context(Emin=-3, Emax=3),
    "clamped": decimal.Context(prec=5, Emax=5, Emin=-5, clamp=1, capitals=0),
}


def figures() -> list[str]:
    """Everything that is computed with decimals, as text."""
    amounts = [Fraction("1.23456"), Fraction("1e-6"), Fraction("123456.789"), Fraction(2, 3), Fraction(10**11 + 1, 10**5)]
    third = Fraction(1, 3)
    return [
        *(write(amount) for amount in amounts for write in (amount_text, exact_text, short_decimal)),
        *(str(read_exact_text(text)) for text in ("1.23456789", "0.000001")),
        str(epsilon_from_rho(Fraction("0.05"), 10_001)),
        str(rho_from_epsilon(Fraction("6.2659"), 10_001)),
        str(accounting.amplified_epsilon(Fraction("1.2345"), third)),
        str(accounting.epsilon_before_sampling(Fraction("0.12345"), third)),
        str(least_decay(Fraction(10**9, 7))),
        skip_expansion.__wrapped__(Fraction(20, 7), 12).tobytes().hex(),
        expansions.geometric_expansion.__wrapped__(Fraction(20, 7)).tobytes().hex(),
        *map(str, (cl.PureDP("1.23456"), cl.ApproxDP("1.23456", "1e-6"), cl.Identifiability("0.123456", 1000))),
    ]


@contextmanager
def context(hostile: decimal.Context) -> Iterator[None]:
    before = decimal.getcontext()
    decimal.setcontext(hostile)
    try:
        yield
    finally:
        decimal.setcontext(before)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_context_of_the_thread_changes_nothing(name: str) -> None:
    """Neither its precision nor its exponents nor what it traps."""
    expected = figures()
    with context(HOSTILE[name]):
        assert figures() == expected


@pytest.mark.parametrize("name", HOSTILE)
def test_a_fit_writes_what_was_charged(name: str, tmp_path: Path) -> None:
    """The certificate and the ledger say the same amount."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 100, Fraction(1, 2))
    with context(HOSTILE[name]):
        for budget in ("1.23456", cl.ApproxDP("1.23456", "1e-6")):
            release = cl.KMeans(2, budget, bounds=(0, 1), table="t", ledger=ledger).fit(np.zeros((9, 2))).release_
            assert "epsilon 1.23456" in str(release.guarantee)
            assert cl.Release.from_json(release.to_json()).guarantee == release.guarantee
        assert "delta 1e-6" in str(release.guarantee) or "delta 0.000001" in str(release.guarantee)
    assert ledger.account("t").epsilon_spent == 2 * Fraction("1.23456")


def test_the_defaults_of_the_process_change_nothing() -> None:
    """A context that leaves anything out takes it from the process; so does what is computed during an import."""
    code = (
        "import decimal\n"
        "d = decimal.DefaultContext\n"
        "d.prec, d.rounding, d.Emin, d.Emax, d.clamp, d.capitals = 3, decimal.ROUND_UP, -5, 5, 1, 0\n"
        "for trap in d.traps: d.traps[trap] = trap is not decimal.FloatOperation\n"
        "decimal.setcontext(decimal.Context())\n"
        "from tests.privacy.test_decimal_contexts import figures\n"
        "print('\\n'.join(figures()))\n"
    )
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(SOURCES.parent)])
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, env={**os.environ, "PYTHONPATH": paths}
    )
    assert run.stdout.split("\n")[:-1] == figures(), run.stderr


def test_no_module_makes_a_context_of_its_own() -> None:
    """One function does, which sets all of it; the samplers' expansions, whose exponents are bounded, set all of it too."""
    allowed = {"schema/numerals.py", "privacy/expansions.py"}
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"\bContext\(|localcontext\(\)|getcontext\(", path.read_text(encoding="utf-8"))
    }
    assert found <= allowed
