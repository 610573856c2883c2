"""Private k-means, end to end."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cloister as cl
from cloister.clustering.domain import from_bounds
from cloister.clustering.lloyd import count_and_sum_weights
from cloister.clustering.seeding.packing import sphere_packing
from cloister.errors import BudgetExceeded, SchemaError, UsageError
from cloister.testing import seeded_noise


def blobs(rows: int = 4000, columns: int = 3, clusters: int = 4) -> np.ndarray:
    points, _ = make_blobs(rows, n_features=columns, centers=clusters, random_state=3)
    return np.asarray(points)


@pytest.mark.parametrize("bounds", [(-15, 15), cl.Ball(30.0)], ids=["box", "ball"])
@pytest.mark.parametrize("budget", [cl.PureDP(1e9), cl.ApproxDP(1e9, 1e-6)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_centres_converge_to_plain_lloyd(bounds: object, budget: object, neighbours: str) -> None:
    """As epsilon grows the centres are those of non-private Lloyd from the same start, to within the grid.

    Gaussian noise stays that of epsilon 50: at most 0.03 in a coordinate of bounds 30 to 60 wide, with 5,000 rows.
    """
    X = blobs()
    model = cl.KMeans(4, budget=budget, bounds=bounds, method="lloyd", neighbours=neighbours, random_state=5).fit(X)
    domain = from_bounds(["x0", "x1", "x2"], bounds, "bounds")
    start = domain.decode(sphere_packing(domain, 4, np.random.default_rng(5)))
    plain = PlainKMeans(4, init=start, n_init=1, max_iter=model.n_iter_, tol=0).fit(X)
    assert model.n_iter_ == 7
    is_gaussian = isinstance(budget, cl.ApproxDP)
    assert np.abs(model.cluster_centers_ - plain.cluster_centers_).max() < (0.3 if is_gaussian else 1e-3)


def test_more_epsilon_means_less_error() -> None:
    """The loss falls as the budget grows."""
    X = blobs()

    def loss(epsilon: float) -> float:
        runs = [cl.KMeans(4, epsilon, (-15, 15), "lloyd", random_state=1).fit(X).cluster_centers_ for _ in range(5)]
        return float(np.mean([((X[:, None] - c[None]) ** 2).sum(2).min(1).mean() for c in runs]))

    assert loss(10) < loss(0.02)


@pytest.mark.parametrize("kind", ["numpy", "fortran", "pandas", "polars", "arrow", "csv", "parquet"])
def test_every_form_of_data_gives_the_same_centres(kind: str, tmp_path: Path) -> None:
    """With seeded noise the form of the data does not matter, to the last bit."""
    X = blobs(500, 2)
    names = ["x0", "x1"]
    table = pa.table({name: X[:, j] for j, name in enumerate(names)})
    pq.write_table(table, tmp_path / "x.parquet")
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "x.csv", index=False, sep=";")
    forms = {
        "numpy": X,
        "fortran": np.asfortranarray(X),
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "arrow": table,
        "csv": str(tmp_path / "x.csv"),
        "parquet": tmp_path / "x.parquet",
    }
    with seeded_noise(1):
        expected = cl.KMeans(3, 1.0, (-15, 15), "lloyd", random_state=0).fit(X).cluster_centers_
    with seeded_noise(1):
        model = cl.KMeans(3, 1.0, (-15, 15), "lloyd", columns=names, random_state=0).fit(forms[kind])
    assert np.array_equal(model.cluster_centers_, expected)
    assert np.array_equal(model.predict(forms[kind]), model.predict(X))


def test_rows_that_cannot_be_read_never_abort() -> None:
    """Nulls, NaN, infinities and text become the public default or the border, and nothing is said about them."""
    table = pa.table({"a": ["1", None, "text", "nan", "inf", "-5", "2,5"]})
    written_as_text = cl.Schema.from_text('[columns.a]\nkind = "number"\nbounds = [0, 10]\n')
    model = cl.KMeans(2, 1.0, method="lloyd", schema=written_as_text).fit(table)
    assert np.isfinite(model.cluster_centers_).all()


def test_nothing_exact_is_kept() -> None:
    """A fitted model has no labels and no inertia, and pickles without a row."""
    X = blobs(300, 2)
    model = cl.KMeans(2, 1.0, (-15, 15)).fit(X)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "inertia_")
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.predict(X), model.predict(X))
    assert len(pickle.dumps(model)) < 20_000


def test_seeded_noise_is_stamped() -> None:
    """A release made with seeded noise says NOT PRIVATE; any other does not repeat."""
    X = blobs(300, 2)
    with seeded_noise(1):
        seeded = cl.KMeans(2, 1.0, (-15, 15)).fit(X)
    plain = [cl.KMeans(2, 1.0, (-15, 15), random_state=0).fit(X) for _ in range(2)]
    assert "NOT PRIVATE" in seeded.release_.status
    assert "NOT PRIVATE" not in plain[0].release_.status
    assert not np.array_equal(plain[0].cluster_centers_, plain[1].cluster_centers_)


def test_the_count_and_sum_split_is_the_published_one() -> None:
    """At 16 columns the split is 1.4797 : 1 a column."""
    assert float(count_and_sum_weights(16, "L1")["counts"]) == pytest.approx(1.4797, abs=5e-5)


def test_a_named_table_is_charged_and_refused_beyond_its_total(tmp_path: Path) -> None:
    """A fit charges the ledger before it reads, and is refused when the total would be passed."""
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("people", "add-remove", Fraction(3, 2))
    model = cl.KMeans(2, 1.0, (-15, 15), table="people", ledger=ledger)
    assert model.fit(blobs(300, 2)).release_.ledger is not None
    with pytest.raises(BudgetExceeded, match=r"needs epsilon 1, and 0\.5 of 1\.5 is left"):
        model.fit(blobs(300, 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 0}, "at least 1"),
        ({"n_clusters": 2.5}, "at least 1"),
        ({"budget": 0}, "positive finite"),
        ({"budget": float("inf")}, "positive finite"),
        ({"bounds": (1, 0)}, "below its high bound"),
        ({"bounds": (0, np.nan)}, "finite"),
        ({"bounds": ([0, 0, 0], 1)}, "one for each"),
        ({"bounds": 3}, "pair"),
        ({"method": "magic"}, "not known"),
        ({"scale": "wide"}, "scale must be"),
        ({"columns": ["absent"]}, "no column"),
        ({"max_iter": 0}, "max_iter"),
        ({"engine": "abacus"}, "engine must be"),
        ({"ledger": "somewhere.sqlite"}, "which table"),
        ({"neighbours": "friends"}, "neighbours must be"),
    ],
)
def test_usage_faults_abort_before_anything_is_read(change: dict[str, object], message: str) -> None:
    """Each fault is told in the user's words; no row is read."""

    class Unreadable:
        names = ("x0", "x1")
        in_memory = True

        def batches(self, columns: object) -> object:
            raise AssertionError("a row was read")

    with pytest.raises(UsageError, match=message):
        cl.KMeans(**{"n_clusters": 2, "budget": 1.0, "bounds": (0, 1), **change}).fit(Unreadable())


