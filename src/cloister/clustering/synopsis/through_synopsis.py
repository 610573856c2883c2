"""k-means through a synopsis: release cells, cluster them, and in the hybrid refine the centres on the rows.

Privacy
-------
Released: a synopsis, of one of `SHAPES`; in the hybrid, after that, in each round the noisy counts and clipped sums of the
rows nearest to each released centre (`kernels.ClippedSums`); at last the noisy capped loss (`loss_step`). Neighbours: both
relations. Budget: a fiftieth for the loss and the rest for the synopsis; in the hybrid a third is kept for the rounds, in
equal parts. Clustering the cells, the clipping radius, the weighing of a move and the number of clusters are post-processing.

References
----------
D. Su et al., "Differentially private k-means clustering and a hybrid approach to private optimization", TOPS 2017.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from cloister.clustering.chance import PublicChance
from cloister.clustering.chosen_clusters import BY_DISTANCE, planned_clusters
from cloister.clustering.clipped_rounds import check_round, round_kernel, round_weights
from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted
from cloister.clustering.loss_step import LOSS_SHARE, MeasuredCenters, check_loss, expected_error, measure_loss
from cloister.clustering.progress import Progress
from cloister.clustering.seeding.evolution_options import OWN_EVOLUTION, check_genomes
from cloister.clustering.seeding.weighted import SEEDINGS, check_seeding
from cloister.clustering.synopsis.cell_clusters import MOST_CLUSTERS, Estimate, release_and_cluster, shape_for
from cloister.clustering.synopsis.shapes import ANY_ROWS, find_shape
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.errors import UsageError, by_door
from cloister.privacy.mechanisms import Spend, calibrate, cut, event_of, norm_of, part_of
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["Hybrid", "ThroughSynopsis"]

REFINING = Fraction(1, 3)  # the hybrid's part for its rounds
ROUNDS = 2
MOST_ROUNDS = 4
EXPECTED_MOVE = 0.1  # of the radius: how far a centre of a synopsis may be off, beside its noise
RADIUS = 0.6  # of the median distance between neighbouring centres: where a move is clipped


class ThroughSynopsis:
    """Release a synopsis of the shape that the method is named after, and cluster its cells."""

    seedings = SEEDINGS
    has_schedule = False
    cluster_rule = BY_DISTANCE
    refining = Fraction(0)  # the part of the budget for rounds on the rows

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, task: Task) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        check_seeding(self.seeding(task))
        check_genomes(task.evolution, task.clusters or MOST_CLUSTERS, len(task.names))
        if task.domain is None:
            raise UsageError(
                f'method "{self.name}" needs public bounds: a grid is laid over them. Give '
                f"{by_door('bounds=(low, high)', '--bounds LOW,HIGH')} or a schema, "
                'or use method "votes", which finds bounds inside the budget.'
            )
        find_shape(self.shape(task)).check(task.domain, self.terms(task))
        for _, spend in self.refinements(task):
            check_round(task.domain, task.terms, spend, 2 * RADIUS * task.domain.radius)
        check_loss(task.domain, task.terms, self.after_cells(task)["loss"])

    def shape(self, task: Task) -> str:
        """The shape of the synopsis."""
        return self.name

    def seeding(self, task: Task) -> str:
        """How the cells are seeded."""
        return task.seeding or self.seedings[0]

    def terms(self, task: Task) -> Terms:
        """What the synopsis may spend: the rest is kept for the rounds and the loss."""
        return replace(task.terms, rest=self.refining + LOSS_SHARE)

    def rounds(self, task: Task) -> int:
        """Rounds of refinement on the rows."""
        return 0

    def plan(self, task: Task, rows: float) -> Plan:
        """What a fit would spend and what to expect of it; no row is read."""
        assert task.domain is not None
        cells = find_shape(self.shape(task)).plan(task.domain, self.terms(task), rows)
        events = [event_of(name, spend) for name, spend in self.refinements(task)]
        facts = {"rows": round(rows), "columns": len(task.names), "clusters": task.clusters or "auto"}
        loss = self.after_cells(task)["loss"]
        events.append(event_of("loss", loss))
        expect = {**cells.expect, "loss": expected_error(task.terms, loss, rows)}
        return replace(cells, steps=(*cells.steps, *events), expect=expect, facts=facts, choices=self.choices(task))

    def after_cells(self, task: Task) -> dict[str, Spend]:
        """What all rounds on the rows, where there are some, and the loss may spend."""
        rest = find_shape(self.shape(task)).rest(self.terms(task))
        return cut(rest, {**({"rounds": self.refining} if self.refining else {}), "loss": LOSS_SHARE})

    def refinements(self, task: Task) -> list[tuple[str, Spend]]:
        """The rounds on the rows, by name, with what each may spend."""
        rounds = self.rounds(task)
        if not rounds:
            return []
        spend = part_of(self.after_cells(task)["rounds"], Fraction(1, rounds))
        return [(f"round {i + 1}", spend) for i in range(rounds)]

    def choices(self, task: Task) -> dict[str, str]:
        """What was chosen, with the reason."""
        method = f"{self.shape(task)} synopsis, then weighted k-means on its cells"
        if rounds := self.rounds(task):
            method += f", then {rounds} rounds on the rows"
        seeding = self.seeding(task)
        if task.evolution != OWN_EVOLUTION:
            seeding += f": {task.evolution.words()}"
        counted = {} if task.clusters else planned_clusters(MOST_CLUSTERS, BY_DISTANCE)
        return {"method": method, "seeding": seeding, **counted}

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Release a synopsis inside an open vault and cluster it; then refine the centres, where there are rounds for it."""
        domain = task.domain
        assert domain is not None
        vault.follow(self.plan(task, ANY_ROWS))
        cells = release_and_cluster(vault, task, self.shape(task), self.terms(task), self.seeding(task), random, progress)
        estimate = cells.estimate
        steps = self.refinements(task)
        for name, spend in steps:
            progress(name)
            estimate = refine(vault, domain, estimate, name, spend, task)
        choices = {**self.choices(task), **({"grid": " ".join(cells.notes)} if cells.notes else {})}
        measured = MeasuredCenters(domain, estimate.centers, max(1.0, cells.total))
        loss = measure_loss(vault, measured, self.after_cells(task)["loss"], progress)
        return Fitted(domain, estimate.centers, estimate.sizes, estimate.errors, len(steps), cells.total, loss, choices)


