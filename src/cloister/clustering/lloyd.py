"""Private Lloyd: a few rounds of noisy counts and sums around released centres (improved DPLloyd).

Privacy
-------
Released: the noisy number of rows (add-remove only), then in each round the noisy counts and sums of the rows nearest to
each centre. Neighbours: both relations. Sensitivity: `kernels.CenterSums`; a row enters one count and one row of sums.
Budget: a fiftieth for the number of rows, the rest in equal parts to the rounds; how many rounds there are follows from the
noisy number of rows, and every number of rounds costs the same in total. Post-processing: the new centres, their clipping
into the bounds, a centre that the noise left without rows stays where it was. The start is public.

References
----------
D. Su et al., "Differentially private k-means clustering", CODASPY 2016, and TOPS 2017, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted
from cloister.clustering.progress import Progress
from cloister.clustering.seeding.packing import sphere_packing
from cloister.clustering.task import Task
from cloister.clustering.terms import buy_size
from cloister.errors import UsageError
from cloister.kernels import CenterSums
from cloister.privacy.mechanisms import Norm, Spend, amount_of, explain_noise, norm_of, part_of
from cloister.privacy.plan import Branch, Plan, PlannedStep, Step, make_step
from cloister.schema import Neighbours
from cloister.vault import Vault

__all__ = ["Lloyd"]

DEVIATION = 0.225  # mean distance of a coordinate from its middle, as a part of the width: Su et al. 2016, section 4
FEWEST, MOST = 2, 7  # rounds


class Lloyd:
    """Improved DPLloyd, for public bounds and a fixed number of clusters."""

    name = "lloyd"

    def __init__(self, name: str = "lloyd") -> None:
        pass

    def check(self, task: Task) -> None:
        """The start is laid over public bounds, for a number of clusters."""
        if task.domain is None or task.clusters is None:
            raise UsageError('method "lloyd" needs bounds and a number of clusters. Give both, or use method "votes".')
        _, spend = start(task)
        rounds_of(task, spend, task.rounds or MOST)

    def plan(self, task: Task, rows: float) -> Plan:
        """The plan for a table of about so many rows; no row is read."""
        domain, clusters = domain_and_clusters(task)
        terms = task.terms
        size, rounds = start(task)
        planned = plan_rounds(task, rounds, rows)
        expect: dict[str, str] = {step.name: step.expect for step in planned}
        steps: tuple[PlannedStep, ...] = (Branch("round", rounds, len(planned)),)
        if size is not None:
            expect["size"] = f"number of rows +-{size.mechanism.deviation()['counts']:.3g}"
            steps = (size.event, *steps)
        facts: Mapping[str, object] = {"rows": round(rows), "columns": len(domain.halves), "clusters": clusters}
        choices = {"noise": explain_noise(terms.budget)}
        return Plan(terms.budget, terms.neighbours, steps, expect, facts, choices, terms.protected)

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Run private Lloyd inside an open vault, from public centres."""
        domain, clusters = domain_and_clusters(task)
        size, rounds = start(task)
        vault.follow(self.plan(task, 1.0))  # the number of rows decides how many rounds there are, and nothing else
        rows = buy_size(vault, size, progress)
        centers = sphere_packing(domain, clusters, random)
        sizes = np.full(clusters, rows / clusters)
        errors = np.full(centers.shape, np.inf)
        steps = plan_rounds(task, rounds, rows)
        vault.choose("round", len(steps))
        for step in steps:
            progress(step.name)
            released = vault.measure(CenterSums(centers, domain.clip), step.mechanism, step.name)
            counts = released.value["counts"].astype(np.float64)  # (k,)
            sums = released.value["sums"].astype(np.float64)  # (k, d)
            filled = counts >= 1
            moved = np.where(filled[:, None], sums / np.maximum(counts, 1)[:, None], centers)
            centers = domain.put(moved)
            sizes = np.maximum(counts, 0)
            errors = standard_error(centers, counts, released.deviation)
        return Fitted(domain, centers, sizes, errors, len(steps), rows)


def domain_and_clusters(task: Task) -> tuple[Domain, int]:
    """The two that `Lloyd.check` has made sure are there."""
    assert task.domain is not None
    assert task.clusters is not None
    return task.domain, task.clusters


def start(task: Task) -> tuple[Step | None, Spend]:
    """The step that buys the number of rows, and what is left for all rounds together."""
    spends = task.terms.shares({"rounds": 1})
    return task.terms.size_step(spends.get("size")), spends["rounds"]


def plan_rounds(task: Task, spend: Spend, rows: float) -> list[Step]:
    """The rounds for this (noisy) number of rows; whatever their number, they spend the same in total."""
    domain, clusters = domain_and_clusters(task)
    columns, terms = len(domain.halves), task.terms
    # a person's rows move a sum together: fewer people stand against the noise
    people = rows / terms.rows_each
    count = task.rounds or number_of_rounds(spend, columns, clusters, people, terms.neighbours)
    steps = rounds_of(task, spend, count)
    return [replace(step, expect=expectation(step, domain, clusters, rows)) for step in steps]


def rounds_of(task: Task, spend: Spend, count: int) -> list[Step]:
    """So many equal rounds. A centre in the farthest corner is the worst that distances can have to be exact for."""
    domain, _ = domain_and_clusters(task)
    corner = domain.put(domain.halves[None].astype(np.float64))
    sensitivity = task.terms.sensitivity(CenterSums(corner, domain.clip))
    weights = count_and_sum_weights(len(domain.halves), norm_of(spend))
    first = make_step("round 1", sensitivity, part_of(spend, Fraction(1, count)), weights)
    return [
        Step(name, first.mechanism, first.mechanism.event(name, sensitivity))
        for name in (f"round {i + 1}" for i in range(count))
    ]


def count_and_sum_weights(columns: int, norm: Norm) -> dict[str, str]:
    """How counts and sums share a round.

    Laplace: count : sum of one column = cbrt(4 d 0.225^2) : 1 (Su et al. 2016, eq. 7). Gaussian: minimising
    d^2 / w_sums + 4 d 0.225^2 / w_counts gives w_sums : w_counts = d : 2 * 0.225 sqrt d.
    """
    counts = 2 * DEVIATION * sqrt(columns) if norm == "L2" else (4 * columns * DEVIATION**2) ** (1 / 3)
    return {"counts": f"{counts:.9f}", "sums": str(columns)}


def number_of_rounds(rest: Spend, columns: int, clusters: int, rows: float, neighbours: Neighbours) -> int:
    """As many rounds as the budget carries, between 2 and 7.

    Laplace: T = floor(eps / eps_m), eps_m^2 = 500 k^3 / N^2 (d + cbrt(4 d 0.225^2))^3 (Su et al. 2016, eq. 9), twice
    eps_m under replace-one. Gaussian: the same bound on the mean squared error, with variances in place of Laplace's:
    mu_m^2 = 250 k^3 / N^2 (d + 2 * 0.225 sqrt d)^2.
    """
    weight = float(count_and_sum_weights(columns, norm_of(rest))["counts"])
    factor = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    if norm_of(rest) == "L2":
        least = 250 * clusters**3 / rows**2 * (columns + weight) ** 2 * factor**2
    else:
        least = sqrt(500 * clusters**3 / rows**2 * (columns + weight) ** 3) * factor
    carried = float(amount_of(rest)) / least
    return int(min(MOST, max(FEWEST, floor(min(carried, MOST)))))


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
