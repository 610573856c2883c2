"""k-means by votes, and its secret samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import make_blobs

import cloister as cl
from cloister.encode import Encoding, Grid
from cloister.errors import PlanError
from cloister.kernels import BoxClip, ClippedSums, Rows
from cloister.privacy import noise
from cloister.privacy.budgets import PureDP
from cloister.privacy.events import LaplaceEvent, SampledEvent, within
from cloister.privacy.mechanisms import calibrate
from cloister.privacy.plan import Plan
from cloister.schema import Neighbours
from cloister.testing import seeded_noise
from cloister.vault import Vault

LEVEL = 1e-6


def blobs(rows: int = 5000, columns: int = 3, clusters: int = 4) -> np.ndarray:
    return np.asarray(make_blobs(rows, n_features=columns, centers=clusters, random_state=3)[0])


def loss(X: np.ndarray, centers: np.ndarray) -> float:
    return float(((X[:, None] - centers[None]) ** 2).sum(2).min(1).mean())


@pytest.mark.parametrize("bounds", [(-15, 15), cl.Ball(30.0)], ids=["box", "ball"])
@pytest.mark.parametrize("budget", [cl.PureDP(1e6), cl.ApproxDP(1e6, 1e-6)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_without_noise_the_loss_is_the_non_private_one(bounds: object, budget: object, neighbours: str) -> None:
    """As epsilon grows without bound the loss is that of the best of 20 non-private runs, to a hundredth."""
    X = blobs()
    plain = PlainKMeans(4, n_init=20, random_state=0).fit(X).inertia_ / len(X)
    model = cl.KMeans(4, budget, bounds, "votes", neighbours=neighbours, random_state=0).fit(X)
    assert loss(X, model.cluster_centers_) <= 1.01 * plain


def test_votes_beat_lloyd_at_the_same_budget() -> None:
    """At epsilon 0.5 the median loss of votes is below that of Lloyd."""
    X = blobs(5000, 3, 8)
    losses = {
        method: np.median([loss(X, cl.KMeans(8, 0.5, (-15, 15), method).fit(X).cluster_centers_) for _ in range(7)])
        for method in ("votes", "lloyd")
    }
    assert losses["votes"] < losses["lloyd"]


def test_sizes_errors_and_loss_are_in_the_release() -> None:
    """Noisy sizes add up to about the rows, and the private loss is near the true one."""
    X = blobs()
    model = cl.KMeans(4, cl.ApproxDP(4, 1e-6), (-15, 15), scale=None).fit(X)
    result = model.release_.result
    assert sum(result["sizes"]) == pytest.approx(len(X), rel=0.02)
    assert np.isfinite(model.standard_errors_).all()
    # the clipped loss is at most the loss, and misses little of it
    assert result["loss"]["mean_squared_distance"] == pytest.approx(loss(X, model.cluster_centers_), rel=0.1)


def test_standard_errors_say_how_far_centres_move() -> None:
    """The centres of well-separated clusters typically move by about their standard errors.

    About one fit in 300 starts badly and moves farther; half of nine do so less than once in a million times.
    """
    X = np.repeat(np.array([[-8.0, -8], [8, 8], [8, -8]]), 2000, axis=0)
    runs = [cl.KMeans(3, cl.ApproxDP(1, 1e-6), (-15, 15), random_state=0).fit(X) for _ in range(9)]
    moved = [np.sort(run.cluster_centers_.sum(1)) - np.sort(X[::2000].sum(1)) for run in runs]
    stated = np.mean([run.standard_errors_[np.isfinite(run.standard_errors_)].mean() for run in runs])
    assert np.median(np.abs(moved)) < 6 * max(stated, 1e-3)


def test_a_large_table_is_seeded_on_a_secret_sample() -> None:
    """Above 60,000 rows the release shows one sampled event with all seeding steps inside."""
    X = blobs(100_000, 2, 3)
    model = cl.KMeans(3, 1.0, (-15, 15)).fit(X)
    sampled = [event for event in model.release_.events if isinstance(event, SampledEvent)]
    assert len(sampled) == 1
    assert float(sampled[0].rate) == pytest.approx(0.2, rel=0.05)
    assert "secret sample" in str(model.release_.parameters["choices"])
    assert model.release_.adds_up()


ENCODING = Encoding((Grid("x0", 0.0, 1.0, 10),))
RATE = Fraction(1, 16)
ROWS = 200_000


def sampled_rows(rate: Fraction) -> float:
    """The noisy size of a secret sample, with hardly any noise."""
    X = np.zeros((ROWS, 1))
    budget, relation = PureDP(1000), Neighbours.ADD_REMOVE
    event = SampledEvent("sample", rate, (LaplaceEvent("size", Fraction(100)),))
    with Vault.open(X, ENCODING, budget=budget, neighbours=relation, purpose="test") as vault:
        vault.follow(Plan(budget, relation, (event,)))
        with vault.sample("sample", rate) as sample:
            mechanism = calibrate(Rows().sensitivity(relation), Fraction(100))
            return float(sample.measure(Rows(), mechanism, "size").value["counts"][0])


def plausible(kept: float) -> bool:
    """Whether so many of the rows are plausible at the charged rate; wrong once in a million runs."""
    low, high = binom.ppf(LEVEL / 2, ROWS, float(RATE)), binom.isf(LEVEL / 2, ROWS, float(RATE))
    return bool(low - 1 <= kept <= high + 1)


def test_the_sample_rate_is_what_is_charged() -> None:
    """The number of sampled rows fits the charged rate."""
    assert plausible(sampled_rows(RATE))


def test_a_sample_drawn_at_another_rate_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: the sampler keeps a tenth more than is charged."""
    keep = noise.keep

    def more(rate: Fraction, size: int, key: bytes | None = None) -> np.ndarray:
        return keep(Fraction(int(rate * Fraction(11, 10) * 2**32), 2**32), size, key)

    monkeypatch.setattr(noise, "keep", more)
    assert not plausible(sampled_rows(RATE))


