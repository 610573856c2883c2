"""What can be known before a charge is refused before it; what cannot says what was charged."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.clustering.domain import from_bounds, widen_narrow
from cloister.clustering.request import ClusterRequest
from cloister.clustering.synopsis.grid_sizes import capped_sides, largest_side
from cloister.clustering.votes.plan import sample_rate
from cloister.errors import CloisterError, DataError, ReleaseFailed, UsageError
from cloister.kernels import BoxClip, ClippedSums
from cloister.kernels.clipped import worst_reach
from cloister.privacy.ledger import Ledger
from cloister.schema import Neighbours
from cloister.vault import Vault

NAMES = ("x0", "x1")
PEOPLE = pa.table({"who": [str(i % 40) for i in range(200)], **{name: np.linspace(0, 1, 200) for name in NAMES}})
SCHEMA = """
unit = "who"
max_rows = 1000000000
[columns.who]
kind = "text"
role = "identifier"
[columns.x0]
kind = "number"
bounds = [0, 1]
[columns.x1]
kind = "number"
bounds = [0, 1]
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(10**6), Fraction(1, 2))
    return ledger


Release = Callable[[Ledger], object]


def clusters(X: Any, **settings: Any) -> Release:
    return lambda ledger: cl.KMeans(table="t", ledger=ledger, **settings).fit(X)


def per_person(verb: Callable[..., Any], **settings: Any) -> Release:
    """A release per person, each with up to a thousand million rows."""
    schema = cl.Schema.from_text(SCHEMA)
    return lambda ledger: verb(PEOPLE, schema=schema, table="t", ledger=ledger, **settings)


REFUSED: dict[str, Release] = {
    **{
        f"max_rows, {method}, {budget}": per_person(
            lambda X, **settings: cl.KMeans(2, **settings).fit(X), method=method, budget=budget
        )
        for method in ("votes", "lloyd")
        for budget in (1.0, cl.ApproxDP("0.0001", "1e-9"))
    },
    "max_rows, table": per_person(
        lambda X, **settings: cl.tabulate(X, ["x0"], **settings), measures=["x1"], budget="0.0001"
    ),
    "5,000 columns, votes": clusters(np.zeros((5, 5000)), budget="0.0001", bounds=(0, 1)),
    "5,000 columns, no bounds": clusters(np.zeros((5, 5000)), budget="0.0001"),
    "a million rounds, votes": clusters(np.zeros((5, 2)), max_iter=10**6, bounds=(0, 1)),
    "a million rounds, lloyd": clusters(np.zeros((5, 2)), max_iter=10**6, bounds=(0, 1), method="lloyd"),
    "columns of a grid": lambda ledger: cl.synopsis(np.zeros((5, 30)), 1, (0, 1), table="t", ledger=ledger),
    "columns of a uniform grid": lambda ledger: cl.synopsis(
        np.zeros((5, 30)), 1, (0, 1), "uniform-grid", table="t", ledger=ledger
    ),
    "columns of a sparse grid": lambda ledger: cl.synopsis(
        np.zeros((5, 60)), 1, (0, 1), "uniform-grid", threshold=1, table="t", ledger=ledger
    ),
}

VERBS: dict[str, Callable[..., object]] = {
    "clusters": lambda ledger, progress: cl.KMeans(2, bounds=(0, 1), table="t", ledger=ledger).fit(
        np.zeros((5, 2)), progress=progress
    ),
    "cells": lambda ledger, progress: cl.synopsis(np.zeros((5, 2)), 1, (0, 1), table="t", ledger=ledger, progress=progress),
    "table": lambda ledger, progress: cl.tabulate(
        PEOPLE, ["x0"], 1, bounds={"x0": (0, 1)}, bins={"x0": 2}, table="t", ledger=ledger, progress=progress
    ),
}
for verb, call in VERBS.items():
    for no_progress in (None, 3, "text", lambda: None):
        REFUSED[f"progress of {verb}, {type(no_progress).__name__}"] = partial(call, progress=no_progress)


