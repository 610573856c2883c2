"""Noisy cells and noisy margins, made to agree: least squares, then counts that are not negative.

A table is a sum of effects: its mean, what each column adds to it, what each pair of columns adds to those, and so on. The
effects are orthogonal, and a measured margin depends on exactly the effects of its own columns. So weighted least squares
over any set of measured margins is a weighted mean of each effect by itself. Post-processing of released counts.

References
----------
M. Hay et al., "Boosting the accuracy of differentially private histograms through consistency", VLDB 2010.
B. Barak et al., "Privacy, accuracy, and consistency too", PODS 2007 (margins of one table).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axes", "effect", "fit_cells", "not_negative", "precisions", "spread_of"]

Axes = tuple[int, ...]
Array = NDArray[np.float64]
CERTAIN = 1e9  # times the largest precision: what is known exactly, such as a public number of rows
ROUNDS = 300
TOLERANCE = 1e-4  # of a row


def effects(axes: int) -> Iterator[Axes]:
    """Every set of axes, the empty one first."""
    return chain.from_iterable(combinations(range(axes), size) for size in range(axes + 1))


def effect(table: Array, kept: Axes) -> Array:
    """The effect of these columns: along them what is left after the mean, along the others the mean."""
    for axis in range(table.ndim):
        mean = table.mean(axis=axis, keepdims=True)
        table = table - mean if axis in kept else np.broadcast_to(mean, table.shape)
    return table


def precisions(shape: tuple[int, ...], variances: Mapping[Axes, float]) -> dict[Axes, float]:
    """How well each effect is known, 1/variance of a unit of it, from margins that keep these axes with these variances.

    A margin over T adds up n/n_T cells. Lifted back evenly its noise has variance v_T n_T / n along each of its effects.
    """
    cells = prod(shape)
    known = {}
    for kept in effects(len(shape)):
        known[kept] = sum(
            cells / prod(shape[axis] for axis in measured) / variance
            for measured, variance in variances.items()
            if set(kept) <= set(measured)
        )
    return known


def fit_cells(shape: tuple[int, ...], margins: Mapping[Axes, Array], variances: Mapping[Axes, float]) -> Array:
    """The least-squares cells; the margin over all axes must be among the measured ones."""
    whole = precisions(shape, variances)
    cells = np.zeros(shape)
    for measured, table in margins.items():
        lost = tuple(axis for axis in range(len(shape)) if axis not in measured)
        size = prod(shape[axis] for axis in lost)
        lifted = np.broadcast_to(np.expand_dims(table / size, lost), shape)
        for kept in effects(len(shape)):
            if set(kept) <= set(measured):
                cells += size / variances[measured] / whole[kept] * effect(lifted, kept)
    return cells


def spread_of(shape: tuple[int, ...], known: Mapping[Axes, float], margin: Axes) -> float:
    """The standard deviation of a cell of this margin of the least-squares table.

    Effect S covers prod (n_j - 1 for j in S) of n dimensions evenly; summing over the other axes multiplies it by how many
    cells are added up, and only effects of the margin's own columns survive.
    """
    added = prod(shape[axis] for axis in range(len(shape)) if axis not in margin)
    cells = prod(shape)
    variance = sum(
        prod(shape[axis] - 1 for axis in kept) / cells / precision * added**2
        for kept, precision in known.items()
        if set(kept) <= set(margin)
    )
    return float(np.sqrt(variance))


def not_negative(cells: Array, known: Mapping[Axes, float]) -> Array:
    """The nearest table without a negative cell and with the same total, in the metric of the effects' precisions.

    Cutting negative cells off would add to every total; here the total stays, and what is known well moves least.
    Alternating directions (ADMM): a step for each effect by itself, a step that cuts off, and a running difference.
    """
    total = max(0.0, float(cells.sum()))
    if total == 0.0:
        return np.zeros(cells.shape)
    if (cells >= 0).all():
        return cells
    weights = {kept: precision for kept, precision in known.items() if kept}
    flat = len(set(weights.values())) <= 1
    if flat:
        return onto_simplex(cells, total)
    balance = float(np.exp(np.mean(np.log(list(weights.values())))))
    target = {kept: effect(cells, kept) for kept in weights}
    mean = np.full(cells.shape, total / cells.size)
    cut, drift = np.maximum(cells, 0.0), np.zeros(cells.shape)
    for _ in range(ROUNDS):
        near = cut - drift
        free = mean + sum(
            (weight * target[kept] + balance * effect(near, kept)) / (weight + balance) for kept, weight in weights.items()
        )
        cut = np.maximum(0.0, free + drift)
        drift = drift + free - cut
        if float(np.abs(free - cut).max()) < TOLERANCE:
            break
    return onto_simplex(cut, total)


def onto_simplex(cells: Array, total: float) -> Array:
    """The nearest table without a negative cell and with this total: take the same off every cell, and cut at 0.

    >>> onto_simplex(np.array([5.0, -3.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    ranked = np.sort(cells.ravel())[::-1]
    excess = np.cumsum(ranked) - total
    above = np.flatnonzero(ranked * np.arange(1, ranked.size + 1) > excess)
    last = int(above[-1]) if len(above) else 0  # a total that is nothing beside the largest cell: rounding lost it
    nearest: Array = np.maximum(0.0, cells - excess[last] / (last + 1))
    return nearest
