"""Closed forms agree with an independent accountant."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import mpmath
import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    PoissonSampledDpEvent,
)
from dp_accounting.pld import PLDAccountant

from cloister.privacy import noise, samplers_python
from cloister.privacy.accounting import (
    DRAW_ERROR,
    LARGEST_EPSILON,
    SLACK,
    amplified_epsilon,
    epsilon_before_sampling,
    gaussian_delta,
    gaussian_precision,
    sampled_gaussian_delta,
    sampled_gaussian_precision,
    sampler_delta,
)
from cloister.privacy.budgets import SMALLEST_DELTA
from cloister.privacy.events import GaussianEvent, LaplaceEvent, SampledEvent, delta_of


def oracle_delta(event: object, epsilon: float) -> float:
    """The delta that dp-accounting finds, pessimistic by its discretisation."""
    return float(PLDAccountant(value_discretization_interval=1e-4).compose(event).get_delta(epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
def test_gaussian_calibration_is_tight(epsilon: float, delta: float) -> None:
    """The calibrated precision gives the delta asked for: not more, and not a hundredth less."""
    precision = gaussian_precision(Fraction(str(epsilon)), Fraction(str(delta)))
    oracle = oracle_delta(GaussianDpEvent(1 / sqrt(precision)), epsilon)
    assert gaussian_delta(epsilon, sqrt(precision)) <= delta
    assert delta * 0.99 <= oracle <= delta * 1.01


def test_gaussian_steps_are_one_gaussian() -> None:
    """Precisions add: three steps cost what the accountant says of their composition."""
    precisions = [Fraction(1, 100), Fraction(1, 25), Fraction(1, 9)]
    events = [GaussianEvent(f"step {i}", precision) for i, precision in enumerate(precisions)]
    oracle = oracle_delta(ComposedDpEvent([GaussianDpEvent(1 / sqrt(p)) for p in precisions]), 1.0)
    assert delta_of(events, Fraction(1)) == pytest.approx(oracle, rel=1e-2)


def test_pure_and_gaussian_steps_together_are_bounded() -> None:
    """A Laplace step beside a Gaussian one costs at least what the accountant says."""
    events = [LaplaceEvent("size", Fraction(1, 10)), GaussianEvent("sums", Fraction(1, 10))]
    oracle = oracle_delta(ComposedDpEvent([LaplaceDpEvent(10), GaussianDpEvent(sqrt(10))]), 1.0)
    assert delta_of(events, Fraction(1)) >= oracle * 0.999


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2)])
def test_pure_amplification_matches_the_formula_and_inverts(rate: Fraction) -> None:
    """ln(1 + q (e^eps - 1)), rounded up; the way back is rounded down and never costs more."""
    cost = amplified_epsilon(Fraction(1), rate)
    assert float(cost) == pytest.approx(log(1 + float(rate) * (2.718281828459045 - 1)), abs=1e-12)
    assert amplified_epsilon(epsilon_before_sampling(cost, rate), rate) <= cost
    assert float(epsilon_before_sampling(cost, rate)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
def test_a_sampled_gaussian_beside_a_plain_one_agrees_with_the_oracle(epsilon: float) -> None:
    """A Gaussian on a secret sample and one on all rows: the integral gives what the accountant says."""
    rate, inner, outer = Fraction(1, 50), Fraction(4), Fraction(1, 100)
    events = [SampledEvent("votes", rate, (GaussianEvent("votes 1", inner),)), GaussianEvent("lloyd", outer)]
    oracle = oracle_delta(
        ComposedDpEvent(
            [PoissonSampledDpEvent(float(rate), GaussianDpEvent(1 / sqrt(inner))), GaussianDpEvent(1 / sqrt(outer))]
        ),
        epsilon,
    )
    assert delta_of(events, Fraction(str(epsilon))) == pytest.approx(oracle, rel=1e-2)


def test_calibration_on_a_sample_fills_the_budget() -> None:
    """The calibrated precision gives the delta asked for, and a hundredth more passes it."""
    epsilon, delta, rate, outer = Fraction(1, 2), Fraction(1, 10**6), Fraction(1, 50), Fraction(1, 400)
    inner = sampled_gaussian_precision(epsilon, delta, rate, outer)
    assert 0.99e-6 <= sampled_gaussian_delta(0.5, 0.02, sqrt(inner), sqrt(outer)) <= 1e-6
    assert sampled_gaussian_delta(0.5, 0.02, 1.01 * sqrt(inner), sqrt(outer)) > 1e-6


def test_amplifying_each_step_by_itself_is_caught() -> None:
    """A planted bug: two steps on one sample, each amplified alone, claim less than the sample's total costs."""
    rate, step = Fraction(1, 10), Fraction(2)
    honest = [SampledEvent("votes", rate, (LaplaceEvent("a", step), LaplaceEvent("b", step)))]
    planted = 2 * amplified_epsilon(step, rate)
    assert delta_of(honest, planted) == float("inf")
    assert delta_of(honest, amplified_epsilon(2 * step, rate)) == 0


