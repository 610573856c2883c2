"""What a method hands back: released values only, in grid steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.kernels import Modes

__all__ = ["Fitted", "Loss"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A private estimate of the mean squared distance to the nearest centre, in squared grid steps (`loss_step`).

    Where rows have categories, gamma for each that differs is part of a squared distance.
    """

    mean: float
    error: float  # standard error of the mean, from the noise
    cap: float  # rows whose squared distance is larger add nothing
    at_most: float  # the mean of all rows, in 19 cases of 20


@dataclass(frozen=True, slots=True)
class Fitted:
    """Centres, noisy sizes, the noise's part in each coordinate, and what was chosen on the way."""

    domain: Domain  # the task's, or the one that was made from estimated bounds
    centers: NDArray[np.int32]  # (k, d)
    sizes: NDArray[np.float64]  # (k,)
    errors: NDArray[np.float64]  # (k, d)
    rounds: int
    rows: float
    loss: Loss | None = None
    choices: dict[str, str] = field(default_factory=dict)
    modes: Modes | None = None  # the categories of the centres, (k, c); None: there are none
    size_noise: float | None = None  # its deviation in each size; None: it is not one number, or not known
