"""`PrototypeRequest`: private k-prototypes and k-modes. A `ClusterRequest` whose tables have categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from cloister.clustering.domain import Ball, Domain, with_categories
from cloister.clustering.inputs import Input
from cloister.clustering.mixed_columns import choose_mixed_columns, with_domains
from cloister.clustering.number_columns import NumberColumns
from cloister.clustering.request import MOST_CLUSTERS, TITLES, ClusterRequest, number_of_clusters
from cloister.clustering.task import Task
from cloister.errors import UsageError, by_door
from cloister.kernels.loops.arrays import EXACT
from cloister.parameters import unknown_choice
from cloister.schema import Schema

__all__ = ["PrototypeRequest"]

SCHEDULES = ("equal", "halving")  # of the rounds of method "lloyd"; the others say how counts and sums share a round


@dataclass(frozen=True, kw_only=True)
class PrototypeRequest(ClusterRequest):
    """What a user wants clustered, and how. The fields are the parameters of `KPrototypes` and `KModes`, which document them.

    Examples
    --------
    >>> request = PrototypeRequest(n_clusters=2, budget=10, bounds=(0, 1), categories={"sex": ["f", "m"]}, gamma=0.5)
    >>> request.plan(5000, ["age", "sex"]).keeps_budget()
    True
    """

    model: str = "kprototypes"
    gamma: Any = "auto"
    categories: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.facts  # refuses invalid domains
        gammas = read_gammas(self.gamma)
        if len(gammas) > 1 and len(gammas) != number_of_clusters(self.n_clusters):
            raise UsageError(
                f"gamma has {len(gammas):,} numbers. Give one for all clusters, or as many as there are clusters: "
                f'{by_door("n_clusters", "--k")} must then be that number, not "auto".'
            )
        if self.model == "kmodes" and gammas:
            raise UsageError(f"k-modes has no numbers to weigh categories against. Leave {by_door('gamma', '--gamma')} out.")
        if isinstance(self.bounds, Ball):
            raise UsageError("k-prototypes takes bounds as a pair (low, high): in a ball categories have no common scale.")
        given = {"seeding": self.seeding, "evolution": self.evolution, "tolerance": self.tolerance}
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"{TITLES[self.model]} starts from released marginals and runs all its rounds. Leave "
                    f"{by_door('', '--')}{name} out, or cluster the numbers alone: {by_door('KMeans', '--model kmeans')}."
                )
        if self.schedule is not None and self.schedule not in SCHEDULES:
            raise UsageError(
                f"{unknown_choice('schedule', self.schedule, SCHEDULES)} The columns have categories, so this is "
                f"{TITLES[self.model]}; for the numbers alone: {by_door('KMeans', '--model kmeans')}."
            )

    @property
    def kind_of_model(self) -> str:
        return self.model

    @property
    def facts(self) -> Schema | None:
        """What the schema and the user say of the columns."""
        return with_domains(self.schema, self.categories)

    def choose_columns(self, rows: Input) -> NumberColumns:
        return choose_mixed_columns(rows, self.facts, self.columns, self.bounds, self.model)

    def unchecked_task(self, rows: Input) -> Task:
        task = super().unchecked_task(rows)
        assert task.domain is not None
        if self.model == "kmodes":
            return replace(task, gammas=(1,))  # distances are numbers of differing categories
        return replace(task, gammas=tuple(steps_of_gamma(gamma, task.domain) for gamma in read_gammas(self.gamma)))

    def _domain(self, columns: NumberColumns) -> Domain:
        return with_categories(super()._domain(columns) if columns.names else None, columns.categories, columns.all_names)


def read_gammas(gamma: Any) -> tuple[float, ...]:
    """The weight of all clusters, or of each; none for "auto". Refused: what is no finite number above 0."""
    if isinstance(gamma, str) and gamma == "auto":
        return ()
    if isinstance(gamma, list | tuple) or (isinstance(gamma, np.ndarray) and gamma.ndim == 1):
        if 1 <= len(gamma) <= MOST_CLUSTERS:
            return tuple(read_gamma(each) for each in gamma)
        raise UsageError('gamma must be a number above 0, one a cluster, or "auto".')
    return (read_gamma(gamma),)


def read_gamma(gamma: Any) -> float:
    """One weight."""
    try:
        number = float("nan") if isinstance(gamma, bool | str | bytes) else float(gamma)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not (isfinite(number) and number > 0):
        raise UsageError(
            'gamma weighs a differing category against squared distances: a finite number above 0, one a cluster, or "auto". '
            f"To leave the categories out, cluster the numbers with {by_door('KMeans', '--model kmeans')}."
        )
    return number


def steps_of_gamma(gamma: float, domain: Domain) -> int:
    """Gamma in squared grid steps: with ``scale="bounds"`` it is in squared column widths."""
    most = EXACT - 1 - domain.clip.farthest(domain.halves.tolist())
    steps = gamma / domain.unit**2
    if not 0.5 < steps <= most / max(1, len(domain.sizes)):
        limit = most / max(1, len(domain.sizes)) * domain.unit**2
        raise UsageError(
            f"gamma must lie between {domain.unit**2:.3g} and {limit:.3g} here, or distances are not exact. For numbers scaled "
            "to width 1, 0.01 to 1 is usual."
        )
    return round(steps)