def test_amplifying_each_gaussian_step_by_itself_is_caught() -> None:
    """The same for Gaussian steps: one sample for both is worse than a fresh sample for each."""
    inner = GaussianDpEvent(1.0)
    apart = oracle_delta(ComposedDpEvent([PoissonSampledDpEvent(0.05, inner)] * 4), 1.0)
    together = [SampledEvent("votes", Fraction(1, 20), tuple(GaussianEvent(f"{i}", Fraction(1)) for i in range(4)))]
    assert delta_of(together, Fraction(1)) > 2 * apart


def test_what_has_not_been_proved_is_refused() -> None:
    """Pure and Gaussian steps on one sample, or two Gaussian samples, have no delta here."""
    mixed = SampledEvent("a", Fraction(1, 10), (LaplaceEvent("a", Fraction(1)), GaussianEvent("b", Fraction(1))))
    gaussian = SampledEvent("a", Fraction(1, 10), (GaussianEvent("b", Fraction(1)),))
    assert delta_of([mixed], Fraction(50)) == float("inf")
    assert delta_of([gaussian, gaussian], Fraction(50)) == float("inf")


def test_an_epsilon_beyond_what_the_sampler_can_prove_buys_what_it_can() -> None:
    """At an epsilon of a million the noise is that of epsilon 50, about a sixth of the sensitivity."""
    precision = gaussian_precision(Fraction(10**6), Fraction(1, 10**6))
    assert precision == gaussian_precision(Fraction(LARGEST_EPSILON), Fraction(1, 10**6)) > 36


def test_the_samplers_error_is_inside_the_slack() -> None:
    """Draws x bound x (1 + e^epsilon) is below a fifth of the slack at the smallest delta and the largest epsilon."""
    of_largest_sigma = (noise.LARGEST_SIGMA + 32) * Fraction(1, 2 ** (8 * samplers_python.DEVIATE))
    assert of_largest_sigma <= Fraction(DRAW_ERROR)
    assert sampler_delta(LARGEST_EPSILON) < SLACK * float(SMALLEST_DELTA) / 5
    loss = Fraction(1, 10**20)
    precision = gaussian_precision(Fraction(LARGEST_EPSILON), loss)
    assert 0 < delta_of([GaussianEvent("a", precision)], Fraction(10**6)) <= float(loss)


def test_the_samplers_error_is_added_to_delta() -> None:
    """A release of hardly any precision has the sampler's delta all the same."""
    assert delta_of([GaussianEvent("a", Fraction(1, 10**12))], Fraction(40)) == pytest.approx(sampler_delta(40.0))


def exact_sampled_delta(epsilon: float, rate: float, mu: float) -> mpmath.mpf:
    """The delta of a Gaussian on a secret sample alone, in closed form: the event that tells most ends at one point."""
    with mpmath.workdps(60):
        e, q, m = mpmath.mpf(epsilon), mpmath.mpf(rate), mpmath.mpf(mu)
        grown, shrunk = mpmath.expm1(e) + q, mpmath.expm1(-e) + q
        end = (mpmath.log(grown / q) + m**2 / 2) / m
        removed = q * mpmath.ncdf(m - end) - grown * mpmath.ncdf(-end)
        if shrunk <= 0:
            return removed
        end = (mpmath.log(shrunk / q) + m**2 / 2) / m
        added = mpmath.ncdf(end) - mpmath.exp(e) * ((1 - q) * mpmath.ncdf(end) + q * mpmath.ncdf(end - m))
        return max(removed, added)


@pytest.mark.parametrize("mu", [10.0**power for power in range(-3, 9)] + [8.0, 10.5, 30.0, 1e5, 3e5, 1e20, 1e150])
def test_the_delta_on_a_sample_is_never_below_the_true_one(mu: float) -> None:
    """At every precision that a certificate may name, also those that no noise has."""
    for rate in (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 2), Fraction(1)):
        events = [SampledEvent("votes", rate, (GaussianEvent("votes 1", Fraction(mu) ** 2),))]
        for epsilon in (Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(50)):
            claimed, true = delta_of(events, epsilon), exact_sampled_delta(float(epsilon), float(rate), mu)
            assert claimed >= true * (1 - mpmath.mpf(10) ** -12), (mu, rate, epsilon)
            assert mu > 10 or claimed <= true * (1 + mpmath.mpf(2) / 10**5) + sampler_delta(50.0) + 1e-37, (
                "the bound is tight where noise is calibrated"
            )


@pytest.mark.parametrize(
    ("epsilon", "rate", "mu", "table"), [(0.1, 0.5, 30.0, 0.5), (1.0, 1e-3, 12.0, 3.0), (0.1, 0.5, 1e6, 1e-4)]
)
def test_the_delta_of_a_sample_and_a_table_grows_with_the_precision_on_the_sample(
    epsilon: float, rate: float, mu: float, table: float
) -> None:
    """What is told of a sample can only grow: beyond the reach of the integral it is what knowing the sample tells."""
    below = sampled_gaussian_delta(epsilon, rate, 9.9, table)
    beyond = sampled_gaussian_delta(epsilon, rate, mu, table)
    known = rate + (1 - rate) * gaussian_delta(epsilon - log(1 - rate), table)
    assert below <= beyond * (1 + 1e-5)
    assert beyond == pytest.approx(known)


