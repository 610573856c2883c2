"""The search for centres of released points that everybody shares: restarts that breathe. Free: no row is looked at.

Several sets of centres start from k-means++. In each generation every set takes in further centres, either at points drawn
by their error (a breath) or those of another set (a crossing), Lloyd lets them settle, the centres whose union costs least
are merged until k are left (Ward), and Lloyd follows. What is better stays. So a centre that two clusters share and two
centres in one cluster, which keep Lloyd where it is, are mended together.

When it stops
-------------
After `PATIENCE` generations (and one more for every eight clusters) in which the best set gains less than `GAIN` of its
loss; after `AGREED` such generations, if half of the sets have that same loss; after `MOST_GENERATIONS`; when the loss is 0; or
when the next generation would pass `MOST_WORK`. Work is counted in products, never in seconds: the result follows from
points, weights, starts and the generator alone.

References
----------
B. Fritzke, "Breathing k-means", 2020 (more centres, then fewer).
P. Fränti, "Genetic algorithm with deterministic crossover for vector quantization", Pattern Recognition Letters 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.seeding.batched_lloyd import BatchedLloyd, LloydRuns
from cloister.clustering.seeding.points_kmeans import (
    MOST_ITERATIONS,
    Floats,
    Weighted,
    draw_by_odds,
    lloyd,
    one_thread,
    plus_plus_members,
)
from cloister.clustering.seeding.ward_merges import merge_centers

__all__ = ["search_centers"]

MEMBERS = 8  # sets of centres that are improved at once; on large problems fewer
FEWEST_MEMBERS = 3
ITERATIONS = 20  # of Lloyd in a generation
WIDE_ITERATIONS = 4  # of Lloyd while there are more centres than wanted
CLUSTERS_A_BREATH = 3  # clusters for each centre that a breath takes in
BREATH = 12  # most centres that a breath takes in
CROSSINGS = 3  # every so many generations is a crossing
PATIENCE = 3  # and one more for every CLUSTERS_A_GENERATION clusters
CLUSTERS_A_GENERATION = 8
AGREED = 2
GAIN = 1e-5
SAME = 1e-6  # of the loss: sets that differ by less are one
MOST_GENERATIONS = 60
MOST_WORK = 3_000_000_000  # products: about 0.7 s
MEMBER_WORK = 200  # passes that a member should be able to do within the work
FEWEST_ITERATIONS = 3  # however large the problem
MERGING = 1000  # products that take as long as comparing with one centre while two others are merged
MOST_MERGED = 2048  # centres: the costs of all pairs are held
MOST_SEED_NUMBERS = 2**19  # distances that seeds of several members compare at a time
MOST_SEED_WORK = 2**28  # distances that the seeds of one member compare; beyond, one draw for each centre
FINE = 1e-5  # of the squared error of one centre: below it single precision cannot tell centres apart


def search_centers(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    clusters: int,
    random: PublicChance,
    starts: Sequence[NDArray[np.float64]] = (),
) -> Weighted:
    """Centres of weighted points, by restarts that breathe and cross.

    Parameters
    ----------
    points : (n, d), released
    weights : (n,), not negative, some above 0
    clusters : int, at most n
    random : numpy Generator, public
    starts : sequence of (k, d)
        Sets of centres to begin from too. The result is never worse than any of them.

    Returns
    -------
    Weighted

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [10.0], [11.0], [20.0]])
    >>> round(search_centers(points, np.ones(5), 3, np.random.default_rng(0)).loss, 6)
    1.0
    """
    with one_thread():
        middle = np.average(points, axis=0, weights=weights)
        around = points - middle
        reach = float(np.abs(around).max())
        if reach == 0 or clusters == len(points):
            return lloyd(points, weights, points[:clusters], 1)
        scaled, share = around / reach, weights / weights.sum()
        given = np.array([(start - middle) / reach for start in starts]).reshape(len(starts), clusters, points.shape[1])
        search = BatchedLloyd(scaled, share)
        runs = first_runs(search, clusters, random, given)
        if runs.losses.min() < FINE * search.whole:
            search = BatchedLloyd(scaled, share, np.float64)
            runs = search.run(runs.members.astype(np.float64), ITERATIONS)
        best = improve_runs(search, runs, random)
        # Ranked within seven digits, decided in double precision.
        left = (MOST_WORK - search.work) // search.pass_work(clusters)
        passes = int(np.clip(left, FEWEST_ITERATIONS, MOST_ITERATIONS))
        finals = [lloyd(scaled, share, start, passes) for start in (best.astype(np.float64), *given)]
        final = min(finals, key=lambda run: run.loss)
    total = float(weights.sum())
    return Weighted(final.centers * reach + middle, final.sizes * total, final.loss * reach**2 * total)


def first_runs(search: BatchedLloyd, clusters: int, random: PublicChance, given: Floats) -> LloydRuns:
    """The starts and sets of centres from k-means++, after Lloyd."""
    possible = MOST_WORK // (MEMBER_WORK * search.pass_work(clusters))
    wanted = int(np.clip(possible, 1 if possible == 0 else FEWEST_MEMBERS, MEMBERS))
    drawn = max(1, wanted - len(given))
    draws = 2 + int(log(clusters))
    if draws * clusters * len(search.points) > MOST_SEED_WORK:
        draws = 1
    at_once = max(1, MOST_SEED_NUMBERS // (draws * len(search.points)))
    counts = [min(at_once, drawn - first) for first in range(0, drawn, at_once)]
    seeds = [plus_plus_members(search.points, search.weights, clusters, count, random, draws) for count in counts]
    iterations = int(np.clip(MOST_WORK // search.pass_work(clusters), FEWEST_ITERATIONS, ITERATIONS))
    return search.run(np.concatenate([given.astype(np.float32), *seeds]), iterations)


def improve_runs(search: BatchedLloyd, runs: LloydRuns, random: PublicChance) -> Floats:
    """Breathe and cross until the stopping rule holds; the best set of centres, (k, d)."""
    members, losses = runs.members, runs.losses
    clusters, quiet = members.shape[1], 0
    patience = PATIENCE + clusters // CLUSTERS_A_GENERATION
    generation_work = len(members) * (ITERATIONS + 2 * WIDE_ITERATIONS) * search.pass_work(clusters)
    for generation in range(MOST_GENERATIONS):
        best = losses.min()
        agree = np.median(losses) <= best * (1 + SAME)
        if best <= 0 or quiet >= (AGREED if agree else patience) or search.work + generation_work > MOST_WORK:
            break
        wide = widen(search, members, random, is_crossing=generation % CROSSINGS == CROSSINGS - 1 and not agree)
        settled = search.run(wide, WIDE_ITERATIONS)
        search.work += MERGING * len(wide) * wide.shape[1] * (wide.shape[1] - clusters)
        after = search.run(merge_centers(settled.members, settled.masses, clusters), ITERATIONS)
        better = after.losses < losses
        members[better], losses[better] = after.members[better], after.losses[better]
        quiet = 0 if losses.min() < best * (1 - GAIN) else quiet + 1
    chosen: Floats = members[int(losses.argmin())]
    return chosen


def widen(search: BatchedLloyd, members: Floats, random: PublicChance, is_crossing: bool) -> Floats:
    """Each member with further centres: those of another member, or points drawn by their error; (p, more than k, d)."""
    count, clusters, _ = members.shape
    if is_crossing and count > 1 and 2 * clusters <= MOST_MERGED:
        order = random.permutation(count)  # public
        others = np.empty_like(members)
        others[order] = members[np.roll(order, 1)]
        return np.concatenate([members, others], axis=1)
    _, gaps = search.nearest(members)
    breath = max(1, min(BREATH, clusters // CLUSTERS_A_BREATH))
    drawn = draw_by_odds(gaps * search.weights, breath, random)
    return np.concatenate([members, search.points[drawn]], axis=1)
