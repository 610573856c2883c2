"""Laws that hold on every engine: local, Spark classic, Spark Connect, and a standalone cluster."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.encode import Encoded, Encoding
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import BoxClip, Moments
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from cloister.privacy.secret_draws import secret_draw
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.testing import seeded_noise
from tests.engines.kernels import FromCorner
from tests.engines.spark import jobs
from tests.laws.kernels import HALF, KERNELS, SIZES, Case, rows_for
from tests.laws.tables import identity, random_rows, write
from tests.spark_hosts import Host

pytestmark = pytest.mark.spark

MANY = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
CUTS: tuple[jobs.Cut, ...] = (5, (4, "c0"))


def local(path: Path, encoding: Encoding, unit: Unit | None = None) -> LocalEngine:
    return LocalEngine(open_source(path), encoding, unit)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[part], other[part]) and one[part].dtype == other[part].dtype == np.int64 for part in one
    )


def draw_case(name: str) -> tuple[Case, Encoded]:
    """A kernel of this name and rows for it: the last of a few that are drawn, the first are the simplest."""
    drawn: list[tuple[Case, Encoded]] = []

    @MANY
    @given(data=st.data())
    def draw(data: st.DataObject) -> None:
        case = data.draw(KERNELS[name]())
        drawn.append((case, data.draw(rows_for(case, least=20, most=60))))

    draw()
    return drawn[-1]


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_kernel_gives_the_local_summary_on_spark(spark: Host, name: str, tmp_path: Path) -> None:
    """Whatever the partitioning, the summary on Spark is the local one, bit for bit."""
    case, rows = draw_case(name)
    encoding = identity(case.columns, HALF, SIZES)
    path = write(tmp_path, name, rows)
    expected = dict(open_exact(local(path, encoding).fold(case.kernel)).parts)
    for outcome in spark(jobs.folds, path, encoding, [case.kernel], None, CUTS if spark.kind == "classic" else CUTS[1:]):
        assert same(outcome[0], expected)


@pytest.fixture(scope="module")
def people_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 rows of about 100 people, some with one row and some with many, with equal rows among them."""
    random = np.random.default_rng(3)
    people = np.concatenate([np.arange(60), np.repeat(np.arange(60, 100), 11), np.repeat([200], 100)])
    rows = random_rows(3, len(people), 2, 3, (3,))
    return write(tmp_path_factory.mktemp("people"), "people", rows, random.permutation(people))


ENCODING = identity(2, 3, (3,))
KERNEL = Moments(BoxClip((3, 3)), 2)


@pytest.mark.parametrize("unit", [None, Unit("who", 1), Unit("who", 4)], ids=["rows", "one each", "four each"])
def test_the_same_rows_of_a_person_are_kept_everywhere(spark: Host, people_path: Path, unit: Unit | None) -> None:
    """Bounded by person or not, summaries on Spark are the local ones under every partitioning."""
    expected = dict(open_exact(local(people_path, ENCODING, unit).fold(KERNEL)).parts)
    cuts: tuple[jobs.Cut, ...] = (1, (3, "n1"))
    for outcome in spark(jobs.folds, people_path, ENCODING, [KERNEL], unit, cuts):
        assert same(outcome[0], expected)


@pytest.mark.parametrize(("unit", "person"), [(None, None), (Unit("who", 2), None), (None, "who")])
def test_counts_by_key_agree(spark: Host, people_path: Path, unit: Unit | None, person: str | None) -> None:
    """Keys, their order and their counts are the local ones: of rows, of bounded rows, and by person."""
    expected = open_exact(local(people_path, ENCODING, unit).fold_by_key(RowKeys(3), person))
    found = spark(jobs.by_key, people_path, ENCODING, RowKeys(3), unit, person, (5, "n0"))
    assert np.array_equal(found.keys, expected.keys)
    assert np.array_equal(found.counts, expected.counts)


def test_distinct_values_agree(spark: Host, people_path: Path) -> None:
    """The different values of columns of several kinds are the local ones, each once."""
    kernel = DistinctValues(("c0", "n1", "who"), (100, 100, 1_000))
    expected = open_exact(local(people_path, ENCODING).distinct(kernel)).to_pylist()
    found = spark(jobs.distinct_values, people_path, ENCODING, kernel, (5, "n0"))
    assert sorted(map(str, found)) == sorted(map(str, expected))
    assert len(expected) == len(set(map(str, expected))) > 100


@pytest.mark.parametrize("unit", [None, Unit("who", 2)], ids=["rows", "people"])
def test_rows_are_ranked_alike_everywhere(spark: Host, people_path: Path, unit: Unit | None) -> None:
    """Rows in the order of their distance to a corner, ties by the row itself, have the same places on every engine."""
    made = local(people_path, ENCODING, unit)
    expected, order = open_exact(made.rank(FromCorner())), FromCorner()
    found = spark(jobs.ranked, people_path, ENCODING, order, unit, (5, "n0"))
    assert np.array_equal(found.keys, expected.keys)
    assert np.array_equal(found.places, expected.places)
    every = np.concatenate([order.keys(rows)[:, 0] for rows in made.rows.each(lambda rows: rows)])
    assert np.repeat(found.keys[:, 0], found.counts).tolist() == sorted(every.tolist())


