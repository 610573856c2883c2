"""The exponential mechanism over marginals: the likelier one is chosen, the farther it lies from what was released of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cloister.kernels.base import Summary
from cloister.kernels.low_order import MarginalDistances
from cloister.privacy import noise
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.observing import release_observed

__all__ = ["FarthestMarginal"]


@dataclass(frozen=True, slots=True)
class FarthestMarginal:
    """A choice with P(marginal) ~ exp(score / scale), drawn exactly.

    Privacy: it costs reach / scale, where neighbouring tables move two scores at most `reach` apart (`MarginalDistances`, which
    has the proof). Which marginal it was is all that is handed out.

    References
    ----------
    F. McSherry and K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    R. McKenna, B. Mullins, D. Sheldon and G. Miklau, "AIM: an adaptive and iterative mechanism for differentially private
    synthetic data", VLDB 2022 (this score).
    """

    distances: MarginalDistances
    scale: Fraction

    def __post_init__(self) -> None:
        # at a smaller scale the draw would not be exact any more, and a larger one is safe
        object.__setattr__(self, "scale", max(checked_scale(self.scale), noise.SMALLEST_SCALE))

    def event(self, step: str, reach: int) -> ExponentialEvent:
        """What one choice costs."""
        return ExponentialEvent(step, reach / self.scale)

    def apply(self, exact: Summary) -> int:
        """The place of the chosen marginal in the kernel."""

        def draw() -> int:
            scores = self.distances.scores(exact)
            return int(noise.choose(np.ascontiguousarray(scores)[None, :], self.scale)[0])

        return release_observed(self, exact, draw)
