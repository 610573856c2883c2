"""How `votes` spends its budget: a written rule from the noisy number of rows, the columns, the clusters and the budget.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. What is left of epsilon
(and delta) is one whole, whichever branch the number of rows picks:

- bounds: 17% of a column, 2% more for each other one, a third at most; only where they are not public (`bounds`);
- seeding: the moments of each column (4%), then one of two ways to find the cells that hold the rows:

  - up to three columns, if 4 candidates a column and one a cluster stand out of the noise: two rounds of votes alone, over as
    many candidates as have on average three times the noise in rows, at most 512 or 8 a cluster (`look`); three rounds where
    so many stand out even then. Seeding gets 8 parts, Lloyd 3. With a delta the noise is Gaussian or Laplace, whichever is
    smaller;
  - else rounds of votes with clipped sums: 8, 6, 4 and 2 cells a cluster (Gaussian) or 8 and 4 (Laplace), twice as many where
    they stand out twice as clearly, fewer where a cell's rows would not stand out of the noise (rows a cell >= 1.5 sqrt d times
    the noise of a sum), at most 512 or 4 a cluster. All seeding rounds get the same, as much as one of the fewest of Lloyd;
- in many columns, where clusters would not stand out of that noise, seeding spends the same in a subspace (`votes.subspace`);
- Lloyd: two rounds or more (Laplace: one or more), up to five while their noise stays far below the loss;
- 2% for the loss.

On a table of more than three times 20,000 rows (or 500 a cluster) seeding runs on a secret sample of about that many: its time
stops growing, and the sample's privacy makes up for its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from cloister.clustering.chosen_clusters import BY_SCORE, planned_clusters
from cloister.clustering.clipped_rounds import RoundWeights, check_round, sum_noise
from cloister.clustering.domain import from_bounds
from cloister.clustering.expected_loss import TOO_LITTLE, NoisyRound, lost_clusters, said_ratio
from cloister.clustering.loss_step import LOSS_SHARE, check_loss, expected_error
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.clustering.votes.bounds import BOUNDS_PARTS, bounds_share, explain_bounds
from cloister.clustering.votes.subspace import COLUMNS_FROM, SubspacePlan, check_subspace, pays, plan_subspace
from cloister.kernels import Moments, ValueCounts
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
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
MOMENTS_SHARE = Fraction(4, 100)
# by the norm of the noise: Gaussian noise grows more slowly with the number of rounds
SEED_CELLS = {"L2": (8, 6, 4, 2), "L1": (8, 4)}  # cells a cluster in each seeding round
LEAST_LLOYD = {"L2": 2, "L1": 1}
MOST_LLOYD = 5
QUIET = 0.0005  # more rounds while their noise, at three times the usual radius, adds less than this part of the loss
QUIET_LOOK = 0.001  # the same after votes alone, which know a cell's middle less well
MOST_CELLS = 512
LOOK_COLUMNS = 3  # up to so many columns rows vote alone first
LOOK_SIDE = 4  # if so many candidates a column stand out
LOOK_SIGNAL = 3.0  # rows a candidate, in deviations of the noise of a vote
LOOK_CELLS = 8  # candidates a cluster at most, if they are more than MOST_CELLS
LOOK_ROUNDS = 2
LOOK_AGAIN = (
    3  # rounds, if as many candidates as there may be stand out then too: each sees what the last one did more finely
)
LOOK_LOST = 3.0  # deviations of a vote that count as one of a sum when clusters are told lost
LOOK_SHARE = Fraction(8, 11)  # of seeding by votes alone; the rest is Lloyd's
CELL_SIGNAL = 1.5
# Many cells are told apart by their counts, a cell that two clusters share by its squares, and moves of found clusters are
# short. By whether cells stand out of the noise.
SEEDING_WEIGHTS = {True: RoundWeights(2.5, 0.3), False: RoundWeights(1.0, 0.3)}
LLOYD_WEIGHTS = {True: RoundWeights(0.5), False: RoundWeights()}
SAMPLE_ROWS, SAMPLE_ROWS_PER_CLUSTER, SAMPLE_FROM = 20_000, 500, 3
RATE_BITS = 32
SAMPLED_PART = Fraction(1, 2**20)  # of a precision: a deviation that is 1024 times as large
SAMPLED_PART_UP_TO = Fraction(1, 2)  # the largest delta at which a sample has that part
MOST_AUTO = 32  # most clusters when their number is chosen here


@dataclass(frozen=True, slots=True)
class VotesPlan:
    """What follows the number of rows."""

    rate: Fraction  # of the secret sample that seeding runs on; 1: all rows
    bounds: Spend | None  # of all steps that estimate the bounds; None: they are public
    moments: Spend
    cells: tuple[int, ...]  # in each seeding round
    seeding: Spend  # of each seeding round
    lloyd: Spend  # of all rounds of Lloyd together
    loss: Spend
    votes_alone: bool  # whether seeding rounds release votes alone; else clipped sums too
    is_clear: bool  # whether the usual number of cells stands out of the noise: then false ones are told from full ones
    subspace: SubspacePlan | None = None  # how seeding spends the same in a subspace; None: it runs in all columns

    @property
    def most_clusters(self) -> int:
        """The most clusters that are tried where their number is chosen here."""
        return min(MOST_AUTO, max(2, self.cells[-1] // 2))

    @property
    def rounds(self) -> int:
        """The rounds before those of Lloyd."""
        return len(self.subspace.cells) + self.subspace.lifts if self.subspace else len(self.cells)

    @property
    def seeding_weights(self) -> RoundWeights:
        """How a seeding round shares its spend."""
        return SEEDING_WEIGHTS[self.is_clear]

    @property
    def lloyd_weights(self) -> RoundWeights:
        """How a round of Lloyd shares its spend."""
        return LLOYD_WEIGHTS[self.is_clear]

    def steps(self, lloyd_rounds: int) -> tuple[PlannedStep, ...]:
        """Every step's charge; so many rounds of Lloyd are to be expected."""
        in_all_columns = (
            event_of("moments", self.moments),
            *(event_of(f"votes {i + 1}", self.seeding) for i in range(len(self.cells))),
        )
        seeding = self.subspace.events() if self.subspace else in_all_columns
        bounds: list[Event] = []
        if self.bounds is not None:
            bounds = [event_of(f"bounds {i + 1}", part_of(self.bounds, part)) for i, part in enumerate(BOUNDS_PARTS)]
        first: tuple[Event, ...] = seeding if self.rate == 1 else (SampledEvent("seeding", self.rate, seeding),)
        return (*bounds, *first, Branch("lloyd", self.lloyd, lloyd_rounds), event_of("loss", self.loss))


