"""Private k-means by votes: seed with votes over too many cells, then refine with clipped Lloyd.

Privacy
-------
Released: the noisy number of rows (add-remove only); noisy sums and sums of squares of each column; in every round the noisy
votes for each candidate, the sums of the moves from it clipped to a radius, and the clipped squared distances; at last the noisy
clipped loss. Neighbours: both relations. Sensitivity: `kernels.Moments`, `kernels.ClippedSums`, `kernels.ClippedCost`; a row votes
once, whatever the number of candidates and columns. Budget: `votes_plan`, the same total for every number of rows.
Candidates, radii, the sketch of the table between rounds, shrinkage and the centres are post-processing of what was released
before; the random numbers they use are public.

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

from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted, Loss
from cloister.clustering.sketch import Round, Sketch, sketch_of_moments
from cloister.clustering.votes_plan import VotesPlan, after_size, event, size_spend, sum_noise, weights_of_a_round
from cloister.kernels import ClippedCost, ClippedSums, Kernel, Moments, Rows, Summary
from cloister.privacy.budgets import ApproxDP, Budget
from cloister.privacy.mechanisms import Mechanism, Precision, Released, Spend, calibrate
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["fit_votes", "plan_votes"]


class Door(Protocol):
    """What measures: the vault, or a secret sample in it."""

    def measure(self, kernel: Kernel, mechanism: Mechanism, step: str) -> Released[Summary]: ...


def plan_votes(
    budget: Budget, neighbours: Neighbours, domain: Domain, clusters: int, rows: float, most: int | None = None
) -> Plan:
    """The plan for a table of about so many rows; no row is read."""
    columns = len(domain.halves)
    rest = after_size(rows, columns, clusters, budget, neighbours, most)
    events = rest.events()
    size = size_spend(budget, neighbours)
    if size:
        events = (event("size", size), *events)
    facts = {"rows": round(rows), "columns": columns, "clusters": clusters}
    expect = expectations(rest, rows, columns, clusters, neighbours)
    return Plan(budget, neighbours, events, expect, facts, choices(budget, rest, rows))


def choices(budget: Budget, plan: VotesPlan, rows: float) -> dict[str, str]:
    """What was chosen, with the reason."""
    chosen = {
        "method": "votes, then clipped Lloyd",
        "noise": "Gaussian, since delta > 0" if isinstance(budget, ApproxDP) else "Laplace, since delta = 0",
    }
    if plan.rate < 1:
        chosen["seeding"] = f"on a secret sample of about {float(plan.rate) * rows:,.0f} rows, since the table is large"
    return chosen


def expectations(plan: VotesPlan, rows: float, columns: int, clusters: int, neighbours: Neighbours) -> dict[str, str]:
    """The error to expect of each step, for clusters of equal size."""
    seen = rows * float(plan.rate)
    cells = ", ".join(str(r.cells) for r in plan.seeding)
    expect = {"seeding": f"moments, then votes over {cells} candidates"}
    for i, seeding in enumerate(plan.seeding):
        error = sum_noise(seeding.spend, columns, neighbours) * seeding.cells / seen
        expect[f"votes {i + 1}"] = f"{seeding.cells} candidates, each +-{min(error, 1):.2%} of its clipping radius"
    for i, spend in enumerate(plan.lloyd):
        error = sum_noise(spend, columns, neighbours) * clusters / rows
        expect[f"lloyd {i + 1}"] = f"centres +-{min(error, 1):.2%} of their clipping radius"
    return expect


def fit_votes(
    vault: Vault,
    domain: Domain,
    clusters: int,
    budget: Budget,
    neighbours: Neighbours,
    random: np.random.Generator,
    most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Fitted:
    """Run votes and clipped Lloyd inside an open vault."""
    progress("size")
    size = size_spend(budget, neighbours)
    counter = calibrate(Rows().sensitivity(neighbours), size) if size else None
    table = Table(max(vault.size(counter), 2.0 * clusters), counter.deviation()["counts"] ** 2 if counter else 0.0)
    plan = after_size(table.rows, len(domain.halves), clusters, budget, neighbours, most)
    run = Run(domain, clusters, neighbours, random, progress)
    if plan.rate < 1:
        with vault.sample("seeding", plan.rate) as sample:
            sketch = run.seed(sample, plan, table)
    else:
        sketch = run.seed(vault, plan, table)
    radius = 1.0
    for i, spend in enumerate(plan.lloyd):
        sketch, radius = run.round(vault, sketch, clusters, spend, f"lloyd {i + 1}", table, Fraction(1))
    centers = domain.put(sketch.means)
    progress("loss")
    loss = run.loss(vault, centers, radius, plan.loss, table.rows)
    errors = np.repeat(sketch.errors[:, None], len(domain.halves), axis=1)
    rounds = len(plan.seeding) + len(plan.lloyd)
    return Fitted(centers, sketch.weights, errors, rounds, table.rows, loss, choices(budget, plan, table.rows))


@dataclass(slots=True)
class Table:
    """What is known about the number of rows: every round's votes add up to it and sharpen it."""

    rows: float
    variance: float

    def sharpen(self, votes: float, variance: float, least: float) -> None:
        if self.variance == 0:
            return
        self.rows = max(self.rows + self.variance / (self.variance + variance) * (votes - self.rows), least)
        self.variance = self.variance * variance / (self.variance + variance)


