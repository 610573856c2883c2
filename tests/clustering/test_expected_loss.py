"""The loss that a plan tells to expect, beside fits of made-up tables."""

from __future__ import annotations

import warnings
from math import log

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.expected_loss import SEARCHED, NoisyRound, added_by_noise, gamma_quantile, lost_clusters
from cloister.errors import LostClusters
from cloister.privacy.budgets import Budget
from cloister.testing import seeded_noise

FITS = 10
# (clusters, columns, rows, budget): clusters that stand out clearly, so that they are found
TABLES: tuple[tuple[int, int, int, Budget], ...] = (
    (5, 3, 4000, cl.PureDP("0.4")),
    (4, 6, 5000, cl.PureDP("0.7")),
    (8, 5, 6000, cl.ApproxDP("0.25", 1e-6)),
    (6, 12, 5000, cl.ApproxDP("0.35", 1e-6)),
)
MOST_OUTSIDE = 16  # of 40, each with a chance of at most 0.1: more by chance once in a million


def far_apart(clusters: int, columns: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal clusters of equal size around centres that are far apart, and those centres."""
    random = np.random.default_rng(seed)
    centers = random.uniform(0.15, 0.85, (1, columns))
    while len(centers) < clusters:
        one = random.uniform(0.15, 0.85, (1, columns))
        if np.sqrt(((centers - one) ** 2).sum(axis=1)).min() > 0.3:
            centers = np.concatenate([centers, one])
    return centers[np.arange(rows) % clusters] + random.normal(0, 0.03, (rows, columns)), centers


def loss(X: np.ndarray, centers: np.ndarray) -> float:
    return float(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).mean())


def said(plan: cl.Plan) -> tuple[float, float]:
    """The interval in the words of a plan."""
    words = plan.rows()[-1]["expect"].split()
    return float(words[0]), float(words[2])


def test_the_interval_holds_nine_fits_of_ten() -> None:
    """Where all clusters are found at most 16 of 40 fits lie outside: error rate 1e-6 if each does with a chance of 0.1.

    Planted: a noise that forgets that rows are shared by k clusters puts most of them outside.
    """
    outside = wrong = fits = 0
    for seed, (clusters, columns, rows, budget) in enumerate(TABLES):
        X, centers = far_apart(clusters, columns, rows, seed)
        means = np.array([X[i::clusters].mean(axis=0) for i in range(clusters)])
        model = cl.KMeans(clusters, budget, (0, 1))
        low, high = said(model.plan(rows, columns))
        for i in range(FITS):
            with seeded_noise(100 * seed + i):
                found = cl.KMeans(clusters, budget, (0, 1), random_state=i).fit(X).cluster_centers_
            if loss(centers, found) > 0.01:
                continue  # a cluster was not found: the interval says nothing
            ratio = loss(X, found) / loss(X, means)
            fits += 1
            outside += not low - 0.0005 <= ratio <= high + 0.0005  # it is said with three digits
            wrong += ratio > 1 + SEARCHED + (high - 1 - SEARCHED) / clusters**2
    assert fits >= 32
    assert outside <= MOST_OUTSIDE
    assert wrong > MOST_OUTSIDE


def test_the_noise_of_centres_adds_what_the_formula_says() -> None:
    """d e^2 on average, and in 19 of 20 draws at most the upper end: 4,000 draws, error rate below 1e-6.

    Planted: the upper end of normal noise is passed by Laplace noise far more often than once in twenty.
    """
    random = np.random.default_rng(0)
    clusters, columns, error = 4, 3, 0.01
    draws = (random.laplace(0, error / 2**0.5, (4000, clusters, columns)) ** 2).sum(axis=2).mean(axis=1)
    mean, most = added_by_noise(error, columns, clusters, "L1")
    assert draws.mean() == pytest.approx(mean, rel=0.06)
    assert 0.03 < (draws > most).mean() < 0.07
    assert (draws > added_by_noise(error, columns, clusters, "L2")[1]).mean() > 0.07


@pytest.mark.parametrize(("shape", "z", "exact"), [(1.0, 0.8416, log(5)), (1.0, 1.6449, log(20)), (0.5, 1.6449, 3.8415)])
def test_quantiles_of_a_gamma_variable(shape: float, z: float, exact: float) -> None:
    """Within 3% of the exact ones: of an exponential variable, and of a chi-squared with one degree."""
    assert gamma_quantile(shape, z) == pytest.approx(exact, rel=0.03)


def test_a_wish_that_cannot_be_carried_is_said_with_what_would_carry_it() -> None:
    """Each of the ways that a plan names makes a plan without the warning; a little less does not."""
    model = cl.KMeans(15, 0.1, (0, 1))
    words = model.plan(5000, 2).choices["too little"]
    assert words == (
        "15 clusters are too many for about 5,000 rows at epsilon 0.1: most centres will be noise. "
        "Enough would be: epsilon 0.16, 7,600 rows or 9 clusters."
    )
    assert "clusters are lost in the noise" in model.plan(5000, 2).rows()[-1]["expect"]
    for carried in (cl.KMeans(15, 0.16, (0, 1)).plan(5000, 2), model.plan(7600, 2), cl.KMeans(9, 0.1, (0, 1)).plan(5000, 2)):
        assert "too little" not in carried.choices
    for lost in (cl.KMeans(15, 0.15, (0, 1)).plan(5000, 2), model.plan(7400, 2), cl.KMeans(10, 0.1, (0, 1)).plan(5000, 2)):
        assert "too little" in lost.choices


@pytest.mark.parametrize("method", ["votes", "lloyd"])
@pytest.mark.parametrize("budget", [cl.PureDP("0.05"), cl.ApproxDP("0.05", 1e-6)], ids=["pure", "approx"])
def test_a_fit_says_so_too_once_the_number_of_rows_is_known(method: str, budget: Budget) -> None:
    """In the choices of the certificate; what it names as carrying it is enough, also with a delta."""
    with pytest.warns(LostClusters) as warned:
        release = cl.KMeans(40, budget, (0, 1), method).fit(np.random.default_rng(0).random((3000, 2))).release_
    words = release.parameters["choices"]["too little"]
    assert "most centres will be noise" in words
    assert [str(warning.message) for warning in warned] == [words]
    assert warned[0].filename == __file__
    words = cl.KMeans(40, budget, (0, 1), method).plan(3000, 2).choices["too little"]
    enough = words.split(": epsilon ")[1].split(",")[0]
    more = cl.PureDP(enough) if not budget.delta else cl.ApproxDP(enough, 1e-6)
    assert "too little" not in cl.KMeans(40, more, (0, 1), method).plan(3000, 2).choices


def test_clusters_that_stand_out_bring_no_warning() -> None:
    """Where noise may be as large as it is there is none, and where it is a little too large there is one."""
    assert lost_clusters(1.0, 8, 1000, cl.PureDP(1)) is None
    assert lost_clusters(1.001, 8, 1000, cl.PureDP(1)) is not None
    assert lost_clusters(1e4, 1, 10, cl.ApproxDP(1, 1e-9)) is not None


@pytest.mark.parametrize(
    ("missing", "clusters", "rows", "ways"),
    [
        (1.001, 8, 1000, "epsilon 1.1, 1,100 rows or 7 clusters"),
        (1.001, 8, 5060, "epsilon 1.1, 5,600 rows or 7 clusters"),  # 5,100 is what there is
        (30, 8, 1000, "30,000 rows"),
        (30, 64, 1000, "30,000 rows or 2 clusters"),
    ],
)
def test_what_is_named_as_enough_is_more_than_there_is(missing: float, clusters: int, rows: float, ways: str) -> None:
    """Rounded away from what was given, without an epsilon that protects nobody or a number of rows that is there already."""
    words = lost_clusters(missing, clusters, rows, cl.PureDP(1))
    assert words is not None
    assert words.split("Enough would be: ")[1] == f"{ways}."


def test_a_table_of_almost_no_rows_is_not_called_empty() -> None:
    """About 1 row: a noisy number of rows may be any number."""
    words = lost_clusters(1e9, 3, 0.2, cl.PureDP(1))
    assert words == "3 clusters are too many for about 1 row at epsilon 1: most centres will be noise. " + (
        "Enough would be: 200,000,000 rows."
    )
    assert lost_clusters(1e12, 1, 10, cl.PureDP(1)) == (
        "1 cluster is too much for about 10 rows at epsilon 1: most centres will be noise."
    )


def test_a_fit_that_is_carried_does_not_warn() -> None:
    """No warning of any category."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cl.KMeans(2, 5, (0, 1)).fit(np.random.default_rng(0).random((3000, 2)))


def test_a_warning_takes_no_release_away() -> None:
    """Where warnings are errors the fit, which is charged, is there all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cl.KMeans(40, 0.05, (0, 1)).fit(np.random.default_rng(0).random((500, 2))).cluster_centers_.shape == (40, 2)


def test_more_rows_and_less_noise_bring_the_loss_closer() -> None:
    """The interval shrinks with rows, and grows with clusters, columns and noise."""
    one = NoisyRound(10_000, 4, 8, 40.0, "L1").ratio.high
    assert NoisyRound(20_000, 4, 8, 40.0, "L1").ratio.high < one
    for columns, clusters, noise in ((8, 8, 40.0), (4, 16, 40.0), (4, 8, 60.0)):
        assert NoisyRound(10_000, columns, clusters, noise, "L1").ratio.high > one
