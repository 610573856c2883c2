"""Make an unbiased table possible: no count below 0, and the right sum.

Privacy
-------
Post-processing of reports, which are public.

References
----------
T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Skoric, N. Li: Locally differentially private frequency estimation with consistency,
2020 (Norm-Sub). Paper 002, algorithm 2.
"""

from __future__ import annotations

import numpy as np

from cloister.collect.estimating.kronecker import Table

__all__ = ["clip_and_renormalise", "norm_sub"]


def norm_sub(estimate: Table, total: float) -> Table:
    """Subtract one constant from every cell and clip at 0, with the constant that makes the table sum to `total`.

    This is the nearest possible table, by the sum of squares.

    Examples
    --------
    >>> norm_sub(np.array([6.0, 3.0, -1.0]), 8.0)
    array([5.5, 2.5, 0. ])
    """
    if total <= 0:
        return np.zeros_like(estimate)
    lowered = estimate - estimate.max()  # so that the total is not lost beside cells that are far larger
    falling = np.sort(lowered, axis=None)[::-1]
    constants = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)  # if so many cells stayed above 0
    kept = int(np.flatnonzero(falling > constants)[-1])  # the largest cell, 0 now, always stays, since total > 0
    possible: Table = np.maximum(lowered - constants[kept], 0.0)
    possible *= total / possible.sum()
    return possible


def clip_and_renormalise(estimate: Table, total: float) -> Table:
    """Paper 002, algorithm 2 as printed: negative cells become 0, the rest is scaled to `total` and rounded up.

    Rounding up makes the sum exceed `total`, by less than 1 for each cell above 0. Where no cell is above 0 nothing can be
    scaled, which the paper leaves open: every cell gets the same share, rounded up too.

    Examples
    --------
    >>> clip_and_renormalise(np.array([6.0, 3.0, -1.0]), 8.0)
    array([6., 3., 0.])
    """
    clipped = np.maximum(estimate, 0.0)
    whole = float(clipped.sum())
    if whole <= 0:
        return np.full_like(clipped, np.ceil(total / clipped.size))
    return np.ceil(clipped / whole * total)
