"""k-means through a synopsis: release cells, cluster them, and in the hybrid refine the centres on the rows.

Privacy
-------
Released: a synopsis (`grids`, `tree`); in the hybrid, after that, in each round the noisy counts and clipped sums of the
rows nearest to each released centre (`kernels.ClippedSums`). Neighbours: both relations. Budget: all of it for the synopsis;
in the hybrid a third of it is kept for the rounds, in equal parts. Clustering the cells, the clipping radius, the
weighing of a move and the number of clusters are post-processing.

References
----------
D. Su et al., "Differentially private k-means clustering and a hybrid approach to private optimization", TOPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.clustering.domain import Domain
from cloister.clustering.fitted import Fitted
from cloister.clustering.seeding.canopy import suggest
from cloister.clustering.seeding.weighted import SEEDINGS, cluster_points, nearest
from cloister.clustering.synopsis.build import MOST_CELLS, check, release_cells
from cloister.clustering.synopsis.cells import Cells, log_densities
from cloister.clustering.synopsis.queries import kept_weights
from cloister.clustering.synopsis.steps import Terms, plan_synopsis, rest_spend
from cloister.clustering.task import Task
from cloister.clustering.votes.plan import event, part, round_kernel, weights_of_a_round
from cloister.errors import UsageError
from cloister.kernels.per_unit import Unit
from cloister.privacy.accounting import Event
from cloister.privacy.mechanisms import Precision, Spend, calibrate
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["ThroughSynopsis"]

REFINING = Fraction(1, 3)  # the hybrid's part for its rounds
ROUNDS = 2
MOST_ROUNDS = 4
EXPECTED_MOVE = 0.1  # of the radius: how far a centre of a synopsis may be off, beside its noise
RADIUS = 0.6  # of the median distance between neighbouring centres: where a move is clipped
GRID_COLUMNS = 3  # up to so many columns the hybrid starts from an adaptive grid, beyond from a tree
MOST_CLUSTERS = 30  # looked at when their number is to be suggested


@dataclass(frozen=True, slots=True)
class ThroughSynopsis:
    """How to cluster: the synopsis' method or "hybrid", and the seeding."""

    method: str
    seeding: str = "kmeans++"

    def check(self, task: Task, unit: Unit | None) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        if self.seeding not in SEEDINGS:
            raise UsageError(f'seeding "{self.seeding}" is not known. Choose one of: {", ".join(SEEDINGS)}.')
        if task.domain is None:
            raise UsageError(
                f'method "{self.method}" needs public bounds: a grid is laid over them. Give bounds=(low, high) or a schema, '
                'or use method "votes", which finds bounds inside the budget.'
            )
        check(self.grid(task), "0.5", None, MOST_CELLS, task.domain, self.terms(task, unit))

    def grid(self, task: Task) -> str:
        """The synopsis' method."""
        if self.method != "hybrid":
            return self.method
        return "adaptive-grid" if len(task.names) <= GRID_COLUMNS else "tree"

    def terms(self, task: Task, unit: Unit | None) -> Terms:
        """What the synopsis may spend."""
        return Terms(task.budget, task.neighbours, unit, REFINING if self.method == "hybrid" else Fraction(0))

    def rounds(self, task: Task) -> int:
        """Rounds of refinement on the rows."""
        return min(MOST_ROUNDS, task.rounds or ROUNDS) if self.method == "hybrid" else 0

    def plan(self, task: Task, rows: float, unit: Unit | None = None) -> Plan:
        """What a fit would spend and what to expect of it; no row is read."""
        assert task.domain is not None
        terms = self.terms(task, unit)
        made = plan_synopsis(terms, task.domain, rows, self.grid(task))
        events: list[Event] = list(made.events)
        rounds = self.rounds(task)
        if rounds:
            spend = part(rest_spend(terms, self.grid(task)), Fraction(1, rounds))
            events += [event(f"round {i + 1}", spend) for i in range(rounds)]
        facts = {"rows": round(rows), "columns": len(task.names), "clusters": task.clusters or "auto"}
        return Plan(task.budget, task.neighbours, tuple(events), made.expect, facts, self.choices(task), str(unit or "row"))

    def choices(self, task: Task) -> dict[str, str]:
        """What was chosen, with the reason."""
        chosen = {"method": f"{self.grid(task)} synopsis, then weighted k-means on its cells", "seeding": self.seeding}
        if self.method == "hybrid":
            chosen["method"] += f", then {self.rounds(task)} rounds on the rows"
        return chosen

    def fit(
        self,
        vault: Vault,
        task: Task,
        random: PublicChance,
        progress: Callable[[str], None] = lambda _: None,
    ) -> tuple[Fitted, Domain]:
        """Release a synopsis inside an open vault and cluster it; in the hybrid refine the centres."""
        domain = task.domain
        assert domain is not None
        terms = self.terms(task, vault.unit)
        cells, total = release_cells(vault, domain, terms, self.grid(task), progress=progress)
        weights = kept_weights(cells.counts, total)
        full = weights > 0
        if not full.any():  # all that can be said of a table of nobody
            full[:], weights[:] = True, 1.0
        points, mass = cells.points[full], weights[full]
        progress("clusters")
        clusters = task.clusters or suggest(points, mass, MOST_CLUSTERS, log_densities(cells, weights)[full]).clusters
        centers, sizes = clusters_of(points, mass, clusters, self.seeding, random)
        errors = noise_of_means(cells.take(full), mass, centers)
        rounds = self.rounds(task)
        placed = domain.put(centers)
        for i in range(rounds):
            progress(f"round {i + 1}")
            spend = part(rest_spend(terms, self.grid(task)), Fraction(1, rounds))
            placed, sizes, errors = refine(vault, domain, placed, sizes, errors, spend, f"round {i + 1}", task)
        return Fitted(placed, sizes, errors, rounds, total, None, self.choices(task)), domain


