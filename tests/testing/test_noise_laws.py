"""The laws that the auditor reckons with are those of the draws, and their worst cases are the worst."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, inf, log, sqrt

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.kernels import Summary
from cloister.privacy.mechanisms import Gaussian, Laplace, add_noise
from cloister.privacy.mechanisms.split_tree import SplitTree, TreeShape, least_decay
from cloister.privacy.mechanisms.survivors import SurvivingCells, Survivors
from cloister.testing.noise_laws import law_of
from cloister.testing.tree_law import log_tail

TIMES = 8_000
ONE = Summary({"counts": np.array([3, 0, 7]), "sums": np.array([[5, -2]])})
OTHER = Summary({"counts": np.array([3, 1, 7]), "sums": np.array([[4, 0]])})
KEYED = (np.array([1, 4, 6]), np.array([2, 9, 1]))
KEYED_OTHER = (np.array([1, 4, 7]), np.array([2, 8, 1]))

LAPLACE = Laplace({"counts": Fraction(3), "sums": Fraction(9)})
GAUSSIAN = Gaussian({"counts": Fraction(3), "sums": Fraction(7)})
SURVIVORS = Survivors(Fraction(4), 3, 8)
TREE = SplitTree(Fraction(6), least_decay(Fraction(6)), 3)


def mean_ratio(draws: list, law, exact, other) -> float:  # type: ignore[no-untyped-def]
    """The mean of P(released | other) / P(released | exact): it is 1 when the draws follow the law around `exact`."""
    return float(np.mean([exp(-law.loss(released, exact, other)) for released in draws]))


def bound_of(law, exact, other) -> float:  # type: ignore[no-untyped-def]
    """How far the mean strays from 1 with probability 1e-6 at most: Hoeffding for pure laws, six deviations for Gaussian ones."""
    worst = max(law.worst(exact, other))
    if worst < inf:
        return (exp(worst) - exp(-worst)) * sqrt(log(2e6) / (2 * TIMES))
    return 6 * sqrt((exp(float(law.precision(exact, other))) - 1) / TIMES)


CASES = {
    "laplace": (LAPLACE, ONE, OTHER, lambda m: add_noise(m, ONE)),
    "gaussian": (GAUSSIAN, ONE, OTHER, lambda m: add_noise(m, ONE)),
    "survivors": (SURVIVORS, KEYED, KEYED_OTHER, lambda m: m.apply(*KEYED)),
    "tree": (TREE, KEYED, KEYED_OTHER, lambda m: m.apply(*KEYED)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_that_of_the_draws(name: str) -> None:
    """Likelihood ratios of draws average to one; the test fails by chance with probability 1e-6."""
    mechanism, exact, other, draw = CASES[name]
    law = law_of(mechanism)
    draws = [draw(mechanism) for _ in range(TIMES)]
    assert abs(mean_ratio(draws, law, exact, other) - 1) < bound_of(law, exact, other)


@pytest.mark.parametrize(
    ("mechanism", "planted", "exact", "other"),
    [
        (LAPLACE, lambda: Summary({name: part + 4 for name, part in ONE.parts.items()}), ONE, OTHER),
        (SURVIVORS, lambda: SurvivingCells(np.array([4]), np.array([20])), KEYED, KEYED_OTHER),
        (TREE, lambda: TreeShape(np.array([0]), np.array([0])), KEYED, KEYED_OTHER),
    ],
)
def test_draws_of_another_law_are_seen(mechanism, planted, exact, other) -> None:  # type: ignore[no-untyped-def]
    """Planted: draws that do not follow the law."""
    law = law_of(mechanism)
    assert abs(mean_ratio([planted()] * TIMES, law, exact, other) - 1) > bound_of(law, exact, other)


@pytest.mark.parametrize("name", CASES)
def test_no_draw_loses_more_than_the_worst(name: str) -> None:
    """Of a thousand draws, in both directions."""
    mechanism, exact, other, draw = CASES[name]
    law = law_of(mechanism)
    forth, back = law.worst(exact, other)
    for _ in range(1000):
        loss = law.loss(draw(mechanism), exact, other)
        assert -back - 1e-9 <= loss <= forth + 1e-9


def shapes(start: int, depth: int, levels: int) -> list[list[tuple[int, int]]]:
    """Every tree below a node, as its leaves."""
    leaf = [[(start, depth)]]
    if depth == levels:
        return leaf
    half = 1 << (levels - depth - 1)
    below = product(shapes(start, depth + 1, levels), shapes(start + half, depth + 1, levels))
    return leaf + [left + right for left, right in below]


@pytest.mark.parametrize(
    "other", [KEYED_OTHER, (np.array([1, 4, 6]), np.array([3, 9, 1])), (np.array([], int), np.array([], int))]
)
def test_the_worst_tree_is_the_worst_of_all_trees(other: tuple[np.ndarray, np.ndarray]) -> None:
    """All 26 trees of 3 levels: the largest loss among them, in both directions."""
    law = law_of(TREE)
    trees = [TreeShape(*np.array(sorted(leaves)).T) for leaves in shapes(0, 0, 3)]
    losses = [law.loss(tree, KEYED, other) for tree in trees]
    assert len(trees) == 26
    assert law.worst(KEYED, other) == pytest.approx((max(losses), -min(losses)))


@pytest.mark.parametrize(("one", "two"), [(0, 1), (1, 0), (2, 3), (9, 8), (3, 0), (0, 6)])
def test_the_worst_cell_is_the_worst_of_all_outcomes(one: int, two: int) -> None:
    """A cell is hidden, or shown with any count from the threshold on."""
    law = law_of(SURVIVORS)
    outcomes = [law.hidden(one, two), *(law.shown(value, one, two) for value in range(3, 60))]  # type: ignore[attr-defined]
    assert law.most(one, two) == pytest.approx(max(outcomes))  # type: ignore[attr-defined]


def test_the_tails_of_the_noise_add_up() -> None:
    """P(L >= m) from the sum of its definition."""
    a = exp(-1 / 2.5)
    mass = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-400, 401)}
    for least in range(-6, 7):
        assert log_tail(least, 2.5) == pytest.approx(log(sum(p for x, p in mass.items() if x >= least)))


def test_gaussian_losses_are_those_of_rounded_noise() -> None:
    """Against the probability of an interval, where that can be computed plainly, and far out where it cannot."""
    from scipy.stats import norm

    law = law_of(Gaussian({"counts": Fraction(2)}))
    exact, other, released = (Summary({"counts": np.array([value])}) for value in (0, 1, 3))
    plain = [norm.cdf((3 - v + 0.5) / 2) - norm.cdf((3 - v - 0.5) / 2) for v in (0, 1)]
    assert law.loss(released, exact, other) == pytest.approx(log(plain[0] / plain[1]))
    far = Summary({"counts": np.array([10_000])})
    assert law.loss(far, exact, other) == pytest.approx(-10_000 / 4, rel=1e-3)  # (x - 1)^2 - x^2 over 2 sigma^2
    assert law.precision(exact, other) == Fraction(1, 4)


def test_a_mechanism_without_a_law_is_refused() -> None:
    """The auditor does not guess."""
    with pytest.raises(UsageError, match="is not known here"):
        law_of(object())