def plan_votes(task: Task, rows: float) -> Plan:
    """The plan for a table of about so many rows; no row is read."""
    rows = max(rows, FEWEST_ROWS)
    return frozen_plan(task, after_size(task, rows), rows)


def frozen_plan(task: Task, plan: VotesPlan, rows: float) -> Plan:
    """What is fixed once the number of rows is known: all but how many rounds Lloyd has where clusters are counted on the way."""
    terms = task.terms
    clusters = task.clusters or plan.most_clusters
    rounds = lloyd_rounds(task, plan, rows, clusters)
    size = terms.size_epsilon
    steps = (*([event_of("size", size)] if size else []), *plan.steps(rounds))
    facts = {"rows": round(rows), "columns": len(task.names), "clusters": task.clusters or "auto"}
    choices = explain_choices(task, plan, rows)
    if not task.clusters:
        choices |= planned_clusters(max(2, clusters), BY_SCORE, clusters)
    missing = seeding_round(task, plan, rows, clusters).missing
    lost = lost_clusters(missing, clusters, rows, terms.budget) if task.clusters else None
    if lost:
        choices[TOO_LITTLE] = lost
    expect = expectations(task, plan, rows, clusters, rounds)
    ratio = said_ratio(last_round(task, plan, rows, clusters, rounds), not lost, missing * rows / clusters)
    expect["loss"] = f"{ratio}; {expected_error(terms, plan.loss, rows)}"
    return Plan(terms.budget, terms.neighbours, steps, expect, facts, choices, terms.protected)


