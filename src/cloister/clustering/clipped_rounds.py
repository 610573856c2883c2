"""A round of votes with clipped sums around released candidates: its kernel, and how its parts share its spend.

Votes and the hybrid both consist of such rounds. A row votes for its nearest candidate and adds its clipped move from there
(`kernels.ClippedSums`); counts, sums and squares are released together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.terms import Terms
from cloister.kernels import BoxClip, Clip, ClippedSums, Sensitivity
from cloister.kernels.clipped import worst_reach
from cloister.privacy.mechanisms import Norm, Spend, calibrate, norm_of
from cloister.schema import Neighbours

__all__ = ["USUAL_WEIGHTS", "RoundWeights", "check_round", "count_noise", "round_kernel", "round_weights", "sum_noise"]

THETA, PHI = 1.0, 0.15  # precision of sums : counts : squares = sqrt d : THETA : PHI
REPLACED_SQUARES = 0.03  # of the precision under replace-one
LEAST_COUNT_SHARE = 0.04
UNIT_RADIUS = 1 << 20

Radius = float | NDArray[np.float64]  # of all candidates, or of each


@dataclass(frozen=True, slots=True)
class RoundWeights:
    """What counts and squares weigh beside sums.

    Under Gaussian noise counts weigh `THETA` at least, and under replace-one too all weights are fixed.
    """

    counts: float = 1.0
    squares: float = PHI


USUAL_WEIGHTS = RoundWeights()


def round_weights(columns: int, norm: Norm, neighbours: Neighbours, weights: RoundWeights = USUAL_WEIGHTS) -> dict[str, str]:
    """How the sums, counts and squares of a round share its spend.

    Under replace-one with Gaussian noise there are two worst cases. A row that keeps its vote costs sums + squares / 2. A row
    that changes its vote moves the sums by half of that (squared), and costs sums / 2 + counts + squares. The weights make
    the two equal, so the counts cost nothing extra.
    """
    if norm == "L2" and neighbours is Neighbours.REPLACE_ONE:
        sums, counts, squares = 1 - REPLACED_SQUARES, (1 - 3 * REPLACED_SQUARES) / 2, 2 * REPLACED_SQUARES
    elif norm == "L2":
        sums, squares = sqrt(columns), weights.squares
        counts = max(THETA, weights.counts, LEAST_COUNT_SHARE * (sums + THETA + squares))
    else:
        sums, counts, squares = (columns / THETA) ** (2 / 3), weights.counts, weights.squares
    return {"counts": f"{counts:.9f}", "sums": f"{sums:.9f}", "squares": f"{squares:.9f}"}


def round_kernel(candidates: NDArray[np.int32], move: Radius, square: Radius, norm: Norm, within: Clip) -> ClippedSums:
    """The kernel of a round: moves are clipped in the norm of the noise, to one radius or to each candidate's own."""
    stretch = sqrt(candidates.shape[1]) if norm == "L1" else 1.0
    radii, reaches = (
        np.broadcast_to(np.maximum(1, np.rint(np.asarray(radius, dtype=np.float64))), len(candidates)).astype(np.int64)
        for radius in (np.asarray(move) * stretch, square)
    )
    return ClippedSums(candidates, radii, norm == "L1", reaches, within)


def check_round(domain: Domain, terms: Terms, spend: Spend, radius: float, weights: RoundWeights = USUAL_WEIGHTS) -> None:
    """Refuse, before a charge, a round whose noise could not be drawn or whose distances would not be exact.

    Centres in the farthest corner, moves clipped to this many grid steps and the worst reach up to as many are the worst that a
    round can have; where radii differ, the narrow one counts in finer units.
    """
    norm, columns = norm_of(spend), len(domain.halves)
    corners = domain.put(np.repeat(domain.halves[None], 2, axis=0).astype(np.float64))
    reach = worst_reach(max(1, round(radius)))
    kernel = round_kernel(corners, np.array([1.0, radius]), np.array([1.0, reach]), norm, domain.clip)
    calibrate(terms.sensitivity(kernel), spend, round_weights(columns, norm, terms.neighbours, weights))


def count_noise(
    sensitivity: Callable[[ClippedSums], Sensitivity],
    spend: Spend,
    columns: int,
    neighbours: Neighbours,
    weights: RoundWeights = USUAL_WEIGHTS,
) -> float:
    """The deviation of one count of a round, in rows; `sensitivity`: of a kernel, for a row or for a person."""
    norm = norm_of(spend)
    origin, within = np.zeros((1, columns), dtype=np.int32), BoxClip((1,) * columns)
    kernel = round_kernel(origin, UNIT_RADIUS, UNIT_RADIUS, norm, within)
    return calibrate(sensitivity(kernel), spend, round_weights(columns, norm, neighbours, weights)).deviation()["counts"]


def sum_noise(spend: Spend, columns: int, neighbours: Neighbours, weights: RoundWeights = USUAL_WEIGHTS) -> float:
    """The deviation of one coordinate of a round's sums, in clipping radii."""
    norm = norm_of(spend)
    origin, within = np.zeros((1, columns), dtype=np.int32), BoxClip((1,) * columns)
    kernel = round_kernel(origin, UNIT_RADIUS, UNIT_RADIUS, norm, within)
    mechanism = calibrate(kernel.sensitivity(neighbours), spend, round_weights(columns, norm, neighbours, weights))
    return mechanism.deviation()["sums"] / UNIT_RADIUS
