"""Private k-means by votes: seed with votes over more cells than clusters, then refine with clipped Lloyd.

Privacy
-------
Released: the noisy number of rows (add-remove only); where bounds are not public, noisy histograms of each column (`bounds`);
noisy sums and sums of squares of each column, in many columns of a few public directions too (`subspace`); in every round the
noisy votes for each candidate and, but for the first rounds in few columns (`look`), the sums of the clipped moves from it and
the capped squared distances; at last the loss (`loss_step`). Neighbours: both relations. Sensitivity: `kernels.Moments`,
`kernels.NearestVotes`, `kernels.ClippedSums`, in directions `kernels.projected`; a row votes once, whatever the number of
candidates and columns. Budget: `votes.plan`, the same total for every number of rows. Candidates, radii, the sketch of the table
between rounds, shrinkage, the number of clusters and the centres are post-processing of what was released before; the random
numbers they use are public.

When the table is large, seeding runs on a secret Poisson sample; all that is measured on it is amplified as one. Its size and
its rows stay inside the vault.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.chosen_clusters import BY_SCORE
from cloister.clustering.clipped_rounds import (
    USUAL_WEIGHTS,
    RoundWeights,
    count_noise,
    round_kernel,
    round_weights,
    sum_noise,
)
from cloister.clustering.domain import Domain, from_bounds, widen_narrow
from cloister.clustering.fitted import Fitted
from cloister.clustering.loss_step import MeasuredCenters, measure_loss
from cloister.clustering.progress import Progress
from cloister.clustering.task import Task
from cloister.clustering.terms import buy_size
from cloister.clustering.votes.bounds import estimate_bounds
from cloister.clustering.votes.door import Door, LiftedVotes, ProjectedRows
from cloister.clustering.votes.look import (
    Ballot,
    cells_of,
    first_points,
    place_again,
    place_candidates,
    points_in_regions,
    weigh_points,
)
from cloister.clustering.votes.plan import (
    FEWEST_ROWS,
    VotesPlan,
    after_size,
    check_noise,
    frozen_plan,
    lloyd_rounds,
    plan_votes,
)
from cloister.clustering.votes.sketch import NEAR, QUIET, QUIET_LOOK, RadiusRule, Round, Sketch, sketch_of_moments
from cloister.clustering.votes.subspace import (
    NEAR_IN_LIFTS,
    NEAR_IN_SUBSPACE,
    SubspacePlan,
    draw_projection,
    lift,
    pool_counts,
    projected_domain,
)
from cloister.kernels import Moments, NearestVotes
from cloister.privacy.mechanisms import Spend, calibrate, norm_of, part_of
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["Votes"]

ROWS_EACH = {
    "L2": 6.0,
    "L1": 12.0,
}  # a candidate may expect, in deviations of the noise of a count: fewer would not stand out


class Votes:
    """The default method, and what "auto" picks."""

    name = "votes"
    seedings = ()
    has_schedule = False
    cluster_rule = BY_SCORE

    def __init__(self, name: str = "votes") -> None:
        pass

    def check(self, task: Task) -> None:
        """Bounds and the number of clusters may both be missing; noise that cannot be drawn is refused."""
        if task.names:
            check_noise(task)

    def plan(self, task: Task, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        return plan_votes(task, rows)

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Run votes and clipped Lloyd inside an open vault."""
        size = task.terms.size_step(task.terms.size_epsilon)
        variance = size.mechanism.deviation()["counts"] ** 2 if size else 0.0
        table = RowEstimate(buy_size(vault, size, progress), variance, task.terms.rows_each)
        rows = table.rows
        plan = after_size(task, rows)
        frozen = frozen_plan(task, plan, rows)
        vault.follow(frozen)
        domain = task.domain or self._estimate_domain(vault, task, plan, rows, progress)
        most = task.clusters or plan.most_clusters
        search = Search(domain, task.terms.neighbours, most, table, random, progress)
        if plan.subspace is not None:
            search = replace(search, near=NEAR_IN_LIFTS, pools_counts=True)
        if plan.rate < 1:
            with vault.sample("seeding", plan.rate) as sample:
                sketch = search.seed(sample, plan)
        else:
            sketch = search.seed(vault, plan)
        clusters = task.clusters or sketch.suggest_clusters(most, random)
        search = replace(search, clusters=clusters)
        rounds = lloyd_rounds(task, plan, rows, clusters)
        vault.choose("lloyd", rounds)
        spend = part_of(plan.lloyd, Fraction(1, rounds))
        for i in range(rounds):
            sketch = search.round(
                vault,
                sketch,
                RoundStep(
                    f"lloyd {i + 1}",
                    clusters,
                    spend,
                    weights=plan.lloyd_weights,
                    is_clear=plan.is_clear,
                    quiet=QUIET_LOOK if plan.votes_alone else QUIET,
                ),
            )
        centers = domain.put(sketch.means)
        loss = measure_loss(vault, MeasuredCenters(domain, centers, table.counted), plan.loss, progress)
        errors = np.repeat(sketch.errors[:, None], len(task.names), axis=1)
        return Fitted(
            domain,
            centers,
            sketch.weights,
            errors,
            plan.rounds + rounds,
            table.rows,
            loss=loss,
            choices=dict(frozen.choices),
            size_noise=None
            if search.pools_counts
            else count_noise(task.terms.sensitivity, spend, len(task.names), task.terms.neighbours, plan.lloyd_weights),
        )

    @staticmethod
    def _estimate_domain(vault: Vault, task: Task, plan: VotesPlan, rows: float, progress: Progress) -> Domain:
        """The domain that bounds from the budget give; from here on rows are read on its grid."""
        assert plan.bounds is not None, "a plan without a domain buys one"
        bounds = estimate_bounds(vault, task.names, plan.bounds, rows, progress)
        domain = from_bounds(task.names, widen_narrow(*bounds) if task.scale is None else bounds, task.scale)
        vault.recode(domain.encoding)
        return domain


