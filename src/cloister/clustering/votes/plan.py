"""How `votes` spends its budget: a written rule from the noisy number of rows, the columns, the clusters and the budget.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. What is left of epsilon
(and delta) is one whole, whichever branch the number of rows picks:

- bounds: 15%, only where they are not public (`bounds`);
- seeding: the moments of each column (4%), then rounds of votes with clipped sums over more cells than clusters: 8, 6, 4
  and 2 cells a cluster (Gaussian) or 8 and 4 (Laplace), fewer where a cell's rows would not stand out of the noise
  (rows a cell >= 1.5 sqrt d times the noise of a sum), at most 512 or 4 a cluster;
- in many columns, where clusters would not stand out of that noise, seeding spends the same in a subspace (`votes.subspace`);
- Lloyd: two rounds or more (Laplace: one or more), up to five while their noise stays far below the loss;
- 2% for the loss.

All seeding rounds get the same, as much as one of the fewest rounds of Lloyd. On a table of more than three times 20,000
rows (or 500 a cluster) seeding runs on a secret sample of about that many: its time stops growing, and the sample's privacy
makes up for its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from cloister.clustering.clipped_rounds import check_round, sum_noise
from cloister.clustering.domain import from_bounds
from cloister.clustering.task import Task
from cloister.clustering.votes.bounds import BOUNDS_STEPS
from cloister.clustering.votes.subspace import COLUMNS_FROM, SubspacePlan, check_subspace, pays, plan_subspace
from cloister.kernels import ClippedCost, Moments, ValueCounts
from cloister.kernels.clipped import worst_cap
from cloister.privacy.events import Event, SampledEvent
from cloister.privacy.mechanisms import (
    Spend,
    amount_of,
    calibrate,
    event_of,
    explain_noise,
    norm_of,
    part_of,
    spend_on_sample,
    whole_spend,
)
from cloister.privacy.plan import Branch, Plan, PlannedStep
from cloister.schema import Neighbours

__all__ = [
    "FEWEST_ROWS",
    "VotesPlan",
    "after_size",
    "check_noise",
    "frozen_plan",
    "lloyd_rounds",
    "plan_votes",
]

FEWEST_ROWS = 10.0  # a smaller noisy number of rows is raised to this
BOUNDS_SHARE = Fraction(15, 100)
MOMENTS_SHARE = Fraction(4, 100)
LOSS_SHARE = Fraction(2, 100)
# by the norm of the noise: Gaussian noise grows more slowly with the number of rounds
SEED_CELLS = {"L2": (8, 6, 4, 2), "L1": (8, 4)}  # cells a cluster in each seeding round
LEAST_LLOYD = {"L2": 2, "L1": 1}
MOST_LLOYD = 5
QUIET = 0.0005  # more rounds while their noise, at three times the usual radius, adds less than this part of the loss
MOST_CELLS = 512
CELL_SIGNAL = 1.5
SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER, SAMPLE_FROM = 20_000, 500, 3
RATE_BITS = 32
SAMPLED_PART = Fraction(1, 2**20)  # of a precision: a deviation that is 1024 times as large
SAMPLED_PART_UP_TO = Fraction(1, 2)  # the largest delta at which a sample has that part
MOST_AUTO = 32  # most clusters when their number is chosen here


@dataclass(frozen=True, slots=True)
class VotesPlan:
    """What follows the number of rows."""

    rate: Fraction  # of the secret sample that seeding runs on; 1: all rows
    bounds: Spend | None  # of each of the steps that estimate the bounds; None: they are public
    moments: Spend
    cells: tuple[int, ...]  # in each seeding round
    seeding: Spend  # of each seeding round
    lloyd: Spend  # of all rounds of Lloyd together
    loss: Spend
    subspace: SubspacePlan | None = None  # how seeding spends the same in a subspace; None: it runs in all columns

    @property
    def rounds(self) -> int:
        """The rounds before those of Lloyd."""
        return len(self.subspace.cells) + self.subspace.lifts if self.subspace else len(self.cells)

    def steps(self, lloyd_rounds: int) -> tuple[PlannedStep, ...]:
        """Every step's charge; so many rounds of Lloyd are to be expected."""
        in_all_columns = (
            event_of("moments", self.moments),
            *(event_of(f"votes {i + 1}", self.seeding) for i in range(len(self.cells))),
        )
        seeding = self.subspace.events() if self.subspace else in_all_columns
        bounds = [] if self.bounds is None else [event_of(f"bounds {i + 1}", self.bounds) for i in range(BOUNDS_STEPS)]
        first: tuple[Event, ...] = seeding if self.rate == 1 else (SampledEvent("seeding", self.rate, seeding),)
        return (*bounds, *first, Branch("lloyd", self.lloyd, lloyd_rounds), event_of("loss", self.loss))


