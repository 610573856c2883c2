"""`KPrototypes` and `KModes` as estimators: forms of data, results, files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import cloister as cl
from cloister.errors import CloisterError
from cloister.testing import seeded_noise

FACTS = {"sex": ["f", "m"], "job": ["cook", "smith"]}
COLUMNS = ["sex", "age", "job"]
ROWS = [["f", 20.0 + i % 7, "cook"] for i in range(300)] + [["m", 70.0 + i % 7, "smith"] for i in range(300)]
FRAME = pd.DataFrame(ROWS, columns=COLUMNS)


def model(**settings: object) -> cl.KPrototypes:
    fixed = {"n_clusters": 2, "budget": 20, "bounds": (0, 100), "categories": FACTS, "columns": COLUMNS, "gamma": 0.2}
    return cl.KPrototypes(**{**fixed, "random_state": 0, **settings})


@pytest.mark.parametrize(
    "data",
    [FRAME, ROWS, [dict(zip(COLUMNS, row, strict=True)) for row in ROWS], np.array(ROWS, dtype=object)],
    ids=["frame", "lists", "dicts", "array"],
)
def test_every_form_of_data_is_the_same_table(data: object) -> None:
    """A frame, lists in the order of the columns, dicts, and an array of objects: the same prototypes, and labels."""
    with seeded_noise(1):
        fitted = model().fit(data)
    assert fitted.cluster_centers_.shape == (2, 3)
    assert sorted(record[0] for record in fitted.cluster_centers_) == ["f", "m"]
    assert all(isinstance(record[1], float) for record in fitted.cluster_centers_)
    labels = fitted.predict(data)
    assert len(set(labels[:300])) == len(set(labels[300:])) == 1
    assert labels[0] != labels[-1]


def test_results_have_the_order_of_the_columns() -> None:
    """Centres, errors and names of features; a frame of the centres is as users expect it."""
    fitted = model().fit(FRAME)
    assert fitted.feature_names_in_.tolist() == COLUMNS
    assert fitted.n_features_in_ == 3
    assert np.isnan(fitted.standard_errors_[:, [0, 2]].astype(float)).all()
    assert np.isfinite(fitted.standard_errors_[:, 1].astype(float)).all()
    shown = pd.DataFrame(fitted.cluster_centers_, columns=fitted.feature_names_in_)
    assert set(shown["job"]) <= {"cook", "smith", "(other)"}
    assert not hasattr(fitted, "labels_")


def test_each_cluster_may_have_a_gamma() -> None:
    """The certificate lists them, the first being of the larger cluster; a row goes where its own cost is least."""
    data = pd.concat([FRAME, FRAME[:200]])  # 500 cooks, 300 smiths
    with seeded_noise(1):
        fitted = model(gamma=[0.3, 0.1]).fit(data)
    assert fitted.release_.parameters["gamma"] == pytest.approx([0.3, 0.1], rel=1e-6)
    assert fitted.cluster_centers_[:, 2].tolist() == ["cook", "smith"]
    odd = pd.DataFrame([["x", 46.0, "x"], ["x", 40.0, "x"], ["x", 0.0, "x"]], columns=COLUMNS)  # all categories differ
    costs = (odd[["age"]].to_numpy() - fitted.cluster_centers_[:, 1].astype(float)) ** 2 / 1e4 + np.array([0.6, 0.2])
    assert fitted.predict(odd).tolist() == costs.argmin(axis=1).tolist() == [1, 1, 0]
    for gamma, clusters in (([0.1, 0.2, 0.3], 2), ([0.1, 0.2], "auto"), ([], 2), ([0.1, -1], 2), ([[0.1, 0.2]], 2)):
        with pytest.raises(CloisterError, match="gamma"):
            model(gamma=gamma, n_clusters=clusters).fit(FRAME)


def test_it_is_an_estimator() -> None:
    """Parameters are stored as given, clones are alike, and fitting twice is fitting anew."""
    one = model(gamma="auto")
    assert clone(one).get_params()["gamma"] == "auto"
    assert clone(cl.KModes(3, categories=FACTS)).get_params()["n_clusters"] == 3
    with pytest.raises(Exception, match="not fitted"):
        one.predict(FRAME)
    assert one.fit_predict(FRAME).shape == (600,)


def test_a_folder_is_written_and_verified(tmp_path: Path) -> None:
    """centers.csv has texts among the numbers, and the certificate names the model, gamma and the domains."""
    fitted = model().fit(FRAME)
    certificate = fitted.save(tmp_path / "out", label=FRAME)
    lines = list(csv.reader((tmp_path / "out" / "centers.csv").open()))
    assert lines[0] == ["cluster", "size", *COLUMNS]
    assert {line[2] for line in lines[1:]} == {"f", "m"}
    written = json.loads((tmp_path / "out" / "release.json").read_text())
    assert written["kind"] == "kprototypes"
    assert written["parameters"]["gamma"] == pytest.approx(0.2)
    assert written["parameters"]["domains"]["sex"] == ["f", "m", "(other)"]
    assert written["parameters"]["bounds"] == [None, [0.0, 100.0], None]
    assert cl.Release.from_json(certificate.to_json()).adds_up()
    assert (tmp_path / "out" / "labels.parquet").exists()


def test_the_schema_alone_is_enough() -> None:
    """Two lines: numbers with bounds, categories with values; identifiers and text stay out."""
    facts = cl.Schema.from_text('numbers = { age = [0, 100] }\ncategories = { sex = ["f", "m"], job = ["cook", "smith"] }')
    fitted = cl.KPrototypes(2, budget=20, schema=facts).fit(FRAME)
    assert fitted.feature_names_in_.tolist() == ["age", "sex", "job"]
    modes = cl.KModes(2, budget=20, schema=facts).fit(FRAME)
    assert modes.feature_names_in_.tolist() == ["sex", "job"]
    assert modes.release_.kind == "kmodes"


def test_a_plan_needs_no_rows() -> None:
    """It counts numbers and categories, and keeps the budget."""
    plan = model().plan(1000, names=COLUMNS)
    assert plan.facts == {"rows": 1000, "numbers": 1, "categories": 2, "clusters": 2}
    assert plan.keeps_budget()


def test_own_units_are_weighed_too() -> None:
    """With scale None gamma is in squared units of the data."""
    with seeded_noise(3):
        fitted = model(scale=None, gamma=100.0).fit(FRAME)
    assert fitted.release_.parameters["gamma"] == pytest.approx(100.0)


def test_numbers_that_no_schema_names_need_bounds_for_them_alone() -> None:
    """Bounds are one a number column: categories have none."""
    fitted = model(bounds=([0], [100])).fit(FRAME)
    assert fitted.release_.parameters["bounds"][1] == [0.0, 100.0]
    with pytest.raises(CloisterError):
        model(bounds=([0, 0, 0], [100, 1, 1])).fit(FRAME)
