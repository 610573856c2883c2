"""Clusters of released points from one of four seedings. Free: no row is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.seeding.canopy import canopy_centers
from cloister.clustering.seeding.evolution import evolve
from cloister.clustering.seeding.evolution_options import OWN_EVOLUTION, EvolutionOptions, check_genomes
from cloister.clustering.seeding.point_search import search_centers
from cloister.clustering.seeding.points_kmeans import Weighted, lloyd, nearest, plus_plus_seeds
from cloister.errors import UsageError
from cloister.kernels.loops.choose import can_compile
from cloister.parameters import unknown_choice

__all__ = ["SEEDINGS", "check_seeding", "cluster_points", "parallel_seeds"]

SEEDINGS = ("kmeans++", "kmeans||", "canopy", "evolution")
PARALLEL_STARTS = 2  # of the search, from k-means||
OVERSAMPLING = 2  # times k candidates a round: Bahmani et al. 2012
ROUNDS = 5


def cluster_points(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    clusters: int,
    seeding: str,
    random: PublicChance,
    densities: NDArray[np.float64] | None = None,
    evolution: EvolutionOptions = OWN_EVOLUTION,
) -> Weighted:
    """Centres of weighted points, and their sizes.

    "kmeans++" is the search of `point_search`, which starts from k-means++; "kmeans||" is the same search, with starts from
    k-means|| too. "canopy" is the max-min order of its paper, then Lloyd. "evolution" goes on from what the search found, or,
    as its paper has it, from cells drawn at random (`EvolutionOptions.start`), and ends with Lloyd.

    Parameters
    ----------
    points : (n, d), released
    weights : (n,), above 0
    clusters : int, at most n
    seeding : "kmeans++", "kmeans||", "canopy" or "evolution"
    random : numpy Generator, public
    densities : (n,), optional
        For "canopy": which points are densest; by default the heaviest.
    evolution : EvolutionOptions
        For "evolution".
    """
    check_seeding(seeding)
    if clusters > len(points):
        raise UsageError(
            f"{clusters} clusters were asked for, and the synopsis has {len(points)} cells that are not empty. Ask for "
            f"{len(points)} or fewer, or release a finer synopsis."
        )
    check_genomes(evolution, clusters, points.shape[1])
    if seeding == "canopy":
        return lloyd(points, weights, canopy_centers(points, weights, clusters, densities))
    if seeding == "evolution" and evolution.start == "random":
        return lloyd(points, weights, evolve(points, weights, clusters, random, evolution).centers)
    is_parallel = seeding == "kmeans||"
    starts = [parallel_seeds(points, weights, clusters, random) for _ in range(PARALLEL_STARTS if is_parallel else 0)]
    found = search_centers(points, weights, clusters, random, starts)
    if seeding != "evolution":
        return found
    evolved = evolve(points, weights, clusters, random, evolution, found.centers)
    return min(found, lloyd(points, weights, evolved.centers), key=lambda run: run.loss)


def check_seeding(seeding: str) -> None:
    """Refuse a seeding that does not exist, or that cannot run here."""
    if not isinstance(seeding, str) or seeding not in SEEDINGS:
        raise unknown_choice("seeding", seeding, SEEDINGS)
    if seeding == "evolution" and not can_compile():
        raise UsageError(
            'seeding "evolution" needs numba, which cannot be used here. Mend its installation, or choose another seeding.'
        )


def parallel_seeds(
    points: NDArray[np.float64], weights: NDArray[np.float64], clusters: int, random: PublicChance
) -> NDArray[np.float64]:
    """k-means||: a few rounds that each keep about 2k points, then k-means++ on those, weighted by the points nearest to each.

    References
    ----------
    B. Bahmani et al., "Scalable k-means++", VLDB 2012.
    """
    chosen = np.zeros(len(points), dtype=bool)
    chosen[random.choice(len(points), p=weights / weights.sum())] = True
    gaps = ((points - points[chosen][0]) ** 2).sum(axis=1)
    for _ in range(ROUNDS):
        cost = weights * gaps
        if cost.sum() <= 0:
            break
        kept = (random.random(len(points)) < OVERSAMPLING * clusters * cost / cost.sum()) & ~chosen
        chosen |= kept
        for candidate in points[kept]:
            np.minimum(gaps, ((points - candidate) ** 2).sum(axis=1), out=gaps)
    if chosen.sum() < clusters:  # few distinct points: fill up with the heaviest of the rest
        rest = np.where(chosen, -1.0, weights)
        chosen[np.argsort(-rest, kind="stable")[: clusters - int(chosen.sum())]] = True
    candidates = points[chosen]
    masses = np.bincount(nearest(points, candidates)[0], weights=weights, minlength=len(candidates)).astype(np.float64)
    heavy = masses > 0
    if heavy.sum() < clusters:
        return candidates[:clusters]
    return plus_plus_seeds(candidates[heavy], masses[heavy], clusters, random)
