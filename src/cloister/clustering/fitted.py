"""What a private clustering gives: released values only, in grid steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fitted", "Loss"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A private estimate of the mean squared distance to the nearest centre, clipped, in squared grid steps."""

    mean: float
    error: float
    cap: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """Centres, noisy sizes, the noise's part in each coordinate, and what was chosen on the way."""

    centers: NDArray[np.int32]  # (k, d)
    sizes: NDArray[np.float64]  # (k,)
    errors: NDArray[np.float64]  # (k, d)
    rounds: int
    rows: float
    loss: Loss | None = None
    choices: dict[str, str] = field(default_factory=dict)
