"""The loss that every method buys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.loss_step import LOSS_SHARE, estimate_loss
from cloister.clustering.methods import METHODS
from cloister.privacy.budgets import Budget
from cloister.testing import seeded_noise

LAPLACE_SURE = 10.0  # deviations: a sum of Laplace draws passes them less often than once in a million


def blobs(rows: int = 20_000, columns: int = 2, seed: int = 0) -> np.ndarray:
    """Four clusters of normal rows in the unit cube."""
    random = np.random.default_rng(seed)
    centers = np.linspace(0.15, 0.85, 4)[:, None] * np.ones(columns)
    return np.clip(centers[random.integers(4, size=rows)] + random.normal(0, 0.03, (rows, columns)), 0, 1)


def exact_loss(X: np.ndarray, centers: np.ndarray) -> float:
    """The mean squared distance to the nearest centre, in squared column widths."""
    return float(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).mean())


@pytest.mark.parametrize("budget", [cl.PureDP(3), cl.ApproxDP(1, 1e-6)], ids=["pure", "approx"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_estimates_the_loss_of_its_centres(method: str, budget: Budget) -> None:
    """Within ten standard errors of the exact loss (error rate below 1e-6) and the 1% that may lie beyond the cap."""
    X = blobs()
    model = cl.KMeans(4, budget, (0, 1), method, random_state=0).fit(X)
    figures = model.release_.result["loss"]
    exact = exact_loss(X, model.cluster_centers_)
    assert abs(model.loss_ - exact) < LAPLACE_SURE * figures["standard_error"] + 0.01 * exact
    assert figures["mean_squared_distance"] == model.loss_
    assert figures["unit"] == "squared column widths"
    assert figures["counted_up_to"] >= 8 * exact / 1.5
    assert model.release_.events[-1].step == "loss"
    # planted: centres that are half of a width off have another loss, wherever a method has ended
    assert abs(model.loss_ - exact_loss(X, model.cluster_centers_ + 0.5)) > 5 * figures["standard_error"]


@pytest.mark.parametrize("method", METHODS)
def test_the_loss_has_two_percent_of_a_pure_budget(method: str) -> None:
    """Whatever the method, about a fiftieth of epsilon: of all of it, or of what the number of rows leaves."""
    *_, last = cl.KMeans(4, 1, (0, 1), method).plan(10_000, 2).events
    assert last.step == "loss"
    assert LOSS_SHARE * 49 / 50 <= last.cost().epsilon <= LOSS_SHARE


def noisy_bands(squares: np.ndarray, bands: int, noise: float, random: np.random.Generator) -> np.ndarray:
    """What a kernel would release of these squared distances, in parts of the upper edges of the bands."""
    parts, digits = np.frexp(squares)
    exact = np.bincount(np.clip(digits - 1, 0, bands - 1), weights=parts, minlength=bands)
    return exact + random.laplace(0, noise / 2**0.5, bands)


@pytest.mark.parametrize("columns", [1, 2, 8])
def test_what_normal_clusters_lose_beyond_the_cap_is_as_stated(columns: int) -> None:
    """The mean of 400 estimates is within the stated share below the true mean, and not above it.

    The mean's own error is four hundredths of a relative deviation of at most a fifth; five of those are allowed.
    """
    random = np.random.default_rng(columns)
    squares = (random.normal(0, 1000, (20_000, columns)) ** 2).sum(axis=1)
    stated = {1: 0.05, 2: 0.003, 8: 0.0}[columns]
    means = [estimate_loss(noisy_bands(squares, 40, 70.0, random), 70.0, 20_000.0).mean for _ in range(400)]
    ratio = float(np.median(means)) / float(squares.mean())
    assert 1 - stated - 0.05 < ratio < 1.05


def test_a_far_tail_that_stands_out_is_counted() -> None:
    """A tenth of the rows a hundred times as far away is seen, and added up."""
    random = np.random.default_rng(0)
    squares = (random.normal(0, 1000, (20_000, 2)) ** 2).sum(axis=1)
    squares[:2000] *= 10_000
    found = estimate_loss(noisy_bands(squares, 45, 70.0, random), 70.0, 20_000.0)
    assert found.cap > 1000**2 * 10_000
    assert found.mean == pytest.approx(float(squares.mean()), abs=LAPLACE_SURE * found.error)


def test_without_noise_nothing_is_left_out() -> None:
    """As epsilon grows the loss is the mean of all rows, those of a heavy tail too."""
    random = np.random.default_rng(0)
    squares = np.floor(random.pareto(1.5, 5000) * 1000)
    found = estimate_loss(noisy_bands(squares, 45, 1e-9, random), 1e-9, 5000.0)
    assert found.cap > squares.max()
    assert found.mean == pytest.approx(float(squares.mean()), abs=LAPLACE_SURE * found.error)
    assert found.error < 0.006 * found.mean


def test_a_loss_that_is_nothing_but_noise_says_so() -> None:
    """Where no band stands out all are added up: the standard error is of the size of the farthest distance."""
    found = estimate_loss(noisy_bands(np.full(50, 9.0), 20, 1000.0, np.random.default_rng(0)), 1000.0, 50.0)
    assert found.cap == 2.0**20
    assert found.error > found.cap
    assert 0 <= found.mean <= found.cap


@pytest.mark.parametrize("method", METHODS)
def test_rows_on_their_centres_have_no_loss(method: str) -> None:
    """Three point masses and next to no noise: the loss is next to nothing, also of an empty table it is a number."""
    X = np.array([[0.1, 0.1], [0.5, 0.9], [0.9, 0.1]])[np.arange(3000) % 3]
    with seeded_noise(1):
        made: Any = cl.KMeans(3, 1000, (0, 1), method, random_state=0).fit(X)
        empty: Any = cl.KMeans(3, 1, (0, 1), method, random_state=0).fit(np.empty((0, 2)))
    assert made.loss_ == pytest.approx(exact_loss(X, made.cluster_centers_), abs=1e-4)
    assert 0 <= empty.loss_ <= 2


def test_a_group_without_a_centre_is_seen_or_within_what_the_loss_is_at_most() -> None:
    """An eighth of the rows far from every centre, too few for one band: of 200 estimates at most 30 pass `at_most`.

    It holds in 19 of 20; with a chance of 5% each, more than 30 of 200 pass it less often than once in a million. Planted: what
    the bands that stand out give, with their error, is passed far more often.
    """
    random = np.random.default_rng(3)
    squares = (random.normal(0, 1000, (6500, 2)) ** 2).sum(axis=1)
    squares[:800] = random.uniform(2.0**28, 2.0**31, 800)
    found = [estimate_loss(noisy_bands(squares, 42, 200.0, random), 200.0, 6500.0) for _ in range(200)]
    exact = float(squares.mean())
    assert sum(loss.at_most < exact for loss in found) <= 30
    assert sum(loss.mean + 1.645 * loss.error < exact for loss in found) > 30


def test_a_loss_counts_until_half_of_the_rows_are_seen() -> None:
    """A band of noise far below the rows is not taken for all of them."""
    bands = np.zeros(40)
    bands[5], bands[28:33] = 1200.0, 900.0
    assert estimate_loss(bands, 240.0, 6500.0).cap >= 2.0**31


def test_a_low_band_of_noise_does_not_pass_for_the_loss() -> None:
    """Among forty empty bands some stand out; the loss is then all of them, and its error says that it is noise.

    At the noise of each draw the true loss is not to be seen; an estimate near zero with a small error would be believed.
    """
    random, bands, rows = np.random.default_rng(3), 40, 1e5
    true = np.zeros(bands)
    true[31:37] = np.array([0.02, 0.08, 0.25, 0.4, 0.2, 0.05]) * 0.72 * rows
    mean = float((true * 2.0 ** np.arange(1, bands + 1)).sum() / rows)
    for noise in (24 * rows, 2.4 * rows, 0.24 * rows):
        for _ in range(500):
            loss = estimate_loss(true + random.laplace(0, noise / 2**0.5, bands), noise, rows)
            assert loss.error > mean / 100 or loss.mean > mean / 100


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_loss_of_three_rows_is_their_mean(neighbours: str) -> None:
    """Plans are made for ten rows at least, and a mean is taken over the rows that there are."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    model = cl.KMeans(1, 1000, (0, 1), neighbours=neighbours).fit(X)
    assert model.loss_ == pytest.approx(exact_loss(X, model.cluster_centers_), rel=0.2)
