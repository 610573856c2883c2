"""The exact audit finds every planted bug, and says what a sound release gives away."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cloister import KMeans
from cloister.clustering import terms
from cloister.clustering.request import ClusterRequest
from cloister.clustering.synopsis import uniform_grid
from cloister.clustering.synopsis.request import SynopsisRequest
from cloister.clustering.votes import fit as votes_fit
from cloister.clustering.votes import plan as votes_plan
from cloister.encode import Grid
from cloister.errors import UsageError
from cloister.kernels import CenterSums, ClippedSums, LiftedSums, Moments, Projected, Sensitivity, Summary
from cloister.kernels.base import Change
from cloister.privacy import events
from cloister.privacy.budgets import ApproxDP, PureDP
from cloister.privacy.mechanisms import Laplace, add_noise, noise_for_spend
from cloister.privacy.release import Release
from cloister.testing import audit, replay
from cloister.testing.audited_verbs import VERBS, WHOM, audit_verb
from cloister.testing.neighbour_tables import LARGE, large_neighbours, worst_neighbours
from cloister.vault import doors

BY_ROW, _, BY_PERSON = WHOM
WALKS = 6
CROWD = np.random.default_rng(0).random((60, 2)) * 0.2
ONE_MORE = np.vstack([CROWD, [[1.0, 1.0]]])


def lloyd(budget: Any = 1) -> Callable[[Any], Any]:
    """Private Lloyd with public choices fixed."""
    return ClusterRequest(n_clusters=2, budget=budget, bounds=(0, 1), method="lloyd", random_state=0).fit


def test_a_sound_release_holds_and_is_tight() -> None:
    """A row at the far corner costs all of the epsilon that is claimed, and no more; of the loss's 2% a row may use half."""
    found = audit(lloyd(), (ONE_MORE, CROWD))
    assert found.holds
    assert found.largest_loss == pytest.approx(1, rel=0.01)
    assert abs(found.log_likelihood_ratio) <= 1
    assert [step.name for step in found.steps][:2] == ["size", "round 1"]


def test_with_delta_the_move_of_every_gaussian_step_is_counted() -> None:
    """All of the precision is used but for a part of the loss's, so the claimed delta is met and not passed."""
    found = audit(lloyd(ApproxDP(1, "1e-6")), (ONE_MORE, CROWD))
    assert found.holds
    assert found.largest_loss == pytest.approx(1, rel=0.01)
    assert all(step.precision > 0 for step in found.steps)


def test_equal_tables_lose_nothing() -> None:
    """Nothing differs."""
    assert audit(lloyd(), (CROWD, CROWD)).largest_loss == 0


def test_what_is_released_under_an_audit_is_not_private() -> None:
    """Its certificate says so."""
    seen = []

    def keep(rows: Any) -> Any:
        seen.append(lloyd()(rows))
        return seen[-1]

    audit(keep, (ONE_MORE, CROWD))
    assert [clusters.release_.seeded for clusters in seen] == [True, True]
    assert "NOT PRIVATE" in seen[0].release_.status


def test_what_both_tables_are_refused_for_is_raised() -> None:
    """There is nothing to audit."""
    with pytest.raises(UsageError, match="needs public bounds"):
        audit(ClusterRequest(n_clusters=2, method="lloyd").fit, (ONE_MORE, CROWD))


def test_an_error_on_both_tables_is_raised_and_no_verdict() -> None:
    """Half of a release was seen, so nothing is said about it."""

    def mechanism(rows: Any) -> Any:
        lloyd()(rows)
        raise ValueError("of every table")

    with pytest.raises(ValueError, match="of every table"):
        audit(mechanism, (ONE_MORE, CROWD), claimed=1)


# Planted bugs.


