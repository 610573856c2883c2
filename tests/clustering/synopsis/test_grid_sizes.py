"""The rules of how fine a grid is, against values worked by hand from the papers' formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.synopsis.grid_sizes import first_side, rule_epsilon, second_sides, uniform_side
from cloister.privacy.mechanisms import Gaussian, Laplace


@pytest.mark.parametrize(
    ("rows", "epsilon", "columns", "side"),
    [
        (5000, 1.0, 2, 22),  # M = 500^1, sqrt 500 = 22.36
        (32561, 1.0, 6, 8),  # M = 3256.1^1.5 = 185,799; its sixth root is 7.55
        (1000, 0.1, 1, 5),  # M = 10^(2/3) = 4.64
        (5, 1.0, 2, 1),  # M = 0.5: one cell
    ],
)
def test_the_uniform_rule(rows: float, epsilon: float, columns: int, side: int) -> None:
    """M = (N eps / 10)^(2d/(2+d)) cells, cut evenly."""
    assert uniform_side(rows, epsilon, columns) == side


@pytest.mark.parametrize(
    ("rows", "epsilon", "columns", "side"),
    [
        (5000, 1.0, 2, 10),  # max(sqrt 100 = 10, sqrt(500)/4 = 5.59)
        (100_000, 1.0, 2, 25),  # max(10, sqrt(10,000)/4 = 25)
        (100_000, 0.5, 2, 18),  # sqrt(5000)/4 = 17.68
        (1_000_000, 1.0, 3, 25),  # M1 = (10^5)^(6/5) = 10^6; its cube root is 100, a quarter of that 25
        (100, 1.0, 6, 3),  # sixth root of 100 is 2.15
        (100, 1.0, 1, 100),
    ],
)
def test_the_first_level(rows: float, epsilon: float, columns: int, side: int) -> None:
    """m1 = ceil(max(100^(1/d), M1^(1/d)/4)), M1 = (N eps / 10)^(2d/(2+d))."""
    assert first_side(rows, epsilon, columns) == side


def test_the_second_level() -> None:
    """m2 = ceil(M2^(1/d)), M2 = (N' (1-alpha) eps / 5)^(2d/(2+d)); negative counts as 0, at least one cell."""
    # d = 2, (1-alpha) eps = 0.5: M2 = N'/10; sqrt(4) = 2, sqrt(15) = 3.87, sqrt(0.9) = 0.95
    assert second_sides(np.array([40, 150, 9, 0, -7]), 0.5, 2).tolist() == [2, 4, 1, 1, 1]
    # d = 3, 0.5: M2 = (N'/10)^1.2; N' = 1000: 100^1.2 = 251.2, cube root 6.31
    assert second_sides(np.array([1000]), 0.5, 3).tolist() == [7]


def test_larger_constants_make_both_levels_coarser() -> None:
    """Four times c1 or c2 halve the intervals of two columns."""
    assert (first_side(400_000, 1.0, 2), first_side(400_000, 1.0, 2, 40.0)) == (50, 25)
    assert second_sides(np.array([640]), 0.5, 2, 20.0).tolist() == [4]


def test_constants_are_in_the_plan_and_the_certificate() -> None:
    """The cells of a synopsis follow them, and so does what the certificate says."""
    rows = np.random.default_rng(0).random((20_000, 2))
    usual = cl.synopsis(rows, 4, (0, 1))
    coarse = cl.synopsis(rows, 4, (0, 1), c1=1000, c2="500")
    assert (usual.release.parameters["c1"], usual.release.parameters["c2"]) == ("10", "5")
    assert (coarse.release.parameters["c1"], coarse.release.parameters["c2"]) == ("1000", "500")
    assert len(coarse) < len(usual) / 2


def test_other_noise_stands_for_the_epsilon_of_its_size() -> None:
    """Laplace of scale s stands for 1/s; a Gaussian for the Laplace of the same standard deviation."""
    assert rule_epsilon(Laplace({"counts": Fraction(4)})) == 0.25
    assert rule_epsilon(Gaussian({"counts": Fraction(2)})) == pytest.approx(2**0.5 / 2)
