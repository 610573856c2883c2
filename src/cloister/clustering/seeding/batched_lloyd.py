"""Weighted Lloyd from many sets of centres at once, in NumPy. Free: no row is looked at.

On few points most of the time goes into calls of NumPy, which the sets share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.points_kmeans import Floats

__all__ = ["BatchedLloyd", "LloydRuns"]

BLOCK = 2**17  # products of points and centres at a time: they stay in the second cache
# What takes as long as so many products: comparing with a centre, adding up a column, going to the next point.
COMPARING, ADDING, STEPPING = 8, 16, 256
SETTLED = 1e-5  # of its loss: a run that gains less in a pass has ended


@dataclass(frozen=True, slots=True)
class LloydRuns:
    """Sets of centres after Lloyd."""

    members: Floats  # (p, k, d)
    masses: NDArray[np.float64]  # (p, k), the weight of each centre
    losses: NDArray[np.float64]  # (p,) weighted squared error


class BatchedLloyd:
    """Points around the origin with weights that add up to 1, and how much work was done on them."""

    def __init__(self, points: NDArray[np.float64], weights: NDArray[np.float64], dtype: Any = np.float32) -> None:
        self.points: Floats = points.astype(dtype)  # (n, d)
        self.weights = weights  # (n,)
        exact = self.points.astype(np.float64)
        self.weighted = np.ascontiguousarray((exact * weights[:, None]).T)  # (d, n)
        self.lengths: Floats = (self.points**2).sum(axis=1)
        self.whole = float(weights @ (exact**2).sum(axis=1))
        self.work = 0

    def pass_work(self, clusters: int) -> int:
        """The work of one look at all points with one set of centres, in products."""
        columns = int(self.points.shape[1])
        return len(self.points) * (clusters * (columns + COMPARING) + columns * ADDING + STEPPING)

    def nearest(self, members: Floats) -> tuple[NDArray[np.intp], Floats]:
        """For each member the nearest centre of each point, and the squared distance to it, (p, n) each."""
        count, clusters, columns = members.shape
        self.work += count * self.pass_work(clusters)
        flat = members.reshape(-1, columns)
        half_lengths = (flat**2).sum(axis=1) / 2
        transposed = np.ascontiguousarray(flat.T)
        labels = np.empty((len(self.points), count), dtype=np.intp)
        closest = np.empty((len(self.points), count), dtype=self.points.dtype)
        block = max(64, BLOCK // len(flat))
        for first in range(0, len(self.points), block):
            closeness = self.points[first : first + block] @ transposed  # |x - c|^2 = |x|^2 - 2 (x c - |c|^2 / 2)
            closeness -= half_lengths
            closeness = closeness.reshape(-1, count, clusters)
            found = closeness.argmax(axis=2)
            labels[first : first + block] = found
            closest[first : first + block] = np.take_along_axis(closeness, found[:, :, None], axis=2)[:, :, 0]
        return labels.T, np.maximum(self.lengths - 2 * closest.T, 0)

    def step(self, members: Floats) -> LloydRuns:
        """Move every centre to the mean of the points nearest to it; the loss is that of this split around its means."""
        count, clusters, columns = members.shape
        labels, _ = self.nearest(members)
        flat = (labels + np.arange(count)[:, None] * clusters).ravel()
        masses = np.bincount(flat, weights=np.tile(self.weights, count), minlength=count * clusters).astype(np.float64)
        sums = [np.bincount(flat, weights=np.tile(column, count), minlength=count * clusters) for column in self.weighted]
        filled = masses > 0
        means = np.stack(sums, axis=1) / np.where(filled, masses, 1.0)[:, None]
        # the error of a split around its own means is sum w|x|^2 - sum_c W_c |m_c|^2
        losses = self.whole - ((means**2).sum(axis=1) * masses).reshape(count, clusters).sum(axis=1)
        moved = np.where(filled[:, None], means, members.reshape(-1, columns)).astype(members.dtype)
        return LloydRuns(moved.reshape(members.shape), masses.reshape(count, clusters), np.maximum(losses, 0.0))

    def run(self, members: Floats, iterations: int) -> LloydRuns:
        """Lloyd from each member until it gains next to nothing, at most so many passes."""
        members = members.copy()
        masses, losses = np.zeros(members.shape[:2]), np.full(len(members), np.inf)
        active = np.arange(len(members))
        for _ in range(iterations):
            after = self.step(members[active])
            gains = after.losses < losses[active] * (1 - SETTLED)
            members[active], masses[active], losses[active] = after.members, after.masses, after.losses
            active = active[gains]
            if not len(active):
                break
        return LloydRuns(members, masses, losses)
