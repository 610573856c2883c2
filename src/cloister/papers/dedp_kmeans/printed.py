"""The algorithms of paper 003 as printed: DP k-means (section 4.2) and DEDP k-means (section 5.4). Neither is private.

What is wrong with them:

- The rows are normalised by their own smallest and largest values, and the rounds end by the exact squared error: both are
  exact facts of the rows.
- Every round adds Laplace noise of scale (sensitivity) / epsilon; how the rounds share epsilon is not printed. Taken at its
  word each round costs epsilon again.
- What the sensitivity is is not printed. In [0, 1]^d a row moves the sums by up to d and the count by 1: d + 1 for both
  together. With 1 for each number a round costs (d + 1) epsilon.
- DEDP k-means first searches its start on the exact rows, at no charge (`printed_evolution`).

Noise here is of NumPy's generator and a seed: what comes out is for comparison, and stamped `Claimed`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.papers.dedp_kmeans.printed_evolution import PSEUDO_CODE, EvolutionReading, PrintedStart, evolve_on_rows
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected

__all__ = [
    "AS_PRINTED",
    "NUMBER",
    "PROVED",
    "NoisyCenters",
    "NoisyRounds",
    "dedp_kmeans",
    "dedp_releases",
    "dp_kmeans",
    "evolved_start",
    "noised_centers",
]

Floats = NDArray[np.float64]
NUMBER = "003"
PROVED = "nothing: start, scaling and stop are exact facts of the rows"
SETTLED = 1e-3  # of the error: the rounds end when it changes by less


@dataclass(frozen=True, slots=True)
class NoisyRounds:
    """How the paper's gaps are filled.

    Attributes
    ----------
    most
        Rounds (T_k), of which no number is printed.
    is_shared
        Whether the rounds share epsilon. The print has scale (sensitivity) / epsilon in every round, which is False.
    sensitivity
        Of a row in [0, 1]^d on sums and counts; None: d + 1, which covers both.
    stops
        Whether the rounds end when the exact error settles, as printed; False: all rounds are run.
    is_raw
        Whether rows are assigned by distances in their own units, as tables 3 and 4 must have been; False: by normalised ones,
        as the text says. The noise is that of normalised sums in both.
    """

    most: int = 10
    is_shared: bool = False
    sensitivity: float | None = None
    stops: bool = True
    is_raw: bool = False

    def scale(self, epsilon: float, columns: int) -> float:
        """Of the Laplace noise of every sum and count of a round."""
        whole = columns + 1 if self.sensitivity is None else self.sensitivity
        return whole * (self.most if self.is_shared else 1) / epsilon


AS_PRINTED = NoisyRounds()


@dataclass(frozen=True, slots=True)
class NoisyCenters:
    """Centres in the units of the rows, with all that were passed on the way."""

    centers: Floats  # (k, d)
    path: Floats  # (rounds + 1, k, d), the first are those it began from
    rounds: int


def dp_kmeans(
    rows: Unprotected[Floats], clusters: int, epsilon: float, seed: int, rounds: NoisyRounds = AS_PRINTED
) -> PrintedResult[NoisyCenters]:
    """Section 4.2: k rows with noise as the start, then Lloyd with noisy sums and counts until the exact error settles."""
    random = np.random.default_rng(seed)
    points, low, widths = _normalised(rows.value)
    start = points[random.choice(len(points), clusters, replace=False)]
    noise = random.laplace(scale=points.shape[1] / epsilon, size=start.shape)  # moving one row moves one centre by at most d
    found = _lloyd(points, np.clip(start + noise, 0, 1), widths, epsilon, rounds, random)
    return _stamped(found, low, widths, "DP k-means", epsilon, rounds, seed)


def dedp_kmeans(
    rows: Unprotected[Floats],
    start: PrintedResult[PrintedStart],
    epsilon: float,
    seed: int,
    rounds: NoisyRounds = AS_PRINTED,
) -> PrintedResult[NoisyCenters]:
    """Section 5.4, step 8: the evolved centres, exact as they are, go into the noisy rounds of DP k-means."""
    random = np.random.default_rng(seed)
    points, low, widths = _normalised(rows.value)
    begin = (start.value.centers[0] - low) / widths
    found = _lloyd(points, begin, widths, epsilon, rounds, random)
    return _stamped(found, low, widths, "DEDP k-means", epsilon, rounds, seed)


def evolved_start(
    rows: Unprotected[Floats], clusters: int, seed: int, reading: EvolutionReading = PSEUDO_CODE, *, is_raw: bool = False
) -> PrintedResult[PrintedStart]:
    """Section 5.4, steps 2 to 7: the start that evolution finds, in the units of the rows. It does not depend on epsilon."""
    random = np.random.default_rng(seed)
    points, low, widths = _normalised(rows.value)
    if is_raw:
        found = evolve_on_rows(rows.value, clusters, reading, random)
    else:
        found = evolve_on_rows(points, clusters, reading, random)
        found = PrintedStart(found.centers * widths + low, found.losses, found.evaluations, found.best)
    words = f"{reading.mutation}, crossover {reading.crossover}, selection by {reading.selection}"
    return stamp(
        found,
        Claimed(NUMBER, "part of epsilon-differential privacy", "nothing: members are rows, and their fitness is exact"),
        clusters=clusters,
        generations=reading.generations,
        reading=words,
        seed=seed,
    )


def dedp_releases(
    rows: Unprotected[Floats], clusters: int, epsilon: float, seed: int, runs: int, reading: EvolutionReading = PSEUDO_CODE
) -> PrintedResult[Floats]:
    """Section 5.4 many times at once, (runs, k, d), for rows that lie in [0, 1]^d already: nothing is normalised.

    One noisy round, with the whole epsilon and a sensitivity of d + 1, and no stop by the exact error. Everything that is wrong
    beside the evolution is put right: what leaks here, leaks through the start.
    """
    random = np.random.default_rng(seed)
    start = evolve_on_rows(rows.value, clusters, reading, random, runs).centers  # (runs, k, d)
    points, counts = np.unique(rows.value, axis=0, return_counts=True)
    gaps = ((points[None, :, None] - start[:, None]) ** 2).sum(axis=3)  # (runs, n, k)
    chosen = (gaps.argmin(axis=2)[:, :, None] == np.arange(clusters)) * counts[:, None]
    scale = NoisyRounds(most=1).scale(epsilon, points.shape[1])
    sums = np.einsum("rnk,nd->rkd", chosen, points)
    centers = noised_centers(sums, chosen.sum(axis=1), scale, random, (runs,))
    return stamp(
        centers,
        Claimed(NUMBER, f"epsilon {epsilon:g}", "nothing: the start is evolved on exact rows"),
        algorithm="DEDP k-means, one round",
        epsilon=epsilon,
        runs=runs,
        seed=seed,
    )


def noised_centers(
    sums: Floats, counts: Floats, scale: float, random: np.random.Generator, shape: tuple[int, ...] = ()
) -> Floats:
    """Section 4.2, step 3: (sum + noise) / (count + noise), (..., k, d), put back into the box that the step before names.

    A noisy count may be zero or below; the quotient is taken as it is.
    """
    noisy_sums = sums + random.laplace(scale=scale, size=(*shape, *sums.shape[-2:]))
    noisy_counts = counts + random.laplace(scale=scale, size=(*shape, counts.shape[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(noisy_sums / noisy_counts[..., None]), 0, 1)


def _normalised(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows in [0, 1]^d by their own smallest and largest values, with these: what the paper calls normalisation."""
    low = rows.min(axis=0)
    widths = rows.max(axis=0) - low
    widths = np.where(widths > 0, widths, 1.0)
    return (rows - low) / widths, low, widths


