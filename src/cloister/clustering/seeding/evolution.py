"""Differential evolution over released points: starting centres that do not depend on one lucky draw.

Privacy
-------
Free: it looks at the cells of a released synopsis and at public random numbers, never at a row. The paper draws its
members from the rows and scores them by the true error, which leaks without bound; here both come from the synopsis.

Differences from the paper, each where the print cannot be followed: the crossover rate rises from 0.25 to 0.95 along a
smooth S, as its figure shows (the printed exponent explodes); DE/rand/2 takes five distinct members beside the current
one; members' centres are put in the order of the best one's every ten generations, since swapping two centres of a solution
gives the same solution and differences of unmatched centres mean nothing; and every member that is scored also moves its centres
to the means of the points nearest to them, which costs no further pass over the points. One first member may be given: what
another search found. Then the work is capped at `MOST_WORK`; without it, all generations are done.

References
----------
Q. Meng and L. Zhou, "Research on differential privacy preserving clustering algorithm based on Spark platform", Journal
of Computers 29, 2018.
K. Krishna and M. Murty, "Genetic K-means algorithm", IEEE Transactions on Systems, Man and Cybernetics, 1999 (the move).
S. Rahnamayan, H. Tizhoosh and M. Salama, "Opposition-based differential evolution", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.seeding.evolution_options import CROSSOVER, OWN_EVOLUTION, SCALE, EvolutionOptions

__all__ = ["Evolved", "crossover_rate", "evolve", "population_size"]

STEEPNESS = 20.0  # of the S along which the crossover rate rises
MEMBERS_A_COLUMN = 5
MOST_MEMBERS = 80
MOST_MEMBERS_LARGE = 32  # where scoring one member takes more than LARGE products
LARGE = 750_000
FEWEST_MEMBERS = 8  # DE/rand/2 needs six
MATCHING = 10  # generations after which centres are put in the order of the best member's again
PATIENCE = 50  # generations without a better member, after which it ends
MOST_WORK = 6_000_000_000  # products, from a given start: about 2 s of processor time
COMPARING = 4  # comparing with a centre takes as long as so many products
SETTLED = 1e-7  # of its loss: a member whose own move gains less is left alone until it changes


@dataclass(frozen=True, slots=True)
class Evolved:
    """The best centres, with what the search for them took."""

    centers: NDArray[np.float64]  # (k, d)
    loss: float
    start_loss: float
    evaluations: int  # passes over all points with one set of centres
    generations: int


@dataclass(slots=True)
class Population:
    """Members of the evolution, each a set of centres, with the loss of each."""

    members: NDArray[np.float32]  # (p, k, d)
    losses: NDArray[np.float64]  # (p,)
    unsettled: NDArray[np.bool_]  # (p,) whether a member may still gain by its own move

    @property
    def best(self) -> NDArray[np.float32]:
        """The member of the smallest loss, (k, d)."""
        best: NDArray[np.float32] = self.members[int(np.argmin(self.losses))]
        return best

    def replace_worse(self, members: NDArray[np.float32], losses: NDArray[np.float64]) -> None:
        """Take over every new member that is better than the old one in its place."""
        better = losses < self.losses
        self.members[better], self.losses[better] = members[better], losses[better]
        self.unsettled |= better

    def settle(self, columns: NDArray[np.float32], mass: NDArray[np.float32]) -> int:
        """Move every member that still gains by it; returns how many passes over all points that took."""
        from cloister.kernels.loops.fitness import improve  # loads numba, which no other seeding needs

        which = np.flatnonzero(self.unsettled)
        if not len(which):
            return 0
        losses, moved = improve(columns, mass, np.ascontiguousarray(self.members[which]))
        gains = losses < self.losses[which] * (1 - SETTLED)
        self.members[which[gains]], self.losses[which[gains]] = moved[gains], losses[gains]
        self.unsettled[which[~gains]] = False
        return len(which)


def crossover_rate(generation: int, generations: int, ends: tuple[float, float] = CROSSOVER) -> float:
    """The share of a trial that comes from the mutant: a smooth S between the two ends.

    >>> round(crossover_rate(0, 200), 3), round(crossover_rate(100, 200), 3), round(crossover_rate(199, 200), 3)
    (0.25, 0.609, 0.95)
    """
    along = (generation + 1) / (generations + 1) - 0.5
    return ends[0] + (ends[1] - ends[0]) / (1 + float(np.exp(-STEEPNESS * along)))


def population_size(clusters: int, columns: int, points: int) -> int:
    """Five members for each column of the genome (clusters x columns): at least 8, at most 80, on a large synopsis 32.

    >>> population_size(15, 2, 700), population_size(2, 1, 700), population_size(15, 10, 10_000)
    (80, 10, 32)
    """
    most = MOST_MEMBERS if points * clusters * columns <= LARGE else MOST_MEMBERS_LARGE
    return min(most, max(FEWEST_MEMBERS, MEMBERS_A_COLUMN * clusters * columns))


def evolve(
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    clusters: int,
    random: PublicChance,
    options: EvolutionOptions = OWN_EVOLUTION,
    given: NDArray[np.float64] | None = None,
) -> Evolved:
    """Centres of released points by DE/rand/2/bin with generalised opposition; never worse than its best first member.

    Parameters
    ----------
    points : float64 (n, d)
    weights : float64 (n,)
        Not negative, at least `clusters` of them above 0.
    clusters : int
    random : numpy Generator
        Public: it decides which cells the members start from.
    options : EvolutionOptions
    given : float64 (k, d), optional
        Centres that are the first member; the others are drawn.
    """
    from cloister.kernels.loops.fitness import improve, weighted_loss  # loads numba, which no other seeding needs

    middle = np.average(points, axis=0, weights=weights)
    reach = float(np.abs(points - middle).max()) or 1.0
    columns = np.ascontiguousarray(((points - middle) / reach).T, dtype=np.float32)  # (d, n)
    mass = weights.astype(np.float32)
    size = options.population or population_size(clusters, points.shape[1], len(points))

    first = draw_members(columns, weights, clusters, size, random)
    if given is not None:
        first[0] = (given - middle) / reach
    look = points.shape[0] * clusters * (points.shape[1] + COMPARING)
    most_evaluations = inf if given is None else MOST_WORK / look
    losses, members = improve(columns, mass, first)
    evaluations = size
    best_start = first[int(np.argmin(losses))]
    population = Population(members, losses, np.ones(size, dtype=bool))
    lowest, highest = columns.min(axis=1), columns.max(axis=1)  # (d,) each
    quiet, done = 0, 0
    for generation in range(options.generations):
        done = generation + 1
        if generation % MATCHING == 0:
            match_centers(members, population.best.copy())
        rate = crossover_rate(generation, options.generations, options.CR)
        trial = np.clip(mutate_and_cross(members, rate, random, options.F), lowest, highest)
        against = oppose(trial, members.min(axis=0), members.max(axis=0), random)
        trial_losses, trial = improve(columns, mass, trial)
        against_losses, against = improve(columns, mass, against)
        evaluations += 2 * size
        evaluations += population.settle(columns, mass)
        opposite = against_losses < trial_losses
        trial = np.where(opposite[:, None, None], against, trial)
        population.replace_worse(trial, np.where(opposite, against_losses, trial_losses))
        quiet = 0 if population.unsettled.any() else quiet + 1
        if quiet >= PATIENCE or evaluations + 3 * size > most_evaluations:
            break

    # Ranked in single precision, decided in double: what is handed out is never worse than what it began with.
    start = best_start.astype(np.float64) * reach + middle
    if given is not None and weighted_loss(points, weights, given) <= weighted_loss(points, weights, start):
        start = given
    end = population.best.astype(np.float64) * reach + middle
    start_loss, end_loss = weighted_loss(points, weights, start), weighted_loss(points, weights, end)
    centers = end if end_loss <= start_loss else start
    return Evolved(centers, min(start_loss, end_loss), start_loss, evaluations, done)


def draw_members(
    columns: NDArray[np.float32], weights: NDArray[np.float64], clusters: int, size: int, random: PublicChance
) -> NDArray[np.float32]:
    """Each member: different cells drawn by weight, (size, k, d): those with the smallest of exponentials over weights."""
    with np.errstate(divide="ignore"):
        scales = np.where(weights > 0, 1 / weights, np.inf)
    members = np.empty((size, clusters, len(columns)), dtype=np.float32)
    for i in range(size):
        waits = random.standard_exponential(len(weights)) * scales
        members[i] = columns[:, np.argpartition(waits, clusters - 1)[:clusters]].T
    return members


def match_centers(members: NDArray[np.float32], model: NDArray[np.float32]) -> None:
    """Reorder, in place, each member's centres so that they lie nearest to the model's, in the sum of squares."""
    from scipy.optimize import linear_sum_assignment

    for i, member in enumerate(members):
        gaps = ((model[:, None] - member[None]) ** 2).sum(axis=2)  # (k, k)
        members[i] = member[linear_sum_assignment(gaps)[1]]


def mutate_and_cross(
    members: NDArray[np.float32], rate: float, random: PublicChance, scale: float = SCALE
) -> NDArray[np.float32]:
    """DE/rand/2/bin: X_a + F (X_b - X_c) + F (X_d - X_e), crossed with the current member column by column."""
    size = len(members)
    others = np.argsort(random.random((size, size - 1)), axis=1)[:, :5]
    others += others >= np.arange(size)[:, None]  # five distinct members, none of them the current one
    a, b, c, d, e = (members[others[:, i]] for i in range(5))
    mutant = (a + np.float32(scale) * ((b - c) + (d - e))).reshape(size, -1)
    crossed = random.random(mutant.shape) <= rate
    crossed[np.arange(size), random.integers(mutant.shape[1], size=size)] = True
    return np.where(crossed, mutant, members.reshape(size, -1)).reshape(members.shape)


def oppose(
    trial: NDArray[np.float32], low: NDArray[np.float32], high: NDArray[np.float32], random: PublicChance
) -> NDArray[np.float32]:
    """Generalised opposition t (low + high) - x, t uniform, within the population's present bounds (else uniform there)."""
    t = random.random((len(trial), 1, 1), dtype=np.float32)
    against = t * (low + high) - trial
    inside = low + random.random(trial.shape, dtype=np.float32) * (high - low)
    return np.where((against < low) | (against > high), inside, against)