def seeding_round(task: Task, plan: VotesPlan, rows: float, clusters: int) -> NoisyRound:
    """A round of seeding that looks for so many clusters of equal size."""
    people, columns = rows / task.terms.rows_each * float(plan.rate), len(task.names)
    noise = sum_noise(plan.seeding, columns, task.terms.neighbours, plan.seeding_weights)
    if plan.votes_alone:
        people, noise = rows * float(plan.rate), LOOK_LOST * vote_noise(task.terms, plan.seeding) / sqrt(columns)
    return NoisyRound(people, columns, clusters, noise, norm_of(plan.seeding))


def last_round(task: Task, plan: VotesPlan, rows: float, clusters: int, rounds: int) -> NoisyRound:
    """The last round of Lloyd, whose noise is in the centres."""
    spend, columns = part_of(plan.lloyd, Fraction(1, rounds)), len(task.names)
    noise = sum_noise(spend, columns, task.terms.neighbours, plan.lloyd_weights)
    return NoisyRound(rows / task.terms.rows_each, columns, clusters, noise, norm_of(spend))


def explain_choices(task: Task, plan: VotesPlan, rows: float) -> dict[str, str]:
    """What was chosen, with the reason."""
    choices = {"method": "votes, then clipped Lloyd", "noise": explain_noise(task.terms.budget)}
    if task.terms.budget.delta and norm_of(plan.seeding) == "L1":
        choices["noise"] = "Laplace, since it is less than Gaussian noise for so few columns and steps, even with a delta"
    if plan.votes_alone:
        choices["cells"] = (
            f"from votes alone over the whole domain, since {plan.cells[0]:,} candidates stand out of the noise"
        )
    else:
        choices["cells"] = (
            "from votes with clipped sums, since there are too many columns or too few rows to look everywhere"
        )
    if task.domain is None:
        assert plan.bounds is not None, "a plan without a domain buys one"
        choices["bounds"] = explain_bounds(task.terms.sensitivity(ValueCounts((1,) * len(task.names))), plan.bounds, rows)
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
    expect = {"seeding": f"moments, then votes over {', '.join(str(c) for c in plan.cells)} candidates"}
    if plan.subspace is not None:
        expect = plan.subspace.expect(clusters, columns, sampled, neighbours)
    for i, cells in enumerate(plan.cells if plan.subspace is None else ()):
        if plan.votes_alone:
            error = vote_noise(task.terms, plan.seeding) * cells / sampled
            expect[f"votes {i + 1}"] = f"{cells} candidates, the votes of each +-{min(error, 1):.1%}"
        else:
            error = sum_noise(plan.seeding, columns, neighbours, plan.seeding_weights) * cells / sampled
            expect[f"votes {i + 1}"] = f"{cells} candidates, each +-{min(error, 1):.2%} of its clipping radius"
    error = sum_noise(part_of(plan.lloyd, Fraction(1, rounds)), columns, neighbours, plan.lloyd_weights) * clusters / people
    for i in range(rounds):
        expect[f"lloyd {i + 1}"] = f"centres +-{min(error, 1):.2%} of their clipping radius"
    return expect


def after_size(task: Task, rows: float) -> VotesPlan:
    """The plan for this (noisy) number of rows. Whatever it is, the total is the same.

    Where the guarantee is per person, noise grows with the rows that each may have. Without a number of clusters there are as
    many cells as for the most that can be told apart.
    """
    if len(task.names) <= LOOK_COLUMNS:
        plan = plan_looking(task, rows)
        if plan.cells[0] >= max(LOOK_SIDE ** len(task.names), task.clusters or 0):
            return plan
    return plan_summing(task, rows)