def _lloyd(
    points: Floats, start: Floats, widths: Floats, epsilon: float, rounds: NoisyRounds, random: np.random.Generator
) -> Floats:
    """The centres of all rounds in [0, 1]^d, (rounds + 1, k, d)."""
    units = widths if rounds.is_raw else np.ones(len(widths))
    scale = rounds.scale(epsilon, points.shape[1])
    path, before = [start], np.inf
    for _ in range(rounds.most):
        gaps = (((points[:, None] - path[-1][None]) * units) ** 2).sum(axis=2)  # (n, k)
        labels, error = gaps.argmin(axis=1), float(gaps.min(axis=1).sum())  # the exact error decides when it ends
        if rounds.stops and abs(before - error) <= SETTLED * error:
            break
        before = error
        chosen = labels[:, None] == np.arange(len(start))  # (n, k)
        path.append(noised_centers(chosen.T.astype(np.float64) @ points, chosen.sum(axis=0), scale, random))
    return np.array(path)


def _stamped(
    path: Floats, low: Floats, widths: Floats, what: str, epsilon: float, rounds: NoisyRounds, seed: int
) -> PrintedResult[NoisyCenters]:
    own_units = path * widths + low
    return stamp(
        NoisyCenters(own_units[-1], own_units, len(path) - 1),
        Claimed(NUMBER, f"epsilon {epsilon:g}", PROVED),
        algorithm=what,
        epsilon=epsilon,
        rounds=rounds.most,
        seed=seed,
    )
