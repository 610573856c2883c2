"""Scores through the holder's door: equal to the plain functions, recorded, and the same in every form of the rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import cloister as cl
from cloister.clustering import scores
from cloister.clustering.clusters import Clusters
from cloister.clustering.domain import from_bounds
from cloister.clustering.request import ClusterRequest
from cloister.clustering.scores.score_clusters import MOST_CLASSES, Centers, score_clusters
from cloister.errors import SchemaError, UsageError
from cloister.privacy.ledger import Ledger

BOUNDS = (np.array([0.0, -50.0]), np.array([100.0, 150.0]))
RANDOM = np.random.default_rng(0)
POINTS = RANDOM.normal([[20, 0]] * 300 + [[80, 100]] * 200, [4, 9])  # (500, 2)
KINDS = np.array(["low"] * 300 + ["high"] * 200)
TABLE = pa.table({"x": POINTS[:, 0], "y": POINTS[:, 1], "kind": KINDS})
CENTERS = np.array([[21.0, 3.0], [75.0, 90.0], [99.0, -40.0]])


def places(scale: str | None = "bounds") -> tuple[Any, Any]:
    """A domain, and the centres on it."""
    domain = from_bounds(["x", "y"], BOUNDS, scale)
    return domain, domain.put((CENTERS - domain.decode(np.zeros_like(CENTERS))) / domain.lengths())


@pytest.mark.parametrize("scale", ["bounds", None])
def test_a_report_has_the_scores_of_the_plain_functions(scale: str | None) -> None:
    """In column widths or own units; on the grid, whose steps are a millionth of a column."""
    domain, centers = places(scale)
    report = score_clusters(TABLE, Centers(domain, centers), "kind")
    widths = (BOUNDS[1] - BOUNDS[0]) if scale else np.ones(2)
    X, C = POINTS / widths, CENTERS / widths
    labels = ((X[:, None] - C[None]) ** 2).sum(2).argmin(1)
    mean = POINTS.mean(axis=0, keepdims=True)
    expected = {
        "f_best_match": (scores.f_measure(labels, KINDS), scores.f_measure(np.zeros(500), KINDS)),
        "f_one_to_one": (scores.f_measure(labels, KINDS, "one-to-one"), scores.f_measure([0] * 500, KINDS, "one-to-one")),
        "matched_share": (scores.matched_share(labels, KINDS), 0.6),
        "adjusted_rand": (scores.adjusted_rand(labels, KINDS), 0.0),
        "nicv": (scores.nicv(X, C), scores.nicv(X, mean / widths)),
        "sse": (scores.sse(X, C), scores.sse(X, mean / widths)),
        "sse_own_units": (scores.sse(POINTS, CENTERS, labels), scores.sse(POINTS, mean)),
        "sum_of_distances": (scores.sum_of_distances(POINTS, CENTERS, labels), scores.sum_of_distances(POINTS, mean)),
    }
    if scale is None:
        del expected["sse_own_units"]  # it is the sse
    got = {score.name: (score.value, score.one_cluster) for score in report.scores}
    assert got.keys() == expected.keys()
    for name, values in expected.items():
        assert got[name] == pytest.approx(values, rel=1e-5), name
    assert (report.rows, report.clusters, report.classes) == (500, 3, 2)


def test_every_form_of_the_rows_scores_alike(tmp_path: Path) -> None:
    """Arrow, pandas, a file, lists of dicts; the classes in a column or in a list of their own."""
    domain, centers = places()
    csv.write_csv(TABLE, tmp_path / "rows.csv")
    expected = score_clusters(TABLE, Centers(domain, centers), "kind")
    forms: list[Any] = [
        TABLE.to_pandas(),
        str(tmp_path / "rows.csv"),
        TABLE.to_pylist(),
        list(map(list, zip(*TABLE.to_pydict().values(), strict=True))),
    ]
    assert all(score_clusters(form, Centers(domain, centers), "kind") == expected for form in forms)
    assert score_clusters(POINTS, Centers(domain, centers), KINDS) == expected
    assert score_clusters(TABLE, Centers(domain, centers), TABLE["kind"]) == expected


def test_values_outside_the_bounds_count_as_the_bounds() -> None:
    """As in the clustering, and the report says so."""
    domain, centers = places()
    far = pa.table({"x": [1e9, None], "y": [-1e9, None]})
    near = pa.table({"x": [100.0, 50.0], "y": [-50.0, 50.0]})
    assert score_clusters(far, Centers(domain, centers)) == score_clusters(near, Centers(domain, centers))
    assert "count as the bounds" in str(score_clusters(far, Centers(domain, centers)))


def test_rows_without_a_class_are_a_class_of_their_own() -> None:
    """Nulls and empty cells, and a note says how many there are; cells of other types are read as their texts."""
    domain, centers = places()
    kinds = np.array(KINDS, dtype=object)
    kinds[:3], kinds[3:5], kinds[300:310] = None, "  ", 7
    report = score_clusters(TABLE.to_pandas().assign(kind=kinds), Centers(domain, centers), "kind")
    assert report.classes == 4
    assert "5 rows have no class" in str(report)
    words = ["" if kind is None else str(kind).strip() for kind in kinds]
    labels = np.where(np.arange(500) < 300, 0, 1)
    assert report["f_best_match"].value == pytest.approx(scores.f_measure(labels, words))


def test_sums_beyond_64_bits_are_exact() -> None:
    """Rows at the far corner of a fine grid: the sum of squares of grid steps passes 2**63."""
    n = 20_000
    domain = from_bounds([f"x{j}" for j in range(40)], (0.0, 1.0), "bounds")
    corner = np.full((1, 40), -(2**19), dtype=np.int32)
    report = score_clusters(np.ones((n, 40)), Centers(domain, corner))
    assert report["sse"].value == pytest.approx(40 * n)
    assert report["sum_of_distances"].value == pytest.approx(n * np.sqrt(40))
    assert report["sse"].one_cluster == 0.0


def test_scores_are_recorded_and_charge_nothing(tmp_path: Path) -> None:
    """The ledger of the clustered table notes that its holder saw scores; of an unledgered one nothing is noted."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("points", "add-remove", 5)
    model = cl.KMeans(2, 1.0, BOUNDS, columns=["x", "y"], table="points", ledger=ledger).fit(TABLE)
    report = model.score_report(TABLE, "kind")
    assert report.stamp == "for the holder only: not a private release"
    assert [(entry.kind, entry.purpose) for entry in ledger.entries("points")][1:] == [("holder", "scores of clusters")]
    assert ledger.account("points").epsilon_spent == 1
    assert cl.KMeans(2, 1.0, BOUNDS, columns=["x", "y"]).fit(TABLE).score_report(TABLE).classes == 0


