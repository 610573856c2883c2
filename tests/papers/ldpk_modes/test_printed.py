"""LDPK-modes as printed: its law is the paper's table 1, its estimate the inverse of P, and nothing of it passes for private."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from cloister.collect.estimating.inversion import invert
from cloister.collect.protocols.channel import channel_for
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.ldpk_modes.cut_tables import cut_table, held_cells
from cloister.papers.ldpk_modes.frequency_errors import gaussian_codes
from cloister.papers.ldpk_modes.modes_lloyd import modes_lloyd
from cloister.papers.ldpk_modes.printed import (
    answer_law,
    cluster_cells,
    distance_law,
    estimate_by_one_response,
    estimate_cells,
    perturb_rows,
)
from tests.chisquare import chi_square_ok
from tests.real_data import FOLDER, real_set


def test_the_formula_gives_table_1() -> None:
    """Two binary attributes at epsilon 1: e^2, e and 1 over (e + 1)^2, to the five digits that the paper's fractions have."""
    law = distance_law(2, 2, 1.0) / [comb(2, z) for z in range(3)]
    assert law.round(5).tolist() == [0.53445, 0.19661, 0.07233]


@pytest.mark.parametrize(("attributes", "values"), [(2, 2), (3, 4), (8, 2)])
def test_drawing_the_distance_first_is_independent_answers(attributes: int, values: int) -> None:
    """A report at distance z has the probability that z lies and m - z truths have."""
    ways = [comb(attributes, z) * (values - 1) ** z for z in range(attributes + 1)]
    cells = np.stack(np.unravel_index(np.arange(values**attributes), (values,) * attributes), axis=1)
    by_distance = (distance_law(attributes, values, 0.7) / ways)[(cells != 0).sum(axis=1)]
    np.testing.assert_allclose(by_distance, answer_law((values,) * attributes, 0.7)[0], rtol=1e-12)


def test_algorithm_1_samples_its_law() -> None:
    """Counts of all reports of one vector, by chi-square, at an error rate of 1e-6; the law of another epsilon would be seen."""
    people = 60_000
    rows = holder_numbers({name: np.full(people, code) for name, code in (("a", 0), ("b", 2), ("c", 1))})
    sent = perturb_rows(rows, 3, 1.0, seed=1).value
    seen = np.bincount(np.ravel_multi_index(tuple(sent.T), (3, 3, 3)), minlength=27)
    cell = np.ravel_multi_index((0, 2, 1), (3, 3, 3))
    assert chi_square_ok(seen, answer_law((3, 3, 3), 1.0)[cell])
    assert not chi_square_ok(seen, answer_law((3, 3, 3), 1.05)[cell])


def test_the_inverse_along_axes_is_that_of_the_written_out_matrix() -> None:
    """Equation 10, on attributes of different sizes."""
    reports = np.random.default_rng(0).integers(0, 50, (3, 2, 3))
    written_out = np.linalg.solve(answer_law((3, 2, 3), 0.5), reports.ravel())
    along_axes = invert(reports, [channel_for(Fraction(1, 2), size) for size in (3, 2, 3)])
    np.testing.assert_allclose(along_axes.ravel(), written_out, rtol=1e-9)


def test_nearly_without_noise_the_estimate_is_the_table() -> None:
    """At epsilon 30 no report lies: both estimates give the cells back but for rounding up, and clusters are the rows."""
    held = held_cells({"a": [0] * 9 + [1] * 7, "b": [0] * 9 + [1] * 7}, (2, 2))
    for estimate in (estimate_cells, estimate_by_one_response):
        above = estimate(held, Fraction(30), 0).value - [[9, 0], [0, 7]]
        assert ((above == 0) | (above == 1)).all()
    found = cluster_cells(estimate_cells(held, Fraction(30), 0).value, 2, 5, seed=0)
    assert sorted(found.tolist()) == [[0, 0], [1, 1]]


def test_what_is_printed_is_stamped_as_claimed() -> None:
    """Every public form says what is claimed and what is proved, and is not private."""
    held = held_cells({"a": [0, 1, 1], "b": [0, 1, 1]}, (2, 2))
    rows = holder_numbers({"a": [0, 1], "b": [1, 1]})
    results = [
        perturb_rows(rows, 2, 1.0, 0),
        estimate_cells(held, Fraction(1), 0),
        estimate_by_one_response(held, Fraction(1), 0),
        modes_lloyd(held, 1, 5, 0.1, 0),
    ]
    for result in results:
        assert result.release_.status == "claimed, NOT PRIVATE"
        assert result.release_.guarantee.paper == "002"
    assert "which is 2 for any two people" in str(results[0].release_.guarantee)


def test_a_seed_repeats_a_run() -> None:
    """The same seed gives the same reports, another one others."""
    held = held_cells({f"q{j}": column for j, column in enumerate(gaussian_codes(2000, 0).T)}, (2, 2, 2))
    one, again, other = (estimate_cells(held, Fraction(1), seed).value for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("alias", "name", "rows", "sizes", "clusters"),
    [
        ("D1", "auto-mpg", 398, (3, 2, 3), 3),
        ("D2", "car", 1728, (2,) * 6, 4),
        ("D3", "nursery", 12960, (2,) * 8, 5),
    ],
)
def test_tables_are_those_of_table_2(alias: str, name: str, rows: int, sizes: tuple[int, ...], clusters: int) -> None:
    """Rows, attributes, values and K are the paper's, and every class and every value is there."""
    real_set(name)
    table = cut_table(alias, FOLDER)
    assert (len(table.codes), table.sizes, table.clusters) == (rows, sizes, clusters)
    assert table.held.value.sum() == table.class_cells.sum() == rows
    assert len(np.unique(table.classes)) == clusters
    assert [len(np.unique(column)) for column in table.codes.T] == list(sizes)
    assert table.rows.num_rows == rows
