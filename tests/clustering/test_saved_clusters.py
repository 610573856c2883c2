"""Clusters read back from their folder: the same as before they were written, or refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.clustering.saved_clusters import load_clusters
from cloister.errors import CloisterError, DataError, SourceError
from cloister.privacy.budgets import as_budget
from cloister.privacy.release import Release
from cloister.schema import Column, Number, Schema
from cloister.schema.kinds import Text
from cloister.sinks import file_hash
from tests.handouts.published import run

ROWS = np.random.default_rng(0).normal([[2, -30]] * 300 + [[8, 70]] * 300, [0.5, 5.0])
NAMES = ["a", "b"]


def requests() -> dict[str, Any]:
    """Ways to describe where the rows lie."""
    schema = Schema(
        (Column("a", Number(bounds=(0, 10), step=0.1, default=1)), Column("b", Number(bounds=(-100, 100), decimal=",")))
    )
    return {
        "box": {"bounds": (np.array([0, -100]), np.array([10, 100])), "columns": NAMES},
        "own units": {"bounds": (np.array([0, -100]), np.array([10, 100])), "columns": NAMES, "scale": None},
        "ball": {"bounds": cl.Ball(150, [5, 1 / 3]), "columns": NAMES},
        "found": {"columns": NAMES, "budget": 20},
        "schema": {"schema": schema},
        "tree": {"bounds": (-200, 200), "columns": NAMES, "method": "tree"},
    }


@pytest.mark.parametrize("kind", sorted(requests()))
def test_what_is_read_labels_as_what_was_written(kind: str, tmp_path: Path) -> None:
    """Centres, sizes, certificate, the grid and the label of every row are the same."""
    asked = requests()[kind]
    model = cl.KMeans(**{"n_clusters": 3, "budget": 2, **asked}).fit(ROWS)
    release = model.save(tmp_path / "clusters")
    read = load_clusters(tmp_path / "clusters", asked.get("schema"))
    assert np.array_equal(read.places, model._clusters.places)
    assert read.cluster_centers_ == pytest.approx(model.cluster_centers_, rel=1e-12, abs=1e-9)
    assert np.array_equal(read.cluster_sizes_, model.cluster_sizes_)
    assert read.release_ == release
    assert np.array_equal(read.predict(ROWS), model.predict(ROWS))
    if kind == "schema":
        assert read.domain.encoding.numbers[1].form.decimal == ","
        assert read.domain.encoding.defaults == model._clusters.domain.encoding.defaults


def test_clusters_of_a_synopsis_are_read_too(tmp_path: Path) -> None:
    """They have the certificate of the synopsis that they come from."""
    clusters = cl.synopsis(ROWS, 5, (-200, 200), columns=NAMES).cluster(2)
    clusters.save(tmp_path / "clusters")
    assert np.array_equal(load_clusters(tmp_path / "clusters").places, clusters.places)


def rewritten(folder: Path, **changes: Any) -> None:
    """Another certificate, that is whole and lists the files that are there."""
    release = Release.from_json((folder / "release.json").read_text())
    other = release.derived(**changes, files={"centers.csv": file_hash(folder / "centers.csv")})
    (folder / "release.json").write_text(other.to_json())


def change_centers(folder: Path) -> None:
    """A centre is moved in the file, and the certificate lists the new file."""
    text = (folder / "centers.csv").read_text()
    (folder / "centers.csv").write_text(text.replace("\n0,", "\n7,", 1))
    rewritten(folder)


def change_bounds(folder: Path) -> None:
    """The centres lie outside of other bounds."""
    release = Release.from_json((folder / "release.json").read_text())
    rewritten(folder, parameters={**release.parameters, "bounds": [[100, 101], [500, 501]]})


def break_bounds(folder: Path) -> None:
    """Bounds that are none."""
    release = Release.from_json((folder / "release.json").read_text())
    rewritten(folder, parameters={**release.parameters, "bounds": "wide"})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda folder: (folder / "release.json").unlink(), SourceError, "holds no release.json"),
        (lambda folder: (folder / "release.json").write_text("[]"), CloisterError, "."),
        (lambda folder: (folder / "release.json").write_bytes(b"\xff"), SourceError, "cannot be read as a release"),
        (lambda folder: (folder / "centers.csv").unlink(), DataError, "centers.csv is missing"),
        (lambda folder: (folder / "centers.csv").write_text("x"), DataError, "was changed after it was written"),
        (lambda folder: (folder / "more.csv").write_text("x"), DataError, "does not list it"),
        (lambda folder: rewritten(folder, kind="synopsis"), SourceError, "something else than clusters"),
        (change_centers, DataError, "not those of its certificate"),
        (change_bounds, DataError, "not those of its certificate"),
        (break_bounds, CloisterError, "."),
    ],
)
def test_what_was_changed_is_refused(change: Any, error: type[Exception], message: str, tmp_path: Path) -> None:
    """A folder that is no release, or contradicts itself, is not read."""
    cl.KMeans(2, bounds=(-200, 200), columns=NAMES).fit(ROWS).save(tmp_path / "clusters")
    load_clusters(tmp_path / "clusters")
    change(tmp_path / "clusters")
    with pytest.raises(error, match=message):
        load_clusters(tmp_path / "clusters")


def test_a_certificate_in_other_words_is_refused(tmp_path: Path) -> None:
    """What was written anew by another program says the same, and may say more."""
    cl.KMeans(2, bounds=(-200, 200), columns=NAMES).fit(ROWS).save(tmp_path / "clusters")
    file = tmp_path / "clusters" / "release.json"
    file.write_text(json.dumps(json.loads(file.read_text())))
    with pytest.raises(DataError, match="not as Cloister writes it"):
        load_clusters(tmp_path / "clusters")


@pytest.mark.parametrize("name", ["DOMAIN\\user", "\\u005cu", "a\nb\\u000a", "plain", 'quoted "x" (at most 3 rows each)'])
def test_people_may_be_named_by_any_column(name: str, tmp_path: Path) -> None:
    """The note of a certificate and its guarantee name the same column, however it is spelled."""
    schema = Schema((Column(name, Text()), Column("x", Number(bounds=(0, 1)))), unit=name, max_rows=3)
    table = pa.table({name: [f"p{i % 90}" for i in range(180)], "x": [0.1, 0.9] * 90})
    cl.KMeans(2, budget=5, schema=schema, columns=["x"]).fit(table).save(tmp_path / "out")
    assert len(load_clusters(tmp_path / "out").cluster_centers_) == 2


NUMBERS = pa.table(dict(zip(NAMES, ROWS.T, strict=True)))
MIXED = pa.table({"age": [20, 70] * 200, "sex": ["f", "m"] * 200})
FITTED = {
    "KMeans": lambda: cl.KMeans(2, budget=20, bounds={"a": (0, 10), "b": (-100, 100)}).fit(
        pa.table(dict(zip(NAMES, ROWS.T, strict=True)))
    ),
    "KPrototypes": lambda: cl.KPrototypes(2, budget=20, bounds=(0, 100), categories={"sex": ["f", "m"]}).fit(MIXED),
    "KModes": lambda: cl.KModes(2, budget=cl.ApproxDP(20, 1e-6), categories={"sex": ["f", "m"]}).fit(MIXED),
}


@pytest.mark.parametrize("name", sorted(FITTED))
def test_an_estimator_that_is_read_does_what_the_saved_one_does(name: str, tmp_path: Path) -> None:
    """It predicts, transforms and scores the same, and has the same released attributes."""
    model, rows = FITTED[name](), NUMBERS if name == "KMeans" else MIXED
    release = model.save(tmp_path / "clusters")
    read = getattr(cl, name).load(tmp_path / "clusters")
    assert type(read) is type(model)
    assert np.array_equal(read.predict(rows), model.predict(rows))
    assert read.transform(rows) == pytest.approx(model.transform(rows))
    assert read.score() == model.score()
    assert (read.n_iter_, read.loss_, read.release_) == (model.n_iter_, model.loss_, release)
    assert np.array_equal(read.cluster_sizes_, model.cluster_sizes_)
    assert np.array_equal(np.isnan(read.standard_errors_), np.isnan(model.standard_errors_))
    assert read.standard_errors_ == pytest.approx(model.standard_errors_, rel=1e-5, nan_ok=True)
    assert read.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert (read.n_clusters, str(read.budget)) == (2, str(as_budget(model.budget)))


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    """In one sentence, which says what reads it."""
    FITTED["KModes"]().save(tmp_path / "clusters")
    with pytest.raises(SourceError, match=r"holds clusters of KModes, not of KMeans\. Read them with KModes\.load\.$"):
        cl.KMeans.load(tmp_path / "clusters")


@pytest.mark.parametrize(
    "false",
    [
        {"sizes": [1.0, 2.0, 3.0]},
        {"standard_errors": [["x"]]},
        {"loss": 5},
        {"loss": {"mean_squared_distance": "<b>"}},
        {"loss": {"mean_squared_distance": 1.0, "standard_error": -1.0}},
        {"size_noise": -5},
        {"loss": {"mean_squared_distance": True}},
    ],
    ids=["sizes", "errors", "loss", "words", "negative error", "negative noise", "truth value"],
)
def test_figures_that_centers_csv_does_not_have_are_refused_everywhere(tmp_path: Path, false: dict[str, Any]) -> None:
    """Under a certificate that was signed again: by `verify` and `report`, with the code of what does not hold, and by load."""
    out = tmp_path / "clusters"
    cl.KMeans(n_clusters=3, budget=2, bounds=(-200, 200), columns=NAMES).fit(ROWS).save(out)
    release = Release.from_json((out / "release.json").read_text())
    forged = dataclasses.replace(release, result={**release.result, **false})
    (out / "release.json").write_text(forged.to_json())
    for verb in ("verify", "report"):
        assert "contradicts itself" in run(verb, out, code=5)
    with pytest.raises(DataError):
        load_clusters(out)
