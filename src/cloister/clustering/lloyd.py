"""Private Lloyd: rounds of noisy counts and sums around released centres, by a schedule, with a stop, from a choice of starts.

Privacy
-------
Released: the noisy number of rows (add-remove only); where the start comes from cells, a synopsis (`lloyd_start`); then in
each round the noisy counts and sums of the rows nearest to each centre; at last the noisy capped loss (`loss_step`).
Neighbours: both relations. Sensitivity: `kernels.CenterSums`; a row enters one count and one row of sums. Budget: a fiftieth
for the number of rows, a third for the cells of a start that needs some, a fiftieth for the loss, the rest to the rounds in
the parts of the schedule (`schedules`). How many rounds there are follows from the noisy number of rows, and every number of
rounds costs the same in total. Post-processing: the new centres, their clipping into the bounds, a centre that the noise left
without rows stays where it was.

The stop looks at released centres alone: it comes when none of them moved as far as the tolerance in a round. Rounds that it
skips stay charged, and the certificate names them. Under a pure budget nothing is lost: the plan declares that one last round
takes the epsilon of all that are left, and pure epsilons add whatever chose them (`privacy.plan.Branch`).

References
----------
D. Su et al., "Differentially private k-means clustering", CODASPY 2016, and TOPS 2017, section 3.
T. Shang et al., "Differential identifiability clustering algorithms for big data analysis", 2021, algorithms 1 and 2. As
printed the counts have no noise, and the start is the optimized Canopy on the rows: neither is private. Both are mended here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import hypot, sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.chosen_clusters import BY_DISTANCE, planned_clusters
from cloister.clustering.domain import Domain, distance_unit
from cloister.clustering.expected_loss import TOO_LITTLE, added_by_noise, lost_clusters
from cloister.clustering.fitted import Fitted
from cloister.clustering.lloyd_start import LLOYD_SEEDINGS, find_start
from cloister.clustering.loss_step import MeasuredCenters, check_loss, expected_error, measure_loss
from cloister.clustering.progress import Progress
from cloister.clustering.schedules import Schedule, Split, check_parts, find_schedule
from cloister.clustering.synopsis.cell_clusters import MOST_CLUSTERS, Estimate
from cloister.clustering.synopsis.shapes import ANY_ROWS
from cloister.clustering.task import Task
from cloister.errors import UsageError, by_door
from cloister.kernels import CenterSums, Sensitivity
from cloister.privacy.budgets import Budget
from cloister.privacy.mechanisms import Mechanism, Norm, Spend, amount_of, event_of, explain_noise, norm_of, part_of
from cloister.privacy.plan import STOP_FOR, Branch, Plan, PlannedStep, Step, make_step
from cloister.privacy.round_parts import Parts, equal_parts
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["Lloyd"]

DEVIATION = 0.225  # mean distance of a coordinate from its middle, as a part of the width: Su et al. 2016, section 4
FEWEST, MOST = 2, 7  # rounds
EXPECTED_CLUSTERS = 8  # in a plan whose clusters are counted on the way
OWN_SCHEDULE = "equal"


@dataclass(frozen=True, slots=True)
class LastNoise:
    """The noise of the last round in the centres, for clusters of equal size whose centres lie evenly in the bounds."""

    error: float  # of a coordinate of a centre, in column widths
    width: float  # of a column in the unit of distances
    columns: int
    clusters: int
    rows: float

    @classmethod
    def of(cls, task: Task, step: Step, rows: float, clusters: int) -> Self:
        """That of a planned round."""
        domain, noise = domain_of(task), step.mechanism.deviation()
        width = 2 * float(np.max(domain.halves))
        error = hypot(noise["sums"] / width, noise["counts"] / sqrt(12)) * clusters / max(1.0, rows)
        return cls(error, width * domain.unit, len(domain.halves), clusters, max(1.0, rows))

    def said(self, norm: Norm, unit: str) -> str:
        """What it adds to the loss, in the words of a plan."""
        mean, most = added_by_noise(self.error * self.width, self.columns, self.clusters, norm)
        added = f"{mean:.2g} {unit} more than without noise (up to {most:.2g} in 19 fits of 20)"
        return f"{added}; a start that leads astray may cost many times that"

    def warning(self, budget: Budget) -> dict[str, str]:
        """That centres are off by a quarter of the distance at which so many fill the bounds, or by more."""
        missing = 4 * self.error * self.clusters ** (1 / self.columns)
        lost = lost_clusters(missing, self.clusters, self.rows, budget)
        return {TOO_LITTLE: lost} if lost else {}


class Lloyd:
    """Improved DPLloyd, with the schedules and the starts that the papers compare."""

    name = "lloyd"
    seedings = LLOYD_SEEDINGS
    has_schedule = True
    cluster_rule = BY_DISTANCE

    def __init__(self, name: str = "lloyd") -> None:
        pass

    def check(self, task: Task) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        if task.domain is None:
            raise UsageError(
                'method "lloyd" needs public bounds: its start is laid over them. Give '
                f"{by_door('bounds=(low, high)', '--bounds LOW,HIGH')} or a schema, "
                'or use method "votes", which finds bounds inside the budget.'
            )
        start = find_start(task)
        start.check()
        count = task.rounds or MOST
        check_parts(task.schedule, count)
        rounds_of(task, start.rest(), count)
        check_loss(task.domain, task.terms, start.loss())

    def plan(self, task: Task, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        terms, start = task.terms, find_start(task)
        spend = start.rest()
        rounds = plan_rounds(task, spend, rows, task.clusters or EXPECTED_CLUSTERS)
        first, expect = start.steps(rows)
        stop = "never" if task.tolerance is None else STOP_FOR[norm_of(spend)]
        branch = Branch("round", spend, len(rounds), schedule_of(task).parts, stop)
        steps: tuple[PlannedStep, ...] = (*first, branch, event_of("loss", start.loss()))
        clusters = task.clusters or EXPECTED_CLUSTERS
        expect = {**expect, **{step.name: step.expect for step in rounds}}
        noise = LastNoise.of(task, rounds[-1], rows, clusters)
        added = noise.said(norm_of(spend), distance_unit(domain_of(task), task.scale))
        expect["loss"] = f"{added}; {expected_error(terms, start.loss(), rows)}"
        facts = {"rows": round(rows), "columns": len(task.names), "clusters": task.clusters or "auto"}
        choices = {**explain_choices(task), **(noise.warning(terms.budget) if task.clusters else {})}
        if not task.clusters:
            choices |= planned_clusters(MOST_CLUSTERS, BY_DISTANCE, clusters)
        return Plan(terms.budget, terms.neighbours, steps, expect, facts, choices, terms.protected)

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Run private Lloyd inside an open vault, from public or released centres."""
        domain, start = domain_of(task), find_start(task)
        vault.follow(self.plan(task, ANY_ROWS))  # what is released decides how many rounds there are, and nothing else
        started = start.find(vault, random, progress)
        estimate = started.estimate
        steps = plan_rounds(task, start.rest(), started.rows, len(estimate.centers))
        vault.choose("round", len(steps))
        choices = {**explain_choices(task), **({"grid": " ".join(started.notes)} if started.notes else {})}
        noise = LastNoise.of(task, steps[-1], started.rows, len(estimate.centers))
        choices |= noise.warning(task.terms.budget)
        taken, size_noise = 0, steps[-1].mechanism.deviation()["counts"]
        for step in steps:
            before, estimate = estimate, measure_round(vault, domain, estimate, step, progress)
            taken += 1
            if taken < len(steps) and has_settled(task, domain, before, estimate):
                size_noise = step.mechanism.deviation()["counts"]
                names = vault.stop("round")
                choices["stopped"] = f"after {step.name}, in which no centre moved as far as {task.tolerance:g}"
                if last := last_round(task, start.rest(), len(steps), taken):
                    choices["stopped"] += f"; {last.name} took the epsilon of {', '.join(names)}"
                    estimate = measure_round(vault, domain, estimate, last, progress)
                    size_noise = last.mechanism.deviation()["counts"]
                    taken += 1
                break
        loss = measure_loss(vault, MeasuredCenters(domain, estimate.centers, started.rows), start.loss(), progress)
        return Fitted(
            domain,
            estimate.centers,
            estimate.sizes,
            estimate.errors,
            taken,
            started.rows,
            loss,
            choices,
            size_noise=size_noise,
        )


