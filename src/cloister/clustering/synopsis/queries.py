"""What a released synopsis can be asked: weights for clustering, counts in boxes, made-up rows. All of it is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.errors import UsageError

__all__ = ["Count", "count_in", "draw_rows", "kept_weights", "read_box", "with_rim"]


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows a box holds, with the noise's part of its error."""

    value: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.value:.1f} +- {self.standard_error:.1f} of the noise"


def kept_weights(counts: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Weights that are not negative and add up to the total: the largest counts, as many as the total explains.

    Noise gives half of all empty cells a count above 0. Together the positive counts come to more than there are rows;
    dropping the smallest until the sum is right takes off what the noise put there.
    """
    positive = np.maximum(counts, 0.0)
    order = np.argsort(-positive, kind="stable")
    weight_so_far = np.cumsum(positive[order])
    kept = np.zeros(len(counts))
    last = min(len(order), int(np.searchsorted(weight_so_far, max(total, 0.0))) + 1)
    kept[order[:last]] = positive[order[:last]]
    return kept


def count_in(cells: Cells, low: NDArray[np.float64], high: NDArray[np.float64]) -> Count:
    """The rows between low and high in every column, (d,) each, taking a cell's rows to lie evenly in it.

    Cells of one group share a part of their error: Var = sum f^2 (v - c) + sum over groups of c (sum f)^2.
    """
    widths = cells.upper - cells.lower
    overlap = np.minimum(cells.upper, high) - np.maximum(cells.lower, low)
    # A cell of no width (a column of one value) lies inside or outside.
    part = np.where(widths > 0, np.clip(overlap, 0, None) / np.where(widths > 0, widths, 1), overlap >= 0)
    inside = part.prod(axis=1)  # (p,)
    own = float((inside**2 * (cells.variances - cells.common)).sum())
    together = np.bincount(cells.groups, weights=inside)
    shared = np.zeros(len(together))
    shared[cells.groups] = cells.common
    return Count(float(inside @ cells.counts), float(np.sqrt(max(0.0, own + float((shared * together**2).sum())))))


def with_rim(cells: Cells, halves: NDArray[np.int64], rim: NDArray[np.float64]) -> Cells:
    """Cells at the ends of the domain reach beyond it, (d,) grid steps: the values there are as wide as any other."""
    lower = np.where(cells.lower <= -halves, cells.lower - rim, cells.lower)
    upper = np.where(cells.upper >= halves, cells.upper + rim, cells.upper)
    return replace(cells, lower=lower, upper=upper)


def draw_rows(cells: Cells, weights: NDArray[np.float64], rows: int, random: PublicChance) -> NDArray[np.float64]:
    """Made-up rows, (rows, d): a cell by weight, then evenly in the widest box around its point that lies inside it."""
    which = random.choice(len(weights), size=rows, p=weights / weights.sum())
    points = cells.points[which]
    room = np.minimum(points - cells.lower[which], cells.upper[which] - points)
    return points + (2 * random.random(points.shape) - 1) * room


def read_box(box: Mapping[str, tuple[float, float]], names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """A user's box, checked: ranges by column name."""
    if not isinstance(box, Mapping):
        raise UsageError('a box is a dict of ranges, such as {"age": (20, 30)}; columns left out are not limited.')
    read: dict[str, tuple[float, float]] = {}
    for name, ends in box.items():
        if name not in names:
            raise UsageError(f'the synopsis has no column "{name}". Its columns: {", ".join(names)}.')
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            raise UsageError(f'the range of "{name}" must be two numbers, (low, high).') from None
        if not low <= high:
            raise UsageError(f'the range of "{name}" must have its low end first.')
        read[name] = (low, high)
    return read