def test_a_schema_without_bounds_is_refused() -> None:
    """A number column without bounds names the column and says what to add."""
    schema = cl.Schema.from_text('[columns.age]\nkind = "number"\n')
    with pytest.raises(SchemaError, match='column "age" has no bounds'):
        cl.KMeans(2, 1.0, schema=schema).fit(pa.table({"age": [1, 2]}))


@pytest.mark.parametrize(
    "odd",
    ["secret", None, 1j, 10**400, 10**5000, [1], b"\xff"],
    ids=["text", "none", "complex", "400", "5000", "list", "bytes"],
)
def test_no_single_row_decides_whether_a_fit_succeeds(odd: object) -> None:
    """Whatever one cell of a list, an object array or a frame holds, the fit goes through."""
    rows: list[list[object]] = [[0.1, 0.2]] * 50 + [[odd, 0.3]]
    array = np.empty((51, 2), dtype=object)
    array[:] = [[0.1, 0.2]] * 51
    array[50, 0] = odd
    for X in (rows, array, pd.DataFrame(array, columns=["a", "b"])):
        cl.KMeans(2, 1.0, (0, 1), columns=["a", "b"] if isinstance(X, pd.DataFrame) else ["x0", "x1"]).fit(X)


def test_a_short_row_of_a_list_is_filled_up() -> None:
    """Ragged rows are read as in a file; how wide the table is was stated."""
    rows = [[0.1, 0.2]] * 20 + [[0.5], [0.5, 0.5, 0.5]]
    assert cl.KMeans(2, 1.0, ([0, 0], [1, 1])).fit(rows).cluster_centers_.shape == (2, 2)
    assert cl.KMeans(2, 1.0, (0, 1), columns=["x1"]).fit(rows).predict(rows).shape == (22,)


