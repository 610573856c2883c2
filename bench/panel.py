"""The tables that private k-means is compared on: made-up blobs, and public data sets found through CLOISTER_DATA."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

DATA = Path(os.environ.get("CLOISTER_DATA", Path(__file__).parents[2] / "shared" / "data"))

Array = NDArray[np.float64]


def unit_ball_blobs(clusters: int, columns: int) -> Array:
    """20,000 made-up rows, centred and divided by the largest norm."""
    X, _ = make_blobs(20_000, n_features=columns, centers=clusters, random_state=1)
    X = X - X.mean(axis=0)
    return np.asarray(X / np.linalg.norm(X, axis=1).max())


def scaled(X: Array) -> Array:
    """Columns divided by their range, here taken for public."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray((X - low) / np.where(high > low, high - low, 1))


def lines(name: str) -> list[list[str]]:
    return [line.strip().rstrip(".").split(",") for line in (DATA / name).read_text().splitlines() if line.strip()]


def s1() -> Array:
    return scaled(np.loadtxt(DATA / "s1.txt"))


def magic() -> Array:
    return scaled(np.array([row[:10] for row in lines("magic04.data")], dtype=np.float64))


def adult() -> Array:
    """Adult's six numeric columns, training and test part: 48,842 rows."""
    rows = [row for name in ("adult.data", "adult.test") for row in lines(name) if len(row) == 15]
    return scaled(np.array([[row[j] for j in (0, 2, 4, 10, 11, 12)] for row in rows], dtype=np.float64))


def life_sciences() -> Array:
    return scaled(np.loadtxt(DATA / "lifesci_ds1.10.csv", delimiter=",")[:, :10])


def million() -> Array:
    return scaled(np.asarray(make_blobs(1_000_000, 8, centers=8, random_state=0)[0]))


TABLES = {
    "S1": (s1, 15),
    "MAGIC": (magic, 8),
    "Adult": (adult, 5),
    "life sciences": (life_sciences, 3),
    "1 million x 8": (million, 8),
}


@cache
def table(name: str) -> tuple[Array, int, float]:
    """Rows in the unit box, the number of clusters, and the loss of the best of 20 non-private runs."""
    make, clusters = TABLES[name]
    X = make()
    return X, clusters, plain_loss(X, clusters)


def plain_loss(X: Array, clusters: int) -> float:
    """The mean squared distance of the best of 20 non-private k-means runs."""
    return float(KMeans(clusters, n_init=20, random_state=0).fit(X).inertia_ / len(X))


def loss(X: Array, centers: Array) -> float:
    """The mean squared distance to the nearest centre."""
    total = 0.0
    squares = (centers**2).sum(axis=1)
    for start in range(0, len(X), 50_000):
        block = X[start : start + 50_000]
        nearest = (squares - 2 * block @ centers.T).min(axis=1) + (block**2).sum(axis=1)
        total += float(np.maximum(nearest, 0).sum())
    return total / len(X)
