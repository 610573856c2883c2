"""Posteriors of small mechanisms, all of them counted out exactly: what holds for two releases, and what the paper prints."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from cloister.privacy.identifiability import PLACES, epsilon_from_rho, printed_composition, rho_from_epsilon
from cloister.schema.numerals import decimal_context

Likelihoods = tuple[Fraction, ...]  # of one output, in each world; on the grid in quarters, as integers
Mechanism = tuple[Likelihoods, ...]
QUARTERS = 1, 2, 3
COUNTEREXAMPLE: Mechanism = tuple(
    tuple(Fraction(likelihood, 2) for likelihood in output) for output in ((1, 1, 0), (1, 0, 1), (0, 1, 1))
)


def two_outputs(likelihoods: tuple[int, ...]) -> Any:
    """The mechanism with these likelihoods of its first output, by world, in quarters."""
    return likelihoods, tuple(4 - likelihood for likelihood in likelihoods)


def surest(*likelihoods: Likelihoods) -> Fraction:
    """The largest posterior of equally likely worlds, by Bayes' rule, after outputs with these likelihoods."""
    joint = [math.prod(of_world) for of_world in zip(*likelihoods, strict=True)]
    return Fraction(max(joint), sum(joint))


@cache
def factor(mechanism: Mechanism) -> Fraction:
    """e^epsilon: how many times likelier an output is in one world than in another, at most."""
    return max(Fraction(max(output), min(output)) for output in mechanism)


def bound(odds_factor: Fraction, worlds: int) -> Fraction:
    """The largest posterior of one of so many worlds: its odds are the factor over the other worlds."""
    return odds_factor / (odds_factor + worlds - 1)


def grid(worlds: int) -> Iterator[tuple[Mechanism, Mechanism]]:
    """Pairs of mechanisms with two outputs each; the worlds can be renamed, so the first one's likelihoods rise."""
    for first in combinations_with_replacement(QUARTERS, worlds):
        for second in product(QUARTERS, repeat=worlds):
            yield two_outputs(first), two_outputs(second)


def drawn(worlds: int, pairs: int) -> Iterator[tuple[Mechanism, Mechanism]]:
    """Random pairs with two to four outputs each."""
    chance = random.Random(worlds)
    for _ in range(pairs):
        yield draw(chance, worlds), draw(chance, worlds)


def draw(chance: random.Random, worlds: int) -> Mechanism:
    """A mechanism with random likelihoods, all above 0."""
    outputs = chance.randint(2, 4)
    rows = []
    for _ in range(worlds):
        weights = [chance.randint(1, 12) for _ in range(outputs)]
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return tuple(zip(*rows, strict=True))


def is_broken(pairs: Iterator[tuple[Mechanism, Mechanism]], limit: Callable[[Fraction, Fraction], Fraction]) -> bool:
    """Whether outputs of two releases make somebody surer than a limit on the odds, given their two factors.

    What comes second may follow from what came first: each output of the first is tried with every second one, so the second
    may be another one after each output.
    """
    for first, second in pairs:
        odds, others = limit(factor(first), factor(second)), len(first[0]) - 1
        for one, other in product(first, second):
            joint = [a * b for a, b in zip(one, other, strict=True)]
            # the posterior, max(joint) / sum(joint), against the bound, odds / (odds + others); all of it exact
            if max(joint) * (odds.numerator + others * odds.denominator) > odds.numerator * sum(joint):
                return True
    return False


@pytest.mark.parametrize("worlds", [2, 3, 4, 5, 6])
def test_the_odds_of_two_releases_multiply(worlds: int) -> None:
    """No output of any pair makes somebody surer than e^(sum of epsilons) / (m - 1) allows, on the grid and drawn."""
    for pairs in (grid(worlds), drawn(worlds, 300)):
        assert not is_broken(pairs, lambda one, other: one * other)


@pytest.mark.parametrize("worlds", [2, 3, 4, 5, 6])
def test_a_bound_that_is_too_small_would_be_seen(worlds: int) -> None:
    """Planted: the larger of the two factors, as for releases of different rows."""
    assert is_broken(grid(worlds), max)


@pytest.mark.parametrize("worlds", [2, 3, 4, 5, 6])
def test_the_printed_bound_holds_for_rhos_that_come_from_epsilon(worlds: int) -> None:
    """It is never below the true bound, for any two factors of the grid."""
    for one, other in {(factor(first), factor(second)) for first, second in grid(worlds)}:
        assert worlds * bound(one, worlds) * bound(other, worlds) >= bound(one * other, worlds)


def test_the_printed_bound_says_nothing_of_the_papers_own_setting() -> None:
    """Two releases at 0.05 among 10,001: 25 is printed, 0.965 is true."""
    assert printed_composition([0.05, 0.05], 10_001) == Decimal("25.0025")
    assert rho_from_epsilon(2 * epsilon_from_rho(Fraction(1, 20), 10_001), 10_001) == pytest.approx(0.9652, abs=1e-4)


@pytest.mark.parametrize("worlds", [2, 3, 4, 5, 6])
def test_the_true_bound_is_reached(worlds: int) -> None:
    """One world stands out, twice, by as much as the factors allow: no smaller bound holds."""
    alone = (Fraction(3, 4), *[Fraction(1, 4)] * (worlds - 1))
    assert factor((alone, tuple(1 - likelihood for likelihood in alone))) == 3
    assert surest(alone, alone) == bound(Fraction(9), worlds)


@pytest.mark.parametrize("worlds", [2, 3, 6])
def test_rho_from_epsilon_is_never_below_a_posterior_that_was_counted_out(worlds: int) -> None:
    """Its epsilons are logarithms: rounded up here, and the rho is rounded up there."""
    for odds_factor in {factor(first) * factor(second) for first, second in grid(worlds)}:
        context = decimal_context(40, ROUND_CEILING)
        quotient = context.divide(Decimal(odds_factor.numerator), Decimal(odds_factor.denominator))
        epsilon = Fraction(context.quantize(context.ln(quotient), PLACES))
        exact = bound(odds_factor, worlds)
        assert exact <= Fraction(rho_from_epsilon(epsilon, worlds)) + Fraction(1, 10**15)
        assert rho_from_epsilon(epsilon, worlds) == pytest.approx(float(exact), abs=1e-12)


def test_the_counterexample_of_the_printed_composition() -> None:
    """Each release leaves every posterior at 1/2; two of them can give certainty, where the formula says 3/4."""
    assert [surest(output) for output in COUNTEREXAMPLE] == [Fraction(1, 2)] * 3
    assert surest(COUNTEREXAMPLE[0], COUNTEREXAMPLE[1]) == 1
    assert printed_composition([0.5, 0.5], 3) == Decimal("0.75")


def test_the_counterexample_has_no_epsilon() -> None:
    """An output that is impossible in one world: the odds are unbounded, so no budget of Cloister allows it."""
    assert all(min(output) == 0 for output in COUNTEREXAMPLE)
    with pytest.raises(ZeroDivisionError):
        factor(COUNTEREXAMPLE)
