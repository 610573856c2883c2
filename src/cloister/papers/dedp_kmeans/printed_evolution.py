"""Differential evolution as paper 003 prints it (sections 5.1 to 5.5): on raw rows, without any noise.

What is wrong with it: members are rows, and their fitness is the exact squared error of all rows, so which start comes out
depends on single rows without any bound. The paper contradicts itself three times over; `EvolutionReading` has both sides of
each contradiction. Many independent runs are evolved at once, so that an attack can look at thousands of them.

The sound form is `cloister.clustering.seeding.evolution`: the same search over the cells of a released synopsis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.evolution import crossover_rate
from cloister.clustering.seeding.points_kmeans import one_thread

__all__ = ["PSEUDO_CODE", "EvolutionReading", "PrintedStart", "evolve_on_rows", "mutants", "printed_crossover", "select"]

Floats = NDArray[np.float64]
Mutation = Literal["rand/1", "rand/2 as printed", "rand/2"]
Crossover = Literal["printed", "smooth"]
Selection = Literal["pseudo-code", "equation 14"]

MEMBERS_A_GENE = 5  # section 7.2: 5 D
FEWEST_MEMBERS = 6  # rand/2 takes five beside the current one
PICKED = {"rand/1": 3, "rand/2 as printed": 4, "rand/2": 5}
AT_ONCE = 2**17  # squared distances at a time: they stay in the second cache
CENTERS_AT_ONCE = 2**12


@dataclass(frozen=True, slots=True)
class EvolutionReading:
    """How the contradictions of the paper are read, and its parameters.

    Attributes
    ----------
    mutation
        "rand/1": the pseudo-code, X_a + F (X_b - X_c). "rand/2 as printed": equation 12, which takes X_c twice. "rand/2": what
        the name in the text means, five distinct members.
    crossover
        "printed": equation 9, which passes 1 from the second generation on. "smooth": an S from 0.25 to 0.95, as figure 5 is
        described.
    selection
        "pseudo-code": the best of the current member, the trial and its opposite. "equation 14": read with its "or", the
        current member stays unless both are better, and the opposite never comes in.
    generations
        50 in section 5.3, 10,000 in section 7.2.
    population
        None: 5 for each number of a member, at least 6.
    """

    mutation: Mutation = "rand/1"
    crossover: Crossover = "printed"
    selection: Selection = "pseudo-code"
    generations: int = 50
    population: int | None = None
    scale: float = 0.5

    def members(self, clusters: int, columns: int) -> int:
        """How many members are evolved.

        >>> EvolutionReading().members(3, 13)
        195
        """
        return self.population or max(FEWEST_MEMBERS, MEMBERS_A_GENE * clusters * columns)

    def rate(self, generation: int) -> float:
        """The crossover rate of a generation, from 1 on."""
        if self.crossover == "printed":
            return printed_crossover(generation, self.generations)
        return crossover_rate(generation - 1, self.generations)

    def lasting(self, generations: int) -> EvolutionReading:
        """The same with another number of generations."""
        return replace(self, generations=generations)


PSEUDO_CODE = EvolutionReading()


@dataclass(frozen=True, slots=True)
class PrintedStart:
    """The best member of each run, and how the search for it went."""

    centers: Floats  # (runs, k, d)
    losses: Floats  # (runs,) exact squared errors
    evaluations: NDArray[np.int64]  # (generations + 1,) looks at all rows with one member, so far
    best: Floats  # (generations + 1, runs) the smallest error so far


def printed_crossover(generation: int, generations: int, ends: tuple[float, float] = (0.25, 0.95)) -> float:
    """Equation 9 as printed: CRmin + (CRmax - CRmin) exp(-20 (1 - g) / (Gmax + 1)). Its exponent explodes.

    >>> [round(printed_crossover(g, 50), 3) for g in (0, 1, 2, 10)]
    [0.723, 0.95, 1.286, 24.123]
    """
    return ends[0] + (ends[1] - ends[0]) * exp(-20 * (1 - generation) / (generations + 1))


def evolve_on_rows(
    points: Floats, clusters: int, reading: EvolutionReading, random: np.random.Generator, runs: int = 1
) -> PrintedStart:
    """Steps 2 to 7 of section 5.4 on exact rows (n, d), several independent runs at once. Not private in any sense."""
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    mass = counts.astype(np.float64)
    size = reading.members(clusters, points.shape[1])
    members = points[_drawn_rows(len(points), (runs, size, clusters), random)]  # (runs, p, k, d): rows themselves
    losses = squared_errors(distinct, mass, members)  # (runs, p)
    evaluations, best = [size], [losses.min(axis=1)]
    for generation in range(1, reading.generations + 1):
        trial = _cross(members, mutants(members, reading, random), reading.rate(generation), random)
        against = _oppose(trial, random)
        trial_losses, against_losses = (squared_errors(distinct, mass, one) for one in (trial, against))
        choice = select(losses, trial_losses, against_losses, reading.selection)
        members = np.choose(choice[:, :, None, None], (members, trial, against))
        losses = np.choose(choice, (losses, trial_losses, against_losses))
        evaluations.append(evaluations[-1] + 2 * size)
        best.append(np.minimum(best[-1], losses.min(axis=1)))
    winner = losses.argmin(axis=1)
    each = np.arange(runs)
    return PrintedStart(members[each, winner], losses[each, winner], np.array(evaluations), np.array(best))


def squared_errors(points: Floats, mass: Floats, members: Floats) -> Floats:
    """The fitness, (runs, p): the squared error (eq. 7) of points (n, d), each so many rows, around each member's centres."""
    runs, size, clusters, columns = members.shape
    middle = np.average(points, axis=0, weights=mass)  # around the origin |x|^2 - 2 x c + |c|^2 keeps its digits
    rows, centers = points - middle, members.reshape(-1, clusters, columns) - middle
    ends = np.concatenate([rows, np.ones((len(rows), 1))], axis=1).T.copy()  # (d + 1, n)
    slopes = np.concatenate([-2 * centers, (centers**2).sum(axis=2, keepdims=True)], axis=2)  # (p, k, d + 1)
    losses = np.full(len(centers), float((rows**2).sum(axis=1) @ mass))
    many = max(1, CENTERS_AT_ONCE // clusters)
    with one_thread():
        for first in range(0, len(centers), many):
            block = slopes[first : first + many]
            step = max(64, AT_ONCE // (len(block) * clusters))
            for at in range(0, len(rows), step):
                gaps = (block.reshape(-1, columns + 1) @ ends[:, at : at + step]).reshape(len(block), clusters, -1)
                losses[first : first + many] += gaps.min(axis=1) @ mass[at : at + step]
    return np.asarray(np.maximum(losses, 0.0).reshape(runs, size))


def mutants(members: Floats, reading: EvolutionReading, random: np.random.Generator) -> Floats:
    """Step 3, of members (runs, p, k, d): differences of others are added to another."""
    runs, size = members.shape[:2]
    picked = PICKED[reading.mutation]
    others = np.argsort(random.random((runs, size, size - 1)), axis=2)[:, :, :picked]
    others += others >= np.arange(size)[:, None]  # distinct, and none of them the current one
    a, b, c, *more = (np.take_along_axis(members, others[:, :, i, None, None], axis=1) for i in range(picked))
    if reading.mutation == "rand/1":
        return np.asarray(a + reading.scale * (b - c))
    if reading.mutation == "rand/2 as printed":
        return np.asarray(c + reading.scale * ((a - b) + (c - more[0])))
    return np.asarray(a + reading.scale * ((b - c) + (more[0] - more[1])))


def select(current: Floats, trial: Floats, against: Floats, selection: Selection) -> NDArray[np.int64]:
    """Which of the three goes on, by their errors: 0 the current member, 1 the trial, 2 its opposite."""
    if selection == "equation 14":
        stays = (current < trial) | (current < against)
        crossed = (current > trial) | (against > trial)
        return np.where(stays, 0, np.where(crossed, 1, 2))
    crossed = (trial < current) & (trial < against)
    opposed = (against < current) & (against < trial)
    return np.where(crossed, 1, np.where(opposed, 2, 0))


def _drawn_rows(rows: int, shape: tuple[int, int, int], random: np.random.Generator) -> NDArray[np.int64]:
    """Indices of rows, different ones inside each member."""
    drawn = random.integers(rows, size=shape)
    while (again := (np.diff(np.sort(drawn, axis=2), axis=2) == 0).any(axis=2)).any():
        drawn[again] = random.integers(rows, size=(int(again.sum()), shape[2]))
    return drawn


def _cross(members: Floats, mutant: Floats, rate: float, random: np.random.Generator) -> Floats:
    """Step 4 (eq. 13): numbers of the mutant where chance is at most the rate, and always one of them."""
    runs, size = members.shape[:2]
    old, new = members.reshape(runs, size, -1), mutant.reshape(runs, size, -1)
    crossed = random.random(old.shape) <= rate
    np.put_along_axis(crossed, random.integers(old.shape[2], size=(runs, size, 1)), True, axis=2)
    return np.where(crossed, new, old).reshape(members.shape)


def _oppose(trial: Floats, random: np.random.Generator) -> Floats:
    """Step 5 (eq. 10): t (lowest + highest) - x over the trials of the run, t uniform."""
    t = random.random((*trial.shape[:2], 1, 1))
    ends = trial.min(axis=1, keepdims=True) + trial.max(axis=1, keepdims=True)
    return np.asarray(t * ends - trial)
