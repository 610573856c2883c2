"""Pictures of clusters hold what was released, and nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.clusters import Clusters
from cloister.clustering.saved_clusters import load_clusters
from cloister.errors import UsageError
from cloister.report.picture import INTERVAL, CenterMap, CenterProfile, HeatMap, MeasuredBars, WordGrid
from cloister.schema import Category, Column, Number, Schema


def rows(columns: int, n: int = 600) -> np.ndarray:
    return np.random.default_rng(columns).random((n, columns))


def test_a_pair_of_columns_shows_the_centres_and_their_noise() -> None:
    """Places, sizes and 95% of the noise are those of the release."""
    model = cl.KMeans(3, 2.0, bounds=(0, 1)).fit(rows(2))
    ((panel,),) = [picture.panels for picture in model.pictures()]
    assert isinstance(panel, CenterMap)
    assert np.array_equal(np.column_stack([panel.x, panel.y]), model.cluster_centers_)
    assert np.array_equal(panel.sizes, model.cluster_sizes_)
    assert np.allclose(np.column_stack([panel.x_errors, panel.y_errors]), INTERVAL * model.standard_errors_)


def test_many_columns_are_a_profile_in_panels() -> None:
    """Each of 60 columns is there once, between its bounds; the pairs are of three columns."""
    model = cl.KMeans(2, 5.0, bounds=(-1, 3)).fit(rows(60))
    pairs, profile = model.pictures()
    assert len(pairs.panels) == 3
    assert all(isinstance(panel, CenterProfile) and len(panel.columns) <= 25 for panel in profile.panels)
    places = np.array([line for panel in profile.panels for line in panel.places])
    assert np.allclose(places, (model.cluster_centers_.T + 1) / 4)


def test_many_clusters_are_a_heat_map() -> None:
    """More centres than there are colours: their profile is a table of shades."""
    model = cl.KMeans(9, 5.0, bounds=(0, 1)).fit(rows(5))
    (panel,) = model.pictures()[1].panels
    assert isinstance(panel, HeatMap)
    assert np.allclose(np.array(panel.values)[::-1], model.cluster_centers_.T)


def test_one_column_shows_sizes() -> None:
    """Without a second column the other axis has the sizes."""
    model = cl.KMeans(1, 2.0, bounds=(0, 1)).fit(rows(1))
    ((panel,),) = [picture.panels for picture in model.pictures()]
    assert (panel.y, panel.x) == ((), tuple(model.cluster_centers_[:, 0]))


def test_columns_are_chosen_by_name() -> None:
    """The pairs are of the columns that were named; another name is refused with those that there are."""
    clusters = cl.KMeans(2, 2.0, bounds=(0, 1), columns=["a", "b", "c", "d"]).fit(rows(4))
    assert [(panel.x_label, panel.y_label) for panel in clusters.pictures(["d", "a"])[0].panels] == [("d", "a")]
    with pytest.raises(UsageError, match="a, b, c, d"):
        clusters.pictures(["e"])


def test_categories_stand_in_a_grid() -> None:
    """The modes are those of the release, for tables with numbers and for those without."""
    schema = Schema(
        [Column("x", Number((0, 1))), Column("sex", Category(("f", "m"))), Column("y", Category(("u", "v", "")))]
    )
    table = {"x": rows(1)[:, 0].tolist(), "sex": ["f", "m"] * 300, "y": ["u", "v", ""] * 200}
    model = cl.KPrototypes(2, 3.0, schema=schema).fit(table)
    *_, grid = model.pictures()
    (panel,) = grid.panels
    assert isinstance(panel, WordGrid)
    assert panel.words == tuple(tuple(word or '""' for word in model.cluster_centers_[:, j]) for j in (1, 2))
    modes = cl.KModes(2, 3.0, schema=schema, columns=["sex", "y"]).fit(table)
    sizes, _ = modes.pictures()
    (bars,) = sizes.panels
    assert isinstance(bars, MeasuredBars)
    assert sorted(bars.values) == sorted(modes.cluster_sizes_)


def test_saved_clusters_look_the_same(tmp_path: Path) -> None:
    """What is read back has the same pictures, with its noise, to the digits of the certificate."""
    model = cl.KMeans(3, 2.0, bounds=(0, 1)).fit(rows(2))
    model.save(tmp_path / "out")
    ours, theirs = (each.pictures()[0].panels[0] for each in (model, load_clusters(tmp_path / "out")))
    assert np.allclose(theirs.x, ours.x)
    assert np.allclose(theirs.x_errors, ours.x_errors, rtol=1e-5)


def test_an_error_that_is_not_known_is_the_whole_column() -> None:
    """A cluster that noise may have put anywhere has a line over all of it."""
    model = cl.KMeans(2, 2.0, bounds=(0, 1)).fit(rows(2))
    clusters: Clusters = dataclasses.replace(model._clusters, standard_errors_=np.array([[np.inf, 0.1], [0.1, 0.1]]))
    (panel,) = clusters.pictures()[0].panels
    assert panel.x_errors[0] == pytest.approx(INTERVAL, rel=1e-4)