class Hybrid(ThroughSynopsis):
    """A synopsis for about two thirds of the budget, then rounds of clipped Lloyd on the rows."""

    refining = REFINING

    def shape(self, task: Task) -> str:
        """A grid in few columns, where it is finer; a tree beyond."""
        return shape_for(len(task.names))

    def rounds(self, task: Task) -> int:
        """Rounds of refinement on the rows."""
        return min(MOST_ROUNDS, task.rounds or ROUNDS)


def refine(vault: Vault, domain: Domain, before: Estimate, name: str, spend: Spend, task: Task) -> Estimate:
    """One round of clipped Lloyd: a centre moves by the mean clipped move of its rows, weighted by the errors of both."""
    norm = norm_of(spend)
    places = before.centers.astype(np.float64)
    clusters, columns = places.shape
    radius = domain.radius / 2
    if clusters > 1:
        gaps = ((places[:, None] - places[None]) ** 2).sum(axis=2)
        np.fill_diagonal(gaps, np.inf)
        radius = max(1.0, RADIUS * float(np.sqrt(np.median(gaps.min(axis=1)))))
    kernel = round_kernel(before.centers, radius, radius, norm, domain.clip)
    mechanism = calibrate(vault.sensitivity(kernel), spend, round_weights(columns, norm, task.terms.neighbours))
    released = vault.measure(kernel, mechanism, name)
    counts = released.value["counts"].astype(np.float64)
    sums = released.value["sums"].astype(np.float64)
    at_least_one = np.maximum(counts, 1.0)[:, None]
    noise = (released.deviation["sums"] / at_least_one) ** 2  # (k, 1), variance of a coordinate of the mean move
    doubt = np.maximum(before.errors**2, (EXPECTED_MOVE * radius) ** 2)  # how far a centre may be off before the round
    doubt = np.minimum(doubt, radius**2)
    gain = np.where(counts[:, None] >= 1, doubt / (doubt + noise), 0.0)  # (k, d): the weight of the move
    moved = domain.put(places + gain * sums / at_least_one)
    errors = np.sqrt(np.where(gain > 0, gain * noise, before.errors**2))
    return Estimate(moved, np.maximum(counts, 0.0), errors)