def test_steps_without_noise_on_a_sample_are_not_a_small_delta() -> None:
    """A precision of 10^12 at a rate of a half: delta is a half."""
    events = [SampledEvent("seeding", Fraction(1, 2), (GaussianEvent("votes", Fraction(10**12)),))]
    assert 0.49 < delta_of(events, Fraction(1, 10)) < 0.51


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 2**32)])
@pytest.mark.parametrize("epsilon", [Fraction(999), Fraction(10**4), Fraction(10**7), Fraction(10**9) - Fraction(1, 7)])
def test_a_sample_can_be_planned_at_every_epsilon(epsilon: Fraction, rate: Fraction) -> None:
    """e^epsilon has more digits than decimals have exponents; ln q + epsilon has not."""
    on_sample = epsilon_before_sampling(epsilon, rate)
    assert amplified_epsilon(on_sample, rate) <= epsilon
    assert float(on_sample - epsilon) == pytest.approx(-log(rate), rel=1e-12)
    assert sampled_gaussian_precision(epsilon, Fraction(1, 10**6), rate, Fraction(1)) > 0


@pytest.mark.parametrize(
    ("epsilon", "rate"),
    [
        (Fraction(20), Fraction(1, 10**60)),
        (Fraction(4, 10**51), Fraction(1)),
        (Fraction(4, 10**51), Fraction(1, 3)),
        (Fraction(1, 10**300), Fraction(1, 10**300)),
        (Fraction(999), Fraction(1, 2)),
        (Fraction(1001), Fraction(1, 2)),
        (Fraction(1001), Fraction(1, 10**600)),
    ],
)
def test_the_cost_of_a_sample_is_rounded_up(epsilon: Fraction, rate: Fraction) -> None:
    """However small it is: a positive cost is not 0."""
    with mpmath.workdps(1500):
        e, q = (mpmath.mpf(x.numerator) / x.denominator for x in (epsilon, rate))
        cost = amplified_epsilon(epsilon, rate)
        assert cost > 0
        assert mpmath.mpf(cost.numerator) / cost.denominator >= mpmath.log1p(q * mpmath.expm1(e)) * (
            1 - mpmath.mpf(10) ** -600
        )
        assert cost <= epsilon


def exact_gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(400):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", [10.0**power for power in range(-40, 2, 3)])
@pytest.mark.parametrize("ratio", [0.0, 1e-8, 0.1, 1.0, 9.0, 20.0])
def test_the_delta_of_hardly_any_precision_is_not_below_the_true_one(mu: float, ratio: float) -> None:
    """The two terms of the closed form cancel; what is left is rounded up."""
    epsilon = ratio * mu
    true = exact_gaussian_delta(epsilon, mu)
    claimed = gaussian_delta(epsilon, mu)
    assert true * (1 - mpmath.mpf(SLACK) / 2) <= claimed
    assert claimed <= true * 1000 + mpmath.mpf(10) ** -300
    events = [GaussianEvent("a", Fraction(mu) ** 2)]
    assert delta_of(events, Fraction(epsilon)) >= true


@pytest.mark.parametrize("mu", [1e-6, 1e-12, 1e-17, 1e-33])
@pytest.mark.parametrize("table", [0.0, 1e-9, 1e-20])
def test_the_delta_of_hardly_any_precision_on_a_sample_is_not_below_the_true_one(mu: float, table: float) -> None:
    """The loss on a sample is as small as its precision, also where no epsilon is left."""
    rate = Fraction(1, 3)
    events = [SampledEvent("a", rate, (GaussianEvent("b", Fraction(mu) ** 2),)), GaussianEvent("c", Fraction(table) ** 2)]
    least = max(exact_gaussian_delta(0.0, mu) / 3, exact_gaussian_delta(0.0, table) if table else 0)
    assert delta_of(events, Fraction(0)) >= least * (1 - mpmath.mpf(10) ** -9)


@pytest.mark.parametrize("delta", [Fraction(1, 10**20), Fraction(1, 10**6), Fraction(1, 2), Fraction(999999, 10**6)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**4), Fraction(1, 100), Fraction(1), Fraction(30)])
def test_what_is_calibrated_adds_up_when_it_is_checked(epsilon: Fraction, delta: Fraction) -> None:
    """Whatever is rounded up there is less than calibration left unspent."""
    precision = gaussian_precision(epsilon, delta)
    assert 0 < delta_of([GaussianEvent("a", precision)], epsilon) <= float(delta)
    sampled = sampled_gaussian_precision(epsilon, delta, Fraction(1, 3), precision / 3)
    events = [SampledEvent("s", Fraction(1, 3), (GaussianEvent("a", sampled),)), GaussianEvent("b", precision / 3)]
    assert delta_of(events, epsilon) <= float(delta)