def domain_of(task: Task) -> Domain:
    """What `Lloyd.check` has made sure is there."""
    assert task.domain is not None
    return task.domain


def schedule_of(task: Task) -> Schedule:
    """How the rounds share what they may spend."""
    return find_schedule(task.schedule or OWN_SCHEDULE)


def explain_choices(task: Task) -> dict[str, str]:
    """What was chosen, with the reason; public."""
    schedule = task.schedule or OWN_SCHEDULE
    choices = {
        "method": "Lloyd, with noisy counts and sums of whole clusters",
        "noise": explain_noise(task.terms.budget),
        "start": find_start(task).words(),
        "schedule": f"{schedule}, counts and sums: {schedule_of(task).split}",
    }
    if task.tolerance is not None:
        is_pure = STOP_FOR[norm_of(find_start(task).rest())] == "one last round"
        rest = "one last round takes the epsilon of those that are left" if is_pure else "skipped rounds stay charged"
        choices["stop"] = f"when no centre moves as far as {task.tolerance:g} in a round; {rest}"
    return choices


def measure_round(vault: Vault, domain: Domain, before: Estimate, step: Step, progress: Progress) -> Estimate:
    """One round: every centre moves to the noisy mean of the rows nearest to it."""
    progress(step.name)
    released = vault.measure(CenterSums(before.centers, domain.clip), step.mechanism, step.name)
    counts = released.value["counts"].astype(np.float64)  # (k,)
    sums = released.value["sums"].astype(np.float64)  # (k, d)
    filled = counts >= 1
    centers = domain.put(np.where(filled[:, None], sums / np.maximum(counts, 1)[:, None], before.centers))
    return Estimate(centers, np.maximum(counts, 0), standard_error(centers, counts, released.deviation))