def plan_looking(task: Task, rows: float) -> VotesPlan:
    """Cells from votes alone, with the noise that is smaller."""
    terms, clusters = task.terms, task.clusters or MOST_AUTO
    budget = quieter_budget(terms)
    parts = BudgetCut.of(task, budget, LOOK_SHARE)
    rate = sample_rate(rows, clusters, terms.neighbours)
    on_sample = parts.on_sample(rate)
    most = max(MOST_CELLS, LOOK_CELLS * clusters)
    for rounds in (LOOK_AGAIN, LOOK_ROUNDS):
        each = part_of(on_sample, (1 - parts.moments_part) / rounds)
        standing_out = rows * float(rate) / (LOOK_SIGNAL * vote_noise(terms, each))
        if standing_out >= most:
            break
    cells = max(2, int(min(standing_out, most)))
    return VotesPlan(
        rate,
        parts.bounds,
        part_of(on_sample, parts.moments_part),
        (cells,) * rounds,
        each,
        parts.lloyd,
        parts.loss,
        votes_alone=True,
        is_clear=True,
    )


def plan_summing(task: Task, rows: float) -> VotesPlan:
    """Cells from votes with clipped sums."""
    terms, clusters = task.terms, task.clusters
    norm = norm_of(whole_spend(terms.budget, terms.budget.epsilon))
    usual, least = SEED_CELLS[norm], LEAST_LLOYD[norm]
    parts = BudgetCut.of(task, terms.budget, Fraction(len(usual), len(usual) + least))
    rate = sample_rate(rows, clusters or MOST_AUTO, terms.neighbours)
    on_sample = parts.on_sample(rate)
    each = part_of(on_sample, (1 - parts.moments_part) / len(usual))
    people = rows * float(rate) / terms.rows_each
    affordable = affordable_cells(people, len(task.names), each, terms.neighbours)
    most = clusters or most_clusters(affordable)
    wanted = [max(min(c * most, affordable), min(2 * c * most, affordable / 2)) for c in usual]
    cells = tuple(int(max(most, min(c, max(MOST_CELLS, 4 * most)))) for c in wanted)
    return VotesPlan(
        rate,
        parts.bounds,
        part_of(on_sample, parts.moments_part),
        cells,
        each,
        parts.lloyd,
        parts.loss,
        votes_alone=False,
        is_clear=affordable >= usual[0] * most,
        subspace=plan_subspace(clusters, people, on_sample, parts.moments_part, terms.neighbours)
        if clusters and pays(clusters, len(task.names), affordable)
        else None,
    )


@dataclass(frozen=True, slots=True)
class BudgetCut:
    """How a budget is cut before the number of rows is known."""

    budget: Budget
    left: Fraction  # of epsilon, after the number of rows
    seeding_share: Fraction
    moments_part: Fraction  # of the seeding's
    bounds: Spend | None  # of all steps that find them
    lloyd: Spend
    loss: Spend

    @classmethod
    def of(cls, task: Task, budget: Budget, seeding: Fraction) -> BudgetCut:
        """Seeding and Lloyd share what bounds, moments and loss leave."""
        left = budget.epsilon - (task.terms.size_epsilon or 0)
        whole = whole_spend(budget, left)
        finding = bounds_share(len(task.names)) if task.domain is None else Fraction(0)
        kept = 1 - finding
        rest = kept * (1 - MOMENTS_SHARE - LOSS_SHARE)
        seeding_share = kept * MOMENTS_SHARE + rest * seeding
        return cls(
            budget,
            left,
            seeding_share,
            kept * MOMENTS_SHARE / seeding_share,
            part_of(whole, finding) if finding else None,
            part_of(whole, rest * (1 - seeding)),
            part_of(whole, kept * LOSS_SHARE),
        )

    def on_sample(self, rate: Fraction) -> Spend:
        """What seeding may spend on a secret sample of this rate."""
        return spend_on_sample(self.budget, self.left, self.seeding_share, rate)


def quieter_budget(terms: Terms) -> Budget:
    """The budget itself, or its epsilon without its delta where votes then have less noise. Public: no row is looked at."""
    if not isinstance(terms.budget, ApproxDP):
        return terms.budget
    pure = PureDP(terms.budget.epsilon)
    part = LOOK_SHARE / LOOK_ROUNDS
    with_delta, without = (
        vote_noise(terms, part_of(whole_spend(budget, budget.epsilon), part)) for budget in (terms.budget, pure)
    )
    return pure if without < with_delta else terms.budget


