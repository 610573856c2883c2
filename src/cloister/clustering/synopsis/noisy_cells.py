"""Cells of the domain with noisy counts: what a synopsis is made of, in grid steps while it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain

__all__ = ["Built", "Cells", "even_cells", "grid_boxes", "inside_domain", "log_densities", "nested_boxes", "variance_of"]

LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Boxes, where in each its rows lie on average, and how many there are; all released or public.

    Two cells of one group have errors with covariance `common`; others are independent.
    """

    lower: NDArray[np.float64]  # (p, d)
    upper: NDArray[np.float64]  # (p, d)
    points: NDArray[np.float64]  # (p, d)
    counts: NDArray[np.float64]  # (p,), may be negative
    variances: NDArray[np.float64]  # (p,)
    common: NDArray[np.float64]  # (p,)
    groups: NDArray[np.int64]  # (p,)

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, which: NDArray[np.bool_]) -> Cells:
        """Some of the cells."""
        return Cells(*(getattr(self, name)[which] for name in self.__slots__))


class Built(NamedTuple):
    """Released cells in grid steps, the best estimate of the number of rows, and what a reader of the certificate should know."""

    cells: Cells
    total: float
    notes: tuple[str, ...] = ()


def even_cells(lower: NDArray[np.float64], upper: NDArray[np.float64], counts: NDArray[np.int64], variance: float) -> Cells:
    """Cells with independent counts of one variance, whose rows are taken to lie in the middle."""
    flat = np.full(len(counts), variance)
    no_covariance = np.zeros(len(counts))
    return Cells(lower, upper, (lower + upper) / 2, counts.astype(np.float64), flat, no_covariance, np.arange(len(counts)))


def variance_of(deviation: Mapping[str, float]) -> float:
    """The variance of a count's noise; at an absurd epsilon it rounds to 0, where weights would divide by it."""
    return max(LEAST_VARIANCE, deviation["counts"] ** 2)


def edges(places: NDArray[np.int64], sides: NDArray[np.int64] | int, halves: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lower edge of interval `place` of `side`, in grid steps: half a step before its first integer, inside the domain."""
    return np.clip(places * ((2 * halves + 1) / sides) - halves - 0.5, -halves, halves)


def grid_boxes(cells: NDArray[np.int64], side: int, domain: Domain) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper corner of these cells of a uniform grid, (p, d) each."""
    places = np.stack(np.unravel_index(cells, (side,) * len(domain.halves)), axis=1)
    return edges(places, side, domain.halves), edges(places + 1, side, domain.halves)


def nested_boxes(
    side: int, inner: NDArray[np.int64], domain: Domain
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Lower and upper corner of all second-level cells, (p, d) each, and which first-level cell each lies in, (p,)."""
    columns = len(domain.halves)
    sizes = inner**columns
    groups = np.repeat(np.arange(len(inner)), sizes)
    within = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    outer = np.stack(np.unravel_index(groups, (side,) * columns), axis=1)
    cut = inner[groups]
    places = np.empty((len(groups), columns), dtype=np.int64)
    for j in range(columns - 1, -1, -1):  # the last column changes fastest
        within, places[:, j] = np.divmod(within, cut)
    places += outer * cut[:, None]
    sides = (cut * side)[:, None]
    return edges(places, sides, domain.halves), edges(places + 1, sides, domain.halves), groups


def log_densities(cells: Cells, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight by volume, as logarithms; a cell of no width counts with half a grid step."""
    widths = np.maximum(cells.upper - cells.lower, 0.5)
    with np.errstate(divide="ignore"):
        densities: NDArray[np.float64] = np.log(weights) - np.log(widths).sum(axis=1)
    return densities


def inside_domain(cells: Cells, domain: Domain) -> Cells:
    """Without the cells that lie wholly outside a ball: publicly empty."""
    if not domain.is_ball:
        return cells
    nearest = np.clip(0.0, cells.lower, cells.upper)
    return cells.take((nearest**2).sum(axis=1) <= domain.radius**2)