def has_settled(task: Task, domain: Domain, before: Estimate, after: Estimate) -> bool:
    """Whether no released centre moved as far as the tolerance: in column widths, or in the data's own units."""
    if task.tolerance is None:
        return False
    moves = np.sqrt(((after.centers.astype(np.float64) - before.centers) ** 2).sum(axis=1))  # (k,)
    return float(moves.max()) * domain.unit < task.tolerance


def plan_rounds(task: Task, spend: Spend, rows: float, clusters: int) -> list[Step]:
    """The rounds for this (noisy) number of rows; whatever their number, they spend the same in total."""
    domain, terms = domain_of(task), task.terms
    # a person's rows move a sum together: fewer people stand against the noise
    people = rows / terms.rows_each
    parts = schedule_of(task).parts
    count = task.rounds or number_of_rounds(spend, len(domain.halves), clusters, people, terms.neighbours, parts)
    return [replace(step, expect=expectation(step, domain, clusters, rows)) for step in rounds_of(task, spend, count)]


def rounds_of(task: Task, spend: Spend, count: int) -> list[Step]:
    """So many rounds, each with its part of the spend; equal parts buy the same noise."""
    parts = schedule_of(task).parts(count)
    sensitivity = round_sensitivity(task)
    noise: dict[Fraction, Mechanism] = {
        part: round_step(task, "round", part_of(spend, part)).mechanism for part in dict.fromkeys(parts)
    }
    names = [f"round {i + 1}" for i in range(count)]
    return [Step(name, noise[part], noise[part].event(name, sensitivity)) for name, part in zip(names, parts, strict=True)]