def plan_votes(task: Task, rows: float) -> Plan:
    """The plan for a table of about so many rows; no row is read."""
    rows = max(rows, FEWEST_ROWS)
    return frozen_plan(task, after_size(task, rows), rows)


def frozen_plan(task: Task, plan: VotesPlan, rows: float) -> Plan:
    """What is fixed once the number of rows is known: all but how many rounds Lloyd has where clusters are counted on the way."""
    terms = task.terms
    clusters = task.clusters or plan.cells[-1] // 2
    rounds = lloyd_rounds(task, plan.lloyd, rows, clusters)
    size = terms.size_epsilon
    steps = (*([event_of("size", size)] if size else []), *plan.steps(rounds))
    facts = {"rows": round(rows), "columns": len(task.names), "clusters": task.clusters or "auto"}
    expect = expectations(task, plan, rows, clusters, rounds)
    return Plan(terms.budget, terms.neighbours, steps, expect, facts, explain_choices(task, plan, rows), terms.protected)


def explain_choices(task: Task, plan: VotesPlan, rows: float) -> dict[str, str]:
    """What was chosen, with the reason."""
    choices = {"method": "votes, then clipped Lloyd", "noise": explain_noise(task.terms.budget)}
    if task.domain is None:
        choices["bounds"] = "found inside the budget, since none were given"
    if plan.rate < 1:
        choices["seeding"] = f"on a secret sample of about {float(plan.rate) * rows:,.0f} rows, since the table is large"
    if plan.subspace is not None:
        choices["seeding"] = "; ".join([*([choices["seeding"]] if "seeding" in choices else []), plan.subspace.explain()])
    return choices


def expectations(task: Task, plan: VotesPlan, rows: float, clusters: int, rounds: int) -> dict[str, str]:
    """The error to expect of each step, for clusters of equal size."""
    columns, neighbours = len(task.names), task.terms.neighbours
    people = rows / task.terms.rows_each
    sampled = people * float(plan.rate)
    if plan.subspace is not None:
        expect = plan.subspace.expect(clusters, columns, sampled, neighbours)
    else:
        expect = {"seeding": f"moments, then votes over {', '.join(str(c) for c in plan.cells)} candidates"}
        seeding_noise = sum_noise(plan.seeding, columns, neighbours)
        for i, cells in enumerate(plan.cells):
            error = seeding_noise * cells / sampled
            expect[f"votes {i + 1}"] = f"{cells} candidates, each +-{min(error, 1):.2%} of its clipping radius"
    error = sum_noise(part_of(plan.lloyd, Fraction(1, rounds)), columns, neighbours) * clusters / people
    for i in range(rounds):
        expect[f"lloyd {i + 1}"] = f"centres +-{min(error, 1):.2%} of their clipping radius"
    return expect


def after_size(task: Task, rows: float) -> VotesPlan:
    """The plan for this (noisy) number of rows. Whatever it is, the total is the same.

    Where the guarantee is per person, noise grows with the rows that each may have. Without a number of clusters there are as
    many cells as for the most that can be told apart.
    """
    budget, neighbours, clusters = task.terms.budget, task.terms.neighbours, task.clusters
    left = budget.epsilon - (task.terms.size_epsilon or 0)
    whole = whole_spend(budget, left)
    cells, least = SEED_CELLS[norm_of(whole)], LEAST_LLOYD[norm_of(whole)]
    bounds_share = BOUNDS_SHARE if task.domain is None else Fraction(0)
    kept = 1 - bounds_share
    rest = kept * (1 - MOMENTS_SHARE - LOSS_SHARE)
    seeding_share = kept * MOMENTS_SHARE + rest * len(cells) / (len(cells) + least)
    lloyd_share = rest * least / (len(cells) + least)
    rate = sample_rate(rows, clusters or MOST_AUTO, neighbours)
    on_sample = spend_on_sample(budget, left, seeding_share, rate)
    moments_part = kept * MOMENTS_SHARE / seeding_share
    each = part_of(on_sample, (1 - moments_part) / len(cells))
    people = rows * float(rate) / task.terms.rows_each
    affordable = affordable_cells(people, len(task.names), each, neighbours)
    most = clusters or most_clusters(affordable)
    return VotesPlan(
        rate,
        part_of(whole, bounds_share / BOUNDS_STEPS) if bounds_share else None,
        part_of(on_sample, moments_part),
        tuple(int(max(most, min(c * most, affordable, max(MOST_CELLS, 4 * most)))) for c in cells),
        each,
        part_of(whole, lloyd_share),
        part_of(whole, kept * LOSS_SHARE),
        plan_subspace(clusters, people, on_sample, moments_part, neighbours)
        if clusters and pays(clusters, len(task.names), affordable)
        else None,
    )


