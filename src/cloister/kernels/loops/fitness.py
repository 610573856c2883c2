"""The weighted squared error of many sets of centres at once: compiled loops over released points, never over rows.

Points and centres are float32 and lie around the origin, so that |x|^2 - 2 x c + |c|^2 keeps about six digits; sums are
float64. That is enough to rank sets of centres; whoever needs a loss to the last digit asks `weighted_loss`.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from cloister.kernels.loops.arrays import F32, F64
from cloister.kernels.loops.compiled import compiled

__all__ = ["improve", "weighted_loss"]

BLOCK = 512  # points at a time: they stay in the first cache while every member looks at them
FAST = {"reassoc", "contract", "nsz", "nnan"}


@compiled(fastmath=FAST)
def gather(points: F32, weights: F32, weighted: F32, members: F32, mass: F64, sums: F64) -> None:
    """Add the weight and the weighted points nearest to each centre of each member.

    points : IN (d, n); weights : IN (n,); weighted : IN (n, d), points times weights; members : IN (p, k, d);
    mass : OUT (p, k); sums : OUT (p, k, d)
    """
    d, n = points.shape
    p, k, _ = members.shape
    nearest = np.empty(BLOCK, dtype=np.float32)
    reach = np.empty(BLOCK, dtype=np.float32)
    label = np.empty(BLOCK, dtype=np.int32)
    tile = np.empty((d, BLOCK), dtype=np.float32)
    mass[:] = 0.0
    sums[:] = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(d):
            for t in range(size):
                tile[j, t] = points[j, start + t]
        for i in range(p):
            for c in range(k):
                length = np.float32(0.0)
                for j in range(d):
                    length += members[i, c, j] * members[i, c, j]
                slope = np.float32(-2.0) * members[i, c, 0]
                column = tile[0]
                for t in range(size):
                    reach[t] = length + slope * column[t]
                for j in range(1, d):
                    slope = np.float32(-2.0) * members[i, c, j]
                    column = tile[j]
                    for t in range(size):
                        reach[t] += slope * column[t]
                if c == 0:
                    for t in range(size):
                        nearest[t] = reach[t]
                        label[t] = 0
                else:
                    for t in range(size):
                        closer = reach[t] < nearest[t]
                        label[t] = c if closer else label[t]
                        nearest[t] = reach[t] if closer else nearest[t]
            for t in range(size):
                c = label[t]
                mass[i, c] += weights[start + t]
                row = weighted[start + t]
                total = sums[i, c]
                for j in range(d):
                    total[j] += row[j]


def improve(points: F32, weights: F32, members: F32) -> tuple[F64, F32]:
    """Move each member's centres to the means of what is nearest to them, and give the squared error of that split.

    One look at the points gives both: the error of a split around its own means is sum w|x|^2 - sum_c |S_c|^2 / W_c.
    The moved centres' own loss is at most that. A centre that nothing is nearest to stays.

    Parameters
    ----------
    points : float32 (d, n), C-contiguous
        Released points, transposed, around the origin.
    weights : float32 (n,)
        Not negative.
    members : float32 (p, k, d), C-contiguous

    Returns
    -------
    losses : float64 (p,)
    moved : float32 (p, k, d)
    """
    p, k, d = members.shape
    mass, sums = np.empty((p, k)), np.empty((p, k, d))
    weighted = np.ascontiguousarray((points * weights).T)  # (n, d)
    workers = min(os.cpu_count() or 1, max(1, p // 4))
    cuts = np.linspace(0, p, workers + 1).astype(int)
    slices = [slice(a, b) for a, b in pairwise(cuts)]
    if workers == 1 or points.size * p * k < 2**20:
        gather(points, weights, weighted, members, mass, sums)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda s: gather(points, weights, weighted, members[s], mass[s], sums[s]), slices))
    filled = mass > 0
    means = sums / np.where(filled, mass, 1.0)[:, :, None]
    whole = float(np.einsum("ji,ji,i->", points, points, weights, dtype=np.float64))
    losses: F64 = whole - np.einsum("pkd,pkd,pk->p", means, means, mass)
    return losses, np.where(filled[:, :, None], means, members).astype(np.float32)


def weighted_loss(points: F64, weights: F64, centers: F64) -> float:
    """The weighted squared error of one set of centres (k, d) over points (n, d), in double precision."""
    nearest = np.full(len(points), np.inf)
    for center in centers:
        np.minimum(nearest, ((points - center) ** 2).sum(axis=1), out=nearest)
    return float(nearest @ weights)
