"""DP-modes-Lloyd as the paper prints it (section 3.3): the central baseline of its figures 4 to 6.

A round adds Laplace noise to how often each value occurs in each cluster and takes the most frequent values. The scale is printed
as e^(-epsilon/(m+T)). A row moves m of these counts by 1 in each round, so epsilon over T rounds needs the scale m T / epsilon;
the printed one is never above 1, so that a round costs m or more, whatever epsilon is. The start, randomly
chosen vectors, can be read as drawn from the domain, which needs no row, or as rows of the table: then nothing at all is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from cloister.papers.ldpk_modes.cut_tables import HeldCells
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed

__all__ = ["LloydModes", "modes_lloyd", "needed_scale", "printed_scale", "spent"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LloydModes:
    """What some runs give.

    Attributes
    ----------
    centres
        The modes at the end, (runs, clusters, attributes).
    noisy_counts
        What is drawn in each round, (runs, rounds, clusters, values of all attributes); 0 after a run has ended.
    """

    centres: NDArray[np.int64]
    noisy_counts: Numbers


def printed_scale(attributes: int, rounds: int, epsilon: float) -> float:
    """The scale of the Laplace noise as printed, section 3.3: e^(-epsilon/(m+T)).

    >>> round(printed_scale(8, 5, 0.1), 4)
    0.9923
    """
    return exp(-epsilon / (attributes + rounds))


def needed_scale(attributes: int, rounds: int, epsilon: float) -> float:
    """The scale that epsilon needs, one row more or less: m counts move by 1 in each of T rounds."""
    return attributes * rounds / epsilon


def spent(attributes: int, rounds: int, epsilon: float) -> float:
    """What the printed scale costs, one row more or less: m T e^(epsilon/(m+T)), from a start that needs no row.

    >>> round(spent(8, 5, 0.1), 1)
    40.3
    """
    return attributes * rounds / printed_scale(attributes, rounds, epsilon)


def modes_lloyd(
    held: HeldCells, clusters: int, rounds: int, epsilon: float, seed: int, runs: int = 1, *, from_rows: bool = False
) -> PrintedResult[LloydModes]:
    """DP-modes-Lloyd as printed, many runs at once; a run ends when no centre changes.

    `from_rows`: the start is vectors that rows hold, all different, drawn as often as rows hold them.

    Privacy
    -------
    Claimed: epsilon. Proved: `spent`; of a start from rows, nothing.
    """
    random = np.random.default_rng(seed)
    sizes = held.value.shape
    full = np.flatnonzero(held.value)
    weights = held.value.ravel()[full].astype(np.float64)
    cells = np.stack(np.unravel_index(full, sizes), axis=1)  # (cells, m)
    starts = np.cumsum([0, *sizes[:-1]])  # where the values of each attribute begin among all values
    row_values = _indicators(cells + starts, sum(sizes))  # (cells, values)
    if from_rows:
        drawn_cells = [random.choice(len(cells), clusters, replace=False, p=weights / weights.sum()) for _ in range(runs)]
        centres = cells[np.array(drawn_cells)]  # (runs, clusters, m)
    else:
        centres = np.stack([random.integers(0, size, (runs, clusters)) for size in sizes], axis=2)
    noisy = np.zeros((runs, rounds, clusters, sum(sizes)))
    scale = printed_scale(len(sizes), rounds, epsilon)
    moving = np.arange(runs)
    for step in range(rounds):
        agreeing = _indicators(centres[moving] + starts, sum(sizes)) @ row_values.T  # (moving, clusters, cells)
        nearest = agreeing.argmax(axis=1)[:, None] == np.arange(clusters)[:, None]  # the first of equals
        counts = (nearest * weights) @ row_values  # (moving, clusters, values)
        noisy[moving, step] = counts + random.laplace(0.0, scale, counts.shape)
        drawn = np.split(noisy[moving, step], starts[1:], axis=2)
        modes = np.stack([values.argmax(axis=2) for values in drawn], axis=2)
        stays = (modes == centres[moving]).all(axis=(1, 2))
        centres[moving] = modes
        moving = moving[~stays]
        if not len(moving):
            break
    cost = f"epsilon {spent(len(sizes), rounds, epsilon):.4g}, one row more or less"
    claimed = Claimed("002", f"epsilon {epsilon:g}", "nothing" if from_rows else cost)
    return stamp(LloydModes(centres, noisy), claimed, epsilon=epsilon, clusters=clusters, rounds=rounds)


def _indicators(places: NDArray[np.int64], values: int) -> Numbers:
    """A 1 at each of the places of a row, (..., values)."""
    ones = np.zeros((*places.shape[:-1], values))
    np.put_along_axis(ones, places, 1.0, axis=-1)
    return ones
