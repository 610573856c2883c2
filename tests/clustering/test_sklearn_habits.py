"""What users of scikit-learn expect of an estimator: distances, scores, frames, searches, pipelines, and what they look like."""

from __future__ import annotations

import inspect
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans as ExactKMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import cloister as cl
from cloister.clustering.methods import METHODS, PROTOTYPE_METHODS
from cloister.errors import FittedStep, UnmeasuredLoss, UsageError

ROWS = np.random.default_rng(0).normal([[20.0, 30_000.0], [70.0, 90_000.0]] * 300, [3.0, 4_000.0])
FRAME = pd.DataFrame(ROWS, columns=["age", "income"])
BOUNDS = {"age": (0, 110), "income": (0, 250_000)}
MIXED = FRAME.assign(sex=np.where(FRAME.age > 45, "f", "m"))
SEX = {"sex": ["f", "m"]}


def fitted(**more: Any) -> cl.KMeans:
    return cl.KMeans(2, budget=50, bounds=BOUNDS, **more).fit(FRAME)


def quick(bounds: Any) -> cl.KMeans:
    """Not fitted, and fast."""
    return cl.KMeans(2, budget=50, bounds=bounds, method="lloyd", max_iter=1)


@pytest.mark.parametrize("scale", ["bounds", None])
def test_distances_are_those_from_the_released_centres(scale: str | None) -> None:
    """In column widths or in own units, as the definition has them, and the smallest is that of the label."""
    model = fitted(scale=scale)
    widths = np.array([110, 250_000]) if scale else np.ones(2)
    expected = np.linalg.norm((ROWS[:, None] - model.cluster_centers_[None]) / widths, axis=2)
    distances = model.transform(FRAME)
    assert np.allclose(distances, expected, atol=1e-5 * (1 if scale else 1e5))
    assert (distances.argmin(axis=1) == model.predict(FRAME)).all()


def test_the_released_loss_is_about_the_mean_of_the_squared_distances() -> None:
    """They are in the same unit."""
    model = fitted()
    assert (model.transform(FRAME).min(axis=1) ** 2).mean() == pytest.approx(model.loss_, rel=0.5)


def test_distances_of_mixed_rows_have_gamma_in_them() -> None:
    """The squared distance of the numbers plus gamma a differing category, under one root."""
    model = cl.KPrototypes(2, budget=50, bounds=BOUNDS, categories=SEX, gamma=0.3).fit(MIXED)
    numbers = model.cluster_centers_[:, 1:].astype(float)  # (k, d)
    squares = (((ROWS[:, None] - numbers[None]) / [110, 250_000]) ** 2).sum(axis=2)
    differing = MIXED.sex.to_numpy()[:, None] != model.cluster_centers_[None, :, 0]
    assert np.allclose(model.transform(MIXED), np.sqrt(squares + 0.3 * differing), atol=1e-4)


def test_distances_of_categories_count_those_that_differ() -> None:
    """A whole number of them."""
    rows = [["red", "small"], ["blue", "large"], ["red", "large"]] * 200
    facts = {"colour": ["red", "blue"], "size": ["small", "large"]}
    model = cl.KModes(2, budget=50, categories=facts, columns=["colour", "size"]).fit(rows)
    expected = [[sum(a != b for a, b in zip(row, mode, strict=True)) for mode in model.cluster_centers_] for row in rows]
    assert model.transform(rows).tolist() == expected


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", polars.DataFrame)])
def test_output_can_be_a_frame(library: str, frame: type) -> None:
    """With a column a cluster; fit_transform too."""
    model = cl.KMeans(2, budget=50, bounds=BOUNDS).set_output(transform=library)
    distances = model.fit_transform(FRAME)
    assert isinstance(distances, frame)
    assert list(distances.columns) == ["kmeans0", "kmeans1"] == list(model.get_feature_names_out())


