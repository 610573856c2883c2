"""A round around released prototypes: counts, sums and value counts in one release, and the prototypes that follow from it.

Votes and Lloyd both end in such rounds. What is released and its sensitivity: `kernels.PrototypeSums`. The new prototypes are
post-processing: numbers are moved by their noisy mean move, shrunk by its noise; a category is the value of the largest noisy
count (noisy maximum with Laplace noise costs what the exponential mechanism costs, and the whole histogram may be used).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.seeding.points_prototypes import Prototypes, WeightedTuples
from cloister.clustering.terms import Terms
from cloister.kernels import Euclidean, Modes, PrototypeSums, Summary, Taxicab
from cloister.kernels.centers import find_nearest
from cloister.privacy.mechanisms import Norm, Released, Spend, calibrate, norm_of

__all__ = ["Refined", "check_round", "clip_of", "refine", "round_deviation", "round_kernel", "round_weights"]

NEAR = 0.8  # part of the made-up rows that a clipping radius leaves alone
UNIT_RADIUS = 1 << 20


@dataclass(frozen=True, slots=True)
class Refined:
    """Prototypes after a round, with the noisy number of rows of each and the noise's part in each coordinate."""

    centers: NDArray[np.int32]  # (k, d)
    modes: Modes  # (k, c)
    counts: NDArray[np.float64]  # (k,)
    errors: NDArray[np.float64]  # (k, d)


def round_weights(domain: Domain, norm: Norm) -> dict[str, str]:
    """How counts, sums and value counts share a round.

    With Laplace noise the c value counts of a row have L1 norm c, its clipped numbers the norm of one column times sqrt d; so
    c and d^(2/3) parts beside 1 for the counts. With Gaussian noise the roots of c and d.
    """
    numbers, categories = len(domain.halves), len(domain.sizes)
    sums = sqrt(numbers) if norm == "L2" else numbers ** (2 / 3)
    values = sqrt(categories) if norm == "L2" else float(categories)
    weights = {"counts": 1.0, **({"sums": sums} if numbers else {}), "values": values}
    return {part: f"{weight:.9f}" for part, weight in weights.items()}


def clip_of(
    tuples: WeightedTuples, centers: NDArray[np.int32], modes: Modes, domain: Domain, norm: Norm
) -> Euclidean | Taxicab:
    """What moves of numbers are clipped to: the length that most made-up rows have from their prototype."""
    if not len(domain.halves):
        return Taxicab(1)
    labels, _ = find_nearest(tuples.rows, centers, modes)
    moves = tuples.rows.numbers.astype(np.float64) - centers[labels]
    lengths = np.abs(moves).sum(axis=1) if norm == "L1" else np.sqrt((moves**2).sum(axis=1))
    order = np.argsort(lengths, kind="stable")
    below = np.cumsum(tuples.weights[order])
    near = lengths[order][min(np.searchsorted(below, NEAR * below[-1]), len(order) - 1)]
    most = 2 * (float(domain.halves.sum()) if norm == "L1" else domain.radius)
    radius = max(1, round(min(most, max(float(near), 1e-4 * domain.radius))))
    return Taxicab(radius) if norm == "L1" else Euclidean(radius)


def round_kernel(
    centers: NDArray[np.int32], modes: Modes, clip: Euclidean | Taxicab | None, domain: Domain
) -> PrototypeSums:
    """The kernel of a round."""
    return PrototypeSums(centers, modes, domain.sizes, clip, domain.clip)


def worst_prototype(domain: Domain, gamma: int) -> tuple[NDArray[np.int32], Modes]:
    """A prototype in the farthest corner, from which distances are largest."""
    codes = np.zeros((1, len(domain.sizes)), dtype=np.int32)
    return domain.halves[None].astype(np.int32), Modes(codes, np.array([gamma], dtype=np.int64))


def check_round(domain: Domain, terms: Terms, spend: Spend, gamma: int, *, is_clipped: bool = True) -> None:
    """Refuse, before a charge, a round whose noise could not be drawn or whose distances would not be exact."""
    norm = norm_of(spend)
    widest = max(1, 2 * int(domain.halves.sum() if norm == "L1" else np.ceil(domain.radius)))
    clip = (Taxicab(widest) if norm == "L1" else Euclidean(widest)) if is_clipped else None
    kernel = round_kernel(*worst_prototype(domain, gamma), clip, domain)
    calibrate(terms.sensitivity(kernel), spend, round_weights(domain, norm))


def round_deviation(domain: Domain, terms: Terms, spend: Spend) -> dict[str, float]:
    """The deviation of a round's noise: of a count, of a value count, and of a sum in clipping radii."""
    norm = norm_of(spend)
    clip = Taxicab(UNIT_RADIUS) if norm == "L1" else Euclidean(UNIT_RADIUS)
    kernel = round_kernel(*worst_prototype(domain, 1), clip, domain)
    deviation = calibrate(terms.sensitivity(kernel), spend, round_weights(domain, norm)).deviation()
    return {**deviation, "sums": deviation.get("sums", 0.0) / UNIT_RADIUS}


def refine(kernel: PrototypeSums, released: Released[Summary], domain: Domain) -> Refined:
    """The prototypes after a round. A move is shrunk by its own noise, 1 - E|noise|^2 / |move|^2 (James and Stein)."""
    counts = released.value["counts"].astype(np.float64)  # (k,)
    values = released.value["values"]  # (k, all values)
    by_column = np.split(values, np.cumsum(domain.sizes)[:-1], axis=1)
    codes = np.stack([column.argmax(axis=1) for column in by_column], axis=1).astype(np.int32)
    modes = Modes(np.ascontiguousarray(codes), kernel.modes.weights)
    k, d = kernel.centers.shape
    if not d:
        return Refined(kernel.centers, modes, counts, np.zeros((k, 0)))
    noise = released.deviation["sums"]
    floor = np.maximum(counts, max(2 * released.deviation["counts"], 1.0))
    sums = released.value["sums"].astype(np.float64) / floor[:, None]
    moves = sums if kernel.clip is not None else np.where(counts[:, None] >= 1, sums - kernel.centers, 0.0)
    lengths = (moves**2).sum(axis=1)
    kept = np.maximum(0.0, 1 - d * (noise / floor) ** 2 / np.maximum(lengths, 1e-300)) if kernel.clip is not None else 1.0
    centers = domain.put(kernel.centers + np.broadcast_to(kept, (k,))[:, None] * moves)
    return Refined(centers, modes, counts, np.repeat((noise / floor)[:, None], d, axis=1))


def start_of(found: Prototypes, rows: float) -> Refined:
    """Prototypes before the first round."""
    k = len(found.centers)
    return Refined(found.centers, found.modes, np.full(k, rows / k), np.full(found.centers.shape, np.inf))
