"""Sphere packing: first centres far from each other and from the border, without looking at a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain

__all__ = ["sphere_packing"]

TRIES = 100  # random places tried for a centre before the spheres are made smaller
FIRST_TRIES = 4  # looked at before the others: 4,096 centres then take seconds instead of minutes
HALVINGS = 12


def sphere_packing(domain: Domain, clusters: int, random: PublicChance) -> NDArray[np.int32]:
    """Centres at least 2a apart and a from the border, for the largest radius a that a random search finds.

    Public: it depends on the domain and on `random` alone.

    References
    ----------
    D. Su, J. Cao, N. Li, E. Bertino, M. Lyu and H. Jin, "Differentially private k-means clustering and a hybrid approach
    to private optimization", TOPS 2017, section 3.
    """
    low, high = 0.0, domain.radius
    best = place(domain, clusters, 0.0, random)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        packed = place(domain, clusters, middle, random)
        if packed is None:
            high = middle
        else:
            low, best = middle, packed
    assert best is not None, "spheres of radius 0 always fit"
    return domain.put(best)


def place(domain: Domain, clusters: int, radius: float, random: PublicChance) -> NDArray[np.float64] | None:
    """Centres of spheres of this radius placed one by one at random, or None when one finds no room."""
    centers = np.empty((clusters, len(domain.halves)))
    if domain.is_ball and radius >= domain.radius:
        return None
    for i in range(clusters):
        free = first_free(draw(domain, radius, random), centers[:i], (2 * radius) ** 2)
        if free is None:
            return None
        centers[i] = free
    return centers


def first_free(tries: NDArray[np.float64], centers: NDArray[np.float64], square: float) -> NDArray[np.float64] | None:
    """The first of some places whose squared distance to every centre is at least this; mostly it is among the first few."""
    for few in (tries[:FIRST_TRIES], tries[FIRST_TRIES:]):
        gaps = ((few[:, None, :] - centers[None]) ** 2).sum(axis=2).min(axis=1, initial=np.inf)
        free = np.flatnonzero(gaps >= square)
        if len(free):
            first: NDArray[np.float64] = few[free[0]]
            return first
    return None


def draw(domain: Domain, margin: float, random: PublicChance) -> NDArray[np.float64]:
    """Places drawn evenly from the domain, as far from its border as it allows up to `margin`, (TRIES, d)."""
    columns = len(domain.halves)
    if domain.is_ball:
        directions = random.standard_normal((TRIES, columns))
        directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
        lengths = (domain.radius - margin) * random.random((TRIES, 1)) ** (1 / columns)
        places: NDArray[np.float64] = directions * lengths
        return places
    room = np.maximum(0.0, domain.halves - margin)
    inside: NDArray[np.float64] = (2 * random.random((TRIES, columns)) - 1) * room
    return inside
