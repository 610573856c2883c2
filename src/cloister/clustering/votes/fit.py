"""Private k-means by votes: seed with votes over too many cells, then refine with clipped Lloyd.

Privacy
-------
Released: the noisy number of rows (add-remove only); where bounds are not public, noisy histograms of each column (`bounds`);
noisy sums and sums of squares of each column; in every round the noisy votes for each candidate, the sums of the clipped moves
from it, and the capped squared distances; at last the noisy capped loss. Neighbours: both relations. Sensitivity:
`kernels.Moments`, `kernels.ClippedSums`, `kernels.ClippedCost`; a row votes once, whatever the number of candidates and columns.
Budget: `votes.plan`, the same total for every number of rows. Candidates, radii, the sketch of the table between rounds,
shrinkage, the number of clusters and the centres are post-processing of what was released before; the random numbers they use
are public.

When the table is large, seeding runs on a secret Poisson sample; all that is measured on it is amplified as one. Its size and
its rows stay inside the vault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain, from_bounds
from cloister.clustering.fitted import Fitted, Loss
from cloister.clustering.task import Task
from cloister.clustering.votes.bounds import BOUNDS_STEPS, find_bounds
from cloister.clustering.votes.plan import (
    VotesPlan,
    after_size,
    event,
    lloyd_rounds,
    part,
    round_kernel,
    size_spend,
    sum_noise,
    weights_of_a_round,
)
from cloister.clustering.votes.sketch import Round, Sketch, sketch_of_moments
from cloister.kernels import ClippedCost, Kernel, Moments, Rows, Sensitivity, Summary
from cloister.privacy.budgets import ApproxDP
from cloister.privacy.mechanisms import Mechanism, Precision, Released, Spend, calibrate
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.schema.unit import Unit, rows_each
from cloister.vault import Vault

__all__ = ["fit_votes", "plan_votes"]

FEWEST_ROWS = 10.0  # a noisy number of rows below this is taken for this
LOSS_CAP = 6.0  # times the mean square that the sketch expects, at least, is what one row may add to the loss


class Door(Protocol):
    """What measures: the vault, or a secret sample in it."""

    def sensitivity(self, kernel: Kernel) -> Sensitivity: ...
    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]: ...


def plan_votes(task: Task, rows: float, unit: Unit | None = None) -> Plan:
    """The plan for a table of about so many rows; no row is read."""
    columns, each = len(task.names), rows_each(unit)
    plan = make_plan(task, rows, each)
    clusters = task.clusters or plan.cells[-1] // 2
    rounds = task.rounds or lloyd_rounds(plan.lloyd, rows / each, columns, clusters, task.neighbours)
    events = plan.events(rounds, BOUNDS_STEPS)
    size = size_spend(task.budget, task.neighbours)
    if size:
        events = (event("size", size), *events)
    facts = {"rows": round(rows), "columns": columns, "clusters": task.clusters or "auto"}
    expect = expectations(plan, rows / each, columns, clusters, rounds, task.neighbours)
    return Plan(task.budget, task.neighbours, events, expect, facts, choices(task, plan, rows), str(unit or "row"))


def make_plan(task: Task, rows: float, each: int) -> VotesPlan:
    """The written rule for this number of rows."""
    return after_size(rows, len(task.names), task.clusters, task.budget, task.neighbours, each, task.domain is None)


def choices(task: Task, plan: VotesPlan, rows: float) -> dict[str, str]:
    """What was chosen, with the reason."""
    chosen = {
        "method": "votes, then clipped Lloyd",
        "noise": "Gaussian, since delta > 0" if isinstance(task.budget, ApproxDP) else "Laplace, since delta = 0",
    }
    if task.domain is None:
        chosen["bounds"] = "found inside the budget, since none were given"
    if plan.rate < 1:
        chosen["seeding"] = f"on a secret sample of about {float(plan.rate) * rows:,.0f} rows, since the table is large"
    return chosen


def expectations(
    plan: VotesPlan, rows: float, columns: int, clusters: int, rounds: int, neighbours: Neighbours
) -> dict[str, str]:
    """The error to expect of each step, for clusters of equal size."""
    seen = rows * float(plan.rate)
    expect = {"seeding": f"moments, then votes over {', '.join(str(c) for c in plan.cells)} candidates"}
    for i, cells in enumerate(plan.cells):
        error = sum_noise(plan.seeding, columns, neighbours) * cells / seen
        expect[f"votes {i + 1}"] = f"{cells} candidates, each +-{min(error, 1):.2%} of its clipping radius"
    for i in range(rounds):
        error = sum_noise(part(plan.lloyd, Fraction(1, rounds)), columns, neighbours) * clusters / rows
        expect[f"lloyd {i + 1}"] = f"centres +-{min(error, 1):.2%} of their clipping radius"
    return expect


def fit_votes(
    vault: Vault, task: Task, random: PublicChance, progress: Callable[[str], None] = lambda _: None
) -> tuple[Fitted, Domain]:
    """Run votes and clipped Lloyd inside an open vault."""
    progress("size")
    each = rows_each(vault.unit)
    size = size_spend(task.budget, task.neighbours)
    counter = calibrate(vault.sensitivity(Rows()), size) if size else None
    table = Table(max(vault.size(counter), FEWEST_ROWS), counter.deviation()["counts"] ** 2 if counter else 0.0, each)
    plan = make_plan(task, table.rows, each)
    chosen = choices(task, plan, table.rows)
    domain = task.domain
    if domain is None:
        assert plan.bounds is not None, "a plan without a domain buys one"
        domain = from_bounds(task.names, find_bounds(vault, task.names, plan.bounds, table.rows, progress), task.scale)
        vault.recode(domain.encoding)
    run = Run(domain, task.neighbours, random, progress)
    most = task.clusters or max(2, plan.cells[-1] // 2)
    if plan.rate < 1:
        with vault.sample("seeding", plan.rate) as sample:
            sketch = run.seed(sample, plan, table, most)
    else:
        sketch = run.seed(vault, plan, table, most)
    clusters = task.clusters or sketch.suggest_clusters(most, random)
    columns = len(task.names)
    rounds = task.rounds or lloyd_rounds(plan.lloyd, table.rows / each, columns, clusters, task.neighbours)
    spend = part(plan.lloyd, Fraction(1, rounds))
    for i in range(rounds):
        sketch = run.round(vault, sketch, clusters, clusters, spend, f"lloyd {i + 1}", table, Fraction(1))
    centers = domain.put(sketch.means)
    loss = run.loss(vault, sketch, centers, plan.loss, table.rows)
    errors = np.repeat(sketch.errors[:, None], columns, axis=1)
    return Fitted(centers, sketch.weights, errors, len(plan.cells) + rounds, table.rows, loss, chosen), domain


@dataclass(slots=True)
class Table:
    """What is known about the number of rows: every round's votes add up to it and sharpen it."""

    rows: float
    variance: float
    each: int = 1  # rows of a person at most

    def sharpen(self, votes: float, variance: float) -> None:
        if self.variance == 0:
            return
        self.rows = max(self.rows + self.variance / (self.variance + variance) * (votes - self.rows), FEWEST_ROWS)
        self.variance = self.variance * variance / (self.variance + variance)