@dataclass(frozen=True, slots=True)
class Run:
    """The rounds of one fit."""

    domain: Domain
    clusters: int
    neighbours: Neighbours
    random: np.random.Generator
    progress: Callable[[str], None]

    def seed(self, door: Door, plan: VotesPlan, table: Table) -> Sketch:
        """From the moments of the columns to a sketch with as many cells as the budget carries."""
        kernel = Moments(self.domain.clip, len(self.domain.halves))
        self.progress("moments")
        released = door.measure(kernel, calibrate(kernel.sensitivity(self.neighbours), plan.moments), "moments")
        unit = 2.0**kernel.shift
        sketch = sketch_of_moments(
            released.value["sums"].astype(np.float64),
            released.value["squares"] * unit,
            released.deviation["sums"],
            released.deviation["squares"] * unit,
            table.rows * float(plan.rate),
            self.domain,
        )
        for i, seeding in enumerate(plan.seeding):
            sketch, _ = self.round(door, sketch, seeding.cells, seeding.spend, f"votes {i + 1}", table, plan.rate)
        return sketch

    def round(
        self, door: Door, sketch: Sketch, cells: int, spend: Spend, step: str, table: Table, rate: Fraction
    ) -> tuple[Sketch, float]:
        """One round: candidates from the sketch, votes and clipped sums around them, a better sketch."""
        self.progress(step)
        candidates = self.domain.put(sketch.candidates(cells, self.clusters, self.domain, self.random))
        radius = max(1, round(sketch.radius(candidates.astype(np.float64), self.domain, self.random)))
        kernel = ClippedSums(candidates, radius)
        weights = weights_of_a_round(candidates.shape[1], isinstance(spend, Precision), self.neighbours)
        released = door.measure(kernel, calibrate(kernel.sensitivity(self.neighbours), spend, weights), step)
        unit = 2.0**kernel.shift
        seen = Round(
            candidates.astype(np.float64),
            float(radius),
            released.value["counts"].astype(np.float64),
            released.value["sums"].astype(np.float64),
            released.value["squares"] * unit,
            released.deviation["counts"],
            released.deviation["sums"],
            released.deviation["squares"] * unit,
        )
        q = float(rate)
        variance = (len(candidates) * seen.count_noise**2 + table.rows * q * (1 - q)) / q**2
        table.sharpen(float(seen.counts.sum()) / q, variance, 2.0 * self.clusters)
        return sketch.update(seen, table.rows * q, self.clusters, self.domain), float(radius)

    def loss(
        self, vault: Vault, centers: NDArray[np.int32], radius: float, spend: Spend, rows: float
    ) -> Loss:
        """The mean squared distance to the nearest centre, clipped at twice the last radius, with its standard error."""
        kernel = ClippedCost(centers, int(min(2 * radius, 2 * self.domain.radius) ** 2))
        released = vault.measure(kernel, calibrate(kernel.sensitivity(self.neighbours), spend), "loss")
        unit = 2.0**kernel.shift / rows
        mean = max(0.0, float(released.value["cost"][0]) * unit)
        return Loss(mean, released.deviation["cost"] * unit, float(kernel.cap))
