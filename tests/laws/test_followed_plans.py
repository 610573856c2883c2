"""A law of every verb: the events of its certificate are those of its plan for the number of rows that was released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cloister.choosing.request import ChoiceRequest
from cloister.clustering.methods import METHODS, PROTOTYPE_METHODS
from cloister.clustering.prototype_request import PrototypeRequest
from cloister.clustering.request import ClusterRequest
from cloister.clustering.schedules import SCHEDULES
from cloister.clustering.synopsis.request import SynopsisRequest
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.microdata.private.request import RowsRequest
from cloister.microdata.private.row_methods import METHODS as ROW_METHODS
from cloister.privacy.budgets import ApproxDP, Identifiability, PureDP
from cloister.privacy.events import SampledEvent
from cloister.privacy.plan import Branch, Plan
from cloister.tabulation.request import TabulationRequest
from cloister.vault import Vault

BUDGETS = {"pure": PureDP(2), "approx": ApproxDP(2, 1e-6), "rho": Identifiability(rho=0.4, worlds=50)}
NAMES = ("x0", "x1", "x2")
CATEGORIES = ("c0", "c1")


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every number of rows that a vault hands out."""
    released: list[float] = []
    size = Vault.size

    def watched(vault: Vault, *args: object) -> float:
        released.append(size(vault, *args))  # type: ignore[arg-type]
        return released[-1]

    monkeypatch.setattr(Vault, "size", watched)
    return released


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(0).random((count, 3))


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [0, 3000])
def test_clusters_follow_their_plan(sizes: list[float], method: str, budget: object, count: int) -> None:
    """Every method of k-means, under every kind of budget, on an empty table too."""
    request = ClusterRequest(n_clusters=3, budget=budget, bounds=(0, 1), method=method)
    events = request.fit(rows(count)).release_.events
    assert events == request.plan(sizes[0] if sizes else 1.0, NAMES).events


def people(count: int) -> pa.Table:
    """Numbers and categories."""
    random = np.random.default_rng(1)
    numbers = dict(zip(NAMES, rows(count).T, strict=True))
    return pa.table({**numbers, **{name: random.choice(["a", "b", "c"], count) for name in CATEGORIES}})


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("model", ["kprototypes", "kmodes"])
@pytest.mark.parametrize("method", PROTOTYPE_METHODS)
@pytest.mark.parametrize("count", [0, 3000])
def test_prototypes_follow_their_plan(sizes: list[float], method: str, model: str, budget: object, count: int) -> None:
    """Every method of k-prototypes and k-modes, under every kind of budget, on an empty table too."""
    domains = {name: ["a", "b", "c"] for name in CATEGORIES}
    names = [*NAMES, *CATEGORIES] if model == "kprototypes" else list(CATEGORIES)
    request = PrototypeRequest(
        n_clusters=3, budget=budget, model=model, method=method, bounds=(0, 1), categories=domains, columns=names
    )
    made = request.fit(people(count))
    rounds = sum(event.step.startswith("round") for event in made.release_.events)
    assert made.release_.events == request.plan(sizes[0], names).choose("round", rounds).events


