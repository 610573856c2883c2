"""Seeding in a random subspace: clusters are found in a few public directions, and then lifted into all columns.

A round of votes releases a sum in every column, so that in d columns its noise is sqrt d times as long as in one. Where that
hides the clusters, rows are projected onto a few public random directions, which keep far clusters apart; the rounds of seeding
run there. In the rounds that lift, rows still vote by their projection, and their clipped moves are released in all columns.

The rule is written here: `pays` says when, `plan_subspace` what it spends. Both follow from the noisy number of rows, the
columns, the clusters and the budget alone. Directions are public random numbers.

References
----------
M.-F. Balcan, T. Dick, Y. Liang, W. Mou and H. Zhang, "Differentially private clustering in high-dimensional Euclidean spaces",
ICML 2017. W. James and C. Stein, "Estimation with quadratic loss", 1961.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.clipped_rounds import check_round, sum_noise
from cloister.clustering.domain import Domain, half_width
from cloister.clustering.terms import Terms
from cloister.clustering.votes.sketch import Round, Sketch
from cloister.encode import Encoding
from cloister.kernels import BallClip, Moments, Projection
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Spend, calibrate, event_of, norm_of, part_of
from cloister.schema import Neighbours

__all__ = [
    "COLUMNS_FROM",
    "NEAR_IN_LIFTS",
    "NEAR_IN_SUBSPACE",
    "SubspacePlan",
    "check_subspace",
    "draw_projection",
    "lift",
    "pays",
    "plan_subspace",
    "pool_counts",
    "projected_domain",
]

SUBSPACE_COLUMNS = 8
COLUMNS_FROM = 17  # in fewer columns a subspace of 8 saves little
# cells a cluster that a round in all columns can afford: more need no subspace, at fewer a lift does not stand out of its noise
LEAST_AFFORDABLE, MOST_AFFORDABLE = 0.4, 1.25
# by the norm of the noise
VOTES_PART = {"L2": Fraction(6, 10), "L1": Fraction(5, 10)}  # of the rounds of seeding; the others lift
SUBSPACE_CELLS = {"L2": (4, 3, 2), "L1": (4, 3)}  # cells a cluster in each round
LIFTS = {"L2": 2, "L1": 1}
CELL_SIGNAL = 1.0  # rows a cell over the length of its noise, in clipping radii
MOST_CELLS = 512
NEAR_IN_SUBSPACE, NEAR_IN_LIFTS = 0.4, 0.5  # part of the rows that a radius leaves alone: shorter moves have less noise

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SubspacePlan:
    """What seeding spends in the subspace and on the way back."""

    columns: int
    moments: Spend  # in all columns, and as much in the subspace
    cells: tuple[int, ...]  # in each round of votes
    votes: Spend  # of each round of votes
    lifts: int
    lift: Spend  # of each round that lifts

    def events(self) -> tuple[Event, ...]:
        """Every step's charge, in its order."""
        return (
            event_of("moments", self.moments),
            event_of("subspace moments", self.moments),
            *(event_of(f"votes {i + 1}", self.votes) for i in range(len(self.cells))),
            *(event_of(f"lift {i + 1}", self.lift) for i in range(self.lifts)),
        )

    def explain(self) -> str:
        """Why there is a subspace, for a plan's list of choices."""
        return (
            f"in a random subspace of {self.columns} columns, since in all of them clusters would not stand out of the noise"
        )

    def expect(self, clusters: int, columns: int, people: float, neighbours: Neighbours) -> dict[str, str]:
        """The error to expect of each step, for clusters of equal size."""
        words = {"seeding": f"votes over {', '.join(map(str, self.cells))} candidates in the subspace, then lifted"}
        noise = sum_noise(self.votes, self.columns, neighbours)
        for i, cells in enumerate(self.cells):
            error = min(noise * cells / people, 1)
            words[f"votes {i + 1}"] = f"{cells} candidates in the subspace, each +-{error:.2%} of its clipping radius"
        error = min(sum_noise(self.lift, columns, neighbours) * clusters / people, 1)
        return words | {f"lift {i + 1}": f"centres +-{error:.2%} of their clipping radius" for i in range(self.lifts)}


def pays(clusters: int | None, columns: int, affordable: float) -> bool:
    """Whether seeding runs in a subspace, from how many cells a round in all columns can afford."""
    if clusters is None or columns < COLUMNS_FROM:
        return False
    return LEAST_AFFORDABLE * clusters <= affordable < MOST_AFFORDABLE * clusters


