"""The law of a choice by the exponential mechanism: how likely each candidate is, given the rows.

Scores are computed here from their definitions, candidate by candidate over all rows, and not by the runs that a release uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.base import Summary
from cloister.kernels.low_order import MarginalDistances
from cloister.kernels.scores import Counts, RankDistance, Scoring, TotalDistance

__all__ = ["ChoiceLaw", "FarthestLaw", "plain_scores"]

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
        return losses_of(one, two, self.scale)

    def worst(self, exact: KeyedCounts, other: KeyedCounts) -> tuple[float, float]:
        losses = self.losses(exact, other)
        return float(losses.max()), float((-losses).max())

    def precision(self, exact: KeyedCounts, other: KeyedCounts) -> Fraction:
        return Fraction(0)

    def form(self, exact: KeyedCounts) -> object:
        return None  # which places have rows is not public


@dataclass(frozen=True, eq=False)
class FarthestLaw:
    """P(marginal) is proportional to exp(score / scale), the score being its distance from a released table less a handicap."""

    distances: MarginalDistances
    scale: Fraction

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FarthestLaw):
            return NotImplemented
        return (self.distances.facts, self.scale) == (other.distances.facts, other.scale)

    __hash__ = None  # type: ignore[assignment]

    def loss(self, released: int, exact: Summary, other: Summary) -> float:
        return float(self.losses(exact, other)[released])

    def losses(self, exact: Summary, other: Summary) -> NDArray[np.float64]:
        """Of each candidate."""
        one, two = (self.scores(summary) for summary in (exact, other))
        return losses_of(one, two, self.scale)

    def scores(self, exact: Summary) -> NDArray[np.int64]:
        """Cell by cell, in Python's numbers."""
        tables = zip(exact.parts.values(), self.distances.references, self.distances.handicaps, strict=True)
        return np.array(
            [
                sum(abs(int(a) - int(b)) for a, b in zip(counts.ravel(), table.ravel(), strict=True)) - handicap
                for counts, table, handicap in tables
            ]
        )

    def worst(self, exact: Summary, other: Summary) -> tuple[float, float]:
        losses = self.losses(exact, other)
        return float(losses.max()), float((-losses).max())

    def precision(self, exact: Summary, other: Summary) -> Fraction:
        return Fraction(0)

    def form(self, exact: Summary) -> object:
        return {name: part.shape for name, part in exact.parts.items()}


def losses_of(one: NDArray[np.int64], two: NDArray[np.int64], scale: Fraction) -> NDArray[np.float64]:
    """The log of how much likelier each candidate is by the first scores than by the second."""
    per = float(scale)
    moves = ((one - one.max()) - (two - two.max())).astype(np.float64) / per
    sums = [float(np.log(np.sum(np.exp((scores - scores.max()) / per)))) for scores in (one, two)]
    return np.asarray(moves - (sums[0] - sums[1]))


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
