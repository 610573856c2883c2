"""How k-prototypes and k-modes spend their budget: a written rule from the noisy number of rows, the columns and the budget.

The number of rows is bought first with a pure epsilon (a fiftieth); under replace-one it is public. Of what is left:

- marginals: 10%, the sums and squares of numbers and the value counts of categories;
- votes: 35% in three equal rounds, over as many candidates as stand out of the noise (rows a candidate >= 4 times the noise of a
  count), at least two and at most eight a cluster;
- rounds of sums and value counts: 53%, two or more, up to five while their noise stays far below the clusters' sizes;
- 2% for the loss.

Marginals and votes run on a secret sample where the table is large, as the seeding of k-means does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np

from cloister.clustering.chosen_clusters import BY_SCORE, planned_clusters
from cloister.clustering.domain import Domain
from cloister.clustering.loss_step import LOSS_SHARE, check_loss, expected_error
from cloister.clustering.prototypes.refining import check_round, round_deviation
from cloister.clustering.task import Task
from cloister.clustering.votes.plan import (
    FEWEST_ROWS,
    SAMPLE_FROM,
    SAMPLED_PART,
    SAMPLED_PART_UP_TO,
    sample_rate,
    wanted_rows,
)
from cloister.errors import UsageError, by_door
from cloister.kernels import Marginals
from cloister.kernels.loops.arrays import EXACT
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

__all__ = ["SearchPlan", "after_size", "check_carried", "check_search", "domain_of", "frozen_plan", "number_of_rounds"]

MARGINALS_SHARE, VOTES_SHARE = Fraction(10, 100), Fraction(35, 100)
VOTE_ROUNDS = 3
LEAST_CELLS, MOST_CELLS, FEWEST_MOST = 2, 8, 48  # candidates a cluster, and how many may always be
CELL_SIGNAL = 4.0
LEAST_ROUNDS, MOST_ROUNDS = 2, 5
QUIET = 0.1  # more rounds while their noise stays below this part of a cluster's size
ALWAYS_CARRIED = 16  # so many values of a column are never refused
MOST_AUTO = 12  # most clusters when their number is chosen here
MOST_VALUES = 4_000_000  # value counts of a release: the accounting has a limit on draws of noise


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What follows the number of rows."""

    rate: Fraction  # of the secret sample that marginals and votes run on; 1: all rows
    marginals: Spend
    cells: int  # candidates of a round of votes
    votes: Spend  # of each round of votes
    rounds: Spend  # of all rounds of sums and value counts together
    loss: Spend


def domain_of(task: Task) -> Domain:
    """The domain, which a request of mixed tables always has."""
    assert task.domain is not None, "a table with categories has public bounds"
    return task.domain


def marginals_kernel(domain: Domain) -> Marginals:
    """What is released of the columns at first."""
    return Marginals(domain.clip, len(domain.halves), domain.sizes)


def marginal_weights(domain: Domain) -> dict[str, str]:
    """How sums, squares and value counts share the marginals."""
    numbers, categories = len(domain.halves), len(domain.sizes)
    return {**({"sums": str(numbers), "squares": str(numbers)} if numbers else {}), "values": str(categories)}


def after_size(task: Task, rows: float) -> SearchPlan:
    """The plan for this (noisy) number of rows. Whatever it is, the total is the same."""
    budget, terms = task.terms.budget, task.terms
    left = budget.epsilon - (terms.size_epsilon or 0)
    whole = whole_spend(budget, left)
    rate = sample_rate(rows, task.clusters or MOST_AUTO, terms.neighbours)
    seeding_share = MARGINALS_SHARE + VOTES_SHARE
    on_sample = spend_on_sample(budget, left, seeding_share, rate)
    each = part_of(on_sample, VOTES_SHARE / seeding_share / VOTE_ROUNDS)
    noise = calibrate(terms.counting(), each).deviation()["counts"]
    affordable = rows * float(rate) / terms.rows_each / (CELL_SIGNAL * noise)
    clusters = task.clusters or MOST_AUTO
    most = max(FEWEST_MOST, MOST_CELLS * clusters if clusters < FEWEST_MOST else LEAST_CELLS * clusters)
    cells = int(max(clusters, min(affordable, most)))
    return SearchPlan(
        rate,
        part_of(on_sample, MARGINALS_SHARE / seeding_share),
        max(2, cells),
        each,
        part_of(whole, 1 - seeding_share - LOSS_SHARE),
        part_of(whole, LOSS_SHARE),
    )