def test_a_sample_is_secret_and_fresh() -> None:
    """Two samples differ, whatever the random_state."""
    assert len({sampled_rows(RATE) for _ in range(6)}) > 1


def test_a_poisson_sample_is_refused_under_replace_one() -> None:
    """It would not be amplified at all."""
    with (
        Vault.open(
            np.zeros((10, 1)), ENCODING, budget=PureDP(1), neighbours=Neighbours.REPLACE_ONE, purpose="test"
        ) as vault,
        pytest.raises(PlanError, match="add-remove"),
        vault.sample("sample", RATE),
    ):
        pass


def test_steps_on_a_sample_are_charged_together() -> None:
    """Two steps on one sample cost more than each amplified alone: the release's events say so."""
    mechanism = calibrate(Rows().sensitivity(Neighbours.ADD_REMOVE), Fraction(2))
    with Vault.open(
        np.zeros((100, 1)), ENCODING, budget=PureDP(3), neighbours=Neighbours.ADD_REMOVE, purpose="test"
    ) as vault:
        inner = (LaplaceEvent("one", Fraction(2)), LaplaceEvent("two", Fraction(2)))
        vault.follow(Plan(PureDP(3), Neighbours.ADD_REMOVE, (SampledEvent("sample", Fraction(1, 8), inner),)))
        with vault.sample("sample", Fraction(1, 8)) as sample:
            sample.measure(Rows(), mechanism, "one")
            sample.measure(Rows(), mechanism, "two")
        events = vault.release("test", {}, {}).events
    assert len(events) == 1
    assert within(events, PureDP("2.05"))
    assert not within(events, PureDP("1.2"))  # what two separate samples would cost