def test_a_score_is_minus_the_released_loss_and_reads_no_row() -> None:
    """Of whatever rows: nothing exact is told."""
    model = fitted()
    assert model.score(FRAME) == model.score() == model.score(np.full((5, 2), np.nan)) == -model.loss_
    with pytest.raises(UsageError, match="expecting 2 features"):
        model.score(np.zeros((3, 3)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_kmeans_has_a_loss(method: str) -> None:
    """A finite number, which a search can compare."""
    assert np.isfinite(fitted(method=method).score())


@pytest.mark.parametrize("method", PROTOTYPE_METHODS)
def test_every_method_of_mixed_tables_has_a_loss(method: str) -> None:
    """A finite number, too."""
    model = cl.KPrototypes(2, budget=50, bounds=BOUNDS, categories=SEX, method=method).fit(MIXED)
    assert np.isfinite(model.score())


def test_a_search_needs_no_scorer_and_every_fit_of_it_is_charged(tmp_path: Path) -> None:
    """Two candidates on two folds and the refit: five fits."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 250)
    model = cl.KMeans(budget=50, bounds=BOUNDS, table="people", ledger=ledger)
    search = GridSearchCV(model, {"n_clusters": [1, 2]}, cv=2, error_score="raise").fit(FRAME)
    assert search.best_params_ == {"n_clusters": 2}
    assert search.best_estimator_.cluster_centers_.shape == (2, 2)
    assert ledger.account("people").epsilon_spent == 250


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2), make_pipeline(Normalizer(), StandardScaler())])
def test_a_fitted_step_before_it_in_a_pipeline_is_warned_of(step: Any) -> None:
    """By the name of the step, where the user called it."""
    pipeline = Pipeline([("before", step), ("private", quick((-3, 3)))])
    with pytest.warns(FittedStep, match=r'fits "(before|standardscaler)" to the rows before KMeans') as caught:
        pipeline.fit(ROWS)
    assert [Path(warning.filename) for warning in caught if warning.category is FittedStep] == [Path(__file__)]


def test_a_fitted_step_is_warned_of_before_the_charge(tmp_path: Path) -> None:
    """Where warnings are errors, nothing is spent."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 1)
    model = cl.KMeans(2, bounds=(-3, 3), table="people", ledger=ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FittedStep)
        for call in ("fit", "fit_predict", "fit_transform"):
            with pytest.raises(FittedStep):
                getattr(make_pipeline(StandardScaler(), model), call)(ROWS)
    assert ledger.account("people").epsilon_spent == 0


def test_a_fitted_step_is_warned_of_in_a_search_and_as_a_transformer() -> None:
    """Whoever calls the pipeline, and wherever in it the estimator stands."""
    pipeline = Pipeline([("scaler", StandardScaler()), ("private", quick((-3, 3))), ("exact", ExactKMeans(2))])
    with pytest.warns(FittedStep, match='"scaler"'):
        GridSearchCV(pipeline, {"private__n_clusters": [2]}, cv=2, scoring=lambda *_: 0.0).fit(ROWS)


@pytest.mark.filterwarnings("error::cloister.errors.FittedStep")
@pytest.mark.parametrize(
    "step",
    [
        cl.PublicScaler(([0, 0], [110, 250_000])),
        FunctionTransformer(),
        "passthrough",
        FrozenEstimator(StandardScaler().fit(ROWS[:5])),
        ColumnTransformer([("scaled", cl.PublicScaler((0, 110)), [0]), ("left", "passthrough", [1])]),
    ],
)
def test_steps_that_learn_nothing_are_not_warned_of(step: Any) -> None:
    """Public scaling, functions, and what was fitted elsewhere; neither is a fit that stands behind the estimator."""
    private = quick((-1, 250_000))
    Pipeline([("before", step), ("private", private), ("after", ExactKMeans(2))]).fit(ROWS)
    private.fit(ROWS)


@pytest.mark.parametrize("estimator", [cl.KMeans, cl.KPrototypes, cl.KModes])
def test_the_repr_shows_the_budget_at_its_default_too(estimator: type) -> None:
    """It is what a fit costs."""
    assert repr(estimator()) == f"{estimator.__name__}(budget=1.0)"
    assert "budget=1.0, " in repr(estimator(3)).replace("n_clusters=3", "")
    assert repr(estimator(budget=2)).count("budget=") == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "shown", [cl.KMeans(2), cl.KPrototypes(2), cl.KModes(2), cl.PublicScaler((0, 1)), make_pipeline(cl.KMeans(2))]
)
def test_the_notebook_shows_it_without_warnings(shown: Any) -> None:
    """Scikit-learn reads the docstrings for the table of parameters."""
    assert "budget" in shown._repr_html_() or "bounds" in shown._repr_html_()


@pytest.mark.filterwarnings("error")
def test_the_notebook_shows_a_fitted_one_without_warnings() -> None:
    """Its attributes, too."""
    assert "KMeans" in fitted()._repr_html_()


@pytest.mark.parametrize("estimator", [cl.KMeans, cl.KPrototypes, cl.KModes, cl.PublicScaler])
def test_every_parameter_is_in_the_docstring(estimator: type) -> None:
    """By its name."""
    text = inspect.getdoc(estimator) or ""
    assert not [name for name in inspect.signature(estimator).parameters if name not in text]


def test_bounds_by_name_survive_a_clone_and_a_pickle() -> None:
    """As any parameter does."""
    model = fitted()
    assert clone(model).bounds == BOUNDS
    again = pickle.loads(pickle.dumps(model))
    assert (again.transform(FRAME) == model.transform(FRAME)).all()


@pytest.mark.parametrize("make", [pd.DataFrame, polars.from_pandas, pa.Table.from_pandas])
def test_a_fit_to_an_array_labels_a_frame_in_its_order(make: Any) -> None:
    """With scikit-learn's warning that its names were not compared."""
    model = cl.KMeans(2, budget=50, bounds=([0, 0], [110, 250_000])).fit(ROWS)
    with pytest.warns(UserWarning, match="X has feature names, but KMeans was fitted without feature names"):
        labels = model.predict(make(FRAME))
    assert np.array_equal(labels, model.predict(ROWS))


def test_a_pipeline_may_give_frames_after_it_was_fitted_to_arrays() -> None:
    """`set_output` comes when it comes."""
    pipeline = make_pipeline(cl.PublicScaler(BOUNDS), cl.KMeans(2, budget=50, bounds=(0, 1))).fit(FRAME)
    arrays = pipeline.transform(FRAME)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        frames = pipeline.set_output(transform="pandas").transform(FRAME)
    assert np.array_equal(frames, arrays)


def test_a_loss_that_is_noise_is_warned_of_where_it_would_be_a_score() -> None:
    """A search would take the 0 that noise can leave for the best of all; one that was measured has no warning."""
    lost = cl.KMeans(2, budget=0.01, bounds=BOUNDS).fit(FRAME)
    with pytest.warns(UnmeasuredLoss, match="no larger than its noise"):
        assert lost.score() == -float(lost.loss_ or 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted().score()


@pytest.mark.parametrize(("name", "instead"), [("labels_", "predict"), ("inertia_", "loss_")])
def test_what_is_not_released_names_what_to_use_instead(name: str, instead: str) -> None:
    """It is still not there, as `hasattr` says."""
    model = fitted()
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=instead):
        getattr(model, name)
