"""DI k-means and k-prototypes as printed: by hand where the noise is nothing, by law where it is not; and their stamps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cloister.papers.di_clustering.magic_and_heart import class_names, f_and_nicv, heart_rows, magic_rows, one_cluster
from cloister.papers.di_clustering.printed import cluster_sums, di_kmeans, dp_kmeans, optimized_canopy
from cloister.papers.di_clustering.printed_prototypes import CodedRows, RoundEpsilons, di_prototypes, embedded
from cloister.papers.holder_rows import holder_numbers
from cloister.privacy.guarantees import Claimed
from cloister.vault import Unprotected
from tests.real_data import FOLDER, real_set

ROWS = holder_numbers({"x": [0.0, 0.2, 0.8, 1.0, 1.0], "y": [0.0, 0.0, 1.0, 1.0, 1.0]})
ENDLESS = (1e12, 1e12)
SURE = 5.0  # standard errors: passed by chance less than once in a million


def test_canopy_takes_rows() -> None:
    """The first row, and the row that is farthest from it."""
    assert optimized_canopy(ROWS, 2).value.tolist() == [[0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("algorithm", [di_kmeans, dp_kmeans])
@pytest.mark.parametrize("runs", [1, 3])
def test_without_noise_it_is_lloyd(algorithm: object, runs: int) -> None:
    """Means by hand; rows that are there twice count twice, run alone or many at once."""
    centers = algorithm(ROWS, 2, ENDLESS, seed=0, runs=runs).value  # type: ignore[operator]
    assert centers.shape == (runs, 2, 2)
    assert centers == pytest.approx(np.broadcast_to([[0.1, 0.0], [2.8 / 3, 1.0]], centers.shape), abs=1e-9)


def test_an_empty_cluster_keeps_its_centre() -> None:
    """The exact size 0 is seen: that is the leak."""
    start = np.array([[0.5, 0.5], [9.0, 9.0]])
    assert (di_kmeans(ROWS, 2, (1.0,), seed=0, start=start, runs=50).value[:, 1] == 9).all()


def test_noise_of_sums_has_the_printed_scale() -> None:
    """Laplace of scale d / epsilon, whose mean size is the scale."""
    sums = cluster_sums(ROWS, np.array([[0.5, 0.5]]), 0.5, seed=1, runs=20_000).value
    noise = np.abs(sums - [3.0, 3.0])
    assert abs(noise.mean() - 4.0) < SURE * 4.0 / math.sqrt(noise.size)


def test_every_printed_form_says_that_it_is_claimed() -> None:
    """None of them passes for private."""
    mixed = Unprotected(CodedRows(ROWS.value, np.zeros((5, 1), dtype=np.int64), (2,)), "a test")
    each = RoundEpsilons((1.0,), (1.0,))
    for result in (
        optimized_canopy(ROWS, 2),
        di_kmeans(ROWS, 2, (1.0,), seed=0),
        dp_kmeans(ROWS, 2, (1.0,), seed=0),
        cluster_sums(ROWS, np.zeros((1, 2)), 1.0, seed=0),
        di_prototypes(mixed, 2, 0.1, each, seed=0),
    ):
        assert isinstance(result.release_.guarantee, Claimed)
        assert result.release_.status == "claimed, NOT PRIVATE"


def test_embedded_places_have_the_distances_of_eq_6() -> None:
    """Squared moves of the numbers, and gamma for each category that differs."""
    rows = CodedRows(np.array([[0.1], [0.4]]), np.array([[0, 2], [1, 2]]), (2, 3))
    one, two = embedded(rows.numbers, rows.one_hot, 0.12)
    assert ((one - two) ** 2).sum() == pytest.approx(0.3**2 + 0.12)


def test_prototypes_without_noise() -> None:
    """Means and modes by hand."""
    codes = np.array([[0], [0], [1], [1], [0]])
    rows = Unprotected(CodedRows(ROWS.value, codes, (2,)), "a test")
    endless = (math.inf,) * 3
    numbers, modes = di_prototypes(rows, 2, 0.1, RoundEpsilons(endless, endless), seed=0).value
    assert numbers[0] == pytest.approx(np.array([[0.1, 0.0], [2.8 / 3, 1.0]]))
    assert modes[0].tolist() == [[0], [1]]


def test_modes_follow_the_exponential_mechanism() -> None:
    """Definition 2: odds exp(epsilon (difference of counts) / 2)."""
    rows = Unprotected(CodedRows(np.zeros((5, 0)), np.array([[0], [0], [0], [0], [1]]), (2,)), "a test")
    runs = 20_000
    _, modes = di_prototypes(rows, 1, 0.1, RoundEpsilons((1.0,), (0.8,)), seed=3, runs=runs).value
    share = 1 / (1 + math.exp(0.8 * 3 / 2))
    assert abs(modes.mean() - share) < SURE * math.sqrt(share * (1 - share) / runs)


def test_magic_floor() -> None:
    """Everything in one cluster scores 0.693, a known value, and all rows lie in the unit cube."""
    real_set("magic")
    rows, classes = magic_rows(FOLDER).value, class_names("magic", FOLDER)
    assert rows.shape == (19_020, 10)
    assert rows.min() >= 0
    assert rows.max() <= 1
    assert one_cluster(classes) == pytest.approx(0.693, abs=5e-4)
    assert f_and_nicv(rows, rows.mean(axis=0, keepdims=True), classes)[1] == pytest.approx(rows.var(axis=0).sum())


def test_heart_has_the_columns_of_table_4() -> None:
    """Six numbers and seven categories of 270 rows."""
    real_set("heart")
    rows = heart_rows(FOLDER).value
    assert rows.numbers.shape == (270, 6)
    assert rows.values == (2, 4, 2, 3, 2, 3, 3)
    assert rows.one_hot.sum(axis=1).tolist() == [7.0] * 270
