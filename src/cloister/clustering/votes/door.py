"""What measures the rounds of votes: the vault or a secret sample in it, on rows as they are or through a projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.kernels import ClippedSums, Kernel, LiftedSums, Projected, Projection, Sensitivity, Summary
from cloister.privacy.mechanisms import Mechanism, Released

__all__ = ["Door", "LiftedVotes", "ProjectedRows"]


class Door(Protocol):
    """What measures: the vault, or a secret sample in it."""

    def sensitivity(self, kernel: Kernel) -> Sensitivity: ...
    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]: ...


@dataclass(frozen=True, slots=True)
class ProjectedRows:
    """A door through which every row is seen in a few public directions alone."""

    door: Door
    projection: Projection

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        return self.door.sensitivity(Projected(kernel, self.projection))

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        return self.door.measure(Projected(kernel, self.projection), mechanism, step)


@dataclass(frozen=True, slots=True)
class LiftedVotes:
    """A door through which rows vote by their projection, while their moves are those in all columns."""

    door: Door
    projection: Projection
    places: NDArray[np.int32]  # (k, p) centres in the projection

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        return self.door.sensitivity(self._lifted(kernel))

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]:
        return self.door.measure(self._lifted(kernel), mechanism, step)

    def _lifted(self, kernel: Kernel) -> LiftedSums:
        assert isinstance(kernel, ClippedSums), "only rounds of clipped sums are lifted"
        return LiftedSums(kernel, self.projection, self.places)
