"""The best attacker: both branches of the trade-off, reached by a mechanism, and passed by none."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product

import pytest

from cloister.privacy.attacker import FALSE_ALARMS, true_positive_rate


@pytest.mark.parametrize(
    ("epsilon", "delta", "found"),
    [
        (0, 0, 0.05),
        (1, 0, 0.05 * math.e),
        (3, 0, 1 - 0.95 * math.exp(-3)),
        ("6.2659", 0, 1 - 0.95 * math.exp(-6.2659)),
        (1, "0.001", 0.05 * math.e + 0.001),
        (4, "0.01", 1 - 0.94 * math.exp(-4)),
        (1, "0.99", 1),
        (10**9, 0, 1),
    ],
)
def test_known_rates(epsilon: object, delta: object, found: float) -> None:
    """Few alarms bound what is found at a small epsilon, few misses at a large one; nothing passes 1."""
    assert true_positive_rate(Fraction(epsilon), Fraction(delta)) == pytest.approx(found, abs=1e-14)  # type: ignore[arg-type]


def test_randomized_response_reaches_the_bound() -> None:
    """A coin that tells the truth with odds e^epsilon : 1, and an attacker who mixes two ways to decide."""
    for odds in (Fraction(3, 2), Fraction(3), Fraction(10), Fraction(200)):
        truth = odds / (odds + 1)
        rates = [(Fraction(0), Fraction(0)), (1 - truth, truth), (Fraction(1), Fraction(1))]  # (false alarms, found)
        (low, found_low), (high, found_high) = next(
            pair for pair in pairwise(rates) if pair[0][0] <= FALSE_ALARMS <= pair[1][0]
        )
        mixed = found_low + (found_high - found_low) * (FALSE_ALARMS - low) / (high - low)
        assert true_positive_rate(Fraction(math.log(odds))) == pytest.approx(float(mixed), abs=1e-12)


def found_at_most(second: list[Fraction], first: list[Fraction]) -> Fraction:
    """The best attack on two distributions, by Neyman and Pearson: the likeliest outputs first, the last one in part."""
    left, found = FALSE_ALARMS, Fraction(0)
    for other, one in sorted(zip(second, first, strict=True), key=lambda pair: -pair[0] / pair[1]):
        part = min(Fraction(1), left / one)
        found, left = found + part * other, left - part * one
    return found


def pairs() -> list[tuple[list[Fraction], list[Fraction]]]:
    """Pairs of distributions over a few outputs: a grid, and random ones."""
    chance = random.Random(5)
    weights = [list(row) for row in product((1, 2, 5, 20), repeat=3)]
    weights += [[chance.randint(1, 60) for _ in range(4)] for _ in range(60)]
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    return [(one, other) for one in rows for other in chance.sample(rows, 40) if len(one) == len(other)]


@pytest.mark.parametrize("planted", [Fraction(1), Fraction(4, 5)], ids=["the bound", "planted"])
def test_no_mechanism_leaves_the_attacker_more(planted: Fraction) -> None:
    """The best attack on every pair stays within its own epsilon; with four fifths of that epsilon some do not."""
    passed = 0
    for one, other in pairs():
        epsilon = max(abs(math.log(a / b)) for a, b in zip(one, other, strict=True))
        allowed = true_positive_rate(Fraction(epsilon) * planted) + 1e-12
        passed += float(found_at_most(one, other)) > allowed
    assert bool(passed) == (planted < 1)
