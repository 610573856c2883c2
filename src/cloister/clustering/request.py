"""`ClusterRequest`: private k-means without scikit-learn. A request -> a plan -> a fit in the vault -> `Clusters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.clustering.chance import public_chance
from cloister.clustering.chosen_clusters import chosen_clusters
from cloister.clustering.clusters import Clusters
from cloister.clustering.domain import Domain, check_scale, distance_unit, from_bounds
from cloister.clustering.fitted import Fitted, Loss
from cloister.clustering.inputs import Input, named_columns
from cloister.clustering.method_options import check_method_options
from cloister.clustering.methods import Method, find_method
from cloister.clustering.missing_step import MissingStep, rest_of
from cloister.clustering.number_columns import NumberColumns
from cloister.clustering.progress import Progress, silent
from cloister.clustering.seeding.evolution_options import evolution_options
from cloister.clustering.table_request import TableRequest
from cloister.clustering.task import Task
from cloister.errors import LostClusters, UsageError, warn_of_release
from cloister.parameters import check_progress, check_whole
from cloister.privacy.notes import missing_note
from cloister.privacy.plan import Plan
from cloister.report.one_line import one_line
from cloister.schema import Schema
from cloister.schema.numerals import coordinate_text
from cloister.sinks import set_aside
from cloister.vault import Vault

__all__ = ["ClusterRequest"]

MOST_CLUSTERS = 4096
MOST_SHOWN = 8  # columns whose found bounds are told in words
MOST_ROUNDS = 1000
CENTER_BYTES = 128  # of a coordinate: in the table, and with its error in the certificate
TITLES = {"kmeans": "k-means", "kprototypes": "k-prototypes", "kmodes": "k-modes"}


@dataclass(frozen=True, kw_only=True)
class ClusterRequest(TableRequest):
    """What a user wants clustered, and how. The fields are the parameters of `KMeans`, which documents them.

    Examples
    --------
    >>> import numpy as np
    >>> request = ClusterRequest(n_clusters=2, budget=10, bounds=(0, 1))
    >>> request.plan(5000, ["age", "income"]).keeps_budget()
    True
    >>> request.fit(np.random.default_rng(0).random((500, 2))).cluster_centers_.shape
    (2, 2)
    """

    n_clusters: int | str = 8
    method: str = "auto"
    max_iter: int | None = None
    random_state: Any = None
    seeding: str | None = None
    count_missing: bool = False
    evolution: Mapping[str, Any] | None = None
    schedule: str | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iter is not None:
            object.__setattr__(self, "max_iter", check_whole(self.max_iter, "max_iter", 1))
        if self.max_iter is not None and self.max_iter > MOST_ROUNDS:
            raise UsageError(
                f"max_iter must be at most {MOST_ROUNDS:,}: rounds share the budget, and each would be nothing but noise. "
                "Leave it out for as many as the budget carries."
            )
        self.find_method()
        check_method_options(
            self.method,
            seeding=self.seeding,
            evolution=self.evolution,
            schedule=self.schedule,
            tolerance=self.tolerance,
        )
        number_of_clusters(self.n_clusters)

    @property
    def kind_of_model(self) -> str:
        """What is clustered: a name of `methods.MODELS`."""
        return "kmeans"

    def find_method(self) -> Method:
        """The method, for this model."""
        return find_method(self.method, self.kind_of_model)

    def task(self, rows: Input) -> Task:
        """What the method is to do, checked as far as it can be without the rows. The request is settled."""
        task = self.unchecked_task(rows)
        self.find_method().check(task)
        return task

    def unchecked_task(self, rows: Input) -> Task:
        """The same before the method has seen it."""
        columns = self.choose_columns(rows)
        return Task(
            columns.all_names,
            self._domain(columns),
            replace(self.terms, budget=rest_of(self.terms.budget)) if self.count_missing else self.terms,
            number_of_clusters(self.n_clusters),
            self.max_iter,
            self.seeding,
            self.scale,
            evolution_options(self.evolution),
            self.schedule,
            None if self.tolerance is None else float(self.tolerance),
        )

    def _domain(self, columns: NumberColumns) -> Domain | None:
        """Where values may lie; None where that is to be estimated inside the budget."""
        if columns.bounds is None and columns.names:
            check_scale(self.scale)
            return None
        return from_bounds(columns.names, columns.bounds, self.scale, columns.defaults, columns.forms, columns.lattices)

    def plan(self, rows: float, names: Sequence[str] | Input) -> Plan:
        """What a fit of about so many rows of these columns would spend and what to expect of it; no row is read.

        Of data that is opened (`read`) it refuses what a fit would refuse before its charge.
        """
        columns = named_columns(names)
        request = self.settled(columns)
        task = request.task(columns)
        request.check_readable(columns, task.encoding)
        plan = self.find_method().plan(task, rows)
        return MissingStep(task, request.terms).before(plan) if self.count_missing else plan

    def note_before_charge(self, rows: Input) -> str | None:
        """What becomes of cells that are no numbers, where nothing but the user's word says that columns hold numbers.

        Privacy: it follows from the kind of file and from public facts, whatever the rows are.
        """
        task = self.settled(rows).task(rows)
        self.check_readable(rows, task.encoding)  # what is refused is refused without it
        untold = untold_columns(rows, task, self.facts)
        if not untold:
            return None
        if task.domain is None:
            place = "0 while the bounds are found, then as the middle of them"
        else:
            middles = {f"{float(task.domain.encoding.defaults[name]):,.6g}" for name in untold}
            place = middles.pop() if len(middles) == 1 else "the middle of its bounds"
        return (
            f"Columns are read as numbers; what is not one counts as {place}. "
            "With a schema, cloister schema FILE --schema SCHEMA --check counts such cells."
        )

    def read(self, data: Any) -> Input:
        """The user's data. What can be refused without it is refused first: opening it may start Spark."""
        if self.columns is not None:
            unopened = Input(None, ())
            self.settled(unopened).task(unopened)
        return super().read(data)

    def fit(self, data: Any, progress: Progress = silent) -> Clusters:
        """Charge the budget, find the clusters in the vault, and hand out what was released."""
        progress = check_progress(progress)
        rows = self.read(data)
        request = self.settled(rows)
        task = request.task(rows)
        method = self.find_method()
        random = public_chance(self.random_state)
        set_aside((task.clusters or 0) * len(task.encoding.columns) * CENTER_BYTES)
        purpose = f"{TITLES[self.kind_of_model]}, {task.clusters or 'some'} clusters"
        with request.open_vault(rows, task.encoding, purpose) as vault:
            missing = MissingStep(task, request.terms).measure(vault, progress) if self.count_missing else None
            fitted = method.fit(vault, task, random, progress)
            clusters = request._release(vault, task, method, fitted, missing, untold_note(rows, task, request.facts))
        if clusters.warning is not None:
            warn_of_release(clusters.warning, LostClusters, 3)
        return clusters

    def _release(
        self, vault: Vault, task: Task, method: Method, fitted: Fitted, missing: dict[str, Any] | None, more: Sequence[str]
    ) -> Clusters:
        """The certificate, and the clusters that it is about: released values only."""
        domain = fitted.domain
        parameters = {
            "n_clusters": len(fitted.centers),
            "method": method.name,
            "columns": list(domain.columns),
            "bounds": domain.by_column(domain.bounds),
            "bounds_from": "the budget" if task.domain is None else "public facts",
            "shape": domain.shape,
            "scale": None if domain.is_ball else self.scale,
            "rounds": fitted.rounds,
            "choices": {**fitted.choices, **found_choices(task, method, fitted)},
            "defaults": domain.encoding.defaults,
        }
        square, unit = domain.unit**2, distance_unit(domain, self.scale)
        errors = fitted.errors * domain.lengths()  # (k, d)
        if fitted.modes is not None:
            parameters["domains"] = {codes.name: list(codes.domain) for codes in domain.categories}
            gammas = [float(weight) * square for weight in fitted.modes.weights]
            parameters["gamma"] = gammas if len(set(gammas)) > 1 else gammas[0]
            errors = np.array([domain.by_column(row, np.nan) for row in errors])  # (k, columns)
            unit = f"{unit}, plus gamma a differing category" if domain.encoding.numbers else "differing categories"
        result: dict[str, Any] = {
            "centers": domain.records(fitted.centers, None if fitted.modes is None else fitted.modes.codes),
            "sizes": fitted.sizes.tolist(),
            "standard_errors": [[float(f"{e:.6g}") if np.isfinite(e) else None for e in row] for row in errors],
        }
        if fitted.size_noise is not None:
            result["size_noise"] = float(f"{fitted.size_noise:.6g}")
        notes = (*self.notes(domain.encoding, fitted.rows), *more)
        if task.domain is None:
            notes = (*notes, "While the bounds were estimated, missing and unreadable values counted as 0.")
        if missing is not None:
            result["missing"] = missing
            notes = (*notes, missing_note(missing))
        if fitted.loss is not None:
            result["loss"] = loss_figures(fitted.loss, square, unit)
        return Clusters(
            domain,
            fitted.centers,
            fitted.sizes,
            vault.release(self.kind_of_model, parameters, result, notes),
            standard_errors_=errors,
            loss_=None if fitted.loss is None else fitted.loss.mean * square,
            n_iter_=fitted.rounds,
            engine=self.engine,
            ledger=self.ledger,
            modes=fitted.modes,
        )


