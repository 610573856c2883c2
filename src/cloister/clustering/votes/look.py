"""Cells of a few columns from votes alone: where rows are, however many their neighbours have. Post-processing of released votes.

In few columns the whole domain can be looked at. Half of the first candidates follow the moments of the columns, half are spread
over the domain, and rows only vote: a vote costs less than a move, so many more candidates stand out of the noise. The second
candidates lie where the first votes say that rows are; a cell that has hardly more votes than noise gives is asked again as it
is, and dropped unless it has half as many again. At last every public point is weighted such that both sets of votes come out as
they were released, each by its noise (non-negative least squares).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.seeding.points_kmeans import best_of_restarts, nearest
from cloister.clustering.votes.sketch import Sketch, draw_uniform
from cloister.privacy.mechanisms import Mechanism

__all__ = [
    "Ballot",
    "PublicPoints",
    "first_points",
    "place_again",
    "place_candidates",
    "points_in_full_cells",
    "weigh_cells",
]

Array = NDArray[np.float64]

POINTS = 20_000  # public points that stand for the domain, or so many a candidate:
POINTS_PER_CANDIDATE = 20
PLACING_POINTS = 12  # of them, a candidate, when candidates are placed
PLACING_ITERATIONS = 6
UNIFORM = 0.5  # part of the first points that is spread over the domain
KEPT = 0.9  # part of the rows whose cells are kept in any case, the largest first
FALSE_CELLS = 0.3  # further cells that are kept though they are empty, to be expected at most
SURE = 3.0  # times what noise explains: such a cell is not asked again
FEWEST_POINTS = 8  # of a kept cell
JITTER = 0.5  # of a cell's width: how far a repeated point is moved, inside its cell
WEIGHING = 60  # iterations


@dataclass(frozen=True, slots=True)
class PublicPoints:
    """Points of the domain, in grid steps, and how many rows each stands for."""

    places: Array  # (n, d)
    weights: Array  # (n,)
    cells: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))  # (n,) the first candidate of each, if any
    doubtful: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))  # first candidates to be asked again


@dataclass(frozen=True, slots=True)
class Ballot:
    """The released votes for some candidates."""

    candidates: Array  # (m, d)
    counts: Array  # (m,)
    mechanism: Mechanism  # of their noise

    @property
    def variance(self) -> float:
        """Of the noise of one count."""
        return self.mechanism.deviation()["counts"] ** 2

    def full(self, rows: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Candidates that have rows, and those among them that are to be asked again.

        The largest counts up to nine tenths of the rows are full; so are all that noise hardly explains: `FALSE_CELLS` empty ones
        are to be expected among them at most. Of these, the ones that do not pass three times that mark are doubtful.
        """
        order = np.argsort(-self.counts, kind="stable")
        counts = self.counts[order]
        mark = self.mechanism.tail("counts", log(len(order) / (2 * FALSE_CELLS)))
        is_large = np.arange(len(order)) <= np.searchsorted(np.cumsum(counts), KEPT * rows)
        is_full = (is_large | (counts > mark)) & (counts > 0)
        if not is_full.any():
            return order[:1], order[:0]
        return order[is_full], order[is_full & ~is_large & (counts < SURE * mark)]


def first_points(sketch: Sketch, candidates: int, domain: Domain, random: PublicChance) -> PublicPoints:
    """Public points over the domain: by the moments of the columns, and uniform."""
    size = max(POINTS, POINTS_PER_CANDIDATE * candidates)
    uniform = draw_uniform(int(UNIFORM * size), domain, random)
    near, _ = sketch.draw(size - len(uniform), domain, random)
    places = np.concatenate([near, uniform])
    return PublicPoints(places, np.ones(len(places)))


def place_candidates(points: PublicPoints, wanted: int, random: PublicChance) -> Array:
    """Candidates such that the points lie near to one, (wanted, d)."""
    odds = np.cumsum(points.weights)
    drawn = np.searchsorted(odds, random.random(PLACING_POINTS * wanted) * odds[-1])  # public: places of candidates
    places = points.places[np.minimum(drawn, len(odds) - 1)]
    return best_of_restarts(places, np.ones(len(places)), wanted, random, restarts=1, iterations=PLACING_ITERATIONS)