@pytest.mark.parametrize("unit", [None, Unit("who", 3)], ids=["rows", "people"])
def test_a_seeded_sample_is_the_same_everywhere(spark: Host, people_path: Path, unit: Unit | None) -> None:
    """Under seeded noise a secret sample holds the same rows, or people, on every engine and partitioning."""
    rate = Fraction(1, 4)
    with seeded_noise(5):
        sample = local(people_path, ENCODING, unit).sample(secret_draw(rate).keep)
        expected = dict(open_exact(sample.fold(KERNEL)).parts)
    for outcome in spark(jobs.seeded_samples, people_path, ENCODING, KERNEL, rate, unit, (1, (3, "n0"))):
        assert same(outcome, expected)


@pytest.fixture(scope="module")
def blobs_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """70,000 rows around four places, of people with one to five rows: enough rows for a secret sample."""
    random = np.random.default_rng(8)
    places = np.array([[-300, -300], [-200, 300], [250, -250], [300, 200]])
    people = np.repeat(np.arange(24_000), random.integers(1, 6, 24_000))[:70_000]
    numbers = places[random.integers(0, 4, len(people))] + random.normal(0, 40, (len(people), 2))
    rows = Encoded(np.rint(numbers).astype(np.int32), np.empty((len(people), 0), np.int32))
    return write(tmp_path_factory.mktemp("blobs"), "blobs", rows, people)


BLOBS = {"n_clusters": 4, "bounds": (-500, 500), "columns": ["n0", "n1"], "random_state": 1}
PER_PERSON = cl.Schema.from_text(
    'unit = "who"\nmax_rows = 2\n[columns.n0]\nkind = "number"\nbounds = [-500, 500]\n'
    '[columns.n1]\nkind = "number"\nbounds = [-500, 500]\n[columns.who]\nkind = "text"\nrole = "identifier"\n'
)
FITS = {
    "lloyd": {**BLOBS, "budget": 1.0, "method": "lloyd", "max_iter": 2},
    "votes": {**BLOBS, "budget": cl.ApproxDP(1, 1e-6), "method": "votes"},
    "per person": {"n_clusters": 4, "budget": cl.ApproxDP(2, 1e-6), "schema": PER_PERSON, "random_state": 1},
}


@pytest.mark.parametrize("fit", FITS)
def test_seeded_kmeans_finds_identical_centres(spark: Host, blobs_path: Path, fit: str) -> None:
    """Seeded k-means on Spark gives the centres of the local engine, to the last bit, sampled rounds included."""
    with seeded_noise(9):
        expected = cl.KMeans(**FITS[fit]).fit(blobs_path)
    centers, guarantee, _ = spark(jobs.kmeans, blobs_path, FITS[fit], 5)
    assert np.array_equal(centers, expected.cluster_centers_)
    assert guarantee == str(expected.release_.guarantee)


@pytest.mark.parametrize("form", ["path", "table"])
def test_paths_and_tables_are_data_too(classic: Host, blobs_path: Path, form: str) -> None:
    """With engine="spark" a path or the name of a table is read by Spark, with the same result."""
    with seeded_noise(9):
        expected = cl.KMeans(**FITS["lloyd"]).fit(blobs_path)
    assert np.array_equal(classic(jobs.kmeans, blobs_path, FITS["lloyd"], 3, form)[0], expected.cluster_centers_)


def test_predict_adds_a_column_lazily(spark: Host, people_path: Path) -> None:
    """Labels on Spark are the local ones, row by row, and nothing runs before they are read."""
    fit = {"n_clusters": 3, "budget": 5.0, "bounds": (-3, 3), "columns": ["n0", "n1"], "method": "lloyd", "random_state": 0}
    with seeded_noise(9):
        model = cl.KMeans(**fit).fit(people_path)
    columns, labels, begun = spark(jobs.predict, people_path, fit)
    assert columns == ["n0", "n1", "c0", "id", "who", "cluster"]
    assert [labels[i] for i in range(len(labels))] == model.predict(people_path).tolist()
    assert begun == 0


def test_seeded_prototypes_are_the_local_ones(spark: Host, people_path: Path) -> None:
    """Numbers and categories: the same prototypes and labels, whatever the partitioning."""
    fit = {"n_clusters": 3, "budget": 5, "bounds": (-3, 3), "categories": {"c0": ["0", "1"]}, "columns": ["c0", "n1", "n0"]}
    fit |= {"gamma": 0.4, "random_state": 1}
    with seeded_noise(9):
        model = cl.KPrototypes(**fit).fit(people_path)
    centers, labels = spark(jobs.prototypes, people_path, fit, (5, "n0"))
    assert centers == model.cluster_centers_.tolist()
    assert [labels[i] for i in range(len(labels))] == model.predict(people_path).tolist()


def test_scores_on_spark_are_the_local_ones(classic: Host, people_path: Path) -> None:
    """Every score, to the last bit."""
    fit = {"n_clusters": 3, "budget": 5.0, "bounds": (-3, 3), "columns": ["n0", "n1"], "method": "lloyd", "random_state": 0}
    with seeded_noise(9):
        model = cl.KMeans(**fit).fit(people_path)
    assert classic(jobs.scores, people_path, fit, "c0") == model.score_report(people_path, "c0").as_dict()


def test_large_summaries_are_added_by_workers_first(classic: Host, people_path: Path) -> None:
    """A summary of more than a megabyte goes through a tree of additions and comes out the same."""
    wide = jobs.WideCounts(200_000)
    expected = dict(open_exact(local(people_path, ENCODING).fold(wide)).parts)
    for outcome in classic(jobs.folds, people_path, ENCODING, [wide], None, (1, 6)):
        assert same(outcome[0], expected)
