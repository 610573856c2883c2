"""Cells that do not stand out of the noise alone, but do together with their neighbours: post-processing of released votes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.seeding.points_kmeans import best_of_restarts, nearest
from cloister.privacy.mechanisms import Mechanism

__all__ = ["join_cells"]

ITERATIONS = 6  # of the search for groups: they need not be the best

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def join_cells(
    places: Array,
    counts: Array,
    left: Indices,
    sizes: Sequence[int],
    false_groups: float,
    mechanism: Mechanism,
    random: PublicChance,
) -> list[Indices]:
    """Groups of the cells that are left, near each other, each with more votes than its noise explains.

    Groups have about so many cells, the fewest first; what stands out is not tried again. Where fewer cells are left than a
    group has they are tried together, and that is the last try.

    Parameters
    ----------
    places : (m, d); counts : (m,) released votes; left : which of these cells to join
    false_groups
        How many groups of empty cells are to be expected at most.
    mechanism
        Of the noise of the counts.
    """
    groups: list[Indices] = []
    for size in sizes:
        if not len(left):
            break
        wanted = max(1, len(left) // size)
        centers = best_of_restarts(places[left], np.ones(len(left)), wanted, random, restarts=1, iterations=ITERATIONS)
        labels, _ = nearest(places[left], centers)
        cells = np.bincount(labels, minlength=wanted)
        votes = np.bincount(labels, weights=counts[left], minlength=wanted)
        exponent = log(max(1.0, len(sizes) * wanted / (2 * false_groups)))
        marks = {int(n): mechanism.tail("counts", exponent, int(n)) for n in np.unique(cells) if n}
        full = [group for group in range(wanted) if cells[group] and votes[group] > marks[int(cells[group])]]
        groups += [left[labels == group] for group in full]
        left = left[~np.isin(labels, full)]
        if wanted == 1:
            break
    return groups