for ends in ((-1e300, 1e300), (-1e155, 1e155), (0, 1e101), (0, 1e-200), (1e300, 1.0000000001e300), (0, 5e-324)):
    for scale in ("bounds", None):
        REFUSED[f"clusters between {ends}, {scale}"] = clusters(np.zeros((5, 2)), bounds=ends, scale=scale)
    REFUSED[f"cells between {ends}"] = lambda ledger, ends=ends: cl.synopsis(  # type: ignore[misc]
        np.zeros((5, 2)), 1, ends, table="t", ledger=ledger
    )
for method in ("auto", "votes", "lloyd", "tree"):
    for seeding in ("zz", "", 3, ["packing"], *(() if method == "lloyd" else ("packing",))):
        REFUSED[f"seeding {seeding} of {method}"] = clusters(np.zeros((5, 2)), bounds=(0, 1), method=method, seeding=seeding)
for method in ("auto", "votes"):
    for seeding in ("packing", "kmeans++", "kmeans||", "canopy", "evolution"):
        REFUSED[f"seeding {seeding} of {method}"] = clusters(np.zeros((5, 2)), bounds=(0, 1), method=method, seeding=seeding)
for method in ("auto", "votes", "hybrid", "tree", "uniform-grid", "adaptive-grid"):
    for name, value in (("schedule", "halving"), ("schedule", "equal"), ("tolerance", 0.1)):
        REFUSED[f"{name} of {method}, {value}"] = clusters(np.zeros((5, 2)), bounds=(0, 1), method=method, **{name: value})
OF_LLOYD: dict[str, dict[str, Any]] = {
    "unknown schedule": {"schedule": "thirds"},
    "schedule of another type": {"schedule": 3},
    "21 halvings": {"schedule": "halving", "max_iter": 21},
    "1000 halvings": {"schedule": "dwork-halving", "max_iter": 1000},
    "clusters of a packing": {"n_clusters": "auto"},
    **{f"tolerance {value!r}": {"tolerance": value} for value in (0, -1, float("nan"), float("inf"), "0.1", True, 10**400)},
    "options without evolution": {"evolution": {"population": 40}},
    "options of another seeding": {"seeding": "canopy", "evolution": {"population": 40}},
    "no dict": {"seeding": "evolution", "evolution": 40},
    "unknown option": {"seeding": "evolution", "evolution": {"members": 40}},
    "too few members": {"seeding": "evolution", "evolution": {"population": 5}},
    "members beyond memory": {"seeding": "evolution", "n_clusters": 4096, "evolution": {"population": 1000}, "columns": 62},
    "half a generation": {"seeding": "evolution", "evolution": {"generations": 0.5}},
    "F of 0": {"seeding": "evolution", "evolution": {"F": 0}},
    "F that is no number": {"seeding": "evolution", "evolution": {"F": float("nan")}},
    "CR the wrong way": {"seeding": "evolution", "evolution": {"CR": (0.9, 0.1)}},
    "one CR": {"seeding": "evolution", "evolution": {"CR": 0.5}},
    "an epsilon too small for the cells": {"seeding": "canopy", "budget": "1e-16"},
}
for what, options in OF_LLOYD.items():
    wide = np.zeros((5, options.pop("columns", 2)))
    REFUSED[f"lloyd: {what}"] = clusters(wide, bounds=(0, 1), method="lloyd", **options)
CONSTANTS: list[tuple[str, dict[str, Any]]] = [
    ("adaptive-grid", {"c1": 0}), ("adaptive-grid", {"c2": -1}), ("adaptive-grid", {"c1": "ten"}), ("tree", {"c1": 10}),
    ("adaptive-grid", {"c1": 1e9}), ("adaptive-grid", {"c1": 10**400}), ("uniform-grid", {"c2": 5}),
]  # fmt: skip
for shape, constants in CONSTANTS:
    REFUSED[f"{constants} of {shape}"] = lambda ledger, shape=shape, constants=constants: cl.synopsis(  # type: ignore[misc]
        np.zeros((5, 2)), 1, (0, 1), shape, table="t", ledger=ledger, **constants
    )
