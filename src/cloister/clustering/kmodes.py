"""`KModes`: private k-modes with scikit-learn's habits. A thin shell over `PrototypeRequest` and `Clusters`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.clustering.cluster_estimator import ClusterEstimator
from cloister.clustering.prototype_request import PrototypeRequest
from cloister.privacy.ledger import Ledger

__all__ = ["KModes"]


class KModes(ClusterEstimator):
    """Differentially private k-modes: clusters of rows with categories alone. It is `KPrototypes` without numbers.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        "auto": chosen from what is released on the way, at no further cost.
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
        What the fit may reveal. A plain number is an epsilon with delta = 0.
    categories : dict, optional
        The columns that no schema describes, with the values that each may hold: public facts, never read off the rows. Any other
        value, and a missing one, counts as "(other)"; a schema can say otherwise.
    method : "auto", "votes" or "lloyd"
        "votes" is the default; "lloyd" is DP-modes-Lloyd with the noise that its sensitivity needs. See docs/mixed.md.
    max_iter : int or None
        Rounds of value counts; None: as many as the budget carries.
    schedule : str, optional
        How the rounds of method "lloyd" share the budget: "equal" or "halving".
    columns : list of str, optional
        The columns to cluster; by default the categories that the schema and `categories` describe, but for identifiers.
    schema, neighbours, table, ledger, engine, random_state, count_missing
        As in `KMeans`.

    Attributes
    ----------
    cluster_centers_ : ndarray (n_clusters, n_features) of texts: the modes. Where users of the package kmodes look for
        ``cluster_centroids_``.
    cluster_sizes_ : ndarray (n_clusters,), noisy
    standard_errors_ : ndarray (n_clusters, n_features) of NaN: a mode has no standard error
    loss_ : float, a private estimate of how many categories rows differ from their mode in, on average
    n_iter_ : int, rounds
    release_ : Release, the certificate, which names the domains
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Privacy: everything that `fit` leaves behind is released through the vault; `release_` says at what cost. There are no
    ``labels_``: the labels of the rows that were fitted are not a private release. `predict` labels rows for whoever holds them.
    `transform` counts the categories that differ.

    Examples
    --------
    >>> import cloister as cl
    >>> rows = [["red", "small"], ["blue", "large"]] * 400
    >>> facts = {"colour": ["red", "green", "blue"], "size": ["small", "large"]}
    >>> model = cl.KModes(2, budget=10, categories=facts, columns=["colour", "size"]).fit(rows)
    >>> sorted(model.cluster_centers_.tolist())
    [['blue', 'large'], ['red', 'small']]
    """

    _kind = "kmodes"

    def __init__(
        self,
        n_clusters: int | str = 8,
        budget: Any = 1.0,
        categories: Mapping[str, Sequence[str]] | None = None,
        method: str = "auto",
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
        self.categories = categories
        self.method = method
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
        return PrototypeRequest(model="kmodes", **self.get_params(deep=False))