def test_a_report_shows_itself() -> None:
    """Each score stands beside that of one cluster; those that do not beat it are named, on a page and in JSON."""
    domain, centers = places()
    bad = score_clusters(TABLE, Centers(domain, centers[2:]), "kind")  # all rows in one cluster, far from its centre
    assert "No better than everything in one cluster: F-measure, best match; " in str(bad)
    assert "for the holder only" in bad._repr_html_()
    facts = bad.as_dict()
    assert facts["scores"]["nicv"]["beats_one_cluster"] is False
    assert facts["formulas"].keys() == facts["scores"].keys()
    with pytest.raises(UsageError, match="no such score"):
        bad["f1"]


@pytest.mark.parametrize(
    ("rows", "truth", "error", "message"),
    [
        (TABLE, "kinds", SchemaError, 'no column "kinds". Did you mean "kind"'),
        (TABLE, ["a"], UsageError, "500 labels and 1 classes"),
        (TABLE.slice(0, 0), "kind", UsageError, "no row to score"),
        (TABLE.drop_columns(["x"]), None, SchemaError, 'no column "x"'),
        (
            pa.table({"x": POINTS[:, 0].repeat(3), "y": np.zeros(1500), "kind": np.arange(1500)}),
            "kind",
            UsageError,
            "more than",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(rows: Any, truth: Any, error: type[Exception], message: str) -> None:
    """In one sentence."""
    assert MOST_CLASSES == 1_000
    domain, centers = places()
    with pytest.raises(error, match=message):
        score_clusters(rows, Centers(domain, centers), truth)


def test_a_request_gives_reports_too() -> None:
    """Without scikit-learn: `Clusters` score rows as `KMeans` does."""
    clusters = ClusterRequest(n_clusters=2, budget=50, columns=["x", "y"], bounds=BOUNDS).fit(TABLE)
    assert isinstance(clusters, Clusters)
    assert clusters.score_report(TABLE, "kind")["f_best_match"].value > 0.95
    assert dataclasses.replace(clusters, ledger="nowhere").score_report(TABLE).rows == 500