def halved(kernel: type) -> Callable[..., Sensitivity]:
    """The sensitivity of a kernel, with half of each norm."""
    true = kernel.sensitivity

    def sensitivity(self: Any, neighbours: Any) -> Sensitivity:
        moves = true(self, neighbours).moves
        return Sensitivity(
            tuple({p: Change(max(1, c.l1 // 2), max(1, c.l2_squared // 4)) for p, c in move.items()} for move in moves)
        )

    return sensitivity


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-6")])
@pytest.mark.parametrize(
    ("kernel", "method"), [(CenterSums, "lloyd"), (ClippedSums, "votes"), (Moments, "votes"), (ClippedSums, "hybrid")]
)
def test_a_halved_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch, kernel: type, method: str, budget: Any) -> None:
    """Planted: a kernel that states half of how far a row moves it; of a few walks one goes where the row moves it farthest."""
    fit = ClusterRequest(n_clusters=2, budget=budget, bounds=(0, 1), method=method, random_state=0).fit
    tables = ONE_MORE, CROWD
    assert all(replay(fit, tables, seed=seed).holds for seed in range(WALKS))
    monkeypatch.setattr(kernel, "sensitivity", halved(kernel))
    findings = [finding for seed in range(WALKS) for finding in replay(fit, tables, seed=seed).findings]
    assert any("its event pays for" in finding for finding in findings)


def test_a_free_round_is_found() -> None:
    """Planted: noise that is added beside the vault, for which nothing was charged."""

    def mechanism(rows: Any) -> Any:
        clusters = lloyd()(rows)
        add_noise(Laplace({"counts": Fraction(1)}), Summary({"counts": np.array([len(rows)])}))
        return clusters

    found = audit(mechanism, (ONE_MORE, CROWD))
    assert any("the certificate pays for" in finding for finding in found.findings)
    assert found.largest_loss > 1.5


def test_a_round_that_is_struck_from_the_certificate_is_found() -> None:
    """Planted: a certificate with one event less than there were steps."""

    def mechanism(rows: Any) -> Any:
        release = lloyd()(rows).release_
        return replace(release, events=release.events[:-1])

    assert any("the certificate pays for" in finding for finding in audit(mechanism, (ONE_MORE, CROWD)).findings)


def test_an_unclipped_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a value outside the bounds is put on the grid as it is."""
    far = np.vstack([CROWD, [[40.0, -40.0]]])
    assert audit(lloyd(), (far, CROWD)).holds

    def put(self: Grid, values: np.ndarray) -> np.ndarray:
        return np.rint((values - self.center) / self.step)

    monkeypatch.setattr(Grid, "put", put)
    found = audit(lloyd(), (far, CROWD))
    assert not found.holds
    assert found.largest_loss > 10


@pytest.mark.parametrize("method", ["votes", "uniform-grid"])
def test_an_exact_size_is_found(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Planted: the noisy number of rows is bought, and the exact one is used."""
    size: list[float] = []
    module = votes_fit if method == "votes" else uniform_grid
    bought = module.buy_size

    def buy_size(*words: Any) -> float:
        bought(*words)
        return size[-1]

    def mechanism(rows: Any) -> Any:
        size.append(float(len(rows)))
        if method == "votes":
            return ClusterRequest(n_clusters=2, bounds=(0, 1), random_state=0).fit(rows)
        return SynopsisRequest(budget=1, bounds=(0, 1), method=method).release(rows)

    assert audit(mechanism, (ONE_MORE, CROWD)).holds
    monkeypatch.setattr(module, "buy_size", buy_size)
    found = audit(mechanism, (ONE_MORE, CROWD))
    assert any("other noise" in finding or "results differ" in finding for finding in found.findings)


def test_a_sample_rate_from_the_exact_size_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the rate of the secret sample follows from the exact number of rows."""
    tables = large_neighbours(BY_ROW)
    size: list[int] = []

    def sample_rate(*words: Any) -> Fraction:
        return Fraction(int(20_000 / size[-1] * 2**32), 2**32)

    def mechanism(rows: pa.Table) -> Any:
        size.append(len(rows))
        return VERBS["cluster votes"](rows, BY_ROW, PureDP(1))

    monkeypatch.setattr(votes_plan, "sample_rate", sample_rate)
    assert not replay(mechanism, (tables.one, tables.other)).holds


def test_an_amplification_that_is_too_good_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: what runs on the sample is charged as for half of its rate. The steps are right, their sum is not."""
    cheap = events.amplified_epsilon
    dear = noise_for_spend.epsilon_before_sampling
    monkeypatch.setattr(events, "amplified_epsilon", lambda epsilon, rate: cheap(epsilon, rate / 2))
    monkeypatch.setattr(noise_for_spend, "epsilon_before_sampling", lambda cost, rate: dear(cost, rate / 2))
    found = audit_verb("cluster votes", BY_ROW, PureDP(1), large_neighbours(BY_ROW)).audit
    assert any("the losses add up to" in finding for finding in found.findings)


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-6")])
@pytest.mark.parametrize("whom", [BY_ROW, BY_PERSON], ids=str)
def test_a_secret_sample_is_audited(whom: Any, budget: Any) -> None:
    """On a large table seeding runs on a sample: its steps count amplified."""
    found = audit_verb("cluster votes", whom, budget, large_neighbours(whom)).audit
    assert found.holds
    assert 0 < found.losses.rate < 0.5
    assert any(step.on_sample for step in found.steps)
    assert LARGE > 60_000


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-6")])
@pytest.mark.parametrize("whom", [BY_ROW, BY_PERSON], ids=str)
def test_seeding_in_a_subspace_is_audited(monkeypatch: pytest.MonkeyPatch, whom: Any, budget: Any) -> None:
    """Where rows vote in random directions, a row's loss adds up to what is claimed and no more."""
    monkeypatch.setattr(votes_plan, "pays", lambda *_: True)
    for tables in list(worst_neighbours(whom))[::6]:
        found = audit_verb("cluster votes", whom, budget, tables).audit
        assert found.holds
    assert {"subspace moments", "lift 1"} <= {step.name for step in found.steps}


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, "1e-6")])
@pytest.mark.parametrize("kernel", [Projected, LiftedSums])
def test_a_halved_sensitivity_in_a_subspace_is_found(monkeypatch: pytest.MonkeyPatch, kernel: type, budget: Any) -> None:
    """Planted: a kernel of the subspace that states half of how far a row moves it."""
    monkeypatch.setattr(votes_plan, "pays", lambda *_: True)
    fit = ClusterRequest(n_clusters=2, budget=budget, bounds=(0, 1), random_state=0).fit
    assert all(replay(fit, (ONE_MORE, CROWD), seed=seed).holds for seed in range(WALKS))
    monkeypatch.setattr(kernel, "sensitivity", halved(kernel))
    findings = [finding for seed in range(WALKS) for finding in replay(fit, (ONE_MORE, CROWD), seed=seed).findings]
    assert any("its event pays for" in finding for finding in findings)