def last_round(task: Task, spend: Spend, count: int, taken: int) -> Step | None:
    """The round that takes what those after a stop would have spent; None where they stay charged and unused."""
    if STOP_FOR[norm_of(spend)] != "one last round":
        return None
    rest = sum(schedule_of(task).parts(count)[taken:], Fraction(0))
    return round_step(task, "last round", part_of(spend, rest))


def round_step(task: Task, name: str, spend: Spend) -> Step:
    """A round that buys the least noise its spend allows, shared by counts and sums as the schedule says."""
    weights = count_and_sum_weights(len(task.names), norm_of(spend), schedule_of(task).split)
    return make_step(name, round_sensitivity(task), spend, weights)


def round_sensitivity(task: Task) -> Sensitivity:
    """Of any round. A centre in the farthest corner is the worst that distances can have to be exact for."""
    domain = domain_of(task)
    corner = domain.put(domain.halves[None].astype(np.float64))
    return task.terms.sensitivity(CenterSums(corner, domain.clip))


def count_and_sum_weights(columns: int, norm: Norm, split: Split = "balanced") -> dict[str, str]:
    """How counts and sums share a round.

    Balanced, Laplace: count : sum of one column = cbrt(4 d 0.225^2) : 1 (Su et al. 2016, eq. 7). Gaussian: minimising
    d^2 / w_sums + 4 d 0.225^2 / w_counts gives w_sums : w_counts = d : 2 * 0.225 sqrt d. One scale: in the unit cube a row adds 1
    to a count and up to 1 to each of d sums, so that the same noise on all of them is 1 : d (Dwork 2011). Two queries: 1 : 1
    (Blum et al. 2005).
    """
    if split == "one scale":
        return {"counts": "1", "sums": str(columns)}
    if split == "two queries":
        return {"counts": "1", "sums": "1"}
    counts = 2 * DEVIATION * sqrt(columns) if norm == "L2" else (4 * columns * DEVIATION**2) ** (1 / 3)
    return {"counts": f"{counts:.9f}", "sums": str(columns)}


def number_of_rounds(
    rest: Spend, columns: int, clusters: int, rows: float, neighbours: Neighbours, parts: Parts = equal_parts
) -> int:
    """As many rounds as the budget carries, between 2 and 7: the smallest part is still worth a round.

    Laplace: a round needs eps_m, eps_m^2 = 500 k^3 / N^2 (d + cbrt(4 d 0.225^2))^3 (Su et al. 2016, eq. 9), twice
    eps_m under replace-one. Gaussian: the same bound on the mean squared error, with variances in place of Laplace's:
    mu_m^2 = 250 k^3 / N^2 (d + 2 * 0.225 sqrt d)^2. With equal parts T = floor(eps / eps_m).
    """
    weight = float(count_and_sum_weights(columns, norm_of(rest))["counts"])
    factor = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    if norm_of(rest) == "L2":
        least = 250 * clusters**3 / rows**2 * (columns + weight) ** 2 * factor**2
    else:
        least = sqrt(500 * clusters**3 / rows**2 * (columns + weight) ** 3) * factor
    carried = float(amount_of(rest)) / least
    return max([FEWEST, *(count for count in range(FEWEST, MOST + 1) if 1 / min(parts(count)) <= carried)])


def expectation(step: Step, domain: Domain, clusters: int, rows: float) -> str:
    """The error to expect of a round, for clusters of equal size."""
    noise = step.mechanism.deviation()
    width = 2 * float(np.max(domain.halves))
    place = noise["sums"] / max(1.0, rows / clusters) / width
    return f"counts +-{noise['counts']:.3g} rows, centres +-{min(place, 1):.2%} of a column's width"


def standard_error(
    centers: NDArray[np.int32], counts: NDArray[np.float64], deviation: Mapping[str, float]
) -> NDArray[np.float64]:
    """The noise's part in each coordinate of a centre sum/count, to first order: known, since the noise is public."""
    spread = deviation["sums"] ** 2 + (centers.astype(np.float64) * deviation["counts"]) ** 2
    return np.where(counts[:, None] >= 1, np.sqrt(spread) / np.maximum(counts, 1)[:, None], np.inf)
