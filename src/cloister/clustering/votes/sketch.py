"""A released sketch of a table: cells with a weight, a mean and a spread. All of it is post-processing of released values."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.seeding.point_search import search_centers
from cloister.clustering.seeding.points_kmeans import best_of_restarts, nearest
from cloister.clustering.votes.joined_cells import join_cells
from cloister.privacy.mechanisms import Mechanism, Norm

__all__ = ["NEAR", "QUIET", "QUIET_LOOK", "Radii", "RadiusRule", "Round", "Sketch", "draw_uniform", "sketch_of_moments"]

Array = NDArray[np.float64]

POINTS_PER_CELL = 25  # public points drawn from the sketch for each cell that is wanted
POINTS_PER_RADIUS, FEWEST_DRAWN = 20, 4000  # and for each candidate whose radius is wanted
UNIFORM = 0.3  # part of the points that is spread over the domain in a round that explores
CANDIDATE_ITERATIONS = 6  # of one search for candidates: they need not be the best
NEAR = 0.8  # part of the rows, as the sketch expects them, that a clipping radius leaves alone
FEWEST_NEAR = 3  # points of a candidate from which its own radius follows
LARGE = 0.9  # part of the rows whose cells are kept in any case, the largest first
QUIET = 0.001  # noise below this part of the loss does not matter: it may buy a wider radius
QUIET_LOOK = 0.004  # the same after votes alone, whose cells follow tails that clipping would cut
ROUNDING = 1e-9  # of the whole squared error: less is none
UNEXPLAINED = 0.3  # of a cell's mean square that its own move may not explain away
FALSE_CELLS = 0.3  # empty cells that pass for full ones in a seeding round, to be expected at most
JOINED, FALSE_JOINED = (2, 4, 8), 0.1  # cells that are joined where fewer do not stand out, and false ones to be expected
CLIPPED, BEYOND = 0.5, 0.5  # a squared move, over its radius', from where rows may lie further out, and how far then


@dataclass(frozen=True, slots=True)
class RadiusRule:
    """How far a round may look."""

    near: float = NEAR  # part of the rows that a radius leaves alone
    is_clear: bool = False  # whether a cell's rows stand out of the noise: then each candidate has a radius of its own
    quiet: float = QUIET  # part of the loss that noise may add for a wider radius
    explores: bool = False  # whether some candidates lie anywhere in the domain: their cells are wide


@dataclass(frozen=True, slots=True)
class Radii:
    """How far a round looks from each candidate, in grid steps, (m,)."""

    move: Array  # moves are clipped to this length: L2, or L1 / sqrt(d) for Laplace noise
    square: Array  # squared distances are capped at the square of this
    expected: float  # mean of the capped squared distances, in units of the cap, as the sketch expects them


@dataclass(frozen=True, slots=True)
class Round:
    """What one round released around its candidates, in grid steps, with the deviation of its noise."""

    candidates: Array  # (m, d)
    radii: Radii
    counts: Array  # (m,)
    sums: Array  # (m, d) of clipped moves
    squares: Array  # (m,) of capped squared distances
    count_noise: float
    sum_noise: Array  # (m,)
    square_noise: Array  # (m,)
    mechanism: Mechanism | None = None  # of the counts' noise, where cells stand out of it: then false ones are told


@dataclass(frozen=True, slots=True)
class Sketch:
    """Rows as a mixture of cells, estimated from what was released.

    Attributes
    ----------
    means : (m, d); weights : (m,) rows in each cell; spreads : (m,) mean squared distance to the mean; shape : (d,) how a
    spread divides over the columns, adding up to 1; errors : (m,) standard error of each coordinate of a mean
    """

    means: Array
    weights: Array
    spreads: Array
    shape: Array
    errors: Array

    def draw(self, size: int, domain: Domain, random: PublicChance) -> tuple[Array, Array]:
        """About `size` points as the sketch expects rows to lie, with weights; at least two for each cell."""
        share = np.maximum(self.weights, 1e-9)
        share = share / share.sum()
        times = np.maximum(2, np.rint(share * size)).astype(np.int64)
        cell = np.repeat(np.arange(len(share)), times)
        steps = random.standard_normal((len(cell), len(self.shape)))  # public: points of the sketch, not noise
        points = self.means[cell] + steps * np.sqrt(self.shape) * np.sqrt(self.spreads[cell])[:, None]
        return domain.put(points).astype(np.float64), (share / times)[cell]

    def candidates(
        self,
        wanted: int,
        clusters: int,
        domain: Domain,
        random: PublicChance,
        explores: bool = False,
        rows_each: float = 0.0,
    ) -> Array:
        """Where to look next: so many candidates where the sketch expects rows; where it explores, some anywhere.

        Fewer, where a cell would be divided among candidates that may expect fewer than `rows_each` rows: none of them would
        stand out of the noise, and what the cell has shown would be lost.
        """
        if wanted == clusters and len(self.means) == clusters:
            return self.means
        if wanted == clusters and len(self.means) > clusters:
            return search_centers(self.means, self.weights, clusters, random).centers
        points, weights = self.draw(POINTS_PER_CELL * wanted, domain, random)
        if explores:
            points, weights = with_uniform(points, weights, domain, random)
        placed = best_of_restarts(points, weights, wanted, random, restarts=1, iterations=CANDIDATE_ITERATIONS)
        if explores or not rows_each or len(self.means) == 1:
            return placed
        fewer = self._undivided(placed, points, weights, rows_each, random)
        return fewer if len(fewer) > clusters else placed

    def _undivided(self, placed: Array, points: Array, weights: Array, rows_each: float, random: PublicChance) -> Array:
        """The candidates, but in cells that have too few rows for theirs as many as the rows allow, and one at least."""
        cells, inside = nearest(placed, self.means)[0], nearest(points, self.means)[0]
        allowed = np.maximum(1, np.rint(self.weights / rows_each)).astype(np.int64)
        crowded = np.bincount(cells, minlength=len(allowed)) > allowed
        candidates = [placed[~crowded[cells]]]
        for cell in np.flatnonzero(crowded):
            here = inside == cell
            if allowed[cell] == 1:
                candidates.append(self.means[cell][None])
            elif here.sum() > allowed[cell]:
                few = best_of_restarts(
                    points[here], weights[here], int(allowed[cell]), random, restarts=1, iterations=CANDIDATE_ITERATIONS
                )
                candidates.append(few)
            else:
                candidates.append(placed[cells == cell])
        return np.concatenate(candidates)

    def radii(
        self,
        candidates: Array,
        rows: float,
        noise: float,
        norm: Norm,
        domain: Domain,
        random: PublicChance,
        rule: RadiusRule,
    ) -> Radii:
        """Clipping radii: as far from its candidate as four fifths of the rows lie (`rule.near`), if the sketch is right.

        Where cells stand out of the noise each candidate has its own, in proportion to the root of the mean square around it. All
        grow, up to no clipping at all, while the noise they bring stays below a part of the loss (`rule.quiet`): clipping biases
        a mean where rows have a long tail to one side, and as epsilon grows the round becomes one of plain Lloyd. `noise` is the
        deviation of a sum's coordinate in radii.
        """
        points, weights = self.draw(max(FEWEST_DRAWN, POINTS_PER_RADIUS * len(candidates)), domain, random)
        labels, squares = nearest(points, candidates)
        loss = float(weights @ squares / weights.sum())
        columns = candidates.shape[1]
        mass = np.bincount(labels, weights=weights, minlength=len(candidates)) / weights.sum()
        # (m,): at these radii the noise of each candidate adds the same to the loss, of small ones too
        affordable = np.sqrt(rule.quiet * loss * mass / (columns * len(candidates))) * rows / noise
        least, most = max(1.0, 1e-4 * domain.radius), 2 * domain.radius
        typical = max(np.sqrt(loss), 1e-300)
        widths = np.full(len(candidates), typical)
        if rule.is_clear and rule.explores:
            around, odds = with_uniform(points, weights, domain, random)
            widths = own_widths(*nearest(around, candidates), odds, len(candidates))
        elif rule.is_clear:
            widths = own_widths(labels, squares, weights, len(candidates))

        def radius_of(lengths: Array) -> Array:
            return np.asarray(
                np.clip(np.maximum(quantile(lengths, weights, rule.near) / typical * widths, affordable), least, most)
            )

        move = square = radius_of(np.sqrt(squares))
        if norm == "L1":
            move = radius_of(np.abs(points - candidates[labels]).sum(axis=1) / np.sqrt(columns))
        expected = float(weights @ np.minimum(squares / square[labels] ** 2, 1.0) / weights.sum())
        return Radii(move, square, expected)

    def update(self, votes: Round, rows: float, clusters: int, domain: Domain, random: PublicChance) -> Sketch:
        """The sketch after a round.

        A move is shrunk by its own noise, 1 - E|noise|^2 / |move|^2 and not below 0 (James and Stein). The mean square of
        all cells is drawn towards what the sketch expected by its noise, and each cell's towards that. Of more cells than
        clusters those are kept that have rows (`_full`).

        Where cells stand out of the noise (`Round.mechanism`) a spread also has the noise that is left in the cell's mean, and
        does not fall below half of the squared radius where the move is as long as that: its rows may lie far beyond, and with
        a smaller radius the next round would not reach them either.
        """
        floor = np.maximum(votes.counts, max(2 * votes.count_noise, 1.0))
        moves = votes.sums / floor[:, None]
        lengths = (moves**2).sum(axis=1)
        noise = moves.shape[1] * (votes.sum_noise / floor) ** 2
        kept = np.maximum(0.0, lengths - noise) / np.maximum(lengths, 1e-300)
        means = domain.put(votes.candidates + kept[:, None] * moves).astype(np.float64)
        spreads = self._spreads(votes, rows, floor, kept**2 * lengths)
        if votes.mechanism is not None:
            radii = votes.radii.move**2
            clipped = np.clip((kept * lengths / radii - CLIPPED) / (1 - CLIPPED), 0.0, 1.0)
            spreads = np.maximum(spreads + kept * noise, BEYOND * radii * clipped)
        errors = votes.sum_noise / floor  # of the move before it is shrunk: a move shrunk to nothing is not exact
        if len(means) == clusters:
            return Sketch(means, np.maximum(votes.counts, 1.0), spreads, self.shape, errors)
        cells = self._full(votes, means, rows, clusters, random)
        return Sketch(means[cells], np.maximum(votes.counts[cells], 1.0), spreads[cells], self.shape, errors[cells])

    @staticmethod
    def _full(votes: Round, means: Array, rows: float, clusters: int, random: PublicChance) -> NDArray[np.intp]:
        """The cells that have rows, the largest first.

        Where cells stand out of the noise: the largest, up to nine tenths of the rows, all that noise hardly explains, since a
        false one may be far away and take a centre from rows, and neighbours that stand out together. Elsewhere the largest until
        they add up to the rows.
        """
        order = np.argsort(-votes.counts, kind="stable")
        counts = votes.counts[order]
        if votes.mechanism is None:
            large = max(int(np.searchsorted(np.cumsum(counts), rows)) + 1, clusters)
            cells = order[(np.arange(len(order)) < large) & (counts > 0)]
            return cells if len(cells) else order[:1]
        mark = votes.mechanism.tail("counts", log(max(1.0, len(order) / (2 * FALSE_CELLS))))
        large = int(np.searchsorted(np.cumsum(counts), LARGE * rows)) + 1
        cells = order[((np.arange(len(order)) < large) | (counts > mark)) & (counts > 0)]
        cells = cells if len(cells) else order[:1]
        left = np.setdiff1d(order, cells)
        joined = join_cells(means, votes.counts, left, JOINED, FALSE_JOINED, votes.mechanism, random)
        return np.concatenate([cells, *(group[votes.counts[group] > 0] for group in joined)])

    def _spreads(self, votes: Round, rows: float, floor: Array, explained: Array) -> Array:
        """The mean squared distance of each cell's rows to its new mean."""
        cap, expected = votes.radii.square**2, votes.radii.expected
        squares, noise = votes.squares / cap, votes.square_noise / cap
        blur = len(squares) * (float(noise.mean()) / rows) ** 2
        pooled = expected + (squares.sum() / rows - expected) * expected**2 / (expected**2 + 4 * blur)
        pooled = float(np.clip(pooled, 0.1 * expected, 1.0))
        each = np.clip((squares + 2 * noise * pooled) / (floor + 2 * noise), 0.1 * pooled, 1.0) * cap
        return np.maximum(each - explained, UNEXPLAINED * each)

    def suggest_clusters(self, most: int, random: PublicChance) -> int:
        """How many clusters the cells fall into: the fewest within 5% of the best Calinski-Harabasz score.

        The cells' own spreads count as distance within a cluster. Free, since the cells are released. Cells in one
        place fall into the fewest.
        """
        total_weight = self.weights.sum()
        inside = float(self.weights @ self.spreads)
        middle = self.weights @ self.means / total_weight
        total = float(self.weights @ ((self.means - middle) ** 2).sum(axis=1)) + inside
        if total <= 0:
            return 2
        scores = {}
        for clusters in range(2, max(3, min(most, len(self.means)) + 1)):
            wanted = min(clusters, len(self.means))
            centers = search_centers(self.means, self.weights, wanted, random).centers
            within = max(float(self.weights @ nearest(self.means, centers)[1]) + inside, ROUNDING * total)
            scores[clusters] = (total - within) / (clusters - 1) / (within / max(total_weight - clusters, 1.0))
        best = max(scores.values())
        return min(clusters for clusters, score in scores.items() if score >= best - 0.05 * abs(best))


