"""The exponential mechanism: what it costs, what it draws, and how near to the best it promises to be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.kernels.scores import Counts, RankDistance, Scoring
from cloister.privacy import noise
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.mechanisms import exponential
from cloister.privacy.mechanisms.exponential import Exponential, largest_gap
from cloister.testing.choice_law import ChoiceLaw, plain_scores
from tests.chisquare import chi_square_ok

KEYS, COUNTS = np.array([2, 3, 8]), np.array([4, 9, 5])


def test_it_costs_the_reach_over_the_scale() -> None:
    """An epsilon buys a scale, which costs that epsilon again."""
    mechanism = Exponential.spending(Fraction(1, 3), Scoring(Counts(), 10), 2)
    assert mechanism.scale == 6
    assert mechanism.event("choice", 2) == ExponentialEvent("choice", Fraction(1, 3))


def test_a_scale_has_its_limits() -> None:
    """One too small to be drawn exactly is raised, which costs less; one too large is refused."""
    assert Exponential(Scoring(Counts(), 10), Fraction(1, 10**6)).scale == noise.SMALLEST_SCALE
    with pytest.raises(UsageError, match="larger than can be drawn"):
        Exponential(Scoring(Counts(), 10), Fraction(2**51))


@pytest.mark.parametrize("few", [0, 1024], ids=["runs", "one by one"])
@pytest.mark.parametrize("score", [Counts(), RankDistance(1, 2)], ids=["count", "median"])
def test_choices_follow_the_law(score: Counts | RankDistance, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates are drawn one by one and many by runs: both with the probabilities of the definition, at 1e-6."""
    monkeypatch.setattr(exponential, "FEW", few)
    mechanism = Exponential(Scoring(score, 12), Fraction(5, 2))
    weights = np.exp(plain_scores(mechanism.scoring, KEYS, COUNTS) / 2.5)
    chosen = np.bincount([mechanism.apply(KEYS, COUNTS) for _ in range(5000)], minlength=12)
    assert chi_square_ok(chosen, weights / weights.sum())
    shifted = np.roll(weights, 1)  # planted: each place taken for the next
    assert not chi_square_ok(chosen, shifted / shifted.sum())


@pytest.mark.parametrize("epsilon", ["1/100", "1", "20"])
def test_the_promised_gap_holds(epsilon: str) -> None:
    """Whatever the table: the probability of a larger gap is at most a twentieth, and it is not promised far too much."""
    for heaps in ([(0, 1)], [(5, 100), (6, 101)], [(i, i) for i in range(1, 50)]):
        keys, counts = (np.array(column) for column in zip(*heaps, strict=True))
        mechanism = Exponential.spending(Fraction(epsilon), Scoring(RankDistance(1, 2), 200), 2)
        gaps = -plain_scores(mechanism.scoring, keys, counts)
        weights = np.exp(-gaps / float(mechanism.scale))
        assert weights[gaps > mechanism.largest_gap()].sum() <= 0.05 * weights.sum()
    assert largest_gap(2, Fraction(1)) == 2


def test_an_empty_table_gives_every_candidate_alike() -> None:
    """No row, no preference."""
    none = np.empty(0, dtype=np.int64)
    mechanism = Exponential(Scoring(RankDistance(1, 2), 4), Fraction(1))
    chosen = np.bincount([mechanism.apply(none, none) for _ in range(2000)], minlength=4)
    assert chi_square_ok(chosen, np.full(4, 0.25))


def test_the_law_of_a_choice_adds_up() -> None:
    """Probabilities from the losses of the auditor's law are those of the weights."""
    law = ChoiceLaw(Scoring(Counts(), 12), Fraction(5, 2))
    one, other = (KEYS, COUNTS), (KEYS, COUNTS + np.array([1, 0, 0]))
    logs = [plain_scores(law.scoring, *table) / 2.5 for table in (one, other)]
    p, q = (log - np.log(np.exp(log).sum()) for log in logs)
    assert law.losses(one, other) == pytest.approx(p - q)
    assert law.loss(3, one, other) == pytest.approx((p - q)[3])
    assert law.worst(one, other) == pytest.approx(((p - q).max(), (q - p).max()))