def frozen_plan(task: Task, plan: SearchPlan, rows: float) -> Plan:
    """What is fixed once the number of rows is known: all but how many rounds there are where clusters are counted on the way."""
    terms, domain = task.terms, domain_of(task)
    clusters = task.clusters or 2
    seeding = (
        event_of("marginals", plan.marginals),
        *(event_of(f"votes {i + 1}", plan.votes) for i in range(VOTE_ROUNDS)),
    )
    first: tuple[Event, ...] = seeding if plan.rate == 1 else (SampledEvent("seeding", plan.rate, seeding),)
    rounds = number_of_rounds(task, plan.rounds, rows, clusters)
    size = [event_of("size", terms.size_epsilon)] if terms.size_epsilon else []
    steps: tuple[PlannedStep, ...] = (*size, *first, Branch("round", plan.rounds, rounds), event_of("loss", plan.loss))
    choices = {"model": model_of(domain), "method": "votes, then rounds of sums and value counts"}
    choices["noise"] = explain_noise(terms.budget)
    if plan.rate < 1:
        choices["seeding"] = f"on a secret sample of about {float(plan.rate) * rows:,.0f} rows, since the table is large"
    if not task.gammas:
        choices["gamma"] = "from the released marginals, so that an average column counts the same"
    if not task.clusters:
        choices |= planned_clusters(min(MOST_AUTO, plan.cells), BY_SCORE, clusters)
    expect = {f"votes {i + 1}": f"{plan.cells} candidates" for i in range(VOTE_ROUNDS)}
    expect |= {f"round {i + 1}": expected_of_round(task, part_of(plan.rounds, Fraction(1, rounds))) for i in range(rounds)}
    expect["loss"] = expected_error(terms, plan.loss, rows)
    return Plan(terms.budget, terms.neighbours, steps, expect, facts_of(task, domain, rows), choices, terms.protected)


def model_of(domain: Domain) -> str:
    """Which model it is, and why."""
    return "k-prototypes, of numbers and categories" if len(domain.halves) else "k-modes, of categories alone"


def facts_of(task: Task, domain: Domain, rows: float) -> dict[str, object]:
    """What a plan was made for."""
    numbers, categories = len(domain.halves), len(domain.sizes)
    columns = {**({"numbers": numbers} if numbers else {}), "categories": categories}
    return {"rows": round(rows), **columns, "clusters": task.clusters or "auto"}


def expected_of_round(task: Task, spend: Spend) -> str:
    """The error to expect of a round."""
    noise = round_deviation(domain_of(task), task.terms, spend)
    return f"sizes +-{noise['counts']:.3g} rows, value counts +-{noise['values']:.3g}"


def number_of_rounds(task: Task, whole: Spend, rows: float, clusters: int) -> int:
    """As many rounds as the user wants, or as add little noise to clusters of equal size."""
    if task.rounds:
        return task.rounds
    domain = domain_of(task)
    each = rows / clusters / task.terms.rows_each
    fitting = [LEAST_ROUNDS]
    for count in range(LEAST_ROUNDS + 1, MOST_ROUNDS + 1):
        noise = round_deviation(domain, task.terms, part_of(whole, Fraction(1, count)))
        largest = noise["values"] * (1 + log(max(domain.sizes)))
        if max(largest, noise["sums"] * len(domain.halves) ** 0.5) <= QUIET * each:
            fitting.append(count)
    return max(fitting)


