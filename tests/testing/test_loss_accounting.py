"""Losses add up as the accounting says, by another way of computing it."""

from __future__ import annotations

from fractions import Fraction
from math import expm1, log1p

import pytest

from cloister.privacy.accounting import amplified_epsilon, gaussian_delta, sampled_gaussian_delta
from cloister.testing.loss_accounting import Losses


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_gaussian_losses(epsilon: float, mu: float) -> None:
    """One Gaussian on the table."""
    assert Losses(precision=mu**2).delta(epsilon) == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-6, abs=1e-18)


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize(("on_sample", "on_table"), [(0.5, 0.2), (2.0, 0.7), (1.0, 0.0)])
def test_gaussian_losses_on_a_sample(rate: float, on_sample: float, on_table: float) -> None:
    """Two integrals over different variables agree."""
    losses = Losses(precision=on_table**2, rate=rate, sample_precision=on_sample**2)
    expected = sampled_gaussian_delta(1.0, rate, on_sample, on_table)
    assert losses.delta(1.0) == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_pure_losses_on_a_sample_are_amplified() -> None:
    """ln(1 + q (e^eps - 1)), also where e^eps is too large for a float."""
    losses = Losses(pure=0.25, rate=0.125, sample_pure=3.0)
    assert losses.pure_total == pytest.approx(0.25 + float(amplified_epsilon(Fraction(3), Fraction(1, 8))))
    assert Losses(rate=0.5, sample_pure=1000.0).pure_total == pytest.approx(1000 - 0.6931471805599453)
    assert losses.epsilon(0.0) == losses.pure_total


def test_epsilon_and_delta_are_inverse() -> None:
    """The epsilon at a delta has that delta."""
    losses = Losses(pure=0.1, precision=0.05, rate=0.2, sample_precision=1.0)
    assert losses.delta(losses.epsilon(1e-6)) == pytest.approx(1e-6, rel=1e-3)


def test_pure_losses_above_epsilon_need_a_delta() -> None:
    """1 - e^(epsilon - loss)."""
    assert Losses(pure=2.0).delta(1.0) == pytest.approx(-expm1(-1.0))
    assert Losses(pure=1.0).delta(1.0) == 0.0
    assert Losses(rate=0.5, sample_pure=1.0).pure_total == pytest.approx(log1p(0.5 * expm1(1.0)))
