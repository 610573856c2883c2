"""Mechanisms: calibrated to what they cost, and noise on every entry."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.kernels import Change, Sensitivity, Summary
from cloister.privacy.events import GaussianEvent, LaplaceEvent
from cloister.privacy.mechanisms import Gaussian, Laplace, Precision, add_noise, calibrate
from cloister.privacy.mechanisms.gaussian import root_up
from cloister.testing import seeded_noise

CHANGES = st.builds(Change, st.integers(0, 50), st.integers(0, 2500))
MOVES = st.lists(st.fixed_dictionaries({"counts": CHANGES, "sums": CHANGES}), min_size=1, max_size=3)
SPENDS = st.fractions(min_value=Fraction(1, 1000), max_value=20)
WEIGHTS = st.fixed_dictionaries({"counts": st.integers(1, 20), "sums": st.integers(1, 20)})


@given(MOVES, SPENDS, WEIGHTS)
def test_laplace_noise_costs_its_spend(moves: list[dict[str, Change]], spend: Fraction, weights: dict[str, int]) -> None:
    """The event of a calibrated mechanism costs the epsilon that it was given, exactly, or nothing if nothing moves."""
    sensitivity = Sensitivity(tuple(moves))
    event = calibrate(sensitivity, spend, weights).event("a", sensitivity)
    assert isinstance(event, LaplaceEvent)
    assert event.epsilon in (0, spend)
    assert (event.epsilon == 0) == all(change.l1 == 0 for move in moves for change in move.values())


@given(MOVES, SPENDS, WEIGHTS)
def test_gaussian_noise_costs_at_most_its_spend(
    moves: list[dict[str, Change]], spend: Fraction, weights: dict[str, int]
) -> None:
    """The same in precision; deviations are rounded up, so it costs at most that, and nearly that."""
    sensitivity = Sensitivity(tuple(moves))
    event = calibrate(sensitivity, Precision(spend), weights).event("a", sensitivity)
    assert isinstance(event, GaussianEvent)
    assert event.precision == 0 or spend * Fraction(999_999, 1_000_000) <= event.precision <= spend


def test_the_worst_move_counts_and_not_the_sum_of_the_worst() -> None:
    """A row that moves counts in one way and sums in another never does both: noise is calibrated to the worse of them."""
    one, other = {"counts": Change(2, 2), "sums": Change(0, 0)}, {"counts": Change(0, 0), "sums": Change(10, 100)}
    mechanism = calibrate(Sensitivity((one, other)), Fraction(1))
    assert mechanism == Laplace({"counts": Fraction(2), "sums": Fraction(10)})
    together = {"counts": Change(2, 2), "sums": Change(10, 100)}
    assert calibrate(Sensitivity((together,)), Fraction(1)) == Laplace({"counts": Fraction(4), "sums": Fraction(20)})


def test_a_part_that_cannot_move_still_gets_noise() -> None:
    """Under replace-one the number of rows does not move; its scale is that of a part that moves by 1."""
    still = Sensitivity(({"counts": Change(0, 0)},))
    assert calibrate(still, Fraction(1, 2)) == Laplace({"counts": Fraction(2)})
    assert calibrate(still, Precision(Fraction(1, 4))) == Gaussian({"counts": Fraction(2)})


def test_every_entry_gets_its_own_draw() -> None:
    """Empty cells too, and no two entries share their noise."""
    summary = Summary({"counts": np.zeros((20, 30), np.int64), "sums": np.full(500, 7, np.int64)})
    with seeded_noise(1):
        noisy = add_noise(Laplace({"counts": Fraction(10**6), "sums": Fraction(10**6)}), summary)
    assert {name: part.shape for name, part in noisy.parts.items()} == {"counts": (20, 30), "sums": (500,)}
    drawn = np.concatenate([noisy["counts"].ravel(), noisy["sums"] - 7])
    assert len(np.unique(drawn)) > 1090
    assert (summary["counts"] == 0).all()


@pytest.mark.parametrize(
    "mechanism", [Laplace({"a": Fraction(1, 3)}), Laplace({"a": Fraction(40)}), Gaussian({"a": Fraction(5, 2)})]
)
def test_the_deviation_is_that_of_the_draws(mechanism: Laplace | Gaussian) -> None:
    """What a certificate calls the standard deviation of the noise is that, to a hundredth."""
    with seeded_noise(2):
        drawn = mechanism.draw("a", 200_000)
    assert np.std(drawn) == pytest.approx(mechanism.deviation()["a"], rel=0.01)


@pytest.mark.parametrize("mechanism", [Laplace({"a": Fraction(40)}), Gaussian({"a": Fraction(50)})])
@pytest.mark.parametrize("draws", [1, 16])
def test_tails_and_intervals_hold_the_draws(mechanism: Laplace | Gaussian, draws: int) -> None:
    """A sum passes its tail bound in at most about 1 of 200 cases, and 95% of single draws lie in the interval."""
    with seeded_noise(3):
        drawn = mechanism.draw("a", 200_000 * draws).reshape(-1, draws)
    assert np.mean(drawn.sum(axis=1) > mechanism.tail("a", log(100), draws)) < 0.006
    inside = np.abs(drawn[:, 0]) <= mechanism.interval_width() * mechanism.deviation()["a"]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 3), Fraction(6)])
@pytest.mark.parametrize("draws", [1, 2, 4, 32])
@pytest.mark.parametrize("exponent", [1.0, 7.0, 18.0])
def test_the_tail_of_laplace_noise_is_a_bound(scale: Fraction, draws: int, exponent: float) -> None:
    """The exact chance that a sum of draws passes it, by convolving their probabilities, is at most exp(-exponent) / 2."""
    reach = int(60 * scale) + 1
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(scale))
    one /= one.sum()
    chances = one
    for _ in range(draws - 1):
        chances = np.convolve(chances, one)
    tail = Laplace({"a": scale}).tail("a", exponent, draws)
    sums = np.arange(len(chances)) - len(chances) // 2
    assert chances[sums > tail].sum() <= np.exp(-exponent) / 2 * (1 + 1e-6)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**12))
def test_roots_are_rounded_up(square: Fraction) -> None:
    """The root is never too small, and too large by less than 2**-31."""
    root = root_up(square)
    assert root**2 >= square
    assert (root - Fraction(1, 2**31)) ** 2 < square or root <= Fraction(1, 2**31)
