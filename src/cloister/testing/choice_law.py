"""The law of a choice by the exponential mechanism: how likely each candidate is, given the rows.

Scores are computed here from their definitions, candidate by candidate over all rows, and not by the runs that a release uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.scores import Counts, RankDistance, Scoring, TotalDistance

__all__ = ["ChoiceLaw", "plain_scores"]

KeyedCounts = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class ChoiceLaw:
    """P(candidate) is proportional to exp(score / scale)."""

    scoring: Scoring
    scale: Fraction

    def loss(self, released: int, exact: KeyedCounts, other: KeyedCounts) -> float:
        return float(self.losses(exact, other)[released])

    def losses(self, exact: KeyedCounts, other: KeyedCounts) -> NDArray[np.float64]:
        """Of each candidate; the scores move by integers, and only sums of exponentials are rounded."""
        one, two = (plain_scores(self.scoring, *table) for table in (exact, other))
        scale = float(self.scale)
        moves = ((one - one.max()) - (two - two.max())).astype(np.float64) / scale
        sums = [float(np.log(np.sum(np.exp((scores - scores.max()) / scale)))) for scores in (one, two)]
        return np.asarray(moves - (sums[0] - sums[1]))

    def worst(self, exact: KeyedCounts, other: KeyedCounts) -> tuple[float, float]:
        losses = self.losses(exact, other)
        return float(losses.max()), float((-losses).max())

    def precision(self, exact: KeyedCounts, other: KeyedCounts) -> Fraction:
        return Fraction(0)

    def form(self, exact: KeyedCounts) -> object:
        return None  # which places have rows is not public


def plain_scores(scoring: Scoring, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The score of every candidate, in their order."""
    places = np.arange(scoring.size) if scoring.options is None else np.array(scoring.options)
    rows = np.repeat(keys, counts)
    score = scoring.score
    below, above = np.searchsorted(rows, places, "left"), len(rows) - np.searchsorted(rows, places, "right")
    if isinstance(score, Counts):
        return np.asarray(len(rows) - below - above)
    if isinstance(score, RankDistance):
        target = Fraction(score.a, score.b) * len(rows)
        far = np.maximum(score.b * below - int(score.b * target), int(score.b * target) - score.b * (len(rows) - above))
        return np.asarray(-np.maximum(far, 0))
    if isinstance(score, TotalDistance):
        return np.array([-int(np.minimum(np.abs(rows - place), score.clip).sum()) for place in places])
    raise TypeError(f"no definition of {type(score).__name__} is known here")