@pytest.mark.parametrize("rows", [[], [[0.1, 0.2]] * 9, [None], [[1, 2], [3]]], ids=["empty", "even", "none", "ragged"])
def test_a_list_does_not_say_how_wide_it_is(rows: list[object]) -> None:
    """Whatever its rows are, a list is refused until its columns are stated: one row could change what the others say."""
    with pytest.raises(UsageError, match="which columns it has"):
        cl.KMeans(2, 1.0, (0, 1)).fit(rows)


def test_habits_of_scikit_learn() -> None:
    """It clones, sits in a pipeline and predicts."""
    X = blobs(300, 2)
    model = clone(cl.KMeans(2, 1.0, (-15, 15)))
    labels = make_pipeline(FunctionTransformer(), model).fit_predict(X)
    assert labels.shape == (300,)
    assert set(labels) <= {0, 1}


def test_a_plan_needs_no_rows() -> None:
    """A plan prints its steps from n and d alone, and adds up to the budget."""
    plan = cl.KMeans(3, 1.0, (0, 1), "lloyd").plan(n=5000, d=2)
    assert plan.keeps_budget()
    assert "round 1" in str(plan)


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "parquet"])
def test_a_column_of_text_is_refused_by_its_type(form: str, tmp_path: Path) -> None:
    """Where types say that a column holds text, the user is asked which columns to cluster."""
    table = pa.table({"name": ["a", "b"], "age": [1, 2]})
    pq.write_table(table, tmp_path / "people.parquet")
    forms = {
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "parquet": tmp_path / "people.parquet",
    }
    with pytest.raises(UsageError, match='"name" holds text'):
        cl.KMeans(2, 1.0, (0, 1)).fit(forms[form])
    assert cl.KMeans(2, 1.0, (0, 1), columns=["age"]).fit(forms[form]).cluster_centers_.shape == (2, 1)


@pytest.mark.parametrize(
    "wrong", [{"n": "file"}, {"n": 5, "d": "x"}, {"n": 5, "names": "age"}, {"n": 5, "names": [1]}, {"n": True}]
)
def test_a_plan_with_other_types_is_told_in_a_sentence(wrong: dict[str, object]) -> None:
    """`plan("file")` was a raw TypeError."""
    with pytest.raises(UsageError):
        cl.KMeans(2, bounds=(0, 1)).plan(**wrong)


def test_a_plan_without_columns_asks_for_them() -> None:
    """Bounds with one number a column say how many there are; otherwise d does."""
    with pytest.raises(UsageError, match="Say how many columns: d=2"):
        cl.KMeans(3, 1, (0, 1)).plan(n=1000)
    assert cl.KMeans(3, 1, ([0, 0], [1, 1])).plan(n=1000).facts["columns"] == 2
    assert cl.KMeans(3, 1, (0, 1), columns=["a", "b", "c"]).plan(n=1000).facts["columns"] == 3


@pytest.mark.parametrize(
    ("bounds", "columns", "told"),
    [
        (((0, 100), (0, 100)), 2, "one pair a column"),
        (((0, 100), (0, 100), (0, 1)), 3, "one pair a column"),
        ([(0, 100), (0, 100)], 2, "one pair a column"),
        (np.array([[0, 1], [0, 1], [0, 1]]), 3, "one pair a column"),
        (([0, 0], [1]), 2, "one for each of the 2 columns"),
        (([0], [1, 1]), 2, "one for each of the 2 columns"),
        (([0, 0, 0], [1, 1, 1]), 2, "one for each of the 2 columns"),
    ],
)
def test_bounds_of_another_form_are_refused_with_the_right_one(bounds: Any, columns: int, told: str) -> None:
    """Pairs by column and lists of different lengths; nothing is read."""
    with pytest.raises(UsageError, match=told):
        cl.KMeans(3, 1, bounds).plan(1000, columns)


def test_bounds_by_column_are_lows_and_highs() -> None:
    """What is a valid pair of lows and highs is taken as that."""
    assert cl.KMeans(3, 1, ((0, 1), (2, 3))).plan(1000, 2).keeps_budget()
    assert cl.KMeans(3, 1, ([0], [1])).plan(1000, 1).keeps_budget()
    assert cl.KMeans(3, 1, (0, [1, 2])).plan(1000, 2).keeps_budget()