def plan_subspace(clusters: int, people: float, seeding: Spend, moments: Fraction, neighbours: Neighbours) -> SubspacePlan:
    """How seeding in a subspace shares what seeding has, of which the moments get a part; the total is the same as without."""
    norm = norm_of(seeding)
    cells, lifts = SUBSPACE_CELLS[norm], LIFTS[norm]
    votes = part_of(seeding, (1 - moments) * VOTES_PART[norm] / len(cells))
    lift = part_of(seeding, (1 - moments) * (1 - VOTES_PART[norm]) / lifts)
    columns = SUBSPACE_COLUMNS
    affordable = people / (CELL_SIGNAL * sqrt(columns) * sum_noise(votes, columns, neighbours))
    counts = tuple(int(max(clusters, min(c * clusters, affordable, max(MOST_CELLS, 4 * clusters)))) for c in cells)
    return SubspacePlan(columns, part_of(seeding, moments / 2), counts, votes, lifts, lift)


def check_subspace(domain: Domain, terms: Terms, plan: SubspacePlan, least: Fraction) -> None:
    """Refuse, before a charge, a subspace in which some noise could not be drawn; steps may have as little as this part."""
    columns = plan.columns
    for space, width in ((domain.clip, len(domain.halves)), *((clip, columns) for clip in worst_clips(columns))):
        calibrate(terms.sensitivity(Moments(space, width)), part_of(plan.moments, least))
    for clip in worst_clips(columns):
        inside = domain_of(clip)
        check_round(inside, terms, part_of(plan.votes, least), 2 * inside.radius)
    check_round(domain, terms, part_of(plan.lift, least), 2 * domain.radius)


def worst_clips(columns: int) -> tuple[BallClip, BallClip]:
    """Of all balls that `fit_grid` can lead to, the widest, and the one whose squares count for the most."""
    half = half_width(columns)  # of the squares' last bits fewer are dropped below a power of 2
    return BallClip(half + isqrt(columns) + 2, columns), BallClip(half - 1, columns)


def draw_projection(domain: Domain, columns: int, random: PublicChance) -> Projection:
    """Random directions of -1 and 1, on about as fine a grid as the domain's."""
    signs = random.integers(0, 2, size=(columns, len(domain.halves)), dtype=np.int8) * 2 - 1  # public: no row is looked at
    return fit_grid(signs.astype(np.int8), domain)


def fit_grid(signs: NDArray[np.int8], domain: Domain) -> Projection:
    """The projection in steps so coarse that squared distances between projected rows stay exact."""
    whole = Projection(signs, domain.clip, shift=63)
    reach = isqrt(whole.reach_squared) + 1
    return replace(whole, shift=max(0, reach.bit_length() - half_width(len(signs)).bit_length() + 1))


def projected_domain(projection: Projection) -> Domain:
    """Where projected rows lie; no table is read on its grid."""
    return domain_of(projection.clip)


def domain_of(clip: BallClip) -> Domain:
    """A domain without columns of a table."""
    return Domain(Encoding(), clip, np.full(clip.columns, clip.radius, dtype=np.int64), 1.0)


def lift(places: Array, whole: Sketch, projection: Projection, domain: Domain) -> Sketch:
    """Centres in the subspace, (k, p) -> a sketch of as many cells in all columns: the likeliest, before a row is lifted.

    `whole` is one cell in all columns: its mean m and the variances V of its columns. Of a normal cloud, what the projection S
    says of a row is m + V S' (S V S')^-1 (s - S m), and the variance along these directions is explained.
    """
    signs = projection.signs.astype(np.float64)  # (p, d)
    spread = whole.shape[:, None] * signs.T  # (d, p)
    back = spread @ np.linalg.pinv(signs @ spread)  # (d, p)
    middles = (places + 0.5) * 2.0**projection.shift  # in the middle of what was rounded down
    means = domain.put(whole.means + (middles - whole.means @ signs.T) @ back.T).astype(np.float64)
    explained = float((back * spread).sum())  # of the variance, which is 1 in all
    count = len(means)
    spreads = np.repeat(whole.spreads * max(0.1, 1 - explained), count)
    weights = np.repeat(whole.weights / count, count)
    return Sketch(means, weights, spreads, whole.shape, np.repeat(whole.errors, count))


def pool_counts(votes: Round, rows: float) -> Round:
    """Noisy counts drawn towards equal ones, by how much of their differences is noise (James and Stein)."""
    mean, noise = rows / len(votes.counts), votes.count_noise**2
    between = max(0.0, float(((votes.counts - mean) ** 2).mean()) - noise)
    kept = between / (between + noise) if between + noise > 0 else 1.0
    counts = np.maximum(mean + kept * (votes.counts - mean), 1.0)
    return replace(votes, counts=counts, count_noise=sqrt(kept) * votes.count_noise)