def check_noise(task: Task) -> None:
    """Refuse, before a charge, a budget whose noise could not be drawn in some step, whatever the number of rows will be.

    No step has less to spend than on a table so small that no secret sample is drawn; but for a Gaussian on a sample
    (`least_part_on_sample`). Every clipping radius and cap is at most the diameter of the domain.
    """
    terms, columns = task.terms, len(task.names)
    plan = after_size(task, FEWEST_ROWS)
    domain = task.domain or from_bounds(task.names, (0.0, 1.0), "bounds")
    least = least_part_on_sample(task, plan)
    terms.size_step(terms.size_epsilon)
    if plan.bounds is not None:
        calibrate(terms.sensitivity(ValueCounts((1,) * columns)), plan.bounds)
    calibrate(terms.sensitivity(Moments(domain.clip, columns)), part_of(plan.moments, least))
    check_round(domain, terms, part_of(plan.seeding, least), 2 * domain.radius)
    if task.clusters and columns >= COLUMNS_FROM:
        seeding = part_of(plan.moments, 1 + len(plan.cells) * amount_of(plan.seeding) / amount_of(plan.moments))
        moments = amount_of(plan.moments) / amount_of(seeding)
        check_subspace(domain, terms, plan_subspace(task.clusters, FEWEST_ROWS, seeding, moments, terms.neighbours), least)
    check_round(domain, terms, part_of(plan.lloyd, Fraction(1, task.rounds or MOST_LLOYD)), 2 * domain.radius)
    cost = ClippedCost(np.zeros((1, columns), dtype=np.int32), worst_cap(int(2 * domain.radius) ** 2), domain.clip)
    calibrate(terms.sensitivity(cost), plan.loss)


def least_part_on_sample(task: Task, plan: VotesPlan) -> Fraction:
    """The least that a step of seeding may have on a secret sample, as a part of what it has on a small table without one.

    A pure epsilon is never less. A Gaussian's rows keep a delta of a thousandth at most, which makes the deviation 540 times as
    large at a delta of 1/2, and thousands of times near 1. There the smallest table with a sample is planned: what may be spent
    on a sample only grows as its rate falls. A thousandth less is left for rounding.
    """
    if task.terms.budget.delta <= SAMPLED_PART_UP_TO:
        return SAMPLED_PART if norm_of(plan.seeding) == "L2" else Fraction(1)
    fewest = np.nextafter(SAMPLE_FROM * wanted_rows(task.clusters or MOST_AUTO), np.inf)
    sampled = after_size(task, float(fewest))
    return min(Fraction(1), amount_of(sampled.seeding) / amount_of(plan.seeding) * Fraction(999, 1000))


def affordable_cells(rows: float, columns: int, spend: Spend, neighbours: Neighbours) -> float:
    """Cells for which a clipped sum still stands out of its noise."""
    return rows / (CELL_SIGNAL * sqrt(columns) * sum_noise(spend, columns, neighbours))


def most_clusters(affordable: float) -> int:
    """The most clusters when their number is chosen here: half of the affordable cells, 2 to 32."""
    return int(min(MOST_AUTO, max(2, affordable / 2)))


def sample_rate(rows: float, clusters: int, neighbours: Neighbours) -> Fraction:
    """The rate of the secret sample, a multiple of 2**-32; 1 on a small table, and under replace-one."""
    wanted = wanted_rows(clusters)
    if rows <= SAMPLE_FROM * wanted or neighbours is Neighbours.REPLACE_ONE:
        return Fraction(1)
    return Fraction(max(1, int(wanted / rows * 2**RATE_BITS)), 2**RATE_BITS)  # a noisy number of rows may be any number


def wanted_rows(clusters: int) -> int:
    """About how many rows a secret sample has."""
    return max(SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER * clusters)


def lloyd_rounds(task: Task, whole: Spend, rows: float, clusters: int) -> int:
    """As many rounds as the user wants, or as add little noise.

    A cluster's squared error d (3 noise k / n)^2 grows with the number of rounds (Gaussian) or its square (Laplace).
    """
    if task.rounds:
        return task.rounds
    norm, columns = norm_of(whole), len(task.names)
    noise = sum_noise(whole, columns, task.terms.neighbours)
    of_one_round = columns * (3 * noise * clusters * task.terms.rows_each / rows) ** 2
    fitting = [t for t in range(1, MOST_LLOYD + 1) if of_one_round * t ** (1 if norm == "L2" else 2) <= QUIET]
    return max([LEAST_LLOYD[norm], *fitting])
