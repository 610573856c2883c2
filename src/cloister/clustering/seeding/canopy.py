"""The optimized Canopy on released points: centres by the max-min principle, and a number of clusters from its depth.

Privacy
-------
Free: it sees the cells of a released synopsis. On raw rows, as printed, each chosen centre *is* a row and leaks it.

Max-min: after a first centre every next one is the point farthest from all chosen so far, at distance d_2 >= d_3 >= ... While
true clusters are left without a centre that distance is about the gap between clusters; then it falls to the size of a
cluster. The k with the largest depth |d_k - d_(k-1)| + |d_(k+1) - d_k| is proposed. As printed the d are distances; the first
few then fall by more than any later one, whatever the clusters, because every new centre shares out the whole domain. So
the default takes logarithms: by what part the distance falls. ``relative=False`` is the printed rule. One fall makes the
depth large at the k before it and at the k after it; the k before it is proposed.

Noise puts a little weight far from everything, and the farthest point would always be one of those. So only the densest
cells take part, as many as hold half of the weight: the cores of the clusters.

References
----------
"Clustering algorithms with differential identifiability for big data", section 6 (optimized Canopy); the max-min principle
is Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Suggestion", "canopy_centers", "farthest_first", "suggest"]

CORE = 0.5  # part of the weight that lies in cells dense enough to take part


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed number of clusters, with the curve it was read from.

    `distances[i]` is how far the (i+2)-th centre was from all before it; `depths[i]` is the depth at i + 2 clusters.
    """

    clusters: int
    distances: NDArray[np.float64]
    depths: NDArray[np.float64]

    def __str__(self) -> str:
        return f"{self.clusters} clusters (largest change of the max-min distance)"


def core(weights: NDArray[np.float64], densities: NDArray[np.float64] | None, least: int) -> NDArray[np.intp]:
    """The densest points that hold half of the weight, with all as dense as the last of them; at least `least` points."""
    density = weights if densities is None else densities
    order = np.argsort(-density, kind="stable")
    weight_so_far = np.cumsum(weights[order])
    last = max(least - 1, int(np.searchsorted(weight_so_far, CORE * weight_so_far[-1])))
    return np.flatnonzero(density >= density[order[min(last, len(order) - 1)]])


def farthest_first(
    points: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Points by the max-min principle, from the heaviest on, with the distance of each after the first to those before."""
    chosen = [int(np.argmax(weights))]
    gaps = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    distances = []
    for _ in range(count - 1):
        following = int(np.argmax(gaps))
        distances.append(float(np.sqrt(gaps[following])))
        chosen.append(following)
        np.minimum(gaps, ((points - points[following]) ** 2).sum(axis=1), out=gaps)
    return np.array(chosen, dtype=np.intp), np.array(distances)


def canopy_centers(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    clusters: int,
    densities: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Starting centres, (k, d): the first `clusters` of the max-min order of the core."""
    inner = core(weights, densities, min(clusters, len(points)))
    chosen, _ = farthest_first(points[inner], weights[inner], clusters)
    return points[inner][chosen]


def suggest(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    most: int,
    densities: NDArray[np.float64] | None = None,
    relative: bool = True,
) -> Suggestion:
    """The number of clusters, between 2 and `most`, at which the max-min distance changes most; a single point is one."""
    inner = core(weights, densities, min(most + 1, len(points)))
    count = min(most + 1, len(inner))
    if count < 3:
        return Suggestion(min(count, 2), np.zeros(0), np.zeros(0))
    _, distances = farthest_first(points[inner], weights[inner], count)
    # distances[i] belongs to centre i + 2. Depth at k: with k centres chosen, the last came at d_k, the next at d_(k+1);
    # d_1 has no meaning, so at k = 2 only the change after it counts.
    least = distances[distances > 0].min() if (distances > 0).any() else 1.0
    curve = np.log(np.maximum(distances, least)) if relative else distances
    after = np.abs(np.diff(curve))
    before = np.concatenate([[0.0], after[:-1]])
    depths = before + after  # (count - 2,), for k = 2..count-1
    peak = int(np.argmax(depths))
    # One fall makes the depth large on both of its sides; the clusters are those before it.
    is_after_fall = relative and after[peak] < before[peak]
    return Suggestion(peak + 1 if is_after_fall else peak + 2, distances, depths)