@dataclass(slots=True)
class RowEstimate:
    """What is known about the number of rows: every round's votes add up to it and sharpen it."""

    estimate: float
    variance: float
    each: int = 1  # rows of a person at most

    @property
    def rows(self) -> float:
        """The number that plans and sketches are made for: of hardly any rows nothing else can be planned."""
        return max(self.estimate, FEWEST_ROWS)

    @property
    def counted(self) -> float:
        """The number that a mean is taken over."""
        return max(self.estimate, 1.0)

    def sharpen(self, votes: float, variance: float) -> None:
        """Take in another estimate, weighed by its variance."""
        if self.variance == 0:
            return
        self.estimate += self.variance / (self.variance + variance) * (votes - self.estimate)
        self.variance = self.variance * variance / (self.variance + variance)


@dataclass(frozen=True, slots=True)
class RoundStep:
    """One round: its name, how many candidates it votes on, what it spends, the rate of its sample."""

    name: str
    cells: int
    spend: Spend
    rate: Fraction = Fraction(1)
    weights: RoundWeights = USUAL_WEIGHTS  # how counts and squares share its spend with sums
    is_clear: bool = False  # whether a cell's rows stand out of the noise
    explores: bool = False
    quiet: float = QUIET  # part of the loss that noise may add for a wider radius


