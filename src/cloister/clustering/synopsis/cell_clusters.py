"""Centres from released cells: a synopsis is bought, and its cells are clustered for free.

Privacy
-------
Released: the synopsis, of one of `SHAPES`. Everything after it, the number of clusters included, is post-processing of the
cells, public noise scales and public random numbers. Methods that end here and methods that go on from these centres share it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.progress import Progress
from cloister.clustering.seeding.canopy import suggest
from cloister.clustering.seeding.evolution_options import EvolutionOptions
from cloister.clustering.seeding.points_kmeans import nearest
from cloister.clustering.seeding.weighted import cluster_points
from cloister.clustering.synopsis.noisy_cells import Cells, log_densities
from cloister.clustering.synopsis.queries import kept_weights
from cloister.clustering.synopsis.shapes import find_shape
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.vault import Vault

__all__ = ["CellClusters", "Estimate", "release_and_cluster", "shape_for"]

GRID_COLUMNS = 3  # up to so many columns rounds start from an adaptive grid, beyond from a tree
MOST_CLUSTERS = 30  # looked at when their number is to be suggested


@dataclass(frozen=True, slots=True)
class Estimate:
    """Centres in grid steps, how many rows each has, and the noise's part in each coordinate."""

    centers: NDArray[np.int32]  # (k, d)
    sizes: NDArray[np.float64]  # (k,)
    errors: NDArray[np.float64]  # (k, d)


@dataclass(frozen=True, slots=True)
class CellClusters:
    """What the cells of a synopsis give."""

    estimate: Estimate
    total: float  # the best estimate of the number of rows
    notes: tuple[str, ...]  # of the shape


def shape_for(columns: int) -> str:
    """The shape that rounds on the rows start from: a grid in few columns, where it is finer; a tree beyond."""
    return "adaptive-grid" if columns <= GRID_COLUMNS else "tree"


def release_and_cluster(
    vault: Vault, task: Task, shape: str, terms: Terms, seeding: str, random: PublicChance, progress: Progress
) -> CellClusters:
    """Release a synopsis of this shape inside an open vault, on these terms, and cluster its cells from this seeding."""
    domain = task.domain
    assert domain is not None
    cells, total, notes = find_shape(shape).build(vault, domain, terms, progress)
    weights = kept_weights(cells.counts, total)
    full = weights > 0
    if not full.any():  # an empty table: every cell counts the same
        full[:], weights[:] = True, 1.0
    points, mass, densities = cells.points[full], weights[full], log_densities(cells, weights)[full]
    progress("clusters")
    clusters = task.clusters or suggest(points, mass, MOST_CLUSTERS, densities).clusters
    centers, sizes = clusters_of(points, mass, densities, clusters, seeding, task.evolution, random)
    errors = noise_of_means(cells.take(full), mass, centers)
    return CellClusters(Estimate(domain.put(centers), sizes, errors), total, notes)


def clusters_of(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    densities: NDArray[np.float64],
    clusters: int,
    seeding: str,
    evolution: EvolutionOptions,
    random: PublicChance,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres and sizes; where there are fewer cells than clusters, every cell, repeated as often as needed."""
    if clusters <= len(points):
        best = cluster_points(points, weights, clusters, seeding, random, densities, evolution)
        return best.centers, best.sizes
    which = np.arange(clusters) % len(points)
    return points[which], weights[which] / np.bincount(which)[which]


def noise_of_means(cells: Cells, weights: NDArray[np.float64], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The counts' noise in each coordinate of a centre sum w p / sum w, to first order, (k, d)."""
    label, _ = nearest(cells.points, centers)
    spread = np.zeros(centers.shape)
    np.add.at(spread, label, cells.variances[:, None] * (cells.points - centers[label]) ** 2)
    mass = np.bincount(label, weights=weights, minlength=len(centers))
    errors: NDArray[np.float64] = np.where(mass[:, None] > 0, np.sqrt(spread) / np.maximum(mass, 1e-9)[:, None], np.inf)
    return errors
