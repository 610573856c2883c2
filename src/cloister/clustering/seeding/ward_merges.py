"""Ward's merges: from more centres than are wanted back to the number that is. Free: no row is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["merge_centers"]

Floats = NDArray[Any]


def merge_centers(members: Floats, masses: NDArray[np.float64], clusters: int) -> Floats:
    """Merge, in each member, the two centres whose union costs least, until `clusters` are left.

    Two centres of weights a and b that lie d apart become their mean; that adds a b / (a + b) d^2 to the squared error. A
    centre without weight costs nothing and goes first.

    Parameters
    ----------
    members : (p, m, d)
    masses : (p, m), the weight of each centre
    clusters : int, at most m

    Returns
    -------
    (p, clusters, d)

    References
    ----------
    J. Ward, "Hierarchical grouping to optimize an objective function", JASA 1963.
    P. Fränti, "Genetic algorithm with deterministic crossover for vector quantization", Pattern Recognition Letters 2000.
    """
    centers, masses = members.copy(), masses.copy()
    count, wide, _ = centers.shape
    each = np.arange(count)
    costs = np.stack([union_costs(places, mass) for places, mass in zip(centers, masses, strict=True)])  # (p, m, m)
    partner = costs.argmin(axis=2)  # (p, m): the centre that each would be merged with at least cost
    least = np.take_along_axis(costs, partner[:, :, None], axis=2)[:, :, 0]
    alive = np.ones((count, wide), dtype=bool)
    for _ in range(wide - clusters):
        kept = least.argmin(axis=1)
        gone = partner[each, kept]
        alive[each, gone] = False
        union = masses[each, kept] + masses[each, gone]  # (p,)
        part = np.where(union > 0, masses[each, gone] / np.where(union > 0, union, 1.0), 0.0)[:, None]
        middle = (1 - part) * centers[each, kept] + part * centers[each, gone]  # (p, d)
        centers[each, kept], masses[each, kept], masses[each, gone] = middle, union, 0.0

        gaps = ((centers - centers[each, kept][:, None]) ** 2).sum(axis=2)  # (p, m)
        row = gaps * masses * union[:, None] / np.maximum(masses + union[:, None], np.finfo(np.float64).tiny)
        row = np.where(alive, row, np.inf).astype(costs.dtype)
        row[each, kept] = np.inf
        costs[each, gone], costs[each, :, gone], least[each, gone] = np.inf, np.inf, np.inf
        costs[each, kept], costs[each, :, kept] = row, row

        lost_partner = alive & ((partner == kept[:, None]) | (partner == gone[:, None]))
        lost_partner[each, kept] = True
        nearer = alive & (row < least) & ~lost_partner
        partner, least = np.where(nearer, kept[:, None], partner), np.where(nearer, row, least)
        member, place = np.nonzero(lost_partner)
        rows = costs[member, place]
        found = rows.argmin(axis=1)
        partner[member, place], least[member, place] = found, rows[np.arange(len(found)), found]
    return centers[alive].reshape(count, clusters, -1)


def union_costs(centers: Floats, masses: NDArray[np.float64]) -> Floats:
    """What merging each two centres adds to the squared error, (m, m); a centre and itself: infinite."""
    lengths = (centers**2).sum(axis=1)
    costs: Floats = np.maximum(lengths[:, None] + lengths - 2 * centers @ centers.T, 0)
    mass = masses.astype(centers.dtype)
    both = mass[:, None] + mass
    costs *= mass[:, None] * (mass / np.where(both > 0, both, 1))
    np.fill_diagonal(costs, np.inf)
    return costs