@dataclass(frozen=True, slots=True)
class Search:
    """The rounds of one fit."""

    domain: Domain
    neighbours: Neighbours
    clusters: int
    table: RowEstimate
    random: PublicChance
    progress: Progress
    near: float = NEAR  # part of the rows that a clipping radius leaves alone
    pools_counts: bool = False  # whether noisy counts of the clusters are drawn towards equal ones

    def seed(self, door: Door, plan: VotesPlan) -> Sketch:
        """From the moments of the columns to a sketch with as many cells as the budget carries."""
        if plan.subspace is not None:
            return self.seed_in_subspace(door, plan.subspace, plan.rate)
        sketch = self.moments(door, plan.moments, plan.rate, "moments")
        if plan.votes_alone:
            return self.look(door, sketch, plan)
        for i, cells in enumerate(plan.cells):
            explores = i == 0 and plan.is_clear
            step = RoundStep(f"votes {i + 1}", cells, plan.seeding, plan.rate, plan.seeding_weights, plan.is_clear, explores)
            sketch = self.round(door, sketch, step)
        return sketch

    def seed_in_subspace(self, door: Door, plan: SubspacePlan, rate: Fraction) -> Sketch:
        """Clusters found in a few random directions, then lifted into all columns."""
        whole = self.moments(door, plan.moments, rate, "moments")
        projection = draw_projection(self.domain, plan.columns, self.random)
        inside = replace(self, domain=projected_domain(projection), near=NEAR_IN_SUBSPACE, pools_counts=False)
        projected = ProjectedRows(door, projection)
        sketch = inside.moments(projected, plan.moments, rate, "subspace moments")
        for i, cells in enumerate(plan.cells):
            sketch = inside.round(projected, sketch, RoundStep(f"votes {i + 1}", cells, plan.votes, rate))
        places = inside.domain.put(sketch.candidates(self.clusters, self.clusters, inside.domain, self.random))
        lifted = lift(places.astype(np.float64), whole, projection, self.domain)
        voting = LiftedVotes(door, projection, places)
        for i in range(plan.lifts):
            lifted = self.round(voting, lifted, RoundStep(f"lift {i + 1}", self.clusters, plan.lift, rate))
        return lifted

    def moments(self, door: Door, spend: Spend, rate: Fraction, step: str) -> Sketch:
        """One cell: the noisy mean and variance of each column."""
        self.progress(step)
        kernel = Moments(self.domain.clip, len(self.domain.halves))
        released = door.measure(kernel, calibrate(door.sensitivity(kernel), spend), step)
        unit = 2.0**kernel.shift
        return sketch_of_moments(
            released.value["sums"].astype(np.float64),
            released.value["squares"].astype(np.float64) * unit,
            released.deviation["sums"],
            released.deviation["squares"] * unit,
            self.table.rows * float(rate),
            self.domain,
        )

    def look(self, door: Door, sketch: Sketch, plan: VotesPlan) -> Sketch:
        """Rounds of votes alone: over the whole domain, then where rows are."""
        points = first_points(sketch, plan.cells[0], self.domain, self.random)
        candidates = place_candidates(points, plan.cells[0], self.random)
        before = self.vote(door, candidates, "votes 1", plan)
        for i, cells in enumerate(plan.cells[1:], 2):
            rows = self.table.rows * float(plan.rate)
            inside = points_in_regions(points, before, rows, self.domain, self.random)
            after = self.vote(door, place_again(inside, before, cells, self.random), f"votes {i}", plan)
            weighed = weigh_points(inside, before, after)
            points, before = weighed.points, after
        return cells_of(weighed, after, sketch.shape)

    def vote(self, door: Door, places: NDArray[np.float64], step: str, plan: VotesPlan) -> Ballot:
        """One round of votes for these candidates."""
        self.progress(step)
        candidates = self.domain.put(places)
        kernel = NearestVotes(candidates, self.domain.clip)
        mechanism = calibrate(door.sensitivity(kernel), plan.seeding)
        counts = door.measure(kernel, mechanism, step).value["counts"].astype(np.float64)
        ballot = Ballot(candidates.astype(np.float64), counts, mechanism)
        self.sharpen(ballot.counts, ballot.variance, float(plan.rate))
        return ballot

    def sharpen(self, counts: NDArray[np.float64], noise_variance: float, rate: float) -> None:
        """Every row votes once: the votes of a round tell the number of rows anew."""
        drawn = self.table.rows * self.table.each * rate * (1 - rate)  # a person's rows are drawn together, `each` at most
        self.table.sharpen(float(counts.sum()) / rate, (len(counts) * noise_variance + drawn) / rate**2)

    def round(self, door: Door, sketch: Sketch, step: RoundStep) -> Sketch:
        """One round: candidates from the sketch, votes and clipped sums around them, a better sketch."""
        self.progress(step.name)
        table, rate = self.table, float(step.rate)
        norm = norm_of(step.spend)
        columns, rows_each = len(self.domain.halves), 0.0
        if step.is_clear:
            rows_each = ROWS_EACH[norm] * count_noise(door.sensitivity, step.spend, columns, self.neighbours, step.weights)
        places = sketch.candidates(step.cells, self.clusters, self.domain, self.random, step.explores, rows_each)
        candidates = self.domain.put(places)
        places = candidates.astype(np.float64)
        noise = sum_noise(step.spend, columns, self.neighbours, step.weights)
        rule = RadiusRule(self.near, step.is_clear, step.quiet, step.explores)
        radii = sketch.radii(places, table.rows * rate, noise, norm, self.domain, self.random, rule)
        kernel = round_kernel(candidates, radii.move, radii.square, norm, self.domain.clip)
        shares = round_weights(columns, norm, self.neighbours, step.weights)
        mechanism = calibrate(door.sensitivity(kernel), step.spend, shares)
        released = door.measure(kernel, mechanism, step.name)
        votes = Round(
            places,
            radii,
            released.value["counts"].astype(np.float64),
            released.value["sums"] / kernel.multipliers[:, None],
            released.value["squares"] * kernel.square_units,
            released.deviation["counts"],
            released.deviation["sums"] / kernel.multipliers,
            released.deviation["squares"] * kernel.square_units,
            mechanism if step.is_clear else None,
        )
        self.sharpen(votes.counts, votes.count_noise**2, rate)
        if self.pools_counts and len(candidates) == self.clusters:
            votes = pool_counts(votes, table.rows * rate)
        return sketch.update(votes, table.rows * rate, self.clusters, self.domain, self.random)