def test_clipped_sums_stay_inside_their_radius() -> None:
    """A far row adds a vector no longer than the radius, however its coordinates round."""
    from cloister.encode import Encoded

    random, box = np.random.default_rng(0), BoxClip((2**19,) * 7)
    for _ in range(200):
        row = random.integers(-(2**19), 2**19, (1, 7)).astype(np.int32)
        centers, radius = random.integers(-(2**19), 2**19, (3, 7)).astype(np.int32), int(random.integers(1, 2**19))
        rows = Encoded(row, np.zeros((1, 0), np.int32))
        radii = np.full(3, radius)
        straight = ClippedSums(centers, radii, False, radii, box).fold(rows)["sums"]
        assert sum(int(x) ** 2 for x in straight.ravel()) <= radius**2
        assert np.abs(ClippedSums(centers, radii, True, radii, box).fold(rows)["sums"]).sum() <= radius


def test_public_choices_repeat_and_noise_does_not() -> None:
    """The same random_state and seeded noise repeat to the bit; without seeded noise nothing does."""
    X = blobs(2000, 2)
    fits = []
    for _ in range(2):
        with seeded_noise(3):
            fits.append(cl.KMeans(3, 1.0, (-15, 15), random_state=1).fit(X).cluster_centers_)
    assert np.array_equal(*fits)
    fresh = [cl.KMeans(3, 1.0, (-15, 15), random_state=1).fit(X).cluster_centers_ for _ in range(2)]
    assert not np.array_equal(*fresh)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_tiny_table_gives_centres_all_the_same(rows: int) -> None:
    """Fewer rows than clusters do not abort: how many rows there are is private."""
    model = cl.KMeans(5, 1.0, (0, 1)).fit(np.full((rows, 2), 0.5))
    assert model.cluster_centers_.shape == (5, 2)
    assert 0 <= model.cluster_centers_.min() <= model.cluster_centers_.max() <= 1


@pytest.mark.parametrize("budget", [cl.PureDP(1), cl.ApproxDP(1, 1e-6)], ids=["laplace", "gaussian"])
def test_bounds_are_found_far_from_the_origin(budget: object) -> None:
    """Without bounds, columns around a million and around a millionth are found and clustered."""
    X = blobs(20_000, 2, 3) * [1.0, 1e-6] + [1e6, 0]
    model = cl.KMeans(3, budget, scale="bounds").fit(X)
    scale = X.std(axis=0)
    plain = PlainKMeans(3, n_init=10, random_state=0).fit(X / scale).inertia_ / len(X)
    assert loss(X / scale, model.cluster_centers_ / scale) < 1.3 * plain
    assert model.release_.parameters["bounds_from"] == "the budget"
    assert sum(event.step.startswith("bounds") for event in model.release_.events) == 5


def test_found_bounds_hold_nearly_all_rows() -> None:
    """Typical bounds hold 99% of each column and are at most a few times as wide as the data.

    Fewer than one fit in 10,000 finds others; two of three do so less than once in a million times.
    """
    X = np.random.default_rng(0).normal([5000, -3], [10, 0.1], (20_000, 2))
    found = [np.array(cl.KMeans(2, 1.0).fit(X).release_.parameters["bounds"]) for _ in range(3)]
    inside = [((bounds[:, 0] <= X) & (bounds[:, 1] >= X)).mean(axis=0) for bounds in found]
    assert (np.median(inside, axis=0) > 0.99).all()
    widths = np.median([bounds[:, 1] - bounds[:, 0] for bounds in found], axis=0)
    assert (widths < 5 * (X.max(axis=0) - X.min(axis=0))).all()


def test_the_number_of_clusters_is_chosen() -> None:
    """Well-separated clusters are counted right, from what is released anyway."""
    X, _ = make_blobs(20_000, n_features=4, centers=6, random_state=5)
    model = cl.KMeans("auto", cl.ApproxDP(2, 1e-6), (-15, 15), random_state=0).fit(X)
    assert len(model.cluster_centers_) in (5, 6, 7)
    assert model.release_.adds_up()
