"""Grids: a uniform one, LETEO's adaptive one, and a sparse one that writes down only what survives a threshold.

Privacy
-------
Released: the noisy number of rows (add-remove only), then the noisy counts of all cells; for the adaptive grid of the first
level, then of the second, whose shape follows from the released first. Neighbours: both relations. Sensitivity: a row lies
in one cell of each histogram. Budget: a fiftieth for the number of rows; the rest to the cells, alpha of it to the first
level. Post-processing: consistency of the two levels, the total, leaving out cells that lie outside a public ball.

References
----------
LETEO technical report, 2021, section 4.2.
W. Qardaji, W. Yang and N. Li, "Differentially private grids for geospatial data", ICDE 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.cells import Cells, grid_boxes, inside_domain, nested_boxes
from cloister.clustering.synopsis.consistency import agree
from cloister.clustering.synopsis.rules import LARGEST_EPSILON, first_side, rule_epsilon, second_sides, uniform_side
from cloister.clustering.synopsis.steps import Terms, adaptive_steps, sparse_steps, uniform_steps
from cloister.errors import UsageError
from cloister.kernels.cells import GridCells, GridKeys, NestedCells
from cloister.privacy.budgets import Number
from cloister.privacy.mechanisms.survivors import Survivors
from cloister.privacy.plan import Step
from cloister.vault import Vault

__all__ = ["Built", "adaptive_grid", "sparse_grid", "uniform_grid"]

Built = tuple[Cells, float]
"""Cells in grid steps, and the best estimate of the number of rows."""

Progress = Callable[[str], None]
LEAST_VARIANCE = 1e-12


def check_cap(side: int, columns: int, most: int, why: str = "") -> None:
    """Refuse a grid with more cells than the cap."""
    if side**columns > most:
        raise UsageError(
            f"the grid would have {side} ** {columns} cells{why}, and at most {most:,} are allowed. Use method tree, which "
            "grows with the rows and not with the columns, fewer columns, or a sparse grid (threshold)."
        )


def even_cells(lower: NDArray[np.float64], upper: NDArray[np.float64], counts: NDArray[np.int64], variance: float) -> Cells:
    """Cells with independent counts of one variance, whose rows are taken to lie in the middle."""
    flat = np.full(len(counts), variance)
    nothing = np.zeros(len(counts))
    return Cells(lower, upper, (lower + upper) / 2, counts.astype(np.float64), flat, nothing, np.arange(len(counts)))


def variance_of(deviation: Mapping[str, float]) -> float:
    """The variance of a count's noise; at an absurd epsilon it rounds to 0, where weights would divide by it."""
    return max(LEAST_VARIANCE, deviation["counts"] ** 2)


def best_total(size: Step | None, rows: float, total: float, variance: float) -> float:
    """The number of rows from the step that bought it and from the sum of the cells, by their variances."""
    if size is None:
        return rows
    bought = variance_of(size.mechanism.deviation())
    return float((rows / bought + total / variance) / (1 / bought + 1 / variance))


def uniform_grid(vault: Vault, domain: Domain, terms: Terms, most: int, progress: Progress) -> Built:
    """A uniform grid inside an open vault."""
    columns = len(domain.halves)
    steps = uniform_steps(terms)
    size, step = steps["size"], steps["cells"]
    assert step is not None
    progress("size")
    rows = vault.size(size.mechanism if size else None)
    side = uniform_side(rows, rule_epsilon(step.mechanism), columns)
    check_cap(side, columns, most)
    progress("cells")
    kernel = GridCells(tuple(int(h) for h in domain.halves), (side,) * columns)
    released = vault.measure(kernel, step.mechanism, "cells")
    counts, variance = released.value["counts"], variance_of(released.deviation)
    cells = even_cells(*grid_boxes(np.arange(len(counts)), side, domain), counts, variance)
    total = best_total(size, rows, float(counts.sum()), variance * len(counts))
    return inside_domain(cells, domain), total


def sparse_grid(vault: Vault, domain: Domain, terms: Terms, threshold: int, progress: Progress) -> Built:
    """A uniform grid of any number of cells, of which those with a noisy count below the threshold are left out."""
    columns = len(domain.halves)
    size, scale = sparse_steps(terms, threshold)
    progress("size")
    rows = vault.size(size.mechanism if size else None)
    side = uniform_side(rows, min(LARGEST_EPSILON, float(1 / scale)), columns)
    progress("cells")
    kernel = GridKeys(tuple(int(h) for h in domain.halves), (side,) * columns)
    released = vault.measure_keyed(kernel, Survivors(scale, threshold, side**columns), "cells")
    found = released.value
    cells = even_cells(*grid_boxes(found.cells, side, domain), found.counts, variance_of(released.deviation))
    return inside_domain(cells, domain), rows


def adaptive_grid(vault: Vault, domain: Domain, terms: Terms, alpha: Number, most: int, progress: Progress) -> Built:
    """LETEO's two levels inside an open vault, made consistent."""
    columns = len(domain.halves)
    steps = adaptive_steps(terms, alpha)
    size, one, two = steps["size"], steps["level 1"], steps["level 2"]
    assert one is not None
    assert two is not None
    progress("size")
    rows = vault.size(size.mechanism if size else None)
    second_epsilon = rule_epsilon(two.mechanism)
    side = first_side(rows, rule_epsilon(one.mechanism) + second_epsilon, columns)
    check_cap(side, columns, most)
    halves, sides = tuple(int(h) for h in domain.halves), (side,) * columns
    progress("level 1")
    upper = vault.measure(GridCells(halves, sides), one.mechanism, "level 1")
    inner = second_sides(upper.value["counts"], second_epsilon, columns)
    if float((inner.astype(np.float64) ** columns).sum()) > most:
        raise UsageError(
            f"the second level would have more than {most:,} cells. Use method tree, which grows with the rows and not with "
            "the columns, or fewer columns."
        )
    progress("level 2")
    lower = vault.measure(NestedCells(halves, sides, inner), two.mechanism, "level 2")
    agreed = agree(
        upper.value["counts"].astype(np.float64),
        variance_of(upper.deviation),
        lower.value["counts"].astype(np.float64),
        variance_of(lower.deviation),
        inner**columns,
    )
    low, high, groups = nested_boxes(side, inner, domain)
    cells = Cells(low, high, (low + high) / 2, agreed.counts, agreed.variances, agreed.common, groups)
    total = best_total(size, rows, float(agreed.totals.sum()), float(agreed.total_variances.sum()))
    return inside_domain(cells, domain), total
