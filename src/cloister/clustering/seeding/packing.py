"""Sphere packing: first centres far from each other and from the border, without looking at a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain

__all__ = ["sphere_packing"]

TRIES = 100  # random places tried for a centre before the spheres are made smaller
FIRST_TRIES = 4  # looked at before the others
MOST_SEARCHED = 256  # centres: the search takes time that grows with their square, minutes for 4,096
POOL = 8  # places drawn for each of more centres than that
MOST_POOL = 2**19  # their coordinates
HALVINGS = 12


def sphere_packing(domain: Domain, clusters: int, random: PublicChance) -> NDArray[np.int32]:
    """Centres at least 2a apart and a from the border, for the largest radius a that a random search finds.

    Public: it depends on the domain and on `random` alone.

    References
    ----------
    T. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    D. Su, J. Cao, N. Li, E. Bertino, M. Lyu and H. Jin, "Differentially private k-means clustering and a hybrid approach
    to private optimization", TOPS 2017, section 3.
    """
    if clusters > MOST_SEARCHED:
        return domain.put(farthest_first(domain, clusters, random))
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


def farthest_first(domain: Domain, clusters: int, random: PublicChance) -> NDArray[np.float64]:
    """Many centres far from each other and from the border: of some random places, each next one the farthest from those before.

    Their smallest gap is at least half of the best that these places allow (Gonzalez 1985). At first places lie up to the border,
    which is then drawn in by half of that gap. Where even a few places have too many coordinates, they are taken as they come.
    """
    columns = len(domain.halves)
    count = min(POOL * clusters, MOST_POOL // columns)
    if count < clusters:
        return np.concatenate([draw(domain, 0.0, random) for _ in range(-(-clusters // TRIES))])[:clusters]
    places = np.concatenate([draw(domain, 0.0, random) for _ in range(-(-count // TRIES))])
    chosen = np.empty(clusters, dtype=np.int64)
    gaps = np.full(len(places), np.inf)
    for i in range(clusters):
        chosen[i] = 0 if i == 0 else int(gaps.argmax())
        smallest = float(gaps[chosen[i]])
        np.minimum(gaps, ((places - places[chosen[i]]) ** 2).sum(axis=1), out=gaps)
    margin = np.sqrt(smallest) / 2
    widths = np.full(columns, domain.radius) if domain.is_ball else domain.halves.astype(np.float64)
    centers: NDArray[np.float64] = places[chosen] * np.maximum(0.0, 1 - margin / widths)
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
