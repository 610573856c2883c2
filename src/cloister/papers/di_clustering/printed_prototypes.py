"""DI k-prototypes as printed (algorithms 3 to 5), and the DP form that it is compared with. None of it is private.

What is wrong with it
---------------------
- All of what is wrong with DI k-means (`printed`), the exact sizes of clusters and the start among it.
- Every category column has the whole epsilon of the categories: c columns of one row cost c times as much.
- Numbers and categories are taken for disjoint parts of the table, whose parts cost no more than the larger one. They are
  columns of the same rows: their epsilons add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.canopy import farthest_first
from cloister.papers.di_clustering.printed import NUMBER, nearest
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected

__all__ = ["CodedRows", "RoundEpsilons", "di_prototypes", "embedded"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CodedRows:
    """Rows of numbers in the unit cube and of category codes, whose columns have so many values each."""

    numbers: Array  # (n, d)
    codes: NDArray[np.int64]  # (n, c)
    values: tuple[int, ...]  # (c,)

    @cached_property
    def one_hot(self) -> Array:
        """Whether each row has each value of each column, (n, V)."""
        parts = [column[:, None] == np.arange(count) for column, count in zip(self.codes.T, self.values, strict=True)]
        return np.hstack([np.zeros((len(self.codes), 0)), *parts]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RoundEpsilons:
    """What each round spends on the sums of numbers, and on the modes of *each* category column."""

    numbers: tuple[float, ...]
    categories: tuple[float, ...]

    @property
    def claimed(self) -> float:
        """What the paper says that both cost together: the larger one."""
        return max(math.fsum(self.numbers), math.fsum(self.categories))


def embedded(numbers: Array, one_hot: Array, gamma: float) -> Array:
    """Places whose squared distances are those of eq. 6: two different values are gamma apart, at sqrt(gamma / 2) each."""
    return np.concatenate([numbers, math.sqrt(gamma / 2) * one_hot], axis=-1)


def di_prototypes(
    rows: Unprotected[CodedRows],
    clusters: int,
    gamma: float,
    epsilons: RoundEpsilons,
    *,
    seed: int,
    runs: int = 1,
    has_noisy_sizes: bool = False,
) -> PrintedResult[tuple[Array, NDArray[np.int64]]]:
    """Algorithms 3 to 5: the numbers (runs, k, d) and modes (runs, k, c) of the last round.

    Infinite epsilons: k-prototypes without noise, from the same start (figure 4). With noisy sizes it is the DP k-prototypes of
    figure 5, whose noise is (d + 1) / epsilon_i on sums and sizes.
    """
    table, random = rows.value, np.random.default_rng(seed)
    points = embedded(table.numbers, table.one_hot, gamma)
    chosen, _ = farthest_first(points, np.ones(len(points)), clusters)  # as printed: the start is rows
    numbers = np.broadcast_to(table.numbers[chosen], (runs, clusters, table.numbers.shape[1]))
    modes = np.broadcast_to(table.codes[chosen], (runs, clusters, len(table.values)))
    width = table.numbers.shape[1] + has_noisy_sizes
    for of_numbers, of_categories in zip(epsilons.numbers, epsilons.categories, strict=True):
        centers = embedded(numbers, _hot_modes(modes, table.values), gamma)
        belongs = (nearest(points, centers)[..., None] == np.arange(clusters)).astype(np.float64)  # (runs, n, k)
        across = belongs.transpose(0, 2, 1)
        sizes = belongs.sum(axis=1)
        sums = across @ table.numbers + _laplace(random, width / of_numbers, numbers.shape)
        if has_noisy_sizes:
            sizes = sizes + _laplace(random, width / of_numbers, sizes.shape)
        is_filled = (sizes >= 1)[..., None]
        numbers = np.where(is_filled, sums / np.maximum(sizes, 1)[..., None], numbers)
        drawn = _exponential(random, across @ table.one_hot, table.values, of_categories)
        modes = np.where(is_filled, drawn, modes)
    claimed = Claimed(
        NUMBER,
        f"differential identifiability worth epsilon {epsilons.claimed:.4g}",
        "nothing: exact cluster sizes, a start that is rows, and columns that are not disjoint",
    )
    found = (np.asarray(numbers), np.asarray(modes, dtype=np.int64))
    return stamp(found, claimed, clusters=clusters, rounds=len(epsilons.numbers), runs=runs, seed=seed)


def _laplace(random: np.random.Generator, scale: float, shape: Any) -> Array:
    return np.zeros(shape) if scale == 0 else random.laplace(0, scale, shape)


def _exponential(random: np.random.Generator, scores: Array, values: tuple[int, ...], epsilon: float) -> NDArray[np.int64]:
    """Definition 2 for each column: a value with probability proportional to exp(epsilon count / 2), (runs, k, c).

    Drawn as the largest score with Gumbel noise. Without noise: the most frequent, the first of several.
    """
    noisy = scores if epsilon == math.inf else epsilon * scores / 2 + random.gumbel(size=scores.shape)
    ends = np.cumsum([0, *values])
    columns = [noisy[..., low:high].argmax(axis=-1) for low, high in pairwise(ends)]
    return np.stack(columns, axis=-1) if columns else np.zeros((*scores.shape[:-1], 0), dtype=np.int64)


def _hot_modes(modes: NDArray[np.int64], values: tuple[int, ...]) -> Array:
    """(runs, k, c) -> (runs, k, V)."""
    parts = [modes[..., j, None] == np.arange(count) for j, count in enumerate(values)]
    return np.concatenate([np.zeros((*modes.shape[:2], 0)), *parts], axis=-1).astype(np.float64)
