"""Tables on which private k-means may have bad days. The rule of `votes` was fitted on others (docs/kmeans.md says which)."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from bench.panel import DATA, TABLES, Array, scaled
from cloister.clustering.seeding.point_search import search_centers

STARTS = 10


def halton(count: int, base: int) -> Array:
    """The first numbers of a sequence that fills the unit interval evenly."""
    numbers = np.zeros(count)
    for i in range(count):
        left, part = i + 1, 1.0
        while left:
            part /= base
            left, digit = divmod(left, base)
            numbers[i] += part * digit
    return numbers


def spread_centers(clusters: int, columns: int, random: np.random.Generator) -> Array:
    """Centres that fill the middle of the unit box evenly, in an order of their own."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19)[:columns]
    shift = random.random(columns)
    places = (np.stack([halton(clusters, base) for base in bases], axis=1) + shift) % 1.0
    return np.asarray(0.06 + 0.88 * places[random.permutation(clusters)])


def normal_clusters(centers: Array, sizes: NDArray[np.int64], width: float, random: np.random.Generator) -> Array:
    """Normal clusters of these sizes, each a little wider or narrower, cut off at the unit box."""
    widths = width * random.uniform(0.6, 1.4, (len(sizes), centers.shape[1]))
    rows = [
        random.normal(center, wide, (size, len(center))) for center, wide, size in zip(centers, widths, sizes, strict=True)
    ]
    return np.clip(np.concatenate(rows), 0, 1)


def unbalanced() -> Array:
    """Three clusters of 2,000 rows in a corner, five of 100 in a ring far from them, two columns."""
    random = np.random.default_rng(11)
    large = np.array([[0.12, 0.1], [0.3, 0.12], [0.16, 0.28]])
    turns = 2 * np.pi * (np.arange(5) / 5 + 0.07)
    small = 0.68 + 0.24 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return normal_clusters(np.concatenate([large, small]), np.array([2000] * 3 + [100] * 5), 0.02, random)


def zipf(columns: int, rows: int = 20_000, clusters: int = 20) -> Array:
    """Clusters whose sizes fall as 1, 1/2, 1/3, ..."""
    random = np.random.default_rng(20 + columns)
    parts = 1 / np.arange(1, clusters + 1)
    sizes = np.rint(rows * parts / parts.sum()).astype(np.int64)
    return normal_clusters(spread_centers(clusters, columns, random), sizes, 0.015 * columns**0.5, random)


def small_clusters(clusters: int) -> Array:
    """Clusters of 150 rows in two columns."""
    random = np.random.default_rng(30 + clusters)
    return normal_clusters(spread_centers(clusters, 2, random), np.full(clusters, 150), 0.06 / clusters**0.5, random)


def spiral(clusters: int = 100, rows: int = 100_000) -> Array:
    """Clusters along a spiral."""
    random = np.random.default_rng(41)
    turns = 2 * np.pi * np.sqrt(np.linspace(0.3, 9, clusters))
    along = turns / turns.max() * 0.44
    centers = 0.5 + np.stack([along * np.cos(turns), along * np.sin(turns)], axis=1)
    return normal_clusters(centers, np.full(clusters, rows // clusters), 0.004, random)


def log_normal(columns: int, too_wide: float, rows: int = 20_000) -> Array:
    """Log-normal columns in bounds that hold 99.9% of the rows, or in bounds so many times wider."""
    random = np.random.default_rng(50 + columns)
    values = np.exp(random.normal(size=(rows, columns)) * np.linspace(0.5, 1.0, columns))
    return np.clip(values / (too_wide * np.quantile(values, 0.999, axis=0)), 0, 1)


def casc(name: str) -> Array:
    """A table of the CASC project, all its columns."""
    return scaled(np.genfromtxt(DATA / name, delimiter=",", skip_header=1))


TAILS = {
    "unbalanced": (unbalanced, 8),
    **{f"Zipf, {d} columns": ((lambda d=d: zipf(d)), 20) for d in (2, 4, 8)},
    **{f"{k} of 150": ((lambda k=k: small_clusters(k)), k) for k in (20, 35, 50)},
    "100 on a spiral": (spiral, 100),
    **{
        f"log-normal x {d}, {word}": ((lambda d=d, wide=wide: log_normal(d, wide)), 6)
        for d in (2, 4)
        for word, wide in (("tight", 1.0), ("50 x wide", 50.0))
    },
    **{name: TABLES[name] for name in ("S1", "MAGIC", "Adult", "life sciences")},
    "Tarragona": (lambda: casc("casc-tarragona.csv"), 4),
    "Census": (lambda: casc("casc-census.csv"), 4),
}


@cache
def tail_table(name: str) -> tuple[Array, int, float]:
    """Rows in the unit box, the number of clusters, and the loss of the best non-private run that we know."""
    make, clusters = TAILS[name]
    X = make()
    best = float(KMeans(clusters, n_init=STARTS, random_state=0).fit(X).inertia_)
    if len(X) <= 20_000:
        best = min(best, search_centers(X, np.ones(len(X)), clusters, np.random.default_rng(0)).loss)
    return X, clusters, best / len(X)