def place_again(points: PublicPoints, ballot: Ballot, wanted: int, random: PublicChance) -> Array:
    """Candidates in the full cells of a ballot; at the end the doubtful ones as they were."""
    is_sure = ~np.isin(points.cells, points.doubtful)
    sure = PublicPoints(points.places[is_sure], points.weights[is_sure])
    candidates = place_candidates(sure, max(1, wanted - len(points.doubtful)), random)
    return np.concatenate([candidates, ballot.candidates[points.doubtful]])


def points_in_full_cells(
    points: PublicPoints, ballot: Ballot, rows: float, domain: Domain, random: PublicChance
) -> PublicPoints:
    """As many points again, only in cells that have rows, and in each by its count."""
    labels, squares = nearest(points.places, ballot.candidates)
    held = np.bincount(labels, minlength=len(ballot.counts))
    radii = np.sqrt(np.bincount(labels, weights=squares, minlength=len(held)) / np.maximum(held, 1))
    full, doubtful = ballot.full(rows)
    counts = np.maximum(ballot.counts[full], 1.0)
    times = np.maximum(FEWEST_POINTS, np.rint(len(labels) * counts / counts.sum())).astype(np.int64)
    cells = np.repeat(full, times)
    by_cell, starts = np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(held)[:-1]])
    some = by_cell[np.minimum(starts[cells] + (random.random(len(cells)) * held[cells]).astype(np.int64), len(labels) - 1)]
    base = np.where(held[cells][:, None] > 0, points.places[some], ballot.candidates[cells])
    columns = base.shape[1]
    width = np.where(held > 0, radii, np.median(radii[held > 0])) / np.sqrt(columns)
    steps = random.standard_normal(base.shape) * (JITTER * width[cells])[:, None]  # public: points, not noise
    moved = domain.put(base + steps).astype(np.float64)
    inside = nearest(moved, ballot.candidates)[0] == cells
    places = np.where(inside[:, None], moved, base)
    return PublicPoints(places, np.repeat(counts / times, times), cells, doubtful)


def without_refuted(points: PublicPoints, first: Ballot, second: Ballot) -> PublicPoints:
    """The points but for those of doubtful cells which, asked again, do not have half of their votes."""
    again = second.counts[len(second.counts) - len(points.doubtful) :]
    refuted = points.doubtful[again < first.counts[points.doubtful] / 2]
    kept = ~np.isin(points.cells, refuted)
    return replace(points, places=points.places[kept], weights=points.weights[kept], cells=points.cells[kept])


def weigh_cells(points: PublicPoints, first: Ballot, second: Ballot, shape: Array) -> Sketch:
    """The cells of the second votes with the rows that both votes say they have."""
    points = without_refuted(points, first, second)
    columns = [(points.cells, first), (nearest(points.places, second.candidates)[0], second)]
    weights = points.weights
    wanted = sum(np.maximum(ballot.counts, 0.0)[cells] / ballot.variance for cells, ballot in columns)
    for _ in range(WEIGHING):  # multiplicative updates of non-negative least squares: Lee and Seung 2001
        said = sum(
            np.bincount(cells, weights=weights, minlength=len(ballot.counts))[cells] / ballot.variance
            for cells, ballot in columns
        )
        weights = weights * wanted / np.maximum(said, 1e-300)
    labels, squares = columns[1][0], ((points.places - second.candidates[columns[1][0]]) ** 2).sum(axis=1)
    cells = len(second.counts)
    rows = np.bincount(labels, weights=weights, minlength=cells).astype(np.float64)
    held = np.bincount(labels, minlength=cells)
    means = np.stack([np.bincount(labels, weights=x, minlength=cells) for x in points.places.T], axis=1)
    means = np.asarray(
        np.where(held[:, None] > 0, means / np.maximum(held, 1)[:, None], second.candidates), dtype=np.float64
    )
    spreads = np.bincount(labels, weights=squares, minlength=cells) / np.maximum(held, 1)
    keep = rows > 0.5
    keep = keep if keep.any() else rows >= rows.max()
    spreads = np.maximum(spreads, float(np.median(spreads[held > 0])) * 1e-3)
    error = np.sqrt(second.variance)
    errors = np.sqrt(spreads / len(shape)) * np.maximum(1.0, error / np.maximum(rows, 1.0))
    rows = np.maximum(rows, 1.0)  # also where noise left nothing at all
    kept: list[Array] = [part[keep].astype(np.float64) for part in (means, rows, spreads, errors)]
    return Sketch(kept[0], kept[1], kept[2], shape, kept[3])
