"""What a released synopsis can be asked: weights for clustering, counts in boxes, made-up rows. All of it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.encode import Grid
from cloister.errors import UsageError

__all__ = ["FEWEST_STEPS", "ROUNDING", "Count", "around_values", "count_in", "draw_rows", "kept_weights", "read_box"]

FEWEST_STEPS = 2  # of the grid between two values of a column, from which on cells are fitted to the values
ROUNDING = 1e-9  # of a number of steps: what floating-point division may be off by


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


def around_values(cells: Cells, grids: Sequence[Grid]) -> Cells:
    """Cells of columns with a public step, from half a step before their first value to half a step behind their last.

    Rows lie at the values alone, and cells that hold two and three of them in turn are as wide otherwise: counts of single values
    would rise and fall with the grid. A cell that holds no value, but perhaps cells that could not be read, is left as it is.
    """
    lower, upper = cells.lower.copy(), cells.upper.copy()
    for j, grid in enumerate(grids):
        if grid.values is None or grid.values.step < FEWEST_STEPS * grid.step:
            continue
        origin, step = (grid.values.origin - grid.center) / grid.step, grid.values.step / grid.step
        first, last = np.ceil((lower[:, j] - origin) / step - ROUNDING), np.floor((upper[:, j] - origin) / step + ROUNDING)
        holds = last >= first
        lower[holds, j] = origin + (first[holds] - 0.5) * step
        upper[holds, j] = origin + (last[holds] + 0.5) * step
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
