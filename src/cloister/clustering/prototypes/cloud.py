"""A cloud of made-up rows that stands for a table: drawn from released marginals, weighed by released votes.

All of it is post-processing of released values; the random numbers that it uses are public. The cloud begins as if the columns
were independent. Votes for prototypes say how many rows are nearest to each, which they are not if columns hang together: the
made-up rows nearest to a prototype are then weighed up or down together, over all rounds of votes so far, until they agree with
what was released (iterative proportional fitting, each correction shrunk by its noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.prototypes.plan import largest_gamma
from cloister.clustering.seeding.points_prototypes import (
    Prototypes,
    WeightedTuples,
    best_prototypes,
    lloyd_prototypes,
    nearest_prototypes,
)
from cloister.clustering.votes.sketch import Sketch, sketch_of_moments
from cloister.encode import Encoded
from cloister.kernels import Modes, Summary
from cloister.privacy.mechanisms import Released

__all__ = ["Cloud", "cloud_of_marginals", "gamma_of_marginals"]

Array = NDArray[np.float64]

POINTS, POINTS_PER_CELL, MOST_POINTS = 4_000, 40, 10_000
CANDIDATE_ITERATIONS = 5  # of the search for candidates: they need not be the best
RESTARTS, ITERATIONS = 6, 25
FITTING_PASSES = 10
LEAST_KEPT = 0.05  # of the weight of made-up rows that votes take away at most in one pass
DOUBT = 0.5  # variance of a cell's weight, as a part of its square, before votes are seen
LEAST_TOTAL = 1e-9  # of the rows: votes that leave less are of an empty table, and are not heeded
LEAST_MIXED = 0.01  # the least that a category column counts as mixed, of 1 - sum of squared shares


@dataclass(frozen=True, slots=True)
class HeededVotes:
    """Votes for some prototypes: which each made-up row is nearest to, how many rows are, and the deviation of the noise."""

    nearest: NDArray[np.int32]  # (points,)
    counts: Array  # (m,)
    noise: float


@dataclass(frozen=True, slots=True)
class Cloud:
    """Made-up rows with the number of rows that each stands for, and the votes that they agree with."""

    tuples: WeightedTuples
    gamma: int
    votes: tuple[HeededVotes, ...] = ()

    def candidates(self, wanted: int, random: PublicChance) -> Prototypes:
        """Where to let rows vote: so many prototypes spread over the cloud."""
        return best_prototypes(self.tuples, wanted, self.gamma, random, restarts=1, iterations=CANDIDATE_ITERATIONS)

    def prototypes(self, clusters: int, gammas: Sequence[int], random: PublicChance) -> Prototypes:
        """The best clusters of the cloud. With a gamma for each the first is that of the largest cluster, and so on."""
        found = best_prototypes(self.tuples, clusters, self.gamma, random, restarts=RESTARTS, iterations=ITERATIONS)
        if len(gammas) <= 1:
            return found
        order = np.argsort(-found.sizes, kind="stable")
        modes = Modes(np.ascontiguousarray(found.modes.codes[order]), np.array(gammas, dtype=np.int64))
        return lloyd_prototypes(self.tuples, np.ascontiguousarray(found.centers[order]), modes, ITERATIONS)

    def heed(self, candidates: Prototypes, counts: Array, noise: float, rows: float) -> Cloud:
        """The cloud after votes for these candidates on about so many rows."""
        votes = (*self.votes, HeededVotes(nearest_prototypes(self.tuples, candidates), counts, noise))
        weights = self.tuples.weights
        for _ in range(FITTING_PASSES if len(votes) > 1 else 1):
            for vote in votes:
                weights = weights * correction(vote, weights)
        total = float(weights.sum())
        weights = weights * (rows / total) if total > LEAST_TOTAL * rows else self.tuples.weights
        return replace(self, tuples=replace(self.tuples, weights=weights), votes=votes)

    def suggest_clusters(self, most: int, random: PublicChance) -> int:
        """How many clusters the cloud falls into: the fewest within 5% of the best Calinski-Harabasz score."""
        total_weight = float(self.tuples.weights.sum())
        total = self._search(1, random).loss
        scores = {}
        for clusters in range(2, max(3, most + 1)):
            within = max(self._search(clusters, random).loss, 1e-12 * total, 1e-300)
            scores[clusters] = (total - within) / (clusters - 1) / (within / max(total_weight - clusters, 1.0))
        best = max(scores.values())
        # below 0 where all made-up rows are one: no number of clusters is better than another
        return min(clusters for clusters, score in scores.items() if score >= best - 0.05 * abs(best))

    def _search(self, clusters: int, random: PublicChance) -> Prototypes:
        return best_prototypes(self.tuples, clusters, self.gamma, random, restarts=2, iterations=CANDIDATE_ITERATIONS)


def correction(vote: HeededVotes, weights: Array) -> Array:
    """By what the weight of each made-up row is multiplied so that the cells come nearer to their votes, (points,)."""
    cells = np.bincount(vote.nearest, weights=weights, minlength=len(vote.counts))
    doubt = DOUBT * np.maximum(cells, 1.0) ** 2
    wanted = (vote.counts * doubt + cells * vote.noise**2) / (doubt + vote.noise**2)
    factors = np.maximum(wanted, LEAST_KEPT * cells) / np.maximum(cells, 1e-12)
    factors = np.where(cells > 0, factors, 1.0)
    corrected: Array = factors[vote.nearest]
    return corrected


def cloud_of_marginals(
    released: Released[Summary],
    unit: float,
    rows: float,
    cells: int,
    domain: Domain,
    gamma: int | None,
    random: PublicChance,
) -> Cloud:
    """Made-up rows whose columns have the released marginals, independently of each other; `unit` of the squares."""
    size = int(min(MOST_POINTS, max(POINTS, POINTS_PER_CELL * cells)))
    numbers = np.zeros((size, 0), dtype=np.int32)
    if len(domain.halves):
        sketch = sketch_of_numbers(released, unit, rows, domain)
        steps = random.standard_normal((size, len(domain.halves)))  # public: points of the cloud, not noise
        numbers = domain.put(sketch.means + steps * np.sqrt(sketch.shape * sketch.spreads[0]))
    codes = np.empty((size, len(domain.sizes)), dtype=np.int32)
    for j, shares in enumerate(value_shares(released.value["values"].astype(np.float64), rows, domain.sizes)):
        codes[:, j] = random.choice(len(shares), size=size, p=shares)
    tuples = WeightedTuples(Encoded(numbers, codes), np.full(size, rows / size), domain.sizes)
    return Cloud(tuples, gamma_of_marginals(released, unit, rows, domain) if gamma is None else gamma)


def gamma_of_marginals(released: Released[Summary], unit: float, rows: float, domain: Domain) -> int:
    """Gamma at which an average category column counts as much as an average number column, in squared grid steps.

    The mean variance of the numbers over the mean of 1 - sum of squared shares of the categories: by how much two rows differ.

    References
    ----------
    G. Szepannek, "clustMixType: user-friendly clustering of mixed-type data in R", The R Journal 2018.
    """
    sketch = sketch_of_numbers(released, unit, rows, domain)
    shares = value_shares(released.value["values"].astype(np.float64), rows, domain.sizes)
    mixed = np.mean([max(LEAST_MIXED, 1 - float(share @ share)) for share in shares])
    return min(largest_gamma(domain), max(1, round(float(sketch.spreads[0]) / len(domain.halves) / float(mixed))))


def sketch_of_numbers(released: Released[Summary], unit: float, rows: float, domain: Domain) -> Sketch:
    """Mean and variance of each number column, drawn by their noise towards those of a uniform distribution."""
    return sketch_of_moments(
        released.value["sums"].astype(np.float64),
        released.value["squares"].astype(np.float64) * unit,
        released.deviation["sums"],
        released.deviation["squares"] * unit,
        rows,
        domain,
    )


def value_shares(counts: Array, rows: float, sizes: Sequence[int]) -> list[Array]:
    """The share of each value of each column: the largest counts until they add up to the rows, the others are noise."""
    return [shares_of(column, rows) for column in np.split(counts, np.cumsum(sizes)[:-1])]


def shares_of(counts: Array, rows: float) -> Array:
    """The shares of one column's values, adding up to 1."""
    order = np.argsort(-counts, kind="stable")
    enough = int(np.searchsorted(np.cumsum(counts[order]), rows)) + 1
    kept = np.zeros(len(counts))
    kept[order[:enough]] = np.maximum(counts[order[:enough]], 0.0)
    if kept.sum() <= 0:
        kept[:] = 1.0
    shares: Array = kept / kept.sum()
    return shares