@pytest.mark.parametrize("budget", [PureDP(2), ApproxDP(2, 1e-6)], ids=["pure", "approx"])
def test_prototypes_on_a_sample_follow_their_plan(sizes: list[float], budget: object) -> None:
    """A secret sample, missing values counted, and a number of clusters that is found on the way."""
    domains = {name: ["a", "b", "c"] for name in CATEGORIES}
    names = [*CATEGORIES, *NAMES]
    request = PrototypeRequest(
        n_clusters="auto", budget=budget, bounds=(0, 1), categories=domains, columns=names, count_missing=True
    )
    made = request.fit(people(70_000))
    assert any(isinstance(event, SampledEvent) for event in made.release_.events)
    rounds = sum(event.step.startswith("round") for event in made.release_.events)
    assert made.release_.events == request.plan(sizes[0], names).choose("round", rounds).events


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("seeding", ["packing", "canopy"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_of_lloyd_follows_its_plan(schedule: str, seeding: str, budget: object) -> None:
    """From public centres and from cells, for the number of rounds that what was released led to."""
    request = ClusterRequest(n_clusters=3, budget=budget, bounds=(0, 1), method="lloyd", schedule=schedule, seeding=seeding)
    made = request.fit(rows(3000))
    assert made.release_.events == request.plan(1.0, NAMES).choose("round", made.n_iter_).events


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("schedule", ["equal", "halving"])
def test_a_stop_is_the_one_that_the_plan_declares(schedule: str, budget: object) -> None:
    """At a huge tolerance the first round is enough: pure ones are followed by one last, others by none and stay charged."""
    options = {"method": "lloyd", "schedule": schedule, "tolerance": 100.0, "max_iter": 5}
    request = ClusterRequest(n_clusters=3, budget=budget, bounds=(0, 1), **options)  # type: ignore[arg-type]
    made = request.fit(rows(500))
    is_pure = not isinstance(budget, ApproxDP)
    assert made.release_.events == request.plan(1.0, NAMES).stop("round", 1).events
    assert made.release_.adds_up()
    assert made.n_iter_ == (2 if is_pure else 1)
    assert made.release_.events[-2].step == ("last round" if is_pure else "round 5")
    notes = [note for note in made.release_.notes if "not measured: round 2, round 3, round 4, round 5." in note]
    assert len(notes) == (0 if is_pure else 1)
    assert made.release_.parameters["choices"]["stopped"].startswith("after round 1,")


@pytest.mark.parametrize("budget", [PureDP(2), ApproxDP(2, 1e-6)], ids=["pure", "approx"])
def test_votes_with_all_that_it_can_buy_follow_their_plan(sizes: list[float], budget: object) -> None:
    """Bounds inside the budget, a secret sample, a person's rows, and a number of clusters: only the last leaves a branch."""
    data = pa.table(dict(zip(NAMES, rows(70_000).T, strict=True)))
    request = ClusterRequest(n_clusters=3, budget=budget, columns=NAMES)
    events = request.fit(data).release_.events
    assert any(isinstance(event, SampledEvent) for event in events)
    assert events == request.plan(sizes[0], NAMES).events
    request = ClusterRequest(n_clusters="auto", budget=budget, columns=NAMES)
    events = request.fit(data).release_.events
    plan = request.plan(sizes[1], NAMES)
    assert [step.name for step in plan.steps if isinstance(step, Branch)] == ["lloyd"]
    rounds = sum(event.step.startswith("lloyd") for event in events)
    assert events == plan.choose("lloyd", rounds).events


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("shape", [*SHAPES, "sparse"])
def test_synopses_follow_their_plan(sizes: list[float], shape: str, budget: object) -> None:
    """Every shape, under every kind of budget."""
    method, threshold = ("uniform-grid", 3) if shape == "sparse" else (shape, None)
    request = SynopsisRequest(budget=budget, bounds=(0, 1), method=method, threshold=threshold)
    assert request.release(rows(500)).release.events == request.plan(round(sizes[0]) if sizes else 1, NAMES).events


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_tables_follow_their_plan(budget: object) -> None:
    """A table has one step, for any number of rows."""
    facts = {"measures": ["x2"], "means": ["x1"], "quantiles": {"x2": 0.5}, "bounds": dict.fromkeys(NAMES, (0.0, 1.0))}
    request = TabulationRequest(["x0", "x1"], budget, **facts)
    data = pa.table(dict(zip(NAMES, rows(100).T, strict=True)))
    released = request.run(data)
    plan: Plan = request.plan(NAMES)
    assert released.release.events == plan.events


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("count_rows", [False, True])
def test_choices_follow_their_plan(budget: object, count_rows: bool) -> None:
    """A choice has one step, and one before it where the number of rows is bought."""
    request = ChoiceRequest("x0", budget, quantile=0.5, bounds=(0.0, 1.0), count_rows=count_rows)
    data = pa.table(dict(zip(NAMES, rows(100).T, strict=True)))
    events = request.run(data).release_.events
    assert events == request.plan(NAMES).events
    assert [event.step for event in events][-1] == "choice"


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("method", ROW_METHODS)
@pytest.mark.parametrize("count", [1, 3000])
def test_rows_follow_their_plan(sizes: list[float], method: str, budget: object, count: int) -> None:
    """Every way to make private rows, under every kind of budget, on a table of one row too."""
    domains = {name: ["a", "b", "c"] for name in CATEGORIES}
    request = RowsRequest(
        budget=budget,
        method=method,
        bounds=dict.fromkeys(NAMES, (0, 1)),
        domains=domains,
        neighbours="replace-one" if method == "insensitive" else None,
    )
    made = request.run(people(count))
    plan = request.plan(sizes[0], [*NAMES, *CATEGORIES])
    rounds = sum(event.step.startswith("round") for event in made.release_.events)
    branches = [step.name for step in plan.steps if isinstance(step, Branch)]
    assert made.release_.events == (plan.choose(branches[0], rounds) if branches else plan).events