def test_an_error_that_a_row_decides_is_found() -> None:
    """Planted: a row that cannot be read ends the fit."""

    def mechanism(rows: np.ndarray) -> Any:
        clusters = lloyd()(rows)
        if np.isnan(rows).any():
            raise ValueError("a cell cannot be read")
        return clusters

    unreadable = np.vstack([CROWD, [[np.nan, 1.0]]])
    assert audit(lloyd(), (unreadable, CROWD)).holds
    found = audit(mechanism, (unreadable, CROWD))
    assert found.findings == ("only one of the tables ends in an error (ValueError)",)
    assert found.largest_loss == inf


def test_a_refusal_that_a_row_decides_is_found() -> None:
    """Planted: one table is refused before anything is released, whichever of the two it is."""

    def mechanism(rows: np.ndarray) -> Any:
        if np.isnan(rows).any():
            raise UsageError("a cell cannot be read")
        return lloyd()(rows)

    unreadable = np.vstack([CROWD, [[np.nan, 1.0]]])
    for pair in ((unreadable, CROWD), (CROWD, unreadable)):
        assert not audit(mechanism, pair, claimed=1).holds


def test_rows_that_one_row_makes_others_read_differently_are_found() -> None:
    """Planted, as lists of rows were once read: one ragged row sends all rows through text, where inf is unreadable."""

    def mechanism(rows: list[list[float]]) -> Any:
        ragged = any(len(row) != 1 for row in rows)
        cells = [[0.5 if ragged and cell == inf else cell for cell in row] or [0.5] for row in rows]
        return ClusterRequest(n_clusters=2, bounds=(0, 1), method="lloyd", random_state=0).fit(np.array(cells))

    rows = [[inf]] * 200
    found = audit(mechanism, ([*rows, []], rows))
    assert not found.holds
    assert found.largest_loss > 50


