"""Choices among runs of candidates follow their law exactly, on small and on huge grids."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.privacy import noise
from cloister.privacy.band_weights import BANDS, band_weights, band_width
from tests.chisquare import chi_square_ok

DRAWS = 6000
GAPS, WIDTHS = np.array([7, 0, 1, 2, 40, 300]), np.array([50, 1, 3, 2, 1000, 3000])


def draws(scale: Fraction, gaps: np.ndarray = GAPS, widths: np.ndarray = WIDTHS) -> np.ndarray:
    """How often each run is chosen."""
    chosen = [noise.choose_in_run(gaps, widths, scale)[0] for _ in range(DRAWS)]
    return np.bincount(chosen, minlength=len(gaps))


def law(scale: Fraction) -> np.ndarray:
    """The probabilities of the runs."""
    weights = WIDTHS * np.exp(-GAPS / float(scale))
    return weights / weights.sum()


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 2), Fraction(15), Fraction(40)], ids=str)
def test_runs_are_chosen_by_their_weights(scale: Fraction) -> None:
    """By a chi-square test at 1e-6: near and far ones, wide and narrow ones."""
    assert chi_square_ok(draws(scale), law(scale))


def test_a_scale_that_is_too_small_is_caught() -> None:
    """Planted: noise for two thirds of the scale."""
    assert not chi_square_ok(draws(Fraction(7, 2) * Fraction(2, 3)), law(Fraction(7, 2)))


def test_forgotten_widths_are_caught() -> None:
    """Planted: every run counted as one candidate."""
    assert not chi_square_ok(draws(Fraction(7, 2), widths=np.ones(6, dtype=np.int64)), law(Fraction(7, 2)))


def test_places_in_a_run_are_uniform() -> None:
    """Equal scores over a wide gap: each of its candidates is as likely."""
    chosen = [noise.choose_in_run(np.array([3, 0]), np.array([1, 10**7]), Fraction(1))[1] for _ in range(DRAWS)]
    assert chi_square_ok(np.bincount(np.array(chosen) // 10**6, minlength=10), np.full(10, 0.1))


def test_candidates_far_behind_are_chosen_where_they_are_many() -> None:
    """Each of 2**62 has a probability of e^-43 beside the best, and half of all choices are one of them."""
    gaps, widths = np.array([0, 43]), np.array([1, 2**62])
    weights = widths * np.exp(-gaps / 1.0)
    assert chi_square_ok(draws(Fraction(1), gaps, widths), weights / weights.sum())


def test_the_last_band_is_thinned_as_it_should_be() -> None:
    """Gaps beyond the last band's beginning are kept by what they lie behind it; by fewer bands, so that it is drawn at all."""
    gaps, widths = np.array([0, 3, 4, 6]), np.array([10, 500, 700, 9000])
    weights = widths * np.exp(-gaps / 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "BANDS", 2)
        patch.setattr(noise, "band_weights", lambda scale: band_weights(scale)[:3])
        assert chi_square_ok(draws(Fraction(1), gaps, widths), weights / weights.sum())


@pytest.mark.parametrize("scale", [Fraction(1, 64), Fraction(19, 10), Fraction(2**50)], ids=str)
def test_weights_of_bands_keep_their_digits(scale: Fraction) -> None:
    """The ratio of bands that follow each other is the same everywhere, to 2**-250."""
    weights = band_weights(scale)
    assert len(weights) == BANDS + 1
    first = Fraction(weights[0], weights[1])
    for one, two in pairwise(weights):
        assert abs(Fraction(one, two) / first - 1) < Fraction(1, 2**250)
    assert float(first) == pytest.approx(exp(band_width(scale) / float(scale)), rel=1e-12)


@pytest.mark.parametrize(
    ("gaps", "widths"),
    [([], []), ([1], [1]), ([0, -1], [1, 1]), ([0], [0]), ([0, 1], [1])],
    ids=["none", "no best", "negative", "no width", "other widths"],
)
def test_what_is_no_run_is_refused(gaps: list[int], widths: list[int]) -> None:
    """Gaps from 0 on, and as many widths of at least 1."""
    with pytest.raises(UsageError, match="runs of candidates"):
        noise.choose_in_run(np.array(gaps, dtype=np.int64), np.array(widths, dtype=np.int64), Fraction(1))


def test_seeded_choices_are_repeated() -> None:
    """For tests, and to compare engines."""
    with noise.seeded(5):
        first = [noise.choose_in_run(GAPS, WIDTHS, Fraction(3)) for _ in range(20)]
    with noise.seeded(5):
        assert [noise.choose_in_run(GAPS, WIDTHS, Fraction(3)) for _ in range(20)] == first
