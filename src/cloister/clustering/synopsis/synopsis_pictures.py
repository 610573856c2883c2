"""Pictures of a released synopsis: how many rows lie where in two columns, and in each column by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.clustering.synopsis.queries import count_in
from cloister.parameters import check_shown
from cloister.report.picture import INTERVAL, HeatAxis, HeatMap, MeasuredSteps, Picture

__all__ = ["synopsis_pictures"]

FINEST = 80  # bins of a heat map in either direction
BINS = 32  # of one column
MOST_COLUMNS = 12
CHUNK = 4096  # cells that are spread over bins at a time
Array = NDArray[np.float64]


def synopsis_pictures(
    cells: Cells, weights: Array, domain: Domain, columns: Sequence[str] | None = None
) -> tuple[Picture, ...]:
    """What a synopsis looks like; `columns` are those to show, default all, of which the first two are the heat map's."""
    names = domain.columns
    shown = [names.index(name) for name in check_shown(columns, names, "the synopsis has no column")]
    pictures = []
    if len(shown) > 1:
        pictures.append(_heat(cells, weights, domain, shown[0], shown[1]))
    panels = tuple(_marginal(cells, domain, j) for j in shown[:MOST_COLUMNS])
    more = f" The first {MOST_COLUMNS} of {len(shown)} columns." if len(shown) > MOST_COLUMNS else ""
    caption = f"Grey bands: 95% of the noise. Within a cell of the synopsis rows are taken to lie evenly.{more}"
    title = "Rows along the column" if len(panels) == 1 else "Rows along each column"
    pictures.append(Picture(title, panels, caption, across=1 if len(panels) == 1 else 2))
    return tuple(pictures)


def _heat(cells: Cells, weights: Array, domain: Domain, across: int, up: int) -> Picture:
    """Where rows lie in two columns, whatever they have in the others."""
    edges = [_edges(domain, cells, j, FINEST) for j in (across, up)]
    values = np.zeros((len(edges[1]) - 1, len(edges[0]) - 1))
    for start in range(0, len(weights), CHUNK):
        which = np.arange(start, min(start + CHUNK, len(weights)))
        which = which[weights[which] > 0]
        parts = [
            _overlaps(cells.lower[which, j], cells.upper[which, j], e) for j, e in zip((across, up), edges, strict=True)
        ]
        values += parts[1].T @ (weights[which, None] * parts[0])
    x, y = (
        HeatAxis(domain.columns[j], edges=tuple(_decoded(domain, j, places)))
        for j, places in zip((across, up), edges, strict=True)
    )
    caption = (
        "Counts are noisy. Cells that noise alone explains are left empty; within a cell rows are taken to lie evenly. "
    )
    caption += "A colour is the number of rows in one of the boxes that are drawn, which may be parts of cells."
    panel = HeatMap("", x, y, tuple(tuple(line) for line in values.tolist()), label="rows (noisy)")
    return Picture(f"Rows by {domain.columns[across]} and {domain.columns[up]}", (panel,), caption, across=1)


def _marginal(cells: Cells, domain: Domain, column: int) -> MeasuredSteps:
    """How many rows lie in each part of a column, with the noise's part of the error."""
    edges = _edges(domain, cells, column, BINS)
    low, high = np.full(len(domain.halves), -np.inf), np.full(len(domain.halves), np.inf)
    values, reach = [], []
    for first, last in pairwise(edges.tolist()):
        low[column], high[column] = first, last
        found = count_in(cells, low, high)
        values.append(found.value)
        reach.append(INTERVAL * found.standard_error)
    return MeasuredSteps(
        "",
        tuple(_decoded(domain, column, edges)),
        tuple(values),
        tuple(value - error for value, error in zip(values, reach, strict=True)),
        tuple(value + error for value, error in zip(values, reach, strict=True)),
        x_label=domain.columns[column],
        label="rows (noisy)",
    )


def _edges(domain: Domain, cells: Cells, column: int, most: int) -> Array:
    """Where bins begin and end, in grid steps, evenly: at the edges of cells where those are even and few."""
    own = np.unique(np.concatenate([cells.lower[:, column], cells.upper[:, column]]))
    if 2 <= len(own) <= most + 1 and np.ptp(np.diff(own)) <= 1.5:  # a cell at an end may be half a step narrower
        return own
    return np.linspace(-float(domain.halves[column]), float(domain.halves[column]), most + 1)


def _overlaps(lower: Array, upper: Array, edges: Array) -> Array:
    """Which share of each cell lies in each bin, (p, bins)."""
    width = upper - lower
    inside = np.minimum(upper[:, None], edges[None, 1:]) - np.maximum(lower[:, None], edges[None, :-1])
    share: Array = np.clip(inside, 0, None) / np.where(width > 0, width, 1)[:, None]
    point = np.clip(np.searchsorted(edges, lower, side="right") - 1, 0, len(edges) - 2)
    share[width <= 0] = np.eye(len(edges) - 1)[point[width <= 0]]
    return share


def _decoded(domain: Domain, column: int, places: Array) -> list[float]:
    """Places of one column in its own units."""
    grid = domain.encoding.numbers[column]
    return [float(grid.center + grid.step * place) for place in places]
