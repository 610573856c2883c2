"""Synopses, end to end."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans as PlainKMeans

import cloister as cl
from cloister.clustering.synopsis.queries import kept_weights
from cloister.clustering.synopsis.request import SynopsisRequest
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.errors import BudgetExceeded, SchemaError, UsageError
from cloister.testing import seeded_noise
from tests.real_data import as_numbers, real_set

BUDGETS = [cl.PureDP(1), cl.ApproxDP(1, 1e-6), cl.Identifiability(rho=0.5, worlds=20)]
# rho is a replace-one guarantee
PROMISES = [(budget, "replace-one") for budget in BUDGETS] + [(budget, "add-remove") for budget in BUDGETS[:2]]
MIDDLES = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])


def heaps(rows: int = 6000, columns: int = 2) -> np.ndarray:
    random = np.random.default_rng(0)
    middles = np.pad(MIDDLES, ((0, 0), (0, columns - 2)), constant_values=0.5)
    return np.clip(random.normal(middles[random.integers(3, size=rows)], 0.05), 0, 1)


@pytest.mark.parametrize(("budget", "neighbours"), PROMISES)
@pytest.mark.parametrize("method", SHAPES)
def test_every_method_finds_heaps_under_every_budget(method: str, budget: object, neighbours: str) -> None:
    """Three heaps are found, the certificate adds up, and its guarantee is the budget's."""
    made = cl.synopsis(heaps(), budget, (0, 1), method, neighbours=neighbours)
    centers = made.cluster(3, random_state=0).cluster_centers_
    assert (((centers[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.01).all()
    assert made.release.adds_up()
    assert made.release.guarantee.neighbours == neighbours
    assert made.total == pytest.approx(6000, abs=600)


@pytest.mark.parametrize("method", SHAPES)
def test_a_synopsis_becomes_exact_as_epsilon_grows(method: str) -> None:
    """At a huge epsilon every cell has its exact count, and the centres are those of plain k-means."""
    X = heaps(3000)
    made = cl.synopsis(X, 1e7, (0, 1), method)
    assert made.cells.counts.sum() == pytest.approx(3000, abs=1e-3)
    low, high = made.domain.decode(made.cells.lower), made.domain.decode(made.cells.upper)
    for i in np.argsort(-made.cells.counts)[:5]:
        inside = ((low[i] - 1e-6 <= X) & (high[i] + 1e-6 > X)).all(axis=1).sum()
        assert made.cells.counts[i] == pytest.approx(inside, abs=1.01)
    plain = PlainKMeans(3, n_init=5, random_state=0).fit(X).cluster_centers_
    centers = made.cluster(3, random_state=0).cluster_centers_
    assert ((centers[:, None] - plain[None]) ** 2).sum(2).min(axis=0).max() < 1e-3


def test_cells_cover_the_domain_without_overlap() -> None:
    """Cells of every method have the volume of the box, in any number of columns."""
    for method, columns in [("uniform-grid", 3), ("adaptive-grid", 3), ("tree", 5)]:
        made = cl.synopsis(heaps(2000, columns), 1.0, (0, 1), method)
        widths = (made.cells.upper - made.cells.lower) / (2.0 * made.domain.halves)
        assert widths.prod(axis=1).sum() == pytest.approx(1.0, rel=1e-6)


def test_a_ball_leaves_out_what_lies_outside_it() -> None:
    """Cells wholly outside a public ball are not there, and heaps inside are found."""
    made = cl.synopsis(heaps() - 0.5, 1.0, cl.Ball(1.0), "uniform-grid")
    corners = np.clip(0.0, made.cells.lower, made.cells.upper)
    assert ((corners**2).sum(axis=1) <= made.domain.radius**2).all()
    centers = made.cluster(3, random_state=0).cluster_centers_ + 0.5
    assert (((centers[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.02).all()


def test_a_sparse_grid_writes_down_survivors_only() -> None:
    """Five columns, more cells than a dense grid allows: only counts of at least the threshold are there."""
    made = cl.synopsis(heaps(20_000, 5), 2.0, (0, 1), "uniform-grid", threshold=8)
    assert (made.cells.counts >= 8).all()
    assert len(made) < 20_000
    centers = made.cluster(3, random_state=0).cluster_centers_[:, :2]
    assert (((centers[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.02).all()


def test_counts_in_boxes_have_honest_errors() -> None:
    """Over 40 releases the error of a box made of whole first-level cells is about its standard error."""
    X = heaps()
    box = {"x0": (0.1, 0.4), "x1": (0.0, 0.5)}
    exact = ((X[:, 0] >= 0.1) & (X[:, 0] < 0.4) & (X[:, 1] < 0.5)).sum()
    scores = []
    for _ in range(40):
        answer = cl.synopsis(X, 1.0, (0, 1)).count(box)
        scores.append((answer.value - exact) / answer.standard_error)
    assert 0.5 < np.std(scores) < 1.7  # a chi-square of 40 lies outside once in a million
    assert abs(np.mean(scores)) < 1.0


def test_the_whole_box_counts_everybody() -> None:
    """Without limits a count is the sum of all cells."""
    made = cl.synopsis(heaps(), 1.0, (0, 1))
    assert made.count({}).value == pytest.approx(made.cells.counts.sum())


AGES = cl.Schema.from_text('[columns.age]\nkind = "number"\nbounds = [0, 9]\nstep = 1\n')


@pytest.mark.parametrize("method", ["tree", "uniform-grid"])
def test_values_of_a_step_are_counted_as_a_whole(method: str) -> None:
    """count({"age": (7, 7)}) was 0.0 +- 0.0: the ends of a box are values, and those of all values add up to everybody."""
    table = pa.table({"age": pa.array(np.repeat(np.arange(10), 1_000))})
    made = cl.synopsis(table, 1_000, schema=AGES, method=method)
    each = [made.count({"age": (age, age)}) for age in range(10)]
    assert [answer.value for answer in each] == pytest.approx([1_000] * 10, rel=0.25)
    assert min(answer.standard_error for answer in each) > 0
    assert sum(answer.value for answer in each) == pytest.approx(made.count({}).value)
    assert made.count({"age": (0, 3)}).value == pytest.approx(sum(answer.value for answer in each[:4]))
    assert made.count({"age": (-5, 3.4)}).value == pytest.approx(made.count({"age": (0, 3)}).value)
    assert made.count({"age": (3.2, 3.8)}).value == 0
    assert made.count({"age": (-np.inf, np.inf)}).value == pytest.approx(made.count({}).value)


def test_made_up_rows_follow_the_synopsis() -> None:
    """A sample lies in the bounds and its heaps are where the table's are."""
    rows = cl.synopsis(heaps(), 2.0, (0, 1), "tree").sample(3000, random_state=0)
    assert rows.column_names == ["x0", "x1"]
    values = np.column_stack([rows[name].to_numpy() for name in rows.column_names])
    assert values.min() >= 0
    assert values.max() <= 1
    found = PlainKMeans(3, n_init=5, random_state=0).fit(values).cluster_centers_
    assert (((found[:, None] - MIDDLES[None]) ** 2).sum(2).min(axis=0) < 0.02).all()


def test_weights_drop_what_the_noise_explains() -> None:
    """The largest counts stay until they add up to the total; none is negative."""
    counts = np.array([50.0, -3, 40, 2, 1, -1, 0.5])
    assert kept_weights(counts, 90).tolist() == [50, 0, 40, 0, 0, 0, 0]
    assert kept_weights(counts, 91).tolist() == [50, 0, 40, 2, 0, 0, 0]
    assert kept_weights(-counts[:1], 10).tolist() == [0]


def test_a_unit_makes_the_guarantee_per_person() -> None:
    """With a schema's unit the noise grows by the rows a person may have, and the certificate says person."""
    people = np.repeat(np.arange(1500), 4)
    table = pa.table({"who": people, "x": heaps()[:, 0], "y": heaps()[:, 1]})
    text = 'unit = "who"\nmax_rows = 2\n[columns.who]\nkind = "number"\n'
    text += "".join(f'[columns.{name}]\nkind = "number"\nbounds = [0, 1]\n' for name in "xy")
    for method in SHAPES:
        made = cl.synopsis(table, 1.0, method=method, schema=cl.Schema.from_text(text), columns=["x", "y"])
        assert "person" in str(made.release.guarantee)
        assert made.release.adds_up()
        assert made.total == pytest.approx(3000, abs=500)


@pytest.mark.parametrize("method", SHAPES)
def test_seeded_releases_repeat_and_say_so(method: str) -> None:
    """Seeded noise gives the same cells and is stamped; a ledger-free plain release is not."""
    made = []
    for _ in range(2):
        with seeded_noise(5):
            made.append(cl.synopsis(heaps(500), 1.0, (0, 1), method))
    assert np.array_equal(made[0].cells.counts, made[1].cells.counts)
    assert "NOT PRIVATE" in made[0].release.status


def test_a_named_table_is_charged_once_and_clusters_are_free(tmp_path: Path) -> None:
    """The ledger is charged for the synopsis; clustering it any number of times charges nothing."""
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("people", "add-remove", 1)
    made = cl.synopsis(heaps(500), 1.0, (0, 1), table="people", ledger=ledger)
    for k in (1, 2, 3):
        assert made.cluster(k).release_.adds_up()
    with pytest.raises(BudgetExceeded):
        cl.synopsis(heaps(500), 1.0, (0, 1), table="people", ledger=ledger)


def test_nothing_exact_is_kept() -> None:
    """A synopsis pickles, and what is pickled grows with its cells, not with the rows."""
    made = cl.synopsis(heaps(20_000), 0.05, (0, 1))
    assert len(pickle.dumps(made)) < 6000 + 100 * len(made)
    assert pickle.loads(pickle.dumps(made)).cluster(2).cluster_centers_.shape == (2, 2)


@pytest.mark.parametrize("seeding", ["kmeans++", "kmeans||", "canopy", "evolution"])
def test_clusters_say_where_they_come_from(seeding: str) -> None:
    """Centres carry the synopsis' guarantee, its digest, and label rows for the holder."""
    X = heaps()
    made = cl.synopsis(X, 2.0, (0, 1))
    model = made.cluster(3, seeding, random_state=0)
    assert model.release_.guarantee == made.release.guarantee
    assert model.release_.result["synopsis"] == made.release.digest()
    assert model.cluster_sizes_.sum() == pytest.approx(6000, rel=0.1)
    labels = model.predict(X)
    assert len(set(labels[(np.abs(X - MIDDLES[0]) < 0.05).all(axis=1)])) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, "not known"),
        ({"alpha": 1}, "alpha must lie"),
        ({"alpha": -0.5}, "alpha"),
        ({"threshold": 3}, "uniform-grid"),
        ({"method": "uniform-grid", "threshold": 0}, "at least 1"),
        ({"most_cells": 0}, "most_cells"),
        ({"most_cells": 50}, "Use method tree"),
        ({"bounds": None}, "bounds of the data are not known"),
        ({"budget": 0}, "positive finite"),
        ({"columns": ["absent"]}, "no column"),
        ({"scale": "wide"}, "scale must be"),
    ],
)
def test_usage_faults_abort_before_anything_is_read(change: dict[str, object], message: str) -> None:
    """Each fault is told in the user's words; no row is read."""

    class Unreadable:
        names = ("x0", "x1")
        in_memory = True

        def batches(self, columns: object) -> object:
            raise AssertionError("a row was read")

    arguments = {"budget": 1.0, "bounds": (0, 1), **change}
    with pytest.raises(UsageError, match=message):
        cl.synopsis(Unreadable(), **arguments)


def test_too_many_cells_hint_at_the_tree() -> None:
    """A grid that the rows make too fine is kept at its cap; columns that no cap allows are refused; the tree takes them."""
    made = cl.synopsis(heaps(100_000, 8), 1.0, (0, 1), "uniform-grid", most_cells=1000)
    assert len(made.cells) == 2**8
    assert any("Method tree" in note for note in made.release.notes)
    for method in ("adaptive-grid", "uniform-grid"):
        with pytest.raises(UsageError, match=r"at its coarsest, for 30 columns.*Use method tree"):
            cl.synopsis(np.zeros((5, 30)), 1.0, (0, 1), method)
    assert cl.synopsis(np.zeros((500, 30)), 1.0, (0, 1), "tree").cluster(1).cluster_centers_.shape == (1, 30)


def test_too_many_columns_for_a_tree_are_refused() -> None:
    """Beyond 62 columns a Morton key has no digit for each."""
    with pytest.raises(UsageError, match="62 columns"):
        cl.synopsis(np.zeros((5, 63)), 1.0, (0, 1), "tree")


def test_a_table_without_numbers_is_refused() -> None:
    """A schema without a number column is told so."""
    schema = cl.Schema.from_text('[columns.colour]\nkind = "category"\ndomain = ["red", "blue"]\n')
    with pytest.raises(SchemaError, match="no number column"):
        cl.synopsis(pa.table({"colour": ["red"]}), 1.0, schema=schema)


def test_bad_questions_are_refused() -> None:
    """Unknown columns, ranges upside down, and more clusters than cells are told in the user's words."""
    made = cl.synopsis(heaps(500), 1.0, (0, 1))
    for box, message in [({"z": (0, 1)}, "no column"), ({"x0": (1, 0)}, "low end first"), ({"x0": 3}, "two numbers")]:
        with pytest.raises(UsageError, match=message):
            made.count(box)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cells that are not empty"):
        made.cluster(100_000)
    with pytest.raises(UsageError, match="at least 1"):
        made.cluster(0)
    with pytest.raises(UsageError, match="whole number"):
        made.sample(-1)
    with pytest.raises(UsageError, match="not known"):
        made.cluster(2, "magic")


def test_an_empty_table_is_released_like_any_other() -> None:
    """No rows at all: the cells hold noise, and nothing breaks."""
    for method in SHAPES:
        made = cl.synopsis(np.empty((0, 2)), 1.0, (0, 1), method)
        assert len(made) >= 1
        assert made.release.adds_up()
        assert abs(made.total) < 1000


def test_a_plan_needs_no_rows() -> None:
    """A plan prints its steps from the number of rows and the columns alone."""
    text = str(SynopsisRequest(budget=1.0, bounds=(0, 1)).plan(5000, ["x", "y"]))
    assert "10 ** 2 cells" in text
    assert "level 2" in text


def test_s1_is_clustered_nearly_as_without_privacy() -> None:
    """On S1 at epsilon 1 an adaptive grid loses at most a tenth, and the depth rule finds 15."""
    X = as_numbers(real_set("s1")) / 1_000_000
    made = cl.synopsis(X, 1.0, (0, 1))
    plain = PlainKMeans(15, n_init=10, random_state=0).fit(X).inertia_
    centers = made.cluster(15, "evolution", random_state=0).cluster_centers_
    assert ((X[:, None] - centers[None]) ** 2).sum(2).min(1).sum() <= 1.1 * plain
    assert made.suggest_k().clusters in (14, 15, 16)
    assert dataclasses.asdict(made.suggest_k())["depths"].shape == (29,)


def test_auto_takes_the_number_that_is_suggested() -> None:
    """As the command does; the certificate says that it was chosen. Another word is refused."""
    rows = np.random.default_rng(3).normal([[0.2, 0.2], [0.8, 0.8]] * 1000, 0.03)
    made = cl.synopsis(rows, budget=5, bounds=(0, 1))
    clusters = made.cluster("auto", random_state=0)
    assert len(clusters.cluster_centers_) == made.suggest_k().clusters
    assert "chosen from the released cells" in clusters.release_.parameters["choices"]["clusters"]
    with pytest.raises(UsageError, match='or "auto"'):
        made.cluster("some")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [45, 1000])
def test_a_sparse_grid_at_a_huge_epsilon_comes_back(epsilon: float) -> None:
    """The noise has a floor where the draw of empty cells would run out of digits."""
    X = np.random.default_rng(0).random((500, 2))
    made = cl.synopsis(X, budget=epsilon, bounds=(0, 1), method="uniform-grid", threshold=1)
    assert made.release_.adds_up() if hasattr(made, "release_") else made.release.adds_up()