def sketch_of_moments(
    sums: Array, squares: Array, sum_noise: float, square_noise: float, rows: float, domain: Domain
) -> Sketch:
    """One cell: the mean and variance of each column, drawn by their noise towards those of a uniform distribution."""
    scale = np.full(len(sums), domain.radius) if domain.is_ball else domain.halves.astype(np.float64)  # (d,)
    uniform = 1 / (len(sums) + 2) if domain.is_ball else 1 / 3  # variance of a column in units of its scale
    mean_error = (sum_noise / rows / scale) ** 2
    square_error = (square_noise / rows / scale**2) ** 2
    mean_prior, square_prior = uniform / 2, (uniform / 2) ** 2  # variances of a column's mean and second moment, a priori
    mean = sums / rows / scale * mean_prior / (mean_prior + mean_error)
    second = uniform + (squares / rows / scale**2 - uniform) * square_prior / (square_prior + square_error)
    mean_doubt = mean_prior * mean_error / (mean_prior + mean_error)
    square_doubt = square_prior * square_error / (square_prior + square_error)
    variance = second - mean**2 + mean_doubt  # the uncertainty of the mean counts as spread
    variance = np.clip(variance, 0.02 * uniform + np.sqrt(square_doubt), 2 * uniform) * scale**2
    middle = domain.put((mean * scale)[None]).astype(np.float64)
    one = np.ones(1)
    return Sketch(middle, one * rows, one * variance.sum(), variance / variance.sum(), one * np.inf)


