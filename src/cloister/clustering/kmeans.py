"""Private k-means with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from cloister.clustering.chance import public_chance
from cloister.clustering.columns import choose_columns
from cloister.clustering.domain import Domain, from_bounds
from cloister.clustering.fitted import Fitted
from cloister.clustering.inputs import Input, read_input
from cloister.clustering.lloyd import fit_lloyd, plan_lloyd
from cloister.clustering.synopsis.fit import ThroughSynopsis
from cloister.clustering.task import Task
from cloister.clustering.votes.fit import fit_votes, plan_votes
from cloister.encode import Bins, Encoding
from cloister.errors import UsageError
from cloister.kernels import Labels
from cloister.privacy.budgets import Budget, as_budget, relation
from cloister.privacy.ledger import Ledger
from cloister.privacy.notes import guarantee_notes
from cloister.privacy.plan import Plan
from cloister.privacy.release import Release
from cloister.schema import Neighbours, Schema
from cloister.schema.unit import Unit, unit_of
from cloister.vault import Vault

__all__ = ["KMeans"]

MOST_CLUSTERS = 4096

METHODS = ("auto", "votes", "lloyd", "uniform-grid", "adaptive-grid", "tree", "hybrid")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be clustered, and in whose name."""

    task: Task
    table: str | None
    unit: Unit | None
    schema: Schema | None = None

    @property
    def budget(self) -> Budget:
        return self.task.budget

    @property
    def neighbours(self) -> Neighbours:
        return self.task.neighbours

    @property
    def domain(self) -> Domain | None:
        return self.task.domain

    @property
    def encoding(self) -> Encoding:
        """How rows are read at first: on the grid, or only counted while the bounds are not known."""
        if self.task.domain is not None:
            return self.task.domain.encoding
        return Encoding(categories=tuple(Bins(name, ()) for name in self.task.names))