@pytest.mark.parametrize("verb", ["synopsis adaptive-grid", "cluster adaptive-grid"])
def test_a_halved_sensitivity_per_person_is_found(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Planted: a person counts as one row."""
    tables = list(worst_neighbours(BY_PERSON))[8]
    assert audit_verb(verb, BY_PERSON, PureDP(1), tables).audit.holds
    for module in (terms, doors):
        monkeypatch.setattr(module, "for_unit", lambda kernel, unit: kernel)
    assert not audit_verb(verb, BY_PERSON, PureDP(1), tables).audit.holds


# What a result holds besides its certificate.

MANY = np.random.default_rng(0).random((2000, 2))
CHANGED = np.vstack([MANY[:1000], [[1.0, 1.0]], MANY[1001:]])


class Plain:
    """A result with attributes of its own."""


class Slotted:
    """A result that keeps its attributes in slots, and does not tell `pickle` of them."""

    __slots__ = ("rows",)

    def __getstate__(self) -> None:
        return None


def plain(rows: Any) -> Any:
    result = Plain()
    result.release_ = lloyd()(rows).release_  # type: ignore[attr-defined]
    result.total = float(np.sum(rows))  # type: ignore[attr-defined]
    return result


def slotted(rows: Any) -> Any:
    result = Slotted()
    result.rows = np.asarray(rows).copy()
    return result


def replaced(rows: Any) -> Any:
    model = KMeans(3, 1.0, bounds=(0, 1), random_state=0).fit(rows)
    model.cluster_centers_ = np.asarray(rows)[998:1001].copy()
    return model


def local_class(rows: Any) -> Any:
    class Result:
        exact = rows.tolist()

    return Result()


def local_method(rows: Any) -> Any:
    class Result:
        @property
        def mean(self) -> Any:
            return rows.mean()

    return [Result()]


def made_module(rows: Any) -> Any:
    module = types.ModuleType("results")
    module.rows = rows  # type: ignore[attr-defined]
    return module


def sub_release(rows: Any) -> Any:
    class Signed(Release):
        rows: Any

    made = lloyd()(MANY).release_
    signed = Signed(**{field.name: getattr(made, field.name) for field in dataclasses.fields(made)})
    object.__setattr__(signed, "rows", rows)
    return signed


def with_files(rows: Any) -> Any:
    return dataclasses.replace(lloyd()(MANY).release_, files={"rows.csv": str(rows.sum())})


def with_holder_files(rows: Any) -> Any:
    return dataclasses.replace(lloyd()(MANY).release_, holder_files=(str(rows.sum()),))


def caused(rows: Any) -> Any:
    error = ValueError("x")
    error.__cause__ = ValueError(str(rows.sum()))
    return error


def raised(rows: Any) -> Any:
    try:
        raise ValueError("x")
    except ValueError as error:
        return error


def cached(rows: Any) -> Any:
    return functools.lru_cache(lambda: rows.sum())


def slice_of(rows: Any) -> Any:
    return pa.array(np.append([1.0, 2.0], rows.ravel())).slice(0, 2)


LEAKS: dict[str, Callable[[Any], Any]] = {
    "the table": np.asarray,
    "a frame": pd.DataFrame,
    "an arrow table": lambda rows: pa.table({"x": rows[:, 0], "y": rows[:, 1]}),
    "nested": lambda rows: {"all": [({"rows": rows},)]},
    "objects": lambda rows: np.array([tuple(row) for row in rows] + [None], dtype=object),
    "a masked array": lambda rows: np.ma.masked_array(np.zeros(2000), mask=rows[:, 0] == 1.0),
    "attributes beside a certificate": plain,
    "slots": slotted,
    "centres that were replaced": replaced,
    "a function that knows the rows": lambda rows: lambda: rows,
    "a method of the rows": lambda rows: rows.sum,
    "a set": lambda rows: {float(value) for value in rows[:, 0]},
    "an iterator": lambda rows: iter(rows.tolist()),
    "a generator": lambda rows: (row for row in rows),
    "a class that is made": local_class,
    "a method of a class that is made": local_method,
    "a class by itself": lambda rows: type("T", (), {"rows": rows}),
    "a member of an enumeration": lambda rows: enum.Enum("E", {"rows": float(rows.sum())}),
    "a module that is made": made_module,
    "a view": lambda rows: np.vstack([np.zeros((3, 2)), rows])[:3],
    "a slice": slice_of,
    "a slice in a table": lambda rows: pa.table({"x": slice_of(rows)}),
    "words of a dictionary": lambda rows: pa.DictionaryArray.from_arrays([0], [1.0, float(rows.sum())]),
    "metadata of a type": lambda rows: np.zeros(2, np.dtype("f8", metadata={"rows": rows.sum()})),
    "a type": lambda rows: np.dtype("f8", metadata={"rows": rows.sum()}),
    "a subclass of a certificate": sub_release,
    "files of a certificate": with_files,
    "files for the holder": with_holder_files,
    "a cause": caused,
    "a traceback": raised,
    "a cached function": cached,
}
OPAQUE = ("a generator", "a method of the rows", "a module that is made", "a traceback", "a cached function")


@pytest.mark.parametrize("leak", LEAKS)
def test_a_result_is_compared_in_full(leak: str) -> None:
    """Planted: one row of 2,000, in the middle, shows in what is handed out."""
    found = audit(LEAKS[leak], (MANY, CHANGED), claimed=1)
    assert not found.holds
    assert found.largest_loss == inf
    assert any("results differ" in finding or "cannot be compared" in finding for finding in found.findings)


@pytest.mark.parametrize("leak", [leak for leak in LEAKS if leak not in OPAQUE])
def test_equal_results_are_equal(leak: str) -> None:
    """The same table twice: nothing is found."""
    found = audit(LEAKS[leak], (MANY, MANY.copy()), claimed=1)
    assert found.holds, found.findings


def test_a_result_that_grows_is_compared_as_it_was() -> None:
    """Planted: both calls hand out one list, which by then holds the sums of both."""
    sums: list[float] = []

    def mechanism(rows: Any) -> Any:
        sums.append(float(np.sum(rows)))
        return sums

    assert not audit(mechanism, (MANY, CHANGED), claimed=1).holds