def loss_figures(loss: Loss, square: float, unit: str) -> dict[str, Any]:
    """A loss as a certificate has it: in the unit of the distances, of which a squared grid step is `square`."""
    return {
        "mean_squared_distance": loss.mean * square,
        "standard_error": loss.error * square,
        "counted_up_to": loss.cap * square,
        "at_most": loss.at_most * square,
        "unit": unit,
    }


def untold_note(rows: Input, task: Task, facts: Schema | None) -> tuple[str, ...]:
    """That nothing but the user's word says that the columns of a file of text are numbers: its columns have no types."""
    untold = untold_columns(rows, task, facts)
    if not untold:
        return ()
    listed = ", ".join(f'"{one_line(name)}"' for name in untold[:MOST_SHOWN]) + (", ..." if len(untold) > MOST_SHOWN else "")
    return (f"No schema says that these columns of a text file are numbers: {listed}. Each cell was read as one.",)


def untold_columns(rows: Input, task: Task, facts: Schema | None) -> list[str]:
    """The columns of a file of text that no schema describes: nothing but the user's word says that they are numbers."""
    if getattr(rows.data, "typed", True):
        return []
    return [name for name in task.names if facts is None or name not in facts]


def found_choices(task: Task, method: Method, fitted: Fitted) -> dict[str, str]:
    """What was found inside the budget, in words: bounds and a number of clusters that are far off are seen at once."""
    found: dict[str, str] = {} if task.clusters else chosen_clusters(len(fitted.centers), method.cluster_rule)
    domain = fitted.domain
    if task.domain is None:
        ends = [f"{name} {coordinate_text(low)} to {coordinate_text(high)}" for name, (low, high) in named_bounds(domain)]
        more = f", and {len(ends) - MOST_SHOWN:,} more" if len(ends) > MOST_SHOWN else ""
        caveat = "".join(
            fitted.choices.get("bounds", "").partition("; ")[1:]
        )  # what the plan said of them (`explain_bounds`)
        found["bounds"] = f"found inside the budget: {', '.join(ends[:MOST_SHOWN])}{more}{caveat}"
    if fitted.modes is not None and domain.encoding.numbers and not task.gammas:
        gamma = float(fitted.modes.weights[0]) * domain.unit**2
        found["gamma"] = f"{gamma:.4g}, from the released marginals, so that an average column counts the same"
    return found


def named_bounds(domain: Domain) -> list[tuple[str, list[float]]]:
    """The bounds of each number column."""
    return [(grid.name, ends) for grid, ends in zip(domain.encoding.numbers, domain.bounds, strict=True)]


def number_of_clusters(wanted: Any) -> int | None:
    """A whole number of at least 1, or None for "auto"."""
    if isinstance(wanted, str) and wanted == "auto":
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 1:
        raise UsageError('the number of clusters must be a whole number of at least 1, or "auto".')
    if wanted > MOST_CLUSTERS:
        raise UsageError(f"the number of clusters must be at most {MOST_CLUSTERS:,}: more take minutes and tell little.")
    return int(wanted)
