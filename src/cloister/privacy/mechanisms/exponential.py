"""The exponential mechanism: one of many public candidates, the likelier the better its score."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.scores import Runs, Scoring
from cloister.privacy import noise
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.observing import observable

__all__ = ["Exponential", "largest_gap"]

FEW = 1024  # candidates, up to which each is drawn by itself
CONFIDENCE = 0.95  # with which the score of the chosen candidate is as near to the best as is told


@dataclass(frozen=True, slots=True)
class Exponential:
    """A choice with P(candidate) ~ exp(score / scale), drawn exactly.

    Privacy: it costs reach / scale, where neighbouring tables move two scores at most `reach` apart (`kernels.scores`, which
    has the proof). Nothing but the candidate is handed out: no score, and not how many candidates have the same one.

    References
    ----------
    F. McSherry and K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    J. Dong, D. Durfee and R. Rogers, "Optimal differential privacy composition for exponential mechanisms", ICML 2020 (bounded
    range: what counts is how far scores move apart).
    """

    scoring: Scoring
    scale: Fraction

    def __post_init__(self) -> None:
        # at a smaller scale the draw would not be exact any more, and a larger one is safe
        object.__setattr__(self, "scale", max(checked_scale(self.scale), noise.SMALLEST_SCALE))

    @classmethod
    def spending(cls, epsilon: Fraction, scoring: Scoring, reach: int) -> Exponential:
        """The choice that this epsilon buys."""
        return cls(scoring, reach / epsilon)

    def event(self, step: str, reach: int) -> ExponentialEvent:
        """What one choice costs."""
        return ExponentialEvent(step, reach / self.scale)

    def largest_gap(self) -> int:
        """How far the score of the chosen candidate lies behind the best at most, with probability `CONFIDENCE`."""
        return largest_gap(self.scoring.candidates, self.scale)

    @observable
    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
        """The candidate, counted from 0. keys : places that hold rows, in rising order; counts : how many."""
        runs = self.scoring.runs(keys, counts)
        if self.scoring.candidates <= FEW:
            return int(noise.choose(-one_by_one(runs)[None, :], self.scale)[0])
        run, place = noise.choose_in_run(runs.gaps, runs.widths, self.scale)
        return int(runs.firsts[run]) + place


def one_by_one(runs: Runs) -> NDArray[np.int64]:
    """How far each candidate lies behind the best, in their order."""
    order = np.argsort(runs.firsts)
    return np.repeat(runs.gaps[order], runs.widths[order])


def largest_gap(candidates: int, scale: Fraction, confidence: float = CONFIDENCE) -> int:
    """The gap that a choice passes with a probability of at most 1 - `confidence`, whatever the table: a public number.

    At most all candidates but the best have a larger gap than g, each with a probability of at most exp(-g / scale). Gaps are
    integers.

    >>> largest_gap(100, Fraction(1))
    7
    """
    return floor(float(scale) * log(max(1, candidates - 1) / (1 - confidence)))