@dataclass(frozen=True, slots=True)
class Run:
    """The rounds of one fit."""

    domain: Domain
    neighbours: Neighbours
    random: PublicChance
    progress: Callable[[str], None]

    def seed(self, door: Door, plan: VotesPlan, table: Table, clusters: int) -> Sketch:
        """From the moments of the columns to a sketch with as many cells as the budget carries."""
        self.progress("moments")
        kernel = Moments(self.domain.clip, len(self.domain.halves))
        released = door.measure(kernel, calibrate(door.sensitivity(kernel), plan.moments), "moments")
        unit = 2.0**kernel.shift
        sketch = sketch_of_moments(
            released.value["sums"].astype(np.float64),
            released.value["squares"].astype(np.float64) * unit,
            released.deviation["sums"],
            released.deviation["squares"] * unit,
            table.rows * float(plan.rate),
            self.domain,
        )
        for i, cells in enumerate(plan.cells):
            sketch = self.round(door, sketch, cells, clusters, plan.seeding, f"votes {i + 1}", table, plan.rate)
        return sketch

    def round(
        self,
        door: Door,
        sketch: Sketch,
        cells: int,
        clusters: int,
        spend: Spend,
        step: str,
        table: Table,
        rate: Fraction,
    ) -> Sketch:
        """One round: candidates from the sketch, votes and clipped sums around them, a better sketch."""
        self.progress(step)
        q = float(rate)
        gaussian = isinstance(spend, Precision)
        candidates = self.domain.put(sketch.candidates(cells, clusters, self.domain, self.random))
        places, columns = candidates.astype(np.float64), candidates.shape[1]
        noise = sum_noise(spend, columns, self.neighbours)
        radii = sketch.radii(places, table.rows * q, noise, not gaussian, self.domain, self.random)
        kernel = round_kernel(candidates, radii.move, radii.square, gaussian, self.domain.clip)
        weights = weights_of_a_round(columns, gaussian, self.neighbours)
        released = door.measure(kernel, calibrate(door.sensitivity(kernel), spend, weights), step)
        unit = 2.0**kernel.shift
        seen = Round(
            places,
            radii,
            released.value["counts"].astype(np.float64),
            released.value["sums"].astype(np.float64),
            released.value["squares"].astype(np.float64) * unit,
            released.deviation["counts"],
            released.deviation["sums"],
            released.deviation["squares"] * unit,
        )
        drawn = table.rows * table.each * q * (1 - q)  # rows come in whole people: at most so many each
        variance = (len(candidates) * seen.count_noise**2 + drawn) / q**2
        table.sharpen(float(seen.counts.sum()) / q, variance)
        return sketch.update(seen, table.rows * q, clusters, self.domain)

    def loss(self, vault: Vault, sketch: Sketch, centers: NDArray[np.int32], spend: Spend, rows: float) -> Loss:
        """The mean squared distance to the nearest centre, each row's part capped, with its standard error.

        The cap grows while its noise stays below a hundredth of what the sketch expects.
        """
        self.progress("loss")
        expected = float(sketch.weights @ sketch.spreads / sketch.weights.sum())
        probe = ClippedCost(centers, 1 << 20, self.domain.clip)
        noise = calibrate(vault.sensitivity(probe), spend).deviation()["cost"] / probe.limit  # in caps
        cap = min(max(LOSS_CAP * expected, 0.01 * expected * rows / noise), (2 * self.domain.radius) ** 2)
        kernel = ClippedCost(centers, max(1, int(cap)), self.domain.clip)
        released = vault.measure(kernel, calibrate(vault.sensitivity(kernel), spend), "loss")
        unit = 2.0**kernel.shift / rows
        mean = max(0.0, float(released.value["cost"][0]) * unit)
        return Loss(mean, released.deviation["cost"] * unit, float(kernel.cap))
