"""`KPrototypes`: private k-prototypes with scikit-learn's habits. A thin shell over `PrototypeRequest` and `Clusters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.clustering.cluster_estimator import ClusterEstimator
from cloister.clustering.prototype_request import PrototypeRequest
from cloister.privacy.ledger import Ledger

__all__ = ["KPrototypes"]


class KPrototypes(ClusterEstimator):
    """Differentially private k-prototypes: clusters of rows with numbers and categories.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        "auto": chosen from what is released on the way, at no further cost.
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
        What the fit may reveal. A plain number is an epsilon with delta = 0.
    bounds : pair (low, high) or dict, optional
        Public bounds of the numbers: one number, or one a number column, or pairs by name. None: what the schema says.
    categories : dict, optional
        The category columns that no schema describes, with the values that each may hold: public facts, never read off the rows.
        Any other value, and a missing one, counts as "(other)"; a schema can say otherwise.
    gamma : float, list of one float a cluster, or "auto", default "auto"
        What a differing category adds to the squared distance of the numbers, which are scaled to width 1 by their bounds. Of a
        list the first is that of the cluster that is expected to be the largest.
        "auto": so that an average category column counts as much as an average number column, from the released marginals.
    method : "auto", "votes" or "lloyd"
        "votes" is the default; "lloyd" is DI k-prototypes made sound. See docs/mixed.md.
    scale : "bounds" or None, default "bounds"
        Whether each number column's public width counts the same in a distance, or distances (and gamma) are in the data's own
        units.
    max_iter : int or None
        Rounds of sums and value counts; None: as many as the budget carries.
    schedule : str, optional
        How the rounds of method "lloyd" share the budget: "equal" or "halving".
    columns : list of str, optional
        The columns to cluster; by default those that the schema and `categories` describe, but for identifiers.
    schema, neighbours, table, ledger, engine, random_state, count_missing
        As in `KMeans`.

    Attributes
    ----------
    cluster_centers_ : ndarray (n_clusters, n_features) of objects: floats of the numbers, texts of the categories, in the
        order of the columns (``feature_names_in_``). Where users of the package kmodes look for ``cluster_centroids_``.
    cluster_sizes_ : ndarray (n_clusters,), noisy
    standard_errors_ : ndarray (n_clusters, n_features), the noise's part in each number; NaN for categories
    loss_ : float, a private estimate of the mean distance to the nearest prototype, gamma included
    n_iter_ : int, rounds
    release_ : Release, the certificate, which names gamma and the domains
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Privacy: everything that `fit` leaves behind is released through the vault; `release_` says at what cost. There are no
    ``labels_``: the labels of the rows that were fitted are not a private release. `predict` labels rows for whoever holds them.
    `transform` gives the root of the squared distance of the numbers plus gamma a differing category.

    Examples
    --------
    >>> import cloister as cl
    >>> rows = [{"age": 20 + i % 9, "sex": "f"} for i in range(500)] + [{"age": 70 + i % 9, "sex": "m"} for i in range(500)]
    >>> model = cl.KPrototypes(2, budget=10, bounds=(0, 100), categories={"sex": ["f", "m"]}, columns=["age", "sex"], gamma=0.2)
    >>> sorted(model.fit(rows).cluster_centers_[:, 1])
    ['f', 'm']
    """

    _kind = "kprototypes"

    def __init__(
        self,
        n_clusters: int | str = 8,
        budget: Any = 1.0,
        bounds: Any = None,
        categories: Mapping[str, Sequence[str]] | None = None,
        gamma: float | str | Sequence[float] = "auto",
        method: str = "auto",
        scale: str | None = "bounds",
        max_iter: int | None = None,
        schedule: str | None = None,
        columns: Sequence[str] | None = None,
        schema: Any = None,
        neighbours: str | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        engine: str | None = None,
        random_state: Any = None,
        count_missing: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.budget = budget
        self.bounds = bounds
        self.categories = categories
        self.gamma = gamma
        self.method = method
        self.scale = scale
        self.max_iter = max_iter
        self.schedule = schedule
        self.columns = columns
        self.schema = schema
        self.neighbours = neighbours
        self.table = table
        self.ledger = ledger
        self.engine = engine
        self.random_state = random_state
        self.count_missing = count_missing

    def _request(self) -> PrototypeRequest:
        return PrototypeRequest(model="kprototypes", **self.get_params(deep=False))
