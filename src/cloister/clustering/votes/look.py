"""Cells of a few columns from votes alone: where rows are, however many their neighbours have. Post-processing of released votes.

In few columns the whole domain can be looked at. Half of the first candidates follow the moments of the columns, half are spread
over the domain, and rows only vote: a vote costs less than a move, so many more candidates stand out of the noise. The second
candidates lie where the first votes say that rows are. A tail or a background is thin: none of its cells stands out of the noise,
but many of them together do, so cells that do not are joined with more and more of their neighbours and tested again. A cell that
has hardly more votes than noise gives is asked again as it is, and dropped unless it has half as many again; so are joined cells,
by the second candidates that lie in them. At last every public point is weighted such that the last two sets of votes come out as
they were released, each by its noise (non-negative least squares).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.seeding.points_kmeans import best_of_restarts, nearest
from cloister.clustering.votes.joined_cells import join_cells
from cloister.clustering.votes.sketch import Sketch, draw_uniform
from cloister.privacy.mechanisms import Mechanism

__all__ = [
    "Ballot",
    "PointsInRegions",
    "PublicPoints",
    "cells_of",
    "first_points",
    "place_again",
    "place_candidates",
    "points_in_regions",
    "weigh_points",
]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

POINTS = 20_000  # public points that stand for the domain, or so many a candidate:
POINTS_PER_CANDIDATE = 20
PLACING_POINTS = 12  # of them, a candidate, when candidates are placed
PLACING_ITERATIONS = 6
UNIFORM = 0.5  # part of the first points that is spread over the domain
KEPT = 0.9  # part of the rows whose cells are kept in any case, the largest first
FALSE_CELLS = 0.3  # further cells that are kept though they are empty, to be expected at most
JOINED = tuple(3**i for i in range(2, 8))  # cells that are joined on average, where fewer do not stand out
FALSE_JOINED = 0.3  # of these, empty ones to be expected at most; they are asked again
SURE = 3.0  # times what noise explains: such a cell is not asked again
FEWEST_POINTS = 8  # of a kept cell
JITTER = 0.5  # of a cell's width: how far a repeated point is moved, inside its cell
WEIGHING = 60  # iterations
STEP_SPREAD = 1 / 12  # mean square of a column within a step of the grid: no cell is narrower


@dataclass(frozen=True, slots=True)
class PublicPoints:
    """Points of the domain, in grid steps, and how many rows each stands for."""

    places: Array  # (n, d)
    weights: Array  # (n,)


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

    def full(self, rows: float) -> tuple[Indices, Indices]:
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

    def joined(self, left: Indices, random: PublicChance) -> list[Indices]:
        """Groups of neighbouring candidates, none of which stands out, that do so together."""
        return join_cells(self.candidates, self.counts, left, JOINED, FALSE_JOINED, self.mechanism, random)


@dataclass(frozen=True, slots=True)
class Regions:
    """Where the first votes say that rows are: cells of one candidate each, and joined ones of several."""

    owners: Indices  # (m,) the region of each candidate; -1: no rows are seen there
    counts: Array  # (r,) released
    joined: Indices  # (r,) how many candidates a region has
    doubtful: Indices  # candidates that are asked again

    @classmethod
    def of(cls, ballot: Ballot, rows: float, random: PublicChance) -> Regions:
        """Cells that stand out by themselves first, then what stands out when it is joined."""
        full, doubtful = ballot.full(rows)
        left = np.setdiff1d(np.arange(len(ballot.counts)), full)
        groups = [*full[:, None], *ballot.joined(left, random)]
        owners = np.full(len(ballot.counts), -1)
        for region, group in enumerate(groups):
            owners[group] = region
        counts = np.array([ballot.counts[group].sum() for group in groups])
        return cls(owners, counts, np.array([len(group) for group in groups]), doubtful)


@dataclass(frozen=True, slots=True)
class PointsInRegions:
    """Public points where rows are, each in its region."""

    points: PublicPoints
    regions: Regions
    region_of: Indices  # (n,)

    def kept(self, keep: NDArray[np.bool_]) -> PointsInRegions:
        """Some of the points."""
        some = PublicPoints(self.points.places[keep], self.points.weights[keep])
        return PointsInRegions(some, self.regions, self.region_of[keep])


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


def place_again(inside: PointsInRegions, ballot: Ballot, wanted: int, random: PublicChance) -> Array:
    """Candidates where the first votes say that rows are; at the end the doubtful ones as they were."""
    doubtful = inside.regions.doubtful
    sure = inside.kept(~np.isin(inside.region_of, inside.regions.owners[doubtful]))
    candidates = place_candidates(sure.points, max(1, wanted - len(doubtful)), random)
    return np.concatenate([candidates, ballot.candidates[doubtful]])


def points_in_regions(
    points: PublicPoints, ballot: Ballot, rows: float, domain: Domain, random: PublicChance
) -> PointsInRegions:
    """As many points again, only where rows are, and in each region by its count."""
    regions = Regions.of(ballot, rows, random)
    nearest_candidates, squares = nearest(points.places, ballot.candidates)
    labels = regions.owners[nearest_candidates]
    inside = np.flatnonzero(labels >= 0)
    labels, places, squares = labels[inside], points.places[inside], squares[inside]
    total = len(regions.counts)
    held = np.bincount(labels, minlength=total)
    radii = np.sqrt(np.bincount(labels, weights=squares, minlength=total) / np.maximum(held, 1))
    counts = np.maximum(regions.counts, 1.0)
    times = np.maximum(FEWEST_POINTS, np.rint(len(points.places) * counts / counts.sum())).astype(np.int64)
    region_of = np.repeat(np.arange(total), times)
    by_region, starts = np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(held)[:-1]])
    drawn = starts[region_of] + (random.random(len(region_of)) * held[region_of]).astype(np.int64)
    first_candidate = np.unique(regions.owners, return_index=True)[1][-total:]
    base = ballot.candidates[first_candidate[region_of]]
    if len(labels):
        some = by_region[np.minimum(drawn, len(labels) - 1)]
        base = np.where(held[region_of][:, None] > 0, places[some], base)
    width = np.where(held > 0, radii, np.median(radii[held > 0]) if held.any() else 0.0) / np.sqrt(base.shape[1])
    steps = random.standard_normal(base.shape) * (JITTER * width[region_of])[:, None]  # public: points, not noise
    moved = domain.put(base + steps).astype(np.float64)
    stays = regions.owners[nearest(moved, ballot.candidates)[0]] == region_of
    moved = np.where(stays[:, None], moved, base)
    return PointsInRegions(PublicPoints(moved, np.repeat(counts / times, times)), regions, region_of)


def without_refuted(inside: PointsInRegions, first: Ballot, second: Ballot) -> PointsInRegions:
    """The points but for those of doubtful and joined cells which, asked again, do not have half of their votes."""
    regions, doubtful = inside.regions, inside.regions.doubtful
    again = second.counts[len(second.counts) - len(doubtful) :]
    owners = regions.owners[nearest(second.candidates, first.candidates)[0]]
    seen = owners >= 0
    votes = np.bincount(owners[seen], weights=second.counts[seen], minlength=len(regions.counts))
    refuted = [
        regions.owners[doubtful[again < first.counts[doubtful] / 2]],
        np.flatnonzero((regions.joined > 1) & (votes < regions.counts / 2)),
    ]
    return inside.kept(~np.isin(inside.region_of, np.concatenate(refuted)))


def weigh_points(inside: PointsInRegions, before: Ballot, after: Ballot) -> PointsInRegions:
    """The points with the rows that the votes before and after say they stand for."""
    inside = without_refuted(inside, before, after)
    weights, regions = inside.points.weights, inside.regions
    votes = [
        (inside.region_of, regions.counts, before.variance * regions.joined),
        (nearest(inside.points.places, after.candidates)[0], after.counts, np.full(len(after.counts), after.variance)),
    ]
    wanted = sum((np.maximum(counts, 0.0) / variances)[of] for of, counts, variances in votes)
    for _ in range(WEIGHING):  # multiplicative updates of non-negative least squares: Lee and Seung 2001
        said = sum(
            (np.bincount(of, weights=weights, minlength=len(counts)) / variances)[of] for of, counts, variances in votes
        )
        weights = weights * wanted / np.maximum(said, 1e-300)
    return replace(inside, points=PublicPoints(inside.points.places, weights))


def cells_of(inside: PointsInRegions, last: Ballot, shape: Array) -> Sketch:
    """The cells of the last votes, as the points in them say."""
    places, weights = inside.points.places, inside.points.weights
    labels = nearest(places, last.candidates)[0]
    squares = ((places - last.candidates[labels]) ** 2).sum(axis=1)
    cells = len(last.counts)
    rows = np.bincount(labels, weights=weights, minlength=cells).astype(np.float64)
    held = np.bincount(labels, minlength=cells)
    means = np.stack([np.bincount(labels, weights=x, minlength=cells) for x in places.T], axis=1)
    means = np.asarray(np.where(held[:, None] > 0, means / np.maximum(held, 1)[:, None], last.candidates), dtype=np.float64)
    spreads = np.bincount(labels, weights=squares, minlength=cells) / np.maximum(held, 1)
    keep = rows > 0.5
    keep = keep if keep.any() else rows >= rows.max()
    spreads = np.maximum(spreads, max(float(np.median(spreads[held > 0])) * 1e-3, len(shape) * STEP_SPREAD))
    error = np.sqrt(last.variance)
    errors = np.sqrt(spreads / len(shape)) * np.maximum(1.0, error / np.maximum(rows, 1.0))
    rows = np.maximum(rows, 1.0)  # also where noise left nothing at all
    kept: list[Array] = [part[keep].astype(np.float64) for part in (means, rows, spreads, errors)]
    return Sketch(kept[0], kept[1], kept[2], shape, kept[3])
