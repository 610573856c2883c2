"""Scores of clusters with categories: equal to the plain functions, from an estimator and from a folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.clustering import scores
from cloister.clustering.saved_clusters import load_clusters
from cloister.errors import DataError
from cloister.testing import seeded_noise

RANDOM = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "sex": RANDOM.choice(["f", "m", "x", None], 500),
        "age": [*RANDOM.normal(30, 4, 300), *RANDOM.normal(70, 4, 200)],
        "job": [*RANDOM.choice(["cook", "smith"], 300, p=[0.9, 0.1]), *RANDOM.choice(["cook", "smith"], 200, p=[0.1, 0.9])],
        "kind": ["low"] * 300 + ["high"] * 200,
    }
)
DOMAINS = {"sex": ["f", "m"], "job": ["cook", "smith"]}
COLUMNS = ["sex", "age", "job"]
CELLS = FRAME[["sex", "job"]].where(FRAME[["sex", "job"]].isin(["f", "m", "cook", "smith"]), "(other)").to_numpy()


def fitted(gamma: Any = 0.2) -> cl.KPrototypes:
    """Two clusters of numbers and categories."""
    model = cl.KPrototypes(2, budget=20, bounds=(0, 100), categories=DOMAINS, columns=COLUMNS, gamma=gamma, random_state=0)
    with seeded_noise(1):
        return model.fit(FRAME)


@pytest.mark.parametrize("gamma", [0.2, [0.05, 0.4]])
def test_a_report_has_the_cost_of_the_plain_function(gamma: Any) -> None:
    """Unseen and missing categories count as "(other)", a differing one as its cluster's gamma."""
    model = fitted(gamma)
    report = model.score_report(FRAME, "kind")
    found = pd.DataFrame(model.cluster_centers_, columns=COLUMNS)
    ages, middles = FRAME[["age"]].to_numpy() / 100, found[["age"]].to_numpy(dtype=float) / 100
    cost = scores.mixed_cost(ages, CELLS, middles, found[["sex", "job"]].to_numpy(), gamma)
    assert report["mixed_cost"].value == pytest.approx(cost, rel=1e-5)
    assert report["mean_cost"].value == pytest.approx(cost / 500, rel=1e-5)
    usual = [[max(set(column), key=list(column).count) for column in CELLS.T]]
    one = scores.mixed_cost(ages, CELLS, ages.mean(axis=0, keepdims=True), usual, float(np.mean(gamma)))
    assert report["mixed_cost"].one_cluster == pytest.approx(one, rel=1e-5)
    assert report["f_best_match"].value == pytest.approx(scores.f_measure(model.predict(FRAME), FRAME["kind"]))
    parts = report["sse"].value + float(np.mean(gamma)) * report["differing"].value
    if isinstance(gamma, float):
        assert parts == pytest.approx(cost, rel=1e-5)
    assert "most frequent values. Costs are in squared column widths, plus gamma a differing category" in str(report)


def test_modes_are_scored_by_their_differing_categories() -> None:
    """Also where the true class is a column that was clustered."""
    model = cl.KModes(2, budget=20, categories=DOMAINS, columns=["sex", "job"]).fit(FRAME)
    report = model.score_report(FRAME, "job")
    cost = scores.mixed_cost(np.zeros((500, 0)), CELLS, np.zeros((2, 0)), model.cluster_centers_, 1)
    assert report["mixed_cost"].value == cost
    assert [score.name for score in report.scores][-2:] == ["mean_cost", "mixed_cost"]
    assert report.unit == "differing categories"
    assert report.classes == 2


@pytest.mark.parametrize("gamma", ["auto", [0.05, 0.4]])
def test_a_folder_gives_the_clusters_back(tmp_path: Path, gamma: Any) -> None:
    """Labels and scores are those of the estimator; a folder that was edited is refused."""
    model = fitted(gamma)
    model.save(tmp_path / "out")
    saved = load_clusters(tmp_path / "out")
    assert saved.score_report(FRAME, "kind").as_dict() == model.score_report(FRAME, "kind").as_dict()
    assert (saved.predict(FRAME) == model.predict(FRAME)).all()
    assert (saved.cluster_centers_ == model.cluster_centers_).all()
    rows = list(csv.reader((tmp_path / "out" / "centers.csv").open()))
    assert json.loads((tmp_path / "out" / "release.json").read_text())["result"]["centers"][0][0] == rows[1][2]
    text = (tmp_path / "out" / "centers.csv").read_text()
    (tmp_path / "out" / "centers.csv").write_text(text.replace("cook", "smith"))
    with pytest.raises(DataError):
        load_clusters(tmp_path / "out")