def check_carried(task: Task, whole: Spend, rows: float) -> None:
    """Refuse a column with more values than the budget can tell apart in a table of about so many rows.

    The largest of V draws of noise is about its deviation times 1 + ln V. Where that passes the size of a cluster, a value that
    every row of a cluster holds would not stand out. Columns of few values are never refused: they fill up with noise evenly.
    """
    domain, clusters = domain_of(task), task.clusters or 2
    noise = round_deviation(domain, task.terms, part_of(whole, Fraction(1, task.rounds or LEAST_ROUNDS)))["values"]
    each = rows / clusters / task.terms.rows_each
    carried = int(np.exp(min(20.0, max(0.0, each / noise - 1))))
    widest = max(domain.categories, key=lambda codes: len(codes.domain))
    if len(widest.domain) > max(ALWAYS_CARRIED, carried):
        raise UsageError(
            f'column "{widest.name}" has {len(widest.domain):,} categories, and with this budget about {rows:,.0f} rows carry '
            f"{max(ALWAYS_CARRIED, carried):,} in {clusters} clusters. Group its values in the schema, leave it out of "
            f"{by_door('columns', '--columns')}, ask for fewer clusters, or spend more."
        )


def check_values(task: Task) -> None:
    """Refuse, before a charge, more value counts than a release can draw noise for."""
    domain, rounds = domain_of(task), task.rounds or MOST_ROUNDS
    drawn = (task.clusters or MOST_AUTO) * sum(domain.sizes) * rounds
    if drawn > MOST_VALUES:
        widest = max(domain.categories, key=lambda codes: len(codes.domain))
        raise UsageError(
            f"{sum(domain.sizes):,} categories in {task.clusters or MOST_AUTO:,} clusters and {rounds} rounds are {drawn:,} "
            f'noisy counts, and at most {MOST_VALUES:,} are drawn. Leave out column "{widest.name}", which has '
            f"{len(widest.domain):,}, or ask for fewer clusters."
        )


def largest_gamma(domain: Domain) -> int:
    """The most that gamma can be when it is found inside the budget: distances stay exact."""
    most = (EXACT - 1 - domain.clip.farthest(domain.halves.tolist())) // len(domain.sizes)
    return int(min(most, 100 * int(max(domain.halves, default=1)) ** 2))


def check_search(task: Task) -> None:
    """Refuse, before a charge, a budget whose noise could not be drawn in some step, whatever the number of rows will be."""
    terms, domain = task.terms, domain_of(task)
    check_values(task)
    plan = after_size(task, FEWEST_ROWS)
    gamma = max(task.gammas, default=largest_gamma(domain))
    terms.size_step(terms.size_epsilon)
    least = least_part_on_sample(task, plan)
    check_marginals(task, part_of(plan.marginals, least))
    calibrate(terms.counting(), part_of(plan.votes, least))
    check_round(domain, terms, part_of(plan.rounds, Fraction(1, task.rounds or MOST_ROUNDS)), gamma)
    check_loss(domain, terms, plan.loss)


def check_marginals(task: Task, spend: Spend) -> None:
    """Refuse marginals whose noise could not be drawn."""
    kernel = marginals_kernel(domain_of(task))
    calibrate(task.terms.sensitivity(kernel), spend, marginal_weights(domain_of(task)))


def least_part_on_sample(task: Task, plan: SearchPlan) -> Fraction:
    """The least that a step may have on a secret sample, as a part of what it has on a small table: see `votes.plan`.

    A pure epsilon is never less. At a delta above a half the smallest table with a sample is planned.
    """
    if norm_of(plan.votes) == "L1" or task.terms.neighbours is Neighbours.REPLACE_ONE:
        return Fraction(1)
    if task.terms.budget.delta <= SAMPLED_PART_UP_TO:
        return SAMPLED_PART
    fewest = np.nextafter(SAMPLE_FROM * wanted_rows(task.clusters or MOST_AUTO), np.inf)
    sampled = after_size(task, float(fewest))
    return min(Fraction(1), amount_of(sampled.votes) / amount_of(plan.votes) * Fraction(999, 1000))