def vote_noise(terms: Terms, spend: Spend) -> float:
    """The deviation of one vote count."""
    return calibrate(terms.counting(), spend).deviation()["counts"]


def check_noise(task: Task) -> None:
    """Refuse, before a charge, a budget whose noise could not be drawn in some step, whatever the number of rows will be.

    No step has less to spend than on a table so small that no secret sample is drawn; but for a Gaussian on a sample
    (`least_part_on_sample`). Every clipping radius and cap is at most the diameter of the domain.
    """
    task.terms.size_step(task.terms.size_epsilon)
    check_plan(task, plan_summing)
    if len(task.names) <= LOOK_COLUMNS:
        check_plan(task, plan_looking)


def check_plan(task: Task, make: Callable[[Task, float], VotesPlan]) -> None:
    """Refuse noise that could not be drawn in some step of a plan that is made in this way."""
    terms, columns = task.terms, len(task.names)
    plan = make(task, FEWEST_ROWS)
    domain = task.domain or from_bounds(task.names, (0.0, 1.0), "bounds")
    least = least_part_on_sample(task, plan, make)
    if plan.bounds is not None:
        calibrate(terms.sensitivity(ValueCounts((1,) * columns)), part_of(plan.bounds, min(BOUNDS_PARTS)))
    calibrate(terms.sensitivity(Moments(domain.clip, columns)), part_of(plan.moments, least))
    if plan.votes_alone:
        calibrate(terms.counting(), part_of(plan.seeding, least * Fraction(LOOK_ROUNDS, LOOK_AGAIN)))
    else:
        for weights in SEEDING_WEIGHTS.values():
            check_round(domain, terms, part_of(plan.seeding, least), 2 * domain.radius, weights)
    if task.clusters and columns >= COLUMNS_FROM:
        seeding = part_of(plan.moments, 1 + len(plan.cells) * amount_of(plan.seeding) / amount_of(plan.moments))
        moments = amount_of(plan.moments) / amount_of(seeding)
        check_subspace(domain, terms, plan_subspace(task.clusters, FEWEST_ROWS, seeding, moments, terms.neighbours), least)
    for weights in LLOYD_WEIGHTS.values():
        spend = part_of(plan.lloyd, Fraction(1, task.rounds or MOST_LLOYD))
        check_round(domain, terms, spend, 2 * domain.radius, weights)
    check_loss(domain, terms, plan.loss)


def least_part_on_sample(task: Task, plan: VotesPlan, make: Callable[[Task, float], VotesPlan]) -> Fraction:
    """The least that a step of seeding may have on a secret sample, as a part of what it has on a small table without one.

    A pure epsilon is never less. A Gaussian's rows keep a delta of a thousandth at most, which makes the deviation 540 times as
    large at a delta of 1/2, and thousands of times near 1. There the smallest table with a sample is planned: what may be spent
    on a sample only grows as its rate falls. A thousandth less is left for rounding.
    """
    if norm_of(plan.seeding) == "L1":
        return Fraction(1)
    if task.terms.budget.delta <= SAMPLED_PART_UP_TO:
        return SAMPLED_PART
    fewest = np.nextafter(SAMPLE_FROM * wanted_rows(task.clusters or MOST_AUTO), np.inf)
    sampled = make(task, float(fewest))
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


def lloyd_rounds(task: Task, plan: VotesPlan, rows: float, clusters: int) -> int:
    """As many rounds as the user wants, or as add little noise.

    A cluster's squared error d (3 noise k / n)^2 grows with the number of rounds (Gaussian) or its square (Laplace).
    """
    if task.rounds:
        return task.rounds
    whole, columns = plan.lloyd, len(task.names)
    norm, quiet = norm_of(whole), QUIET_LOOK if plan.votes_alone else QUIET
    noise = sum_noise(whole, columns, task.terms.neighbours, plan.lloyd_weights)
    of_one_round = columns * (3 * noise * clusters * task.terms.rows_each / rows) ** 2
    fitting = [t for t in range(1, MOST_LLOYD + 1) if of_one_round * t ** (1 if norm == "L2" else 2) <= quiet]
    return max([LEAST_LLOYD[norm], *fitting])
