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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted
from cloister.clustering.seeding.packing import sphere_packing
from cloister.clustering.task import Task
from cloister.kernels import CenterSums, Rows
from cloister.kernels.per_unit import for_unit
from cloister.privacy.budgets import ApproxDP, Budget
from cloister.privacy.mechanisms import Precision, Spend
from cloister.privacy.plan import Plan, Step, cut, make_step, shares
from cloister.schema import Neighbours
from cloister.schema.unit import Unit, rows_each
from cloister.vault import Vault

__all__ = ["fit_lloyd", "plan_lloyd"]

SIZE_SHARE = 1  # of SIZE_SHARE + ROUNDS_SHARE, for the number of rows
ROUNDS_SHARE = 49
DEVIATION = 0.225  # mean distance of a coordinate from its middle, as a part of the width: Su et al. 2016, section 4
FEWEST, MOST = 2, 7  # rounds


@dataclass(frozen=True, slots=True)
class LloydPlan:
    """The steps of one private Lloyd."""

    size: Step | None
    rest: Spend
    unit: Unit | None = None

    @classmethod
    def start(cls, budget: Budget, neighbours: Neighbours, unit: Unit | None = None) -> LloydPlan:
        """What is spent before the number of rows is known."""
        if neighbours is Neighbours.REPLACE_ONE:
            return cls(None, shares(budget, {"rounds": 1})["rounds"])
        parts = shares(budget, {"size": SIZE_SHARE, "rounds": ROUNDS_SHARE})
        size = make_step("size", for_unit(Rows(), unit).sensitivity(neighbours), parts["size"])
        return cls(size, parts["rounds"], unit)

    def rounds(self, domain: Domain, clusters: int, rows: float, neighbours: Neighbours, most: int | None) -> list[Step]:
        """The steps that follow, for this (noisy) number of rows."""
        columns = len(domain.halves)
        # a person's rows move a sum together: fewer people stand against the noise
        count = most or number_of_rounds(self.rest, columns, clusters, rows / rows_each(self.unit), neighbours)
        kernel = CenterSums(np.zeros((clusters, columns), dtype=np.int32), domain.clip)
        names = [f"round {i + 1}" for i in range(count)]
        spends = cut(self.rest, dict.fromkeys(names, 1))
        weights = count_and_sum_weights(columns, isinstance(self.rest, Precision))
        steps = []
        for name in names:
            step = make_step(name, for_unit(kernel, self.unit).sensitivity(neighbours), spends[name], weights)
            steps.append(Step(step.name, step.mechanism, step.event, expectation(step, domain, clusters, rows)))
        return steps


def count_and_sum_weights(columns: int, gaussian: bool) -> dict[str, str]:
    """How counts and sums share a round.

    Laplace: count : sum of one column = cbrt(4 d 0.225^2) : 1 (Su et al. 2016, eq. 7). Gaussian: minimising
    d^2 / w_sums + 4 d 0.225^2 / w_counts gives w_sums : w_counts = d : 2 * 0.225 sqrt d.
    """
    counts = 2 * DEVIATION * sqrt(columns) if gaussian else (4 * columns * DEVIATION**2) ** (1 / 3)
    return {"counts": f"{counts:.9f}", "sums": str(columns)}


def number_of_rounds(rest: Spend, columns: int, clusters: int, rows: float, neighbours: Neighbours) -> int:
    """As many rounds as the budget carries, between 2 and 7.

    Laplace: T = floor(eps / eps_m), eps_m^2 = 500 k^3 / N^2 (d + cbrt(4 d 0.225^2))^3 (Su et al. 2016, eq. 9), twice
    eps_m under replace-one. Gaussian: the same bound on the mean squared error, with variances in place of Laplace's:
    mu_m^2 = 250 k^3 / N^2 (d + 2 * 0.225 sqrt d)^2.
    """
    weight = float(count_and_sum_weights(columns, isinstance(rest, Precision))["counts"])
    factor = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    if isinstance(rest, Precision):
        least = 250 * clusters**3 / rows**2 * (columns + weight) ** 2 * factor**2
        carried = float(rest.value) / least
    else:
        least = sqrt(500 * clusters**3 / rows**2 * (columns + weight) ** 3) * factor
        carried = float(rest) / least
    return int(min(MOST, max(FEWEST, floor(min(carried, MOST)))))


def expectation(step: Step, domain: Domain, clusters: int, rows: float) -> str:
    """The error to expect of a round, for clusters of equal size."""
    noise = step.mechanism.deviation()
    width = 2 * float(np.max(domain.halves))
    place = noise["sums"] / max(1.0, rows / clusters) / width
    return f"counts +-{noise['counts']:.3g} rows, centres +-{min(place, 1):.2%} of a column's width"


def plan_lloyd(task: Task, rows: float, unit: Unit | None = None) -> Plan:
    """The plan for a table of about so many rows; no row is read."""
    budget, neighbours, domain, clusters, most = given(task)
    start = LloydPlan.start(budget, neighbours, unit)
    steps = start.rounds(domain, clusters, rows, neighbours, most)
    expect: dict[str, str] = {step.name: step.expect for step in steps}
    if start.size is not None:
        expect["size"] = f"number of rows +-{start.size.mechanism.deviation()['counts']:.3g}"
        steps = [start.size, *steps]
    facts: Mapping[str, object] = {"rows": round(rows), "columns": len(domain.halves), "clusters": clusters}
    choices = {"noise": "Gaussian, since delta > 0" if isinstance(budget, ApproxDP) else "Laplace, since delta = 0"}
    return Plan(budget, neighbours, tuple(step.event for step in steps), expect, facts, choices, str(unit or "row"))


def given(task: Task) -> tuple[Budget, Neighbours, Domain, int, int | None]:
    """What Lloyd needs to be told."""
    assert task.domain is not None
    assert task.clusters is not None
    return task.budget, task.neighbours, task.domain, task.clusters, task.rounds


def fit_lloyd(
    vault: Vault, task: Task, random: PublicChance, progress: Callable[[str], None] = lambda _: None
) -> tuple[Fitted, Domain]:
    """Run private Lloyd inside an open vault, from public centres."""
    budget, neighbours, domain, clusters, most = given(task)
    plan = LloydPlan.start(budget, neighbours, vault.unit)
    progress("size")
    rows = vault.size(plan.size.mechanism if plan.size else None)
    centers = sphere_packing(domain, clusters, random)
    columns = centers.shape[1]
    sizes = np.full(clusters, rows / clusters)
    errors = np.full((clusters, columns), np.inf)
    steps = plan.rounds(domain, clusters, rows, neighbours, most)
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
    return Fitted(centers, sizes, errors, len(steps), rows), domain


def standard_error(
    centers: NDArray[np.int32], counts: NDArray[np.float64], deviation: Mapping[str, float]
) -> NDArray[np.float64]:
    """The noise's part in each coordinate of a centre sum/count, to first order: known, since the noise is public."""
    spread = deviation["sums"] ** 2 + (centers.astype(np.float64) * deviation["counts"]) ** 2
    return np.where(counts[:, None] >= 1, np.sqrt(spread) / np.maximum(counts, 1)[:, None], np.inf)
