"""The evolution of paper 003 as printed: its equations by hand, and the laws of its pieces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cloister.papers.dedp_kmeans.printed_evolution import (
    EvolutionReading,
    evolve_on_rows,
    mutants,
    printed_crossover,
    select,
    squared_errors,
)

READINGS = [
    EvolutionReading(mutation, crossover, selection, generations=15)
    for mutation in ("rand/1", "rand/2 as printed", "rand/2")
    for crossover in ("printed", "smooth")
    for selection in ("pseudo-code", "equation 14")
]


def test_the_printed_crossover_rate_explodes() -> None:
    """Equation 9 with the paper's own numbers: 0.95 in the first generation, above 1 in every later one."""
    assert printed_crossover(1, 50) == pytest.approx(0.95)
    assert printed_crossover(50, 50) == pytest.approx(0.25 + 0.7 * math.exp(20 * 49 / 51))
    assert all(printed_crossover(g, 50) > 1 for g in range(2, 51))
    assert all(0.25 <= EvolutionReading(crossover="smooth").rate(g) <= 0.95 for g in range(1, 51))


def test_the_fitness_is_the_squared_error() -> None:
    """By the definition of equation 7, rows that occur twice counted twice, in blocks of any size."""
    random = np.random.default_rng(0)
    points, mass, members = random.random((70, 3)), random.integers(1, 4, 70).astype(float), random.random((2, 5, 4, 3))
    gaps = ((points[None, None, :, None] - members[:, :, None]) ** 2).sum(axis=4).min(axis=3)
    np.testing.assert_allclose(squared_errors(points, mass, members), gaps @ mass)


def test_mutants_by_hand() -> None:
    """With three others that are all the same difference apart, only the printed sums are possible."""
    members = np.array([0.0, 1.0, 10.0, 100.0]).reshape(1, 4, 1, 1)
    found = mutants(members, EvolutionReading("rand/1"), np.random.default_rng(0))[0, 0, 0, 0]
    possible = {a + 0.5 * (b - c) for a in (1, 10, 100) for b in (1, 10, 100) for c in (1, 10, 100) if len({a, b, c}) == 3}
    assert found in possible


@pytest.mark.parametrize("mutation", ["rand/1", "rand/2 as printed", "rand/2"])
def test_mutants_of_equal_members_are_their_equals(mutation: str) -> None:
    """Differences of the same are nothing, whatever the strategy."""
    members = np.ones((3, 8, 2, 2))
    reading = EvolutionReading(mutation)  # type: ignore[arg-type]
    np.testing.assert_array_equal(mutants(members, reading, np.random.default_rng(0)), members)


def test_the_or_of_equation_14_never_takes_the_opposite() -> None:
    """Read as printed the current member stays unless both are better, and then the trial comes in, even if it is the worse."""
    current, trial, against = (np.array(one) for one in ([2.0, 2.0, 2.0], [1.5, 1.0, 3.0], [1.0, 3.0, 1.0]))
    assert select(current, trial, against, "equation 14").tolist() == [1, 0, 0]
    assert select(current, trial, against, "pseudo-code").tolist() == [2, 1, 2]


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: f"{one.mutation}, {one.crossover}, {one.selection}")
def test_the_best_member_never_gets_worse(reading: EvolutionReading) -> None:
    """And every look at the rows is counted: a population first, two a generation."""
    points = np.random.default_rng(1).random((40, 2))
    found = evolve_on_rows(points, 2, reading, np.random.default_rng(2), runs=3)
    assert (np.diff(found.best, axis=0) <= 0).all()
    np.testing.assert_array_equal(found.losses, found.best[-1])
    assert found.evaluations.tolist() == [20 + 40 * g for g in range(16)]
    assert found.centers.shape == (3, 2, 2)


def test_the_first_members_are_rows() -> None:
    """What leaks: without a generation the result consists of exact records."""
    points = np.random.default_rng(3).random((30, 2))
    found = evolve_on_rows(points, 3, EvolutionReading(generations=0), np.random.default_rng(4), runs=4)
    assert {tuple(center) for center in found.centers.reshape(-1, 2)} <= {tuple(row) for row in points}
