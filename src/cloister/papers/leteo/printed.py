"""LETEO's private synopsis as printed (section 4.2): an adaptive grid in two levels, and k-means on its cells.

What is wrong with the print:

- the number of rows N sets how fine the first level is, and is used exactly. Where one row more or less makes the grid finer,
  the grid itself tells the two tables apart: no epsilon covers it when rows may come and go (add-remove neighbours);
- adjacent tables "differ in a single data point". If that means a changed row (replace-one neighbours), N is public, but two
  cells of each level change by 1. Noise of scale 1/epsilon then costs 2 epsilon;
- a first-level cell of noisy count N' <= 0 gets M2 = 0 and m2 = 0 intervals: it has no second-level cell, and its rows are
  gone. (m2 must be at least 1.) That costs accuracy, not privacy;
- c1 and c2 are not printed. Taken here: 10 and 5, of Qardaji et al. 2013, from whom the rules come.

References
----------
LETEO technical report, 2021, section 4.2. W. Qardaji, W. Yang and N. Li, "Differentially private grids for geospatial data",
ICDE 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.weighted import cluster_points
from cloister.clustering.synopsis.grid_sizes import C2, first_side
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected

__all__ = ["PrintedCells", "adaptive_grid_as_printed", "cell_draws", "cluster_as_printed", "printed_second_sides"]

Floats = NDArray[np.float64]
PROVED = "2 epsilon if a row is changed and N is public; nothing if rows come and go"


@dataclass(frozen=True, slots=True, eq=False)
class PrintedCells:
    """The cells of the second level with their noisy counts, and what the holder knows of how they came about."""

    points: Floats  # (cells, d): their middles, in the unit cube
    counts: Floats  # (cells,)
    side: int  # m1
    inner: NDArray[np.int64]  # (m1^d,): m2 of each first-level cell
    lost: int  # rows that lie in first-level cells without a second level; exact, for the holder


def printed_second_sides(noisy: Floats, epsilon: float, columns: int, c2: float = C2) -> NDArray[np.int64]:
    """m2 = ceil(M2^(1/d)) with M2 = (N' epsilon / c2)^(2d/(2+d)), N' zeroed below 0: none where N' <= 0.

    >>> printed_second_sides(np.array([-3.0, 0.0, 0.1, 40.0, 150.0]), 0.5, 2).tolist()
    [0, 0, 1, 2, 4]
    """
    sides = (np.maximum(noisy, 0) * epsilon / c2) ** (2 / (2 + columns))
    return np.asarray(np.ceil(sides - 1e-9), np.int64)  # 1e-9: the square root of 16 is 4 and not a little more


def adaptive_grid_as_printed(
    data: Any, epsilon: float, bounds: tuple[float, float] = (0.0, 1.0), alpha: float = 0.5, seed: int = 0
) -> PrintedResult[PrintedCells]:
    """The synopsis of section 4.2: exact N, alpha epsilon for the first level's counts, the rest for the second's.

    `data` is the holder's table, or the numbers that the holder's door gave already: an attack reads them once.
    """
    numbers = data if isinstance(data, Unprotected) else holder_numbers(data)
    rows = (numbers.value - bounds[0]) / (bounds[1] - bounds[0])
    random = np.random.default_rng(seed)
    n, d = rows.shape
    side = first_side(n, epsilon, d)  # of the exact number of rows
    scaled = rows * side
    at = np.clip(scaled.astype(np.int64), 0, side - 1)  # (n, d)
    cell = np.ravel_multi_index(tuple(at.T), (side,) * d)
    cells = side**d
    noisy = np.bincount(cell, minlength=cells) + random.laplace(0, 1 / (alpha * epsilon), cells)
    inner = printed_second_sides(noisy, (1 - alpha) * epsilon, d)
    starts = np.concatenate([[0], np.cumsum(inner**d)])
    is_cut = inner[cell] > 0
    m2 = inner[cell[is_cut]][:, None]
    within = np.clip(((scaled[is_cut] - at[is_cut]) * m2).astype(np.int64), 0, m2 - 1)
    place = np.zeros(len(within), np.int64)
    for column in within.T:
        place = place * m2[:, 0] + column
    exact = np.bincount(starts[cell[is_cut]] + place, minlength=int(starts[-1]))
    counts = exact + random.laplace(0, 1 / ((1 - alpha) * epsilon), len(exact))
    found = PrintedCells(_middles(side, inner, starts, d), counts, side, inner, int((~is_cut).sum()))
    return stamp(found, Claimed("001", f"epsilon {epsilon:g}", PROVED), epsilon=epsilon, alpha=alpha, seed=seed)


def _middles(side: int, inner: NDArray[np.int64], starts: NDArray[np.int64], d: int) -> Floats:
    """The middle of each second-level cell, in the order of `starts`."""
    upper = np.repeat(np.arange(len(inner)), inner**d)  # the first-level cell of each
    m2 = inner[upper]
    left = np.arange(int(starts[-1])) - starts[upper]
    points = np.empty((len(upper), d))
    corners = np.stack(np.unravel_index(upper, (side,) * d), axis=1) if len(upper) else np.zeros((0, d))
    for j in range(d - 1, -1, -1):
        left, index = np.divmod(left, m2)
        points[:, j] = (corners[:, j] + (index + 0.5) / m2) / side
    return points


def cluster_as_printed(cells: PrintedCells, clusters: int, seed: int = 0) -> PrintedResult[Floats]:
    """Centres of weighted k-means on the cells, from k-means||, (k, d).

    The report does not say what becomes of counts below 0: they weigh nothing here.
    """
    weighs = cells.counts > 0
    chance = np.random.default_rng(seed)
    found = cluster_points(cells.points[weighs], cells.counts[weighs], clusters, "kmeans||", chance)
    claimed = Claimed("001", "as the cells that it was made of", PROVED)
    return stamp(found.centers, claimed, clusters=clusters, seed=seed)


def cell_draws(
    rows: int, epsilon: float, alpha: float, columns: int, random: np.random.Generator, runs: int
) -> PrintedResult[Floats]:
    """What the grid shows of one first-level cell whose rows all lie at one place, many times over, (runs, 2).

    m2, and the noisy count of the second-level cell around that place (where m2 is 0 there is none, and 0 stands for it): the
    same steps as `adaptive_grid_as_printed` takes, for a single cell, all runs at once.
    """
    noisy = rows + random.laplace(0, 1 / (alpha * epsilon), runs)
    inner = printed_second_sides(noisy, (1 - alpha) * epsilon, columns)
    counts = np.where(inner > 0, rows + random.laplace(0, 1 / ((1 - alpha) * epsilon), runs), 0.0)
    claimed = Claimed("001", f"epsilon {epsilon:g}", PROVED)
    return stamp(np.column_stack([inner, counts]), claimed, epsilon=epsilon, alpha=alpha)
