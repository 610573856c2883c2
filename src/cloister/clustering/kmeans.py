"""`KMeans`: private k-means with scikit-learn's habits. A thin shell over `ClusterRequest` and `Clusters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.clustering.cluster_estimator import ClusterEstimator
from cloister.clustering.request import ClusterRequest
from cloister.privacy.ledger import Ledger

__all__ = ["KMeans"]


class KMeans(ClusterEstimator):
    """Differentially private k-means.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        "auto": chosen from what is released on the way, at no further cost.
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
        What the fit may reveal. A plain number is an epsilon with delta = 0.
    bounds : pair (low, high), dict, `Ball`, or None
        Public bounds of the data: one number, or one a column; or pairs by name, ``{"age": (0, 110)}``, which also choose the
        columns where neither `columns` nor a schema does, and stand before the schema's. None: what the schema says; without
        a schema they are estimated inside the budget, for 15% of it.
    method : str, default "auto"
        How the centres are found: a name that ``cloister cluster --help`` lists. "auto" says in the release what it picked
        and why. Each shape of a synopsis is a method, which releases a synopsis and clusters it (`cloister.synopsis` keeps it
        for other numbers of clusters); the hybrid then refines on the rows.
    scale : "bounds" or None, default "bounds"
        Whether each column's public width counts the same in a distance, or distances are in the data's own units.
    max_iter : int or None
        Rounds, at most 1,000; None: as many as the budget carries.
    columns : list of str, optional
        The columns to cluster; by default all (of a schema: its number columns that are no identifiers). Of a list of rows or an
        array of that width they are also the names of its columns, in order.
    schema : Schema or path, optional
        Public facts of the table.
    neighbours : "add-remove" or "replace-one", optional
        Which tables must not be told apart. Default: what the schema says, else add-remove; with a rho, replace-one.
    table : str, optional
        Name of the table in the ledger; by default what the schema says. Without a name the release is unledgered.
    ledger : str or Ledger, optional
        Where the budget is kept; by default the user's own ledger.
    engine : name of an engine, such as "local" or "spark", or `Spark`, optional
        Who reads the rows; None: Spark for a Spark DataFrame, this process for everything else.
    random_state : int or numpy Generator, optional
        For public choices only (where the search starts), never for noise.
    seeding : "packing", "kmeans++", "kmeans||", "canopy" or "evolution", optional
        Where the centres start; None: the method's own. "packing" is public, and Lloyd's own. The others are of the cells of a
        synopsis: methods through a synopsis release one anyway ("kmeans++" is their own), and Lloyd buys one for a third of its
        budget. A method that finds its start by itself refuses a seeding.
    count_missing : bool, default False
        Whether to spend a twentieth of the budget on how many values of each column are made up because none could be read.
        The certificate has the noisy counts, whether or not anything is missing.
    evolution : dict, optional
        What to set of the seeding "evolution": "population", "generations", "F", "CR", a pair between which the
        crossover rate rises, and "start": "search" (from what "kmeans++" finds) or "random", as in the paper.
    schedule : "equal", "halving", "dwork-equal", "dwork-halving" or "blum", optional
        How the rounds of method "lloyd" share the budget, and counts and sums a round; None: "equal". See docs/kmeans.md.
    tolerance : float, optional
        Method "lloyd" stops when no released centre moves as far as this in a round, in column widths (with ``scale=None``
        or a ball: in the data's own units). Rounds that are skipped stay charged; with delta = 0 one last round takes their
        epsilon.

    Attributes
    ----------
    cluster_centers_ : ndarray (n_clusters, n_features)
    cluster_sizes_ : ndarray (n_clusters,), noisy
    standard_errors_ : ndarray (n_clusters, n_features), the noise's part in each coordinate
    loss_ : float, a private estimate of the mean squared distance to the nearest centre; its error is in `release_`
    n_iter_ : int, rounds
    release_ : Release, the certificate
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Privacy: everything that `fit` leaves behind is released through the vault; `release_` says at what cost. What was computed
    from the rows before `fit`, such as a scaler in front of it in a pipeline, is not covered: `FittedStep` warns of it, and
    `PublicScaler` is the sound step.

    There are no ``labels_``: the labels of the rows that were fitted are not a private release. `predict` labels rows for
    whoever holds them.

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

    _kind = "kmeans"

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
        seeding: str | None = None,
        count_missing: bool = False,
        evolution: Mapping[str, Any] | None = None,
        schedule: str | None = None,
        tolerance: float | None = None,
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
        self.count_missing = count_missing
        self.evolution = evolution
        self.schedule = schedule
        self.tolerance = tolerance

    def _request(self) -> ClusterRequest:
        return ClusterRequest(**self.get_params(deep=False))
