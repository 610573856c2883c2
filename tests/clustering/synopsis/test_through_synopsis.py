"""k-means through a synopsis."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import cloister as cl
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.errors import UsageError
from cloister.privacy.events import delta_of
from cloister.testing import seeded_noise
from tests.clustering.synopsis.test_synopsis import MIDDLES, heaps

METHODS = (*SHAPES, "hybrid")
BUDGETS = [cl.PureDP(1), cl.ApproxDP(1, 1e-6), cl.Identifiability(rho=0.5, worlds=20)]
# rho is a replace-one guarantee
PROMISES = [(budget, "replace-one") for budget in BUDGETS] + [(budget, "add-remove") for budget in BUDGETS[:2]]


@pytest.mark.parametrize(("budget", "neighbours"), PROMISES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_heaps_and_keeps_its_budget(method: str, neighbours: str, budget: object) -> None:
    """The heaps are found, and the events add up to the budget and nearly use it up, as the plan said."""
    model = cl.KMeans(3, budget, (0, 1), method, neighbours=neighbours, random_state=0)
    centers = model.fit(heaps()).cluster_centers_
    assert (((centers[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.01).all()
    assert model.release_.adds_up()
    assert delta_of(model.release_.events, model.release_.guarantee.epsilon * 999 / 1000) > model.release_.guarantee.delta
    plan = model.plan(n=6000, d=2)
    assert plan.keeps_budget()
    assert [event.step for event in plan.events] == [event.step for event in model.release_.events]
    assert model.release_.parameters["method"] == method


@pytest.mark.parametrize("seeding", ["kmeans++", "kmeans||", "canopy", "evolution"])
def test_seedings_serve_k_means(seeding: str) -> None:
    """Every seeding works inside the estimator and is named in its choices."""
    model = cl.KMeans(3, 2.0, (0, 1), "adaptive-grid", seeding=seeding, random_state=0).fit(heaps())
    assert (((model.cluster_centers_[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.01).all()
    assert model.release_.parameters["choices"]["seeding"] == seeding


def test_a_tree_takes_many_columns() -> None:
    """In ten columns the tree and the hybrid find the heaps."""
    for method in ("tree", "hybrid"):
        centers = cl.KMeans(3, 2.0, (0, 1), method, random_state=0).fit(heaps(20_000, 10)).cluster_centers_[:, :2]
        assert (((centers[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.02).all()


def test_refinement_rounds_follow_max_iter() -> None:
    """The hybrid takes one to four rounds; a synopsis alone none."""
    assert cl.KMeans(3, 1.0, (0, 1), "hybrid", max_iter=1).fit(heaps(500)).n_iter_ == 1
    assert cl.KMeans(3, 1.0, (0, 1), "hybrid").fit(heaps(500)).n_iter_ == 2
    assert cl.KMeans(3, 1.0, (0, 1), "tree").fit(heaps(500)).n_iter_ == 0


def test_the_number_of_clusters_may_be_found() -> None:
    """With "auto" the depth rule chooses from the released cells."""
    model = cl.KMeans("auto", 4.0, (0, 1), "uniform-grid", random_state=0).fit(heaps())
    assert 2 <= len(model.cluster_centers_) <= 5


def test_more_clusters_than_cells_still_give_centres() -> None:
    """An estimator never fails after it was charged: cells are used twice."""
    model = cl.KMeans(50, 0.01, (0, 1), "tree", random_state=0).fit(heaps(20))
    assert model.cluster_centers_.shape == (50, 2)


def test_noise_is_the_same_whatever_the_form_of_the_data() -> None:
    """Seeded, a frame and an array give the same centres; the estimator clones."""
    import pandas as pd

    centers = []
    for data in (heaps(800), pd.DataFrame(heaps(800), columns=["x0", "x1"])):
        with seeded_noise(3):
            model = clone(cl.KMeans(3, 1.0, (0, 1), "hybrid", random_state=1))
            centers.append(model.fit(data).cluster_centers_)
    assert np.array_equal(*centers)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seeding": "magic"}, "seeding"), ({"bounds": None}, "needs public bounds"), ({"method": "forest"}, "not known")],
)
def test_faults_are_told_before_a_charge(change: dict[str, object], message: str) -> None:
    """A wrong seeding, missing bounds and an unknown method are usage errors."""
    arguments = {"n_clusters": 2, "budget": 1.0, "bounds": (0, 1), "method": "tree", **change}
    with pytest.raises(UsageError, match=message):
        cl.KMeans(**arguments).fit(heaps(50))
