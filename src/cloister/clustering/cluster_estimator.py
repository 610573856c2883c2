"""What `KMeans`, `KPrototypes` and `KModes` share: scikit-learn's habits over a request and its clusters. No work of its own."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from cloister.clustering.clusters import ESTIMATORS, Clusters
from cloister.clustering.inputs import check_width
from cloister.clustering.pipeline_steps import warn_of_fitted_steps
from cloister.clustering.progress import Progress, silent
from cloister.clustering.request import ClusterRequest
from cloister.clustering.saved_clusters import load_clusters
from cloister.clustering.scores.score_report import ScoreReport
from cloister.errors import DataError, SourceError, UnmeasuredLoss, UsageError
from cloister.parameters import check_names, check_path, check_whole, without_passwords
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.privacy.guarantees import Guarantee
from cloister.privacy.plan import Plan
from cloister.privacy.release import Release
from cloister.report.picture import Picture
from cloister.report.plotted import PlottedByColumn
from cloister.schema import Schema

__all__ = ["ClusterEstimator"]

MOST_PLANNED = 100_000  # columns of a plan
LOSS_IS_NOISE = (
    "the released loss is no larger than its noise, so that this score tells nothing and a search cannot choose by it. Give more "
    "budget, or use score_report on your rows."
)
NOT_RELEASED = {
    "labels_": "labels are exact facts of the rows, and no release. Use predict(X), for whoever holds them.",
    "inertia_": "it is an exact fact of the rows. loss_ is a private estimate of the mean squared distance.",
}


class ClusterEstimator(PlottedByColumn, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """An estimator whose parameters are the fields of a request."""

    _kind: ClassVar[str]  # of its certificate
    budget: Any
    engine: Any
    ledger: Any

    def fit(self, X: Any, y: Any = None, *, progress: Progress = silent) -> Self:
        """Find the centres of the rows of X: an array, a frame, a path, or anything that `cloister` reads.

        A list of rows does not say which columns it has: name them, in the order of the rows, with `columns` or a schema, or
        count them with bounds one a column. A row is a list in that order, or a dict by name.
        """
        request = self._request()
        warn_of_fitted_steps(self)
        rows = request.read(X)
        clusters = request.fit(rows, progress)
        return self._hold(clusters, rows.named)

    def plan(self, n: int, d: int | None = None, names: Sequence[str] | None = None) -> Plan:
        """What a fit of about n rows and d columns would spend and what to expect of it; no row is read."""
        rows, request = check_whole(n, "the number of rows", 0), self._request()
        count = request.count_columns() if d is None else check_whole(d, "d", 1, MOST_PLANNED)
        columns = check_names(names, "names") or [f"x{j}" for j in range(count)]
        if not columns and request.columns is None and request.facts is None and not isinstance(request.bounds, Mapping):
            raise UsageError("nothing says how many columns there are. Say how many columns: d=2, or name them.")
        return request.plan(rows, columns)

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, for whoever holds the rows. It is not a private release.

        Arrays and rows that are lists have the columns that were clustered, in their order; anything else names its columns.
        On Spark: the DataFrame with one more column, "cluster", computed when it is read.
        """
        return self._result().predict(X)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fit, then label the same rows for whoever holds them. The labels are not a private release."""
        rows = self._request().read(X)
        return self.fit(rows)._result().label(rows.data)

    def transform(self, X: Any) -> Any:
        """The distance of each row from every released centre, (n, n_clusters), for whoever holds the rows.

        It is not a private release. Distances are in the unit of ``loss_``, and the smallest is that of the cluster that
        `predict` gives; with categories see `KPrototypes` and `KModes`. ``set_output(transform="pandas")`` or ``"polars"``
        gives a frame, with the columns of `get_feature_names_out`.
        """
        return self._result().transform(X)

    def fit_transform(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fit, then give the distances of the same rows from the centres, for whoever holds them: no private release."""
        rows = self._request().read(X)
        return self.fit(rows)._result().transform(rows.data, record=True)

    def score(self, X: Any = None, y: Any = None) -> float:
        """Minus ``loss_``, which was released by the fit: the larger, the nearer rows are to their centres.

        No row of X is looked at, so nothing is spent and nothing exact is told: the score of a fold that was held out is that of
        the rows that were fitted. It makes `GridSearchCV` work without a scorer; every fit of such a search charges the whole
        ``budget``. A loss that is nothing but noise, such as 0, is warned of (`cloister.errors.UnmeasuredLoss`), since a search
        would take it for a good one. Like the inertia of scikit-learn's own KMeans the score mostly grows with the number of
        clusters. What exact rows score is `score_report` and ``cloister score``, for their holder.
        """
        check_is_fitted(self)
        check_width(X, self.n_features_in_, type(self).__name__)
        if self.loss_ is None:
            raise UsageError("these clusters have no released loss to score by. Fit anew, or use score_report on your rows.")
        if self._clusters.is_loss_noise:
            warnings.warn(LOSS_IS_NOISE, UnmeasuredLoss, stacklevel=2)
        return -float(self.loss_)

    def score_report(self, X: Any, truth: Any = None) -> ScoreReport:
        """F-measure, NICV, SSE and others of rows, each beside that of one cluster, for whoever holds them; see `Clusters`.

        They are not a private release. `truth`: the column of X that holds the true class of each row, or the classes themselves.
        """
        return self._result().score_report(X, truth)

    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """The released clusters as plain data of pictures; `plot` draws them. `columns`: those whose pairs are shown."""
        return self._result().pictures(columns)

    def save(self, path: str | PathLike[str], *, label: Any = None) -> Release:
        """Write a new folder with centers.csv and release.json, as `cloister cluster` does.

        With `label` the labels of these rows go into labels.parquet, for the holder only. See `Clusters.save`.
        """
        return self._result().save(path, label=label)

    @classmethod
    def load(cls, path: str | PathLike[str], schema: Any = None) -> Self:
        """Read back what `save` or ``cloister cluster`` wrote: a fitted estimator, checked against its certificate.

        It predicts, transforms and scores as the one that was saved. Of the parameters a certificate says the number of clusters,
        the budget, the columns, the neighbours and the table in the ledger; the others are at their defaults, so set them
        before you fit it anew.

        Parameters
        ----------
        path
            The folder.
        schema : Schema or path, optional
            How the cells of the rows are written that will be labelled: a certificate does not say it.

        Raises
        ------
        SourceError
            It is no such folder, or its clusters are of another model.
        DataError
            It was changed, or contradicts its certificate.
        """
        facts = schema if schema is None or isinstance(schema, Schema) else Schema.from_toml(check_path(schema, "schema"))
        clusters = load_clusters(path, facts)
        release = clusters.release_
        if release.kind != cls._kind:
            other = ESTIMATORS.get(release.kind, "KMeans")
            raise SourceError(f"{path} holds clusters of {other}, not of {cls.__name__}. Read them with {other}.load.")
        promised, columns = release.guarantee, list(clusters.domain.columns)
        if not isinstance(promised, Guarantee):
            raise DataError(f"{path} contradicts itself: private clusters have another guarantee. Do not rely on it.")
        model = cls(
            n_clusters=len(clusters.places),
            budget=ApproxDP(promised.epsilon, promised.delta) if promised.delta else PureDP(promised.epsilon),
            columns=columns,
            schema=schema,
            neighbours=promised.neighbours.value,
            table=None if release.ledger is None else release.ledger["table"],
        )
        return model._hold(clusters, columns != [f"x{j}" for j in range(len(columns))])  # as arrays without names have them

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As scikit-learn shows an estimator; the budget is always among what it shows."""
        shown = super().__repr__(N_CHAR_MAX)
        if "budget=" not in shown:
            name, _, rest = shown.partition("(")
            shown = f"{name}(budget={self.budget!r}{')' if rest == ')' else ', ' + rest}"
        return without_passwords(shown)

    if not TYPE_CHECKING:  # a type checker knows which attributes there are

        def __getattr__(self, name: str) -> Any:
            """What scikit-learn's own estimators have beside these is not there, and why."""
            reason = f": {NOT_RELEASED[name]}" if name in NOT_RELEASED else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{reason}")

    def __sklearn_tags__(self) -> Tags:
        """Every fit draws fresh noise."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _repr_html_inner(self) -> str:
        return without_passwords(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {kind: without_passwords(text) for kind, text in super()._repr_mimebundle_(**kwargs).items()}

    def _hold(self, clusters: Clusters, named: bool) -> Self:
        """Have what was released; `named`: whether the columns of the rows had names."""
        self._clusters = clusters
        self.cluster_centers_ = clusters.cluster_centers_
        self.cluster_sizes_ = clusters.cluster_sizes_
        self.standard_errors_ = clusters.standard_errors_
        self.loss_ = clusters.loss_
        self.n_iter_ = clusters.n_iter_
        self.release_ = clusters.release_
        self.n_features_in_ = clusters.n_features_in_
        self._n_features_out = len(clusters.places)
        if named:
            self.feature_names_in_ = np.asarray(clusters.domain.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    @abstractmethod
    def _request(self) -> ClusterRequest:
        """What is asked for, checked."""

    def _result(self) -> Clusters:
        """The clusters, with the engine and the ledger that are set now."""
        check_is_fitted(self)
        return replace(self._clusters, engine=self.engine, ledger=self.ledger)
