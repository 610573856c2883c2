"""LETEO's grid as printed: its rules by hand, its stamp, its cells that vanish, and the single cell that attacks draw."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.papers.holder_rows import holder_numbers
from cloister.papers.leteo.alpha_grid import blobs
from cloister.papers.leteo.printed import (
    adaptive_grid_as_printed,
    cell_draws,
    cluster_as_printed,
    printed_second_sides,
)
from cloister.privacy.guarantees import Claimed

LARGE = 1e6  # an epsilon whose noise is nothing


def test_second_sides_by_hand() -> None:
    """d = 2: M2 = N' eps / 5, m2 = ceil(sqrt M2); d = 3: m2 = ceil((N' eps / 5)^(2/5)). None where N' is not above 0."""
    assert printed_second_sides(np.array([-1.0, 0.0, 10.0, 10.5, 40.0, 41.0]), 0.5, 2).tolist() == [0, 0, 1, 2, 2, 3]
    assert printed_second_sides(np.array([0.0, 320.0, 330.0]), 0.5, 3).tolist() == [0, 4, 5]  # 32 ** 0.4 is 4


def test_the_grid_counts_every_row_once() -> None:
    """Without noise to speak of each row lies in the cell that is nearest to it, and counts add up."""
    rows = np.array([[0.05, 0.05], [0.05, 0.05], [0.95, 0.15]])
    found = adaptive_grid_as_printed(rows, LARGE).value
    assert found.lost == 0
    assert found.counts.sum() == pytest.approx(3, abs=0.1)
    heavy = np.argsort(-found.counts)[:2]
    assert found.counts[heavy] == pytest.approx([2, 1], abs=0.01)
    assert np.abs(found.points[heavy] - rows[[0, 2]]).max() < 0.05


def test_cells_tile_the_cube() -> None:
    """The middles of second-level cells are all different, inside, and as many as the sides say."""
    for columns in (1, 2, 3):
        found = adaptive_grid_as_printed(blobs(500, columns, 2, 0), 1.0, seed=3).value
        assert len(found.points) == (found.inner**columns).sum() == len(found.counts)
        assert len(np.unique(found.points.round(12), axis=0)) == len(found.points)
        assert ((found.points > 0) & (found.points < 1)).all()


def test_rows_of_vanished_cells_are_lost() -> None:
    """Where the noise is large some cells have m2 = 0: their rows are in no cell."""
    rows = blobs(300, 2, 5, 0)
    lost = [adaptive_grid_as_printed(rows, 0.05, seed=seed).value.lost for seed in range(10)]
    assert max(lost) > 0


def test_it_is_claimed_and_not_private() -> None:
    """Each result says what the report claims and what is proved."""
    grid = adaptive_grid_as_printed(blobs(300, 2, 3, 0), 1.0)
    centers = cluster_as_printed(grid.value, 3)
    draws = cell_draws(10, 1.0, 0.5, 2, np.random.default_rng(0), 5)
    assert centers.value.shape == (3, 2)
    assert draws.value.shape == (5, 2)
    for result in (grid, centers, draws):
        assert isinstance(result.release_.guarantee, Claimed)
        assert result.release_.status == "claimed, NOT PRIVATE"
        assert result.release_.guarantee.paper == "001"


def test_a_single_cell_is_drawn_as_the_grid_draws_it() -> None:
    """m2 of a cell of ten rows: as often 2 in `cell_draws` as in the whole grid (error rate 1e-6)."""
    runs = 1000
    rows = holder_numbers(np.array([[0.05, 0.05]] * 10))
    whole = np.array([adaptive_grid_as_printed(rows, 1.0, seed=seed).value.inner[0] for seed in range(runs)])
    alone = cell_draws(10, 1.0, 0.5, 2, np.random.default_rng(0), 100_000).value[:, 0]
    share = np.mean(alone == 2)
    assert abs(np.mean(whole == 2) - share) < 5 * np.sqrt(share * (1 - share) / runs)
