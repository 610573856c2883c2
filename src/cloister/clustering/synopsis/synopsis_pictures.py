"""Pictures of a released synopsis: how many rows lie where in two columns, and in each column by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.noisy_cells import Cells
from cloister.clustering.synopsis.queries import FEWEST_STEPS, ROUNDING, around_values, count_in
from cloister.parameters import check_shown
from cloister.report.picture import INTERVAL, HeatAxis, HeatMap, MeasuredSteps, Picture
from cloister.report.value_bins import bins_around, round_length

__all__ = ["synopsis_pictures"]

FINEST = 80  # bins of a heat map in either direction
BINS = 32  # of one column
MOST_COLUMNS = 12
CHUNK = 4096  # cells that are spread over bins at a time
NEAR = 1.5  # grid steps between edges that are one: a cell at an end may be half a step narrower
LENGTHS = 10  # about so many of the lengths over which rows are counted make a column
HEIGHTS = "The height is the number of rows in a stretch of the column as long as its axis says."
Array = NDArray[np.float64]


def synopsis_pictures(
    cells: Cells, weights: Array, domain: Domain, columns: Sequence[str] | None = None
) -> tuple[Picture, ...]:
    """What a synopsis looks like; `columns` are those to show, default all, of which the first two are the heat map's."""
    names = domain.columns
    shown = [names.index(name) for name in check_shown(columns, names, "the synopsis has no column")]
    cells = around_values(cells, domain.encoding.numbers)
    pictures = []
    if len(shown) > 1:
        pictures.append(_heat(cells, weights, domain, shown[0], shown[1]))
    panels = tuple(_marginal(cells, domain, j) for j in shown[:MOST_COLUMNS])
    more = f" The first {MOST_COLUMNS} of {len(shown)} columns." if len(shown) > MOST_COLUMNS else ""
    caption = f"{HEIGHTS} Grey bands: 95% of the noise. Within a cell of the synopsis rows are taken to lie evenly.{more}"
    title = "Rows along the column" if len(panels) == 1 else "Rows along each column"
    pictures.append(Picture(title, panels, caption, across=1 if len(panels) == 1 else 2))
    return tuple(pictures)


def _heat(cells: Cells, weights: Array, domain: Domain, across: int, up: int) -> Picture:
    """Where rows lie in two columns, whatever they have in the others."""
    edges = [_heat_edges(domain, cells, j) for j in (across, up)]
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
    """How many rows there are in a length of the column, part by part, with the noise's part of the error.

    Parts may be as narrow or as wide as the cells are, so a count of each would say more of the cells than of the rows.
    """
    edges = _step_edges(domain, cells, column)
    unit = _length(domain, column, edges)
    parts = np.diff(edges) * domain.encoding.numbers[column].step / unit  # how many of the lengths each part is
    values, errors = (numbers / parts for numbers in _counts(cells, len(domain.halves), column, edges))
    step = domain.encoding.numbers[column].values
    per = "value" if step is not None and unit == step.step else f"{unit:,.12g}"
    return MeasuredSteps(
        "",
        tuple(_decoded(domain, column, edges)),
        tuple(values.tolist()),
        tuple((values - INTERVAL * errors).tolist()),
        tuple((values + INTERVAL * errors).tolist()),
        x_label=domain.columns[column],
        label=f"rows per {per} (noisy)",
    )


def _counts(cells: Cells, columns: int, column: int, edges: Array) -> tuple[Array, Array]:
    """The rows between each two edges, and their standard errors."""
    low, high = np.full(columns, -np.inf), np.full(columns, np.inf)
    counts = []
    for first, last in pairwise(edges.tolist()):
        low[column], high[column] = first, last
        counts.append(count_in(cells, low, high))
    return np.array([each.value for each in counts]), np.array([each.standard_error for each in counts])


def _length(domain: Domain, column: int, edges: Array) -> float:
    """Over which length of a column its rows are counted: a round one, the same for columns of the same width.

    Where a column has a step and its parts hold as many values each, it is that of a part: a height is its count.
    """
    grid = domain.encoding.numbers[column]
    length = round_length(2 * grid.half * grid.step / LENGTHS)
    if grid.values is None:
        return length
    widths = np.rint(np.diff(edges) * grid.step / grid.values.step)
    values = widths[0] if (widths[:-1] == widths[0]).all() else length // grid.values.step
    return grid.values.step * max(1.0, float(values))


def _step_edges(domain: Domain, cells: Cells, column: int) -> Array:
    """Where the parts of a column begin and end, in grid steps: at the edges of cells where those are few, else evenly."""
    own = _own_edges(cells, column)
    if 2 <= len(own) <= BINS + 1:
        return own
    edges = _even_edges(domain, cells, column, BINS)
    return np.append(edges[:-1], min(edges[-1], own[-1]))  # the last may hold fewer values


def _heat_edges(domain: Domain, cells: Cells, column: int) -> Array:
    """The same for colours, which are counts: boxes are as wide as one another."""
    own = _own_edges(cells, column)
    if 2 <= len(own) <= FINEST + 1 and np.ptp(np.diff(own)) <= NEAR:
        return own
    return _even_edges(domain, cells, column, FINEST)


def _own_edges(cells: Cells, column: int) -> Array:
    """Where cells begin and end."""
    own = np.unique(np.concatenate([cells.lower[:, column], cells.upper[:, column]]))
    if len(own) <= 2:
        return own
    inner = own[1:-1]
    kept = (np.diff(own[:-1]) > NEAR) & (own[-1] - inner > NEAR)
    edges: Array = np.concatenate([own[:1], inner[kept], own[-1:]])
    return edges


def _even_edges(domain: Domain, cells: Cells, column: int, most: int) -> Array:
    """Bins of one width, in grid steps; where a column has a step, of as many values each."""
    grid = domain.encoding.numbers[column]
    own = _own_edges(cells, column)
    if grid.values is None or grid.values.step < FEWEST_STEPS * grid.step:
        return np.linspace(-float(grid.half), float(grid.half), most + 1)
    origin, step = (grid.values.origin - grid.center) / grid.step, grid.values.step / grid.step
    first, last = ceil((-grid.half - origin) / step - ROUNDING), floor((grid.half - origin) / step + ROUNDING)
    if first > last:  # no value lies between the bounds
        return np.linspace(-float(grid.half), float(grid.half), most + 1)
    edges = bins_around(origin + first * step, origin + last * step, step, most)
    return np.concatenate([[min(edges[0], own[0])], edges[1:-1], [max(edges[-1], own[-1])]])  # bounds may lie between values


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