def clusters_of(
    points: NDArray[np.float64], weights: NDArray[np.float64], clusters: int, seeding: str, random: PublicChance
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres and sizes; where there are fewer cells than clusters, every cell and some of them twice."""
    if clusters <= len(points):
        found = cluster_points(points, weights, clusters, seeding, random)
        return found.centers, found.sizes
    which = np.arange(clusters) % len(points)
    return points[which], weights[which] / np.bincount(which)[which]


def noise_of_means(cells: Cells, weights: NDArray[np.float64], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The counts' noise in each coordinate of a centre sum w p / sum w, to first order, (k, d)."""
    label, _ = nearest(cells.points, centers)
    spread = np.zeros(centers.shape)
    np.add.at(spread, label, cells.variances[:, None] * (cells.points - centers[label]) ** 2)
    mass = np.bincount(label, weights=weights, minlength=len(centers))
    errors: NDArray[np.float64] = np.where(mass[:, None] > 0, np.sqrt(spread) / np.maximum(mass, 1e-9)[:, None], np.inf)
    return errors


def refine(
    vault: Vault,
    domain: Domain,
    centers: NDArray[np.int32],
    sizes: NDArray[np.float64],
    errors: NDArray[np.float64],
    spend: Spend,
    step: str,
    task: Task,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """One round of clipped Lloyd: a centre moves by the mean clipped move of its rows, weighed by how sure either is."""
    gaussian = isinstance(spend, Precision)
    places = centers.astype(np.float64)
    clusters, columns = places.shape
    radius = domain.radius / 2
    if clusters > 1:
        gaps = ((places[:, None] - places[None]) ** 2).sum(axis=2)
        np.fill_diagonal(gaps, np.inf)
        radius = max(1.0, RADIUS * float(np.sqrt(np.median(gaps.min(axis=1)))))
    kernel = round_kernel(centers, radius, radius, gaussian)
    mechanism = calibrate(vault.sensitivity(kernel), spend, weights_of_a_round(columns, gaussian, task.neighbours))
    released = vault.measure(kernel, mechanism, step)
    counts = released.value["counts"].astype(np.float64)
    sums = released.value["sums"].astype(np.float64)
    held = np.maximum(counts, 1.0)[:, None]
    noise = (released.deviation["sums"] / held) ** 2  # (k, 1), variance of a coordinate of the mean move
    doubt = np.maximum(errors**2, (EXPECTED_MOVE * radius) ** 2)  # how far a centre may be off before the round
    doubt = np.minimum(doubt, radius**2)
    gain = np.where(counts[:, None] >= 1, doubt / (doubt + noise), 0.0)  # (k, d): the better of two estimates, mixed
    moved = domain.put(places + gain * sums / held)
    return moved, np.maximum(counts, 0.0), np.sqrt(np.where(gain > 0, gain * noise, errors**2))