REFUSED["a named column of text"] = lambda ledger: cl.KMeans(
    2, 1, (0, 1), columns=["x", "name"], table="t", ledger=ledger
).fit(pa.table({"x": [0.5], "name": ["a"]}))
for ball in (cl.Ball(1e300), cl.Ball(1e-200), cl.Ball(1.0, (0.0, 1e300))):
    REFUSED[f"clusters in {ball}"] = clusters(np.zeros((5, 2)), bounds=ball)


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_charged_for_what_cannot_be_done(name: str, ledger: Ledger) -> None:
    """The refusal is a usage error, and the ledger has no entry."""
    with pytest.raises(UsageError):
        REFUSED[name](ledger)
    assert ledger.account("t").epsilon_spent == 0
    assert not ledger.entries("t")


@pytest.mark.parametrize("method", ["votes", "lloyd"])
@pytest.mark.parametrize("integer", [np.uint64, np.int8, np.int64])
def test_numbers_of_numpy_are_numbers(method: str, integer: type[np.integer[Any]], ledger: Ledger) -> None:
    """Fractions of NumPy's integers overflow: a fit with one was charged and lost."""
    settings = {"max_iter": integer(3), "bounds": (0, 1), "method": method}
    model = cl.KMeans(integer(2), 1, table="t", ledger=ledger, **settings).fit(np.random.default_rng(0).random((50, 2)))
    assert model.release_.adds_up()


@pytest.mark.parametrize("method", ["votes", "lloyd", "adaptive-grid", "uniform-grid", "tree"])
@pytest.mark.parametrize("bounds", [(-1e100, 1e100), (0.0, 2e-100), cl.Ball(1e100), cl.Ball(1e-100)], ids=str)
def test_everything_between_the_widest_and_the_narrowest_bounds_is_a_number(method: str, bounds: Any) -> None:
    """The certificate reads back, which one with an infinite loss does not."""
    high = bounds.radius if isinstance(bounds, cl.Ball) else bounds[1]
    rows = np.random.default_rng(0).random((50, 2)) * high
    for scale in ("bounds", None):
        for budget in (1, cl.ApproxDP(1, 1e-6)):
            release = cl.KMeans(2, budget, bounds=bounds, scale=scale, method=method).fit(rows).release_
            assert cl.Release.from_json(release.to_json()).digest() == release.digest()


def sizes_of(monkeypatch: pytest.MonkeyPatch, rows: float) -> None:
    """Make every noisy number of rows this one: noise may give any."""
    monkeypatch.setattr(Vault, "size", lambda vault, mechanism, step="size": _measured(vault, mechanism, step, rows))


def _measured(vault: Vault, mechanism: Any, step: str, rows: float) -> float:
    from cloister.kernels import Rows

    if mechanism is not None:
        vault.measure(Rows(), mechanism, step)
    return rows


GRIDS = [("adaptive-grid", None), ("uniform-grid", None), ("uniform-grid", 1), ("uniform-grid", 40)]


