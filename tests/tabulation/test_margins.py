"""Least squares over cells and margins, and counts that are not negative."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

from cloister.tabulation.margins import effect, effects, fit_cells, not_negative, onto_simplex, precisions, spread_of

SHAPE = (3, 4, 2)
VARIANCES = {(0, 1, 2): 5.0, (0,): 2.0, (1,): 3.0, (0, 2): 7.0, (): 4.0}


def summing(kept: tuple[int, ...]) -> np.ndarray:
    """The matrix that adds cells up to a margin."""
    cells = list(product(*map(range, SHAPE)))
    places = list(product(*(range(SHAPE[axis]) for axis in kept)))
    return np.array([[tuple(cell[axis] for axis in kept) == place for cell in cells] for place in places], dtype=float)


def measured(seed: int) -> dict[tuple[int, ...], np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.poisson(6, SHAPE)
    lost = {kept: tuple(axis for axis in range(3) if axis not in kept) for kept in VARIANCES}
    return {kept: truth.sum(axis=lost[kept]) + random.normal(0, v**0.5, truth.sum(axis=lost[kept]).shape)
            for kept, v in VARIANCES.items()}  # fmt: skip


def normal_equations() -> tuple[np.ndarray, np.ndarray]:
    design = np.vstack([summing(kept) for kept in VARIANCES])
    weights = np.concatenate([np.full(len(summing(kept)), 1 / v) for kept, v in VARIANCES.items()])
    return design, weights


def test_effects_add_up_to_the_table() -> None:
    """The effects of all sets of columns are orthogonal and sum to the table."""
    table = np.random.default_rng(0).random(SHAPE)
    parts = [effect(table, kept) for kept in effects(3)]
    assert np.allclose(sum(parts), table)
    assert all(abs((one * other).sum()) < 1e-9 for i, one in enumerate(parts) for other in parts[:i])


def test_cells_are_the_weighted_least_squares_solution() -> None:
    """By effects and by the normal equations the fitted cells are the same."""
    margins = measured(1)
    design, weights = normal_equations()
    values = np.concatenate([margins[kept].ravel() for kept in VARIANCES])
    expected = np.linalg.solve(design.T * weights @ design, design.T * weights @ values)
    assert np.allclose(fit_cells(SHAPE, margins, VARIANCES).ravel(), expected)


def test_standard_errors_are_those_of_least_squares() -> None:
    """For cells, every margin and the total, the stated error is that of the normal equations."""
    design, weights = normal_equations()
    covariance = np.linalg.inv(design.T * weights @ design)
    known = precisions(SHAPE, VARIANCES)
    for kept in effects(3):
        adds = summing(kept)
        assert np.allclose(np.sqrt(np.diag(adds @ covariance @ adds.T)), spread_of(SHAPE, known, kept))


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_not_negative_and_keep_the_total(seed: int) -> None:
    """No cell is below 0, and the total is the fitted one."""
    margins = measured(seed)
    cells = fit_cells(SHAPE, margins, VARIANCES) - 5
    found = not_negative(cells, precisions(SHAPE, VARIANCES))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(cells.sum(), rel=1e-6)


def test_counts_are_nearest_in_the_metric_of_the_precisions() -> None:
    """The loss is that of an exact solver of the same problem, to a part in a thousand."""
    cells = fit_cells(SHAPE, measured(2), VARIANCES) - 6
    known = precisions(SHAPE, VARIANCES)
    root = np.zeros((24, 24))
    for kept, precision in known.items():
        weight = 1e6 if not kept else precision  # the total is kept
        root += weight**0.5 * np.stack([effect(unit.reshape(SHAPE), kept).ravel() for unit in np.eye(24)], axis=1)
    exact, _ = nnls(root, root @ cells.ravel())

    def loss(table: np.ndarray) -> float:
        gap = table - cells
        return float(sum(p * (effect(gap, kept) ** 2).sum() for kept, p in known.items() if kept))

    found = not_negative(cells, known)
    assert loss(found) <= loss(exact.reshape(SHAPE)) * 1.001 + 1e-6


def test_a_table_of_nobody_is_zero() -> None:
    """A total at or below 0 gives a table of zeros."""
    assert not_negative(np.full((2, 2), -3.0), {(): 1.0}).sum() == 0


def test_the_simplex_takes_the_same_off_every_cell() -> None:
    """Worked by hand: (5, 1, -2) with total 4 becomes (4, 0, 0)."""
    assert onto_simplex(np.array([5.0, 1.0, -2.0]), 4.0).tolist() == [4.0, 0.0, 0.0]
    assert onto_simplex(np.array([3.0, 2.0, -1.0]), 4.0).tolist() == [2.5, 1.5, 0.0]
