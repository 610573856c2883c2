"""Private k-prototypes and k-modes by votes: marginals, votes over a cloud of made-up rows, then sums and value counts.

Privacy
-------
Released: the noisy number of rows (add-remove only); the noisy marginals of every column (`kernels.Marginals`); in three rounds
the noisy votes for each candidate (`kernels.PrototypeVotes`: a row votes once, whatever the number of columns); in the rounds
that follow the noisy counts, clipped sums and value counts around each prototype, as one release (`kernels.PrototypeSums`); at
last the noisy capped loss (`loss_step`). Neighbours: both relations. Budget: `prototypes.plan`, the same total for
every number of rows. Post-processing: the cloud, gamma where it is not given, candidates, clipping radii, the number of
clusters, prototypes; the random numbers they use are public. Starting candidates come from released marginals, never from rows.

When the table is large, marginals and votes are measured on a secret Poisson sample; all of that is amplified as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.chosen_clusters import BY_SCORE
from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted
from cloister.clustering.loss_step import MeasuredCenters, measure_loss
from cloister.clustering.progress import Progress
from cloister.clustering.prototypes.cloud import Cloud, cloud_of_marginals
from cloister.clustering.prototypes.plan import (
    MOST_AUTO,
    VOTE_ROUNDS,
    SearchPlan,
    after_size,
    check_carried,
    check_search,
    domain_of,
    frozen_plan,
    marginal_weights,
    marginals_kernel,
    number_of_rounds,
)
from cloister.clustering.prototypes.refining import Refined, clip_of, refine, round_kernel, round_weights, start_of
from cloister.clustering.task import Task
from cloister.clustering.terms import buy_size
from cloister.clustering.votes.door import Door
from cloister.clustering.votes.plan import FEWEST_ROWS
from cloister.kernels import PrototypeVotes
from cloister.privacy.mechanisms import Spend, calibrate, norm_of, part_of
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["PrototypeSearch"]


class PrototypeSearch:
    """The default method of k-prototypes and k-modes, and what "auto" picks."""

    name = "votes"
    seedings = ()
    has_schedule = False
    cluster_rule = BY_SCORE

    def __init__(self, name: str = "votes") -> None:
        pass

    def check(self, task: Task) -> None:
        """Noise that cannot be drawn and distances that would not be exact are refused."""
        check_search(task)

    def plan(self, task: Task, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        rows = max(rows, FEWEST_ROWS)
        plan = after_size(task, rows)
        check_carried(task, plan.rounds, rows)
        return frozen_plan(task, plan, rows)

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Find prototypes inside an open vault."""
        rows = max(buy_size(vault, task.terms.size_step(task.terms.size_epsilon), progress), FEWEST_ROWS)
        plan = after_size(task, rows)
        check_carried(task, plan.rounds, rows)
        frozen = frozen_plan(task, plan, rows)
        vault.follow(frozen)
        search = PrototypeSteps(domain_of(task), rows, random, progress)
        if plan.rate < 1:
            with vault.sample("seeding", plan.rate) as sample:
                cloud = search.seed(sample, plan, task.gamma)
        else:
            cloud = search.seed(vault, plan, task.gamma)
        clusters = task.clusters or cloud.suggest_clusters(min(MOST_AUTO, plan.cells), random)
        rounds = number_of_rounds(task, plan.rounds, rows, clusters)
        vault.choose("round", rounds)
        found = start_of(cloud.prototypes(clusters, task.gammas, random), rows)
        for i in range(rounds):
            found = search.round(vault, cloud, found, part_of(plan.rounds, Fraction(1, rounds)), f"round {i + 1}")
        loss = measure_loss(vault, search.measured(found), plan.loss, progress)
        sizes = np.maximum(found.counts, 0.0)
        choices = dict(frozen.choices)
        passes = VOTE_ROUNDS + rounds
        return Fitted(search.domain, found.centers, sizes, found.errors, passes, rows, loss, choices, found.modes)


@dataclass(frozen=True, slots=True)
class PrototypeSteps:
    """The steps of one fit."""

    domain: Domain
    rows: float
    random: PublicChance
    progress: Progress

    def marginals(self, door: Door, spend: Spend, rows: float, cells: int, gamma: int | None) -> Cloud:
        """A cloud with the marginals of the rows."""
        self.progress("marginals")
        kernel = marginals_kernel(self.domain)
        mechanism = calibrate(door.sensitivity(kernel), spend, marginal_weights(self.domain))
        released = door.measure(kernel, mechanism, "marginals")
        return cloud_of_marginals(released, 2.0**kernel.shift, rows, cells, self.domain, gamma, self.random)

    def seed(self, door: Door, plan: SearchPlan, gamma: int | None) -> Cloud:
        """A cloud that agrees with marginals and votes."""
        rows = self.rows * float(plan.rate)
        cloud = self.marginals(door, plan.marginals, rows, plan.cells, gamma)
        for i in range(VOTE_ROUNDS):
            step = f"votes {i + 1}"
            self.progress(step)
            candidates = cloud.candidates(plan.cells, self.random)
            kernel = PrototypeVotes(candidates.centers, candidates.modes, self.domain.clip)
            released = door.measure(kernel, calibrate(door.sensitivity(kernel), plan.votes), step)
            counts = released.value["counts"].astype(np.float64)
            cloud = cloud.heed(candidates, counts, released.deviation["counts"], rows)
        return cloud

    def round(self, vault: Vault, cloud: Cloud, found: Refined, spend: Spend, step: str) -> Refined:
        """One round of counts, clipped sums and value counts."""
        self.progress(step)
        norm = norm_of(spend)
        clip = clip_of(cloud.tuples, found.centers, found.modes, self.domain, norm)
        kernel = round_kernel(found.centers, found.modes, clip, self.domain)
        mechanism = calibrate(vault.sensitivity(kernel), spend, round_weights(self.domain, norm))
        return refine(kernel, vault.measure(kernel, mechanism, step), self.domain)

    def measured(self, found: Refined) -> MeasuredCenters:
        """The prototypes whose loss is bought."""
        return MeasuredCenters(self.domain, found.centers, self.rows, found.modes)