def draw_uniform(size: int, domain: Domain, random: PublicChance) -> Array:
    """So many points spread over the domain, in grid steps."""
    return domain.put(random.uniform(-1, 1, (size, len(domain.halves))) * domain.halves).astype(np.float64)  # public


def with_uniform(points: Array, weights: Array, domain: Domain, random: PublicChance) -> tuple[Array, Array]:
    """The points, and as many spread over the domain, which weigh `UNIFORM` of all."""
    uniform = draw_uniform(len(points), domain, random)
    odds = np.concatenate([(1 - UNIFORM) * weights / weights.sum(), np.full(len(uniform), UNIFORM / len(uniform))])
    return np.concatenate([points, uniform]), odds


def own_widths(labels: NDArray[np.intp], squares: Array, weights: Array, candidates: int) -> Array:
    """The root of the mean square around each candidate, (m,); where hardly any point is near, that of a typical one."""
    points = np.bincount(labels, minlength=candidates)
    mass = np.bincount(labels, weights=weights, minlength=candidates)
    means = np.bincount(labels, weights=weights * squares, minlength=candidates) / np.maximum(mass, 1e-300)
    is_known = points >= FEWEST_NEAR
    typical = float(np.median(means[is_known])) if is_known.any() else float(weights @ squares / weights.sum())
    return np.sqrt(np.where(is_known, means, typical))


def quantile(values: Array, weights: Array, near: float) -> float:
    """The value below which the rows that the sketch counts as near lie."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, near * below[-1])])