class KMeans(ClusterMixin, BaseEstimator):
    """Differentially private k-means.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        "auto": chosen from what is released on the way, at no further cost.
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
        What the fit may reveal. A plain number is an epsilon with delta = 0.
    bounds : pair (low, high), `Ball`, or None
        Public bounds of the data: one number, or one a column. None: what the schema says; without a schema they are
        found inside the budget, for 15% of it.
    method : "auto", "votes", "lloyd", "uniform-grid", "adaptive-grid", "tree" or "hybrid"
        How the centres are found; "auto" says in the release what it picked and why. Grids and the tree release a synopsis
        and cluster it (`cloister.synopsis` keeps it for other numbers of clusters); the hybrid then refines on the rows.
    scale : "bounds" or None, default "bounds"
        Whether each column's public width counts the same in a distance, or distances are in the data's own units.
    max_iter : int or None
        Rounds; None: as many as the budget carries.
    columns : list of str, optional
        The columns to cluster; by default all (of a schema: its number columns that are no identifiers).
    schema : Schema or path, optional
        Public facts of the table.
    neighbours : "add-remove" or "replace-one", optional
        Which tables must not be told apart. Default: what the schema says, else add-remove; with a rho, replace-one.
    table : str, optional
        Name of the table in the ledger; by default what the schema says. Without a name the release is unledgered.
    ledger : str or Ledger, optional
        Where the budget is kept; by default the user's own ledger.
    engine : None, "local", "spark" or `Spark`
        Who reads the rows; None: Spark for a Spark DataFrame, this process for everything else.
    random_state : int or numpy Generator, optional
        For public choices only (where the search starts), never for noise.
    seeding : "kmeans++", "kmeans||", "canopy" or "evolution"
        How the cells of a synopsis are seeded; the other methods have their own.

    Attributes
    ----------
    cluster_centers_ : ndarray (n_clusters, n_features)
    cluster_sizes_ : ndarray (n_clusters,), noisy
    standard_errors_ : ndarray (n_clusters, n_features), the noise's part in each coordinate
    loss_ : float or None, a private estimate of the mean squared distance to the nearest centre (method "votes")
    n_iter_ : int, rounds
    release_ : Release, the certificate
    n_features_in_, feature_names_in_ : as in scikit-learn

    There are no ``labels_``: the labels of the rows that were fitted are not a private release. `predict` labels rows for
    whoever holds them.

    Privacy
    -------
    Everything that `fit` leaves behind is released through the vault; `release_` says at what cost. What was computed from
    the rows before `fit`, such as a scaler in front of it in a pipeline, is not covered.

    Examples
    --------
    >>> import numpy as np
    >>> import cloister as cl
    >>> rows = np.random.default_rng(0).normal([[0.2, 0.2]] * 500 + [[0.8, 0.8]] * 500, 0.05)
    >>> model = cl.KMeans(n_clusters=2, budget=10.0, bounds=(0, 1)).fit(rows)
    >>> model.cluster_centers_.shape
    (2, 2)
    >>> model.release_.adds_up()
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        budget: Any = 1.0,
        bounds: Any = None,
        method: str = "auto",
        scale: str | None = "bounds",
        max_iter: int | None = None,
        columns: Sequence[str] | None = None,
        schema: Any = None,
        neighbours: str | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        engine: str | None = None,
        random_state: Any = None,
        seeding: str = "kmeans++",
    ) -> None:
        self.n_clusters = n_clusters
        self.budget = budget
        self.bounds = bounds
        self.method = method
        self.scale = scale
        self.max_iter = max_iter
        self.columns = columns
        self.schema = schema
        self.neighbours = neighbours
        self.table = table
        self.ledger = ledger
        self.engine = engine
        self.random_state = random_state
        self.seeding = seeding

    def fit(self, X: Any, y: Any = None, *, progress: Callable[[str], None] = lambda _: None) -> KMeans:
        """Find the centres of the rows of X: an array, a frame, a path, or anything that `cloister` reads."""
        if self.columns is not None:
            self._problem(Input(None, ()))  # what can be told without the data is told before Spark is started for it
        table = read_input(X, self)
        problem = self._problem(table)
        random = public_chance(self.random_state)
        with Vault.open(
            table.data,
            problem.encoding,
            budget=problem.budget,
            neighbours=problem.neighbours,
            purpose=f"k-means, {problem.task.clusters or 'some'} clusters",
            engine=self.engine,
            table=problem.table,
            ledger=self.ledger,
            unit=problem.unit,
        ) as vault:
            run = {"auto": fit_votes, "votes": fit_votes, "lloyd": fit_lloyd}.get(self.method, self._through_synopsis.fit)
            fitted, domain = run(vault, problem.task, random, progress)
            self._keep(problem, fitted, domain, vault)
        table.remember(self, domain.columns)
        return self

    def plan(self, n: int, d: int | None = None, names: Sequence[str] | None = None) -> Plan:
        """What a fit of about n rows and d columns would spend and what to expect of it; no row is read."""
        names = tuple(names or (f"x{j}" for j in range(d or 0)))
        problem = self._problem(Input(None, names))
        make = {"auto": plan_votes, "votes": plan_votes, "lloyd": plan_lloyd}.get(self.method, self._through_synopsis.plan)
        return make(problem.task, n, problem.unit)

    @property
    def _through_synopsis(self) -> ThroughSynopsis:
        return ThroughSynopsis(self.method, self.seeding)

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, for whoever holds the rows. It is not a private release.

        On Spark: the DataFrame with a column "cluster" more, made when it is read.
        """
        return self._label(X, None)

    def _label(self, X: Any, table: str | None) -> Any:
        """Label rows; with the name of the fitted table its ledger records that the holder got labels."""
        check_is_fitted(self)
        rows = read_input(X, self, fitted=True)
        return Vault.label(
            rows.data,
            self._domain.encoding,
            Labels(self._centers_on_grid, self._domain.clip).apply,
            name="cluster",
            purpose="labels",
            engine=self.engine,
            table=table,
            ledger=self.ledger if table else None,
        ).value

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fit, then label the same rows for whoever holds them. The labels are not a private release."""
        self.fit(X)
        return self._label(X, self.release_.ledger["table"] if self.release_.ledger else None)

    def _problem(self, table: Input) -> Problem:
        """Check everything that can be checked before a charge."""
        if self.max_iter is not None and (isinstance(self.max_iter, bool) or self.max_iter < 1):
            raise UsageError("max_iter must be a whole number of at least 1, or None.")
        if self.method not in METHODS:
            raise UsageError(f'method "{self.method}" is not known. Choose one of: {", ".join(METHODS)}.')
        clusters = number_of_clusters(self.n_clusters)
        budget = as_budget(self.budget)
        schema = self.schema
        if schema is not None and not isinstance(schema, Schema):
            schema = Schema.from_toml(schema)
        said = self.neighbours or (schema.neighbours if schema else None)
        names, domain = self._make_domain(table, schema)
        if self.method == "lloyd" and (domain is None or clusters is None):
            raise UsageError('method "lloyd" needs bounds and a number of clusters. Give both, or use method "votes".')
        task = Task(tuple(names), domain, self.scale, clusters, budget, relation(budget, said), self.max_iter)
        if self.method not in ("auto", "votes", "lloyd"):
            self._through_synopsis.check(task, unit_of(schema))
        return Problem(task, self.table or (schema.table if schema else None), unit_of(schema), schema)

    def _make_domain(self, table: Input, schema: Schema | None) -> tuple[list[str], Domain | None]:
        """The columns and where their values may lie; None where that is to be found inside the budget."""
        chosen = choose_columns(table, schema, self.columns, self.bounds)
        if chosen.bounds is None and chosen.names:
            if self.scale not in ("bounds", None):
                raise UsageError('scale must be "bounds" or None.')
            return chosen.names, None
        return chosen.names, from_bounds(chosen.names, chosen.bounds, self.scale, chosen.defaults)

    def _keep(self, problem: Problem, fitted: Fitted, domain: Domain, vault: Vault) -> None:
        """Keep released values only."""
        task = problem.task
        self._domain = domain
        self._centers_on_grid = fitted.centers
        self.cluster_centers_ = domain.decode(fitted.centers)
        self.cluster_sizes_ = fitted.sizes
        self.standard_errors_ = fitted.errors * domain.lengths()
        self.n_iter_ = fitted.rounds
        parameters = {
            "n_clusters": len(fitted.centers),
            "method": "votes" if self.method == "auto" else self.method,
            "columns": list(domain.columns),
            "bounds": [[g.center - g.half * g.step, g.center + g.half * g.step] for g in domain.encoding.numbers],
            "bounds_from": "the budget" if task.domain is None else "public facts",
            "shape": "ball" if domain.is_ball else "box",
            "scale": None if domain.is_ball else self.scale,
            "rounds": fitted.rounds,
            "choices": fitted.choices,
        }
        result: dict[str, Any] = {
            "centers": self.cluster_centers_.tolist(),
            "sizes": self.cluster_sizes_.tolist(),
            "standard_errors": [
                [float(f"{e:.6g}") if np.isfinite(e) else None for e in row] for row in self.standard_errors_
            ],
        }
        self.loss_ = None
        if fitted.loss is not None:
            self.loss_ = fitted.loss.mean * domain.unit**2
            result["loss"] = {
                "mean_squared_distance": self.loss_,
                "standard_error": fitted.loss.error * domain.unit**2,
                "clipped_at": fitted.loss.cap * domain.unit**2,
                "unit": "squared column widths" if parameters["scale"] == "bounds" else "squared units of the data",
            }
        notes = guarantee_notes(task.budget, problem.unit, fitted.rows)
        self.release_: Release = vault.release("kmeans", parameters, result, notes)


def number_of_clusters(given: Any) -> int | None:
    """A whole number of at least 1, or None for "auto"."""
    if isinstance(given, str) and given == "auto":
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise UsageError('the number of clusters must be a whole number of at least 1, or "auto".')
    if given > MOST_CLUSTERS:
        raise UsageError(f"the number of clusters must be at most {MOST_CLUSTERS:,}: more take minutes and tell little.")
    return int(given)
