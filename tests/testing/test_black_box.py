"""The audit from outside: what it refutes, what it cannot, and that its bound is one."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from cloister.errors import UsageError
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.testing import audit
from cloister.testing.black_box import epsilon_bound, numbers_of

RANDOM = np.random.default_rng(7)


def noisy_sum(scale: float) -> Any:
    """A sum with Laplace noise."""
    return lambda rows: sum(rows) + RANDOM.laplace(0, scale)


def test_a_true_claim_is_not_refuted() -> None:
    """Scale 1 at sensitivity 1 is epsilon 1; at most one run of this test in a million fails."""
    found = audit(noisy_sum(1.0), ([1.0], []), claimed=1, runs=4000)
    assert found.holds
    assert 0.2 < found.largest_loss <= 1
    assert "not refuted" in str(found)


def test_a_false_claim_is_refuted() -> None:
    """Half the scale is twice the epsilon."""
    found = audit(noisy_sum(0.4), ([1.0], []), claimed=1, runs=4000)
    assert not found.holds
    assert 1 < found.largest_loss <= 2.5
    assert "epsilon is at least" in found.findings[0]


@pytest.mark.parametrize(
    "leak",
    [
        len,  # an exact count
        lambda rows: 1 / len(rows),  # an error on one of the tables
        lambda rows: [RANDOM.normal()] * (3 + len(rows)),  # how many numbers come out
        lambda rows: {"size": "none" if not rows else "some"},  # text
        lambda rows: float("nan") if not rows else RANDOM.normal(),
    ],
)
def test_what_leaks_outright_is_refuted(leak: Any) -> None:
    """Numbers, errors, lengths and text tell the tables apart."""
    assert audit(leak, ([1.0], []), claimed=1, runs=400).largest_loss > 2


def test_what_always_gives_the_same_is_not_refuted() -> None:
    """A constant tells nothing apart, and nor do runs that only differ after the event was to be chosen."""
    found = audit(lambda rows: [1.0, 2.0], ([1.0], []), claimed=1, runs=200)
    assert found.holds
    assert found.largest_loss == 0
    assert "every run gave the same" in str(found)
    calls = iter(range(400))
    late = audit(lambda rows: float(next(calls) == 399), ([1.0], []), claimed=1, runs=200)
    assert late.holds


def test_a_shift_of_many_numbers_is_seen_along_their_difference() -> None:
    """No single one of 50 numbers tells enough; their weighted sum does."""
    found = audit(lambda rows: RANDOM.normal(len(rows), 3, 50), ([1.0], []), claimed=1, runs=4000)
    assert "a weighted sum" in str(found)
    assert not found.holds


def test_a_delta_is_taken_off() -> None:
    """A mechanism that fails with probability delta is not refuted for it."""

    def fails_rarely(rows: Any) -> float:
        return float(len(rows)) if RANDOM.random() < 0.2 else -1.0

    assert audit(fails_rarely, ([1.0], []), claimed=ApproxDP(1, "0.4"), runs=2000).holds
    assert not audit(fails_rarely, ([1.0], []), claimed=ApproxDP(1, "1e-6"), runs=2000).holds


def test_the_bound_is_clopper_pearson() -> None:
    """Against the quantiles of the beta distribution, written out."""
    k, j, runs, error = 70, 3, 100, 1e-3
    expected = log(beta.ppf(error / 2, k, runs - k + 1) / beta.ppf(1 - error / 2, j + 1, runs - j))
    assert epsilon_bound(np.array([k]), np.array([j]), runs, 0.0, error)[0] == pytest.approx(expected)


def test_the_bound_covers() -> None:
    """At an error of 5% it passes the true ratio in at most 5% of 2,000 tries, but for chance: 6 deviations more."""
    p, q, runs = 0.5, 0.5 * exp(-1.0), 200
    bounds = epsilon_bound(RANDOM.binomial(runs, p, 2000), RANDOM.binomial(runs, q, 2000), runs, 0.0, 0.05)
    assert np.mean(bounds > 1.0) <= 0.05 + 6 * (0.05 * 0.95 / 2000) ** 0.5
    assert np.mean(bounds) > 0.3


def test_outputs_become_numbers() -> None:
    """Nested, in a fixed order; text by a number that stands for it."""
    assert numbers_of({"b": [1, (2.5,)], "a": np.array([[3, 4]])}) == (3, 4, 1, 2.5)
    assert numbers_of("text") == numbers_of("text") != numbers_of("other")
    assert len(numbers_of(object())) == 1


def test_what_cannot_be_audited_is_refused() -> None:
    """Too few runs; no claim."""
    with pytest.raises(UsageError, match="at least 100 runs"):
        audit(len, ([1], []), claimed=PureDP(1), runs=10)
    with pytest.raises(UsageError, match="what is promised"):
        audit(len, ([1], []), runs=200)
    with pytest.raises(UsageError, match="carries no certificate"):
        audit(len, ([1], []))