@pytest.mark.parametrize("rows", [1.0, 1e6, 1e18])
@pytest.mark.parametrize("columns", [1, 10])
@pytest.mark.parametrize(("method", "threshold"), GRIDS)
def test_every_number_of_rows_has_a_grid(
    method: str, threshold: int | None, columns: int, rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the noisy number of rows turns out to be, after the charge no grid is refused, nor larger than its cap."""
    sizes_of(monkeypatch, rows)
    made = cl.synopsis(np.full((50, columns), 0.5), 10, (0, 1), method, threshold=threshold, most_cells=2000)
    assert len(made.cells) <= 2000 if threshold is None else len(made.cells) < 3000
    if rows == 1e18 and threshold is None:
        assert any("coarser than its rule" in note for note in made.release.notes)


def test_the_default_synopsis_of_ten_columns_is_released(ledger: Ledger) -> None:
    """The second level of the default grid over 10 columns passed the cap after it was paid for."""
    X = np.random.default_rng(0).random((200_000, 10))
    made = cl.synopsis(X, 5, (0, 1), most_cells=2**20, table="t", ledger=ledger)
    assert 2**10 < len(made.cells) <= 2**20
    assert any("coarser than its rule" in note for note in made.release.notes)


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 22])
@pytest.mark.parametrize("most", [1, 1000, 2**22, 2**52])
def test_the_largest_side_is_the_largest(columns: int, most: int) -> None:
    """One interval more a column would pass the cap."""
    side = largest_side(columns, most)
    assert side**columns <= max(most, 1) < (side + 1) ** columns


@pytest.mark.parametrize("seed", range(50))
def test_capped_sides_keep_the_cap_and_waste_little(seed: int) -> None:
    """All cells together stay within the cap, and no larger side would."""
    random = np.random.default_rng(seed)
    columns, inner = int(random.integers(1, 6)), random.integers(1, 200, int(random.integers(1, 300)))
    most = int(len(inner) * 10 ** random.uniform(0, 5))
    capped = capped_sides(inner, columns, most, 10**9)
    assert (capped <= inner).all()
    assert int((capped**columns).sum()) <= most
    if (capped < inner).any():
        assert int((np.minimum(inner, capped.max() + 1).astype(object) ** columns).sum()) > most
    assert capped_sides(inner, columns, most, 3).max() <= 3


def test_a_secret_sample_has_a_rate_however_many_rows_the_noise_makes() -> None:
    """A noisy number of rows of 10^18 gave a rate of 0, which nothing can be charged for."""
    assert sample_rate(1e18, 3, Neighbours.ADD_REMOVE) == Fraction(1, 2**32)


@pytest.mark.parametrize("budget", [cl.PureDP(1), cl.ApproxDP(1, 1e-6)], ids=["pure", "approx"])
@pytest.mark.parametrize("rows", [1.0, 1e5, 1e18])
def test_every_number_of_rows_has_a_plan_of_votes(rows: float, budget: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for the default method of k-means, with bounds in the data's own units and clusters to be found."""
    sizes_of(monkeypatch, rows)
    request = ClusterRequest(n_clusters="auto", budget=budget, columns=NAMES, scale=None)
    assert request.fit(PEOPLE).release_.adds_up()


@pytest.mark.parametrize("rows", [6.1e4, 1e18])
@pytest.mark.parametrize("budget", [cl.PureDP(10**9), cl.ApproxDP(10**9, 1e-6)], ids=["pure", "approx"])
def test_the_largest_epsilon_has_a_plan_for_a_secret_sample(
    rows: float, budget: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """e^epsilon overflowed once the number of rows was bought."""
    sizes_of(monkeypatch, rows)
    request = ClusterRequest(n_clusters=3, budget=budget, columns=NAMES, scale=None, bounds=(0, 1))
    assert request.fit(PEOPLE).release_.adds_up()


@pytest.mark.parametrize("delta", ["0.5", "0.95", "0.999999"])
@pytest.mark.parametrize("epsilon", ["0.0001", "0.001"])
def test_the_noise_of_every_secret_sample_is_tried_before_the_charge(
    epsilon: str, delta: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows keep a delta of a thousandth: near a delta of 1 that is a deviation thousands of times as large."""
    sizes_of(monkeypatch, 60_000.5)
    for most in (2**power for power in range(16, 24)):
        schema = cl.Schema.from_text(SCHEMA.replace("1000000000", str(most)))
        with contextlib.suppress(UsageError):  # before the charge
            cl.KMeans(3, cl.ApproxDP(epsilon, delta), schema=schema, method="votes").fit(PEOPLE)


def test_estimated_bounds_are_never_too_narrow() -> None:
    """A column that is narrow beside another one is widened, where given bounds would be refused."""
    low, high = np.array([0.0, 0.0, -1.0]), np.array([1e12, 1e-9, 1.0])
    with pytest.raises(UsageError, match="so narrow"):
        from_bounds(["a", "b", "c"], (low, high), None)
    domain = from_bounds(["a", "b", "c"], widen_narrow(low, high), None)
    assert (domain.halves >= 1).all()
    wide = widen_narrow(np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    assert [bound.tolist() for bound in wide] == [[0.0, 2.0], [1.0, 3.0]]


def test_four_thousand_centres_are_placed_in_seconds() -> None:
    """The public start of Lloyd: every centre is looked for among a few places first."""
    from time import process_time

    from cloister.clustering.chance import public_chance
    from cloister.clustering.seeding.packing import sphere_packing

    domain = from_bounds(["a", "b", "c"], (0, 1), "bounds")
    begin = process_time()
    assert len(np.unique(sphere_packing(domain, 4096, public_chance(1)), axis=0)) == 4096
    assert process_time() - begin < 30


def test_the_worst_reach_counts_for_the_most() -> None:
    """Squares are counted in coarser units the farther they reach, so the farthest is not the worst."""
    corner, one, within = np.zeros((1, 2), np.int32), np.ones(1, np.int64), BoxClip((1, 1))
    most = 0
    for reach in [*range(1, 5_000), *(2**bits + off for bits in range(12, 24) for off in (-1, 0, 1)), 1_482_909]:
        most = max(most, ClippedSums(corner, one, False, one * reach, within).limit)
        worst = ClippedSums(corner, one, False, one * worst_reach(reach), within).limit
        assert most <= worst <= reach**2
        assert worst == min(reach**2, 2**20 - 1)


def test_noise_too_large_for_a_smaller_radius_is_refused_before_the_charge(ledger: Ledger) -> None:
    """The radius of a round follows from noise, and a smaller one may need more noise for its squares."""
    schema = cl.Schema.from_text(
        'unit="who"\nmax_rows=3\n[columns.who]\nkind="text"\n[columns.a]\nkind="number"\nbounds=[0,1]\n'
        '[columns.b]\nkind="number"\nbounds=[-5,5]\n'
    )
    rows = {"who": ["1", "2", "3"], "a": [0.1, 0.2, 0.3], "b": [1, 2, 3]}
    model = cl.KMeans("auto", budget=1e-4, scale=None, max_iter=1000, schema=schema, table="t", ledger=ledger)
    with pytest.raises(UsageError, match="larger than can be drawn"):
        model.fit(rows)
    assert not ledger.entries("t")


class Breaks:
    """A source that breaks while it is read."""

    names = ("x0",)
    in_memory = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    def batches(self, columns: object) -> Any:
        raise self.error


@pytest.mark.parametrize("error", [UsageError("no."), DataError("torn."), RuntimeError("oh")], ids=["usage", "data", "raw"])
def test_an_error_after_the_charge_says_what_stays_charged(error: Exception, ledger: Ledger) -> None:
    """It is never a usage error, and its message and `charged` name the amount, the table and the entry."""
    with pytest.raises((CloisterError, RuntimeError)) as caught:
        cl.KMeans(2, cl.ApproxDP(1, "1e-6"), (0, 1), table="t", ledger=ledger).fit(Breaks(error))
    (entry,) = ledger.entries("t")
    charged = caught.value.charged  # type: ignore[union-attr]
    assert charged is not None
    assert (charged.amount, charged.table, charged.entry) == ("epsilon 1, delta 0.000001", "t", entry.id)
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())][-1]
    assert told.endswith(f'What was charged stays charged: {charged.amount}, table "t", ledger entry {entry.id}.')
    assert type(caught.value) is (ReleaseFailed if isinstance(error, UsageError) else type(error))
    assert getattr(caught.value, "exit_code", 1) == 1
    assert caught.value.__context__ is None


def test_without_a_ledger_the_error_says_so() -> None:
    """Rows may have been read: nobody should think that it cost nothing."""
    with pytest.raises(ReleaseFailed, match=r"count epsilon 1 as spent, which no ledger keeps"):
        cl.KMeans(2, 1, (0, 1)).fit(Breaks(UsageError("no.")))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.float32, np.float16, np.float64, np.longdouble, np.int8, np.uint64])
def test_a_radius_may_be_a_number_of_numpy(number: type[np.number[Any]]) -> None:
    """NumPy warned of the largest float, which a short one cannot be compared with."""
    assert cl.Ball(number(3)) == cl.Ball(3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "radius", [np.float32("inf"), np.float32("nan"), np.complex64(3), np.timedelta64(3, "s"), 10**400, 0]
)
def test_a_radius_is_a_finite_number_above_0(radius: Any) -> None:
    """NumPy's too, and a span of time is none."""
    with pytest.raises(UsageError, match="finite radius above 0"):
        cl.Ball(radius)
