"""The sketch between rounds of clipped sums: small cells are neither divided nor left behind by a radius that is too small."""

from __future__ import annotations

import numpy as np
import pytest

import cloister as cl
from cloister.clustering.chance import public_chance
from cloister.clustering.domain import Domain, from_bounds
from cloister.clustering.votes import sketch as sketching
from cloister.clustering.votes.joined_cells import join_cells
from cloister.clustering.votes.sketch import Radii, Round, Sketch
from cloister.kernels import NearestVotes
from cloister.privacy.budgets import PureDP
from cloister.privacy.mechanisms import Mechanism, calibrate
from cloister.schema import Neighbours

COLUMNS = 4
FITS, MOST_BAD = 10, 4


def domain() -> Domain:
    return from_bounds([f"x{j}" for j in range(COLUMNS)], (0, 1), "bounds")


def noise_of_counts(epsilon: str = "1") -> Mechanism:
    box = domain()
    kernel = NearestVotes(np.zeros((2, COLUMNS), dtype=np.int32), box.clip)
    return calibrate(kernel.sensitivity(Neighbours.ADD_REMOVE), PureDP(epsilon).epsilon)


def two_cells(half: float) -> Sketch:
    """One cell of 5,000 rows in one corner, one of 100 that is wide in the other."""
    means = np.array([[-0.5], [0.5]]) * half * np.ones(COLUMNS)
    spreads = np.array([0.05, 0.5]) ** 2 * half**2
    return Sketch(means, np.array([5000.0, 100.0]), spreads, np.full(COLUMNS, 1 / COLUMNS), np.ones(2))


def test_a_small_cell_is_not_divided() -> None:
    """It keeps one candidate, in its middle, where several would have too few rows each; without a limit it has several."""
    box, random = domain(), public_chance(0)
    sketch = two_cells(float(box.halves[0]))
    for rows_each, at_most in ((80.0, 1), (0.0, 40)):
        candidates = sketch.candidates(40, 2, box, random, rows_each=rows_each)
        near = (candidates > 0).all(axis=1).sum()
        assert 1 <= near <= at_most
        assert bool(near > 1) is (rows_each == 0)


def test_there_are_never_fewer_candidates_than_clusters() -> None:
    """However few rows cells have, a last round has a candidate a cluster."""
    box, random = domain(), public_chance(0)
    sketch = two_cells(float(box.halves[0]))
    assert len(sketch.candidates(8, 8, box, random, rows_each=1e6)) == 8
    assert len(sketch.candidates(40, 8, box, random, rows_each=1e6)) >= 8


@pytest.mark.parametrize(("move", "clear", "widens"), [(1.0, True, True), (0.1, True, False), (1.0, False, False)])
def test_a_move_as_long_as_its_radius_keeps_the_radius(move: float, clear: bool, widens: bool) -> None:
    """Its rows may lie further out. A short move says where they are, and so does any where nothing stands out anyway."""
    box, random = domain(), public_chance(0)
    half = float(box.halves[0])
    sketch, radius = two_cells(half), 0.2 * half
    sums = np.zeros((3, COLUMNS))
    sums[1, 0] = 100 * move * radius
    counts = np.array([5000.0, 100.0, 0.0])
    places = np.concatenate([sketch.means, np.zeros((1, COLUMNS))])
    squares = counts * (0.05 * radius) ** 2
    radii = Radii(np.full(3, radius), np.full(3, radius), 0.01)
    votes = Round(
        places, radii, counts, sums, squares, 1.0, np.full(3, 1.0), np.full(3, 1.0), noise_of_counts() if clear else None
    )
    after = sketch.update(votes, 5100.0, 2, box, random)
    spread = after.spreads[after.weights == 100]
    assert bool((spread >= 0.49 * radius**2).all()) is widens


def test_neighbours_that_stand_out_together_are_joined() -> None:
    """Forty cells with 5 rows each pass no mark alone; together they do, and far from them nothing is joined."""
    places = np.concatenate([np.arange(40.0), 1000 + np.arange(300.0)])[:, None]
    counts = np.concatenate([np.full(40, 5.0), np.zeros(300)])
    groups = join_cells(places, counts, np.arange(340), (3, 9, 27, 81, 243), 0.1, noise_of_counts("0.5"), public_chance(0))
    joined = np.concatenate(groups)
    assert (joined < 40).sum() >= 30
    assert (joined >= 40).sum() <= 20


def unbalanced() -> np.ndarray:
    """Three clusters of 2,000 rows and three of 150, in five columns."""
    random = np.random.default_rng(5)
    centers = np.array(
        [
            [0.3] * 5,
            [0.7, 0.3, 0.5, 0.3, 0.7],
            [0.3, 0.7, 0.3, 0.7, 0.5],
            [0.9] * 5,
            [0.9, 0.9, 0.1, 0.1, 0.1],
            [0.1, 0.1, 0.9, 0.1, 0.9],
        ]
    )
    rows = [random.normal(center, 0.02, (size, 5)) for center, size in zip(centers, [2000] * 3 + [150] * 3, strict=True)]
    return np.clip(np.concatenate(rows), 0, 1)


def bad_fits(X: np.ndarray) -> int:
    """How many of some fits at epsilon 1.5 lose more than 1.5 times what is lost around the true centres."""
    best = sum(((block - block.mean(axis=0)) ** 2).sum() for block in np.split(X, [2000, 4000, 6000, 6150, 6300]))
    losses = []
    for seed in range(FITS):
        centers = cl.KMeans(6, 1.5, (0, 1), random_state=seed).fit(X).cluster_centers_
        losses.append(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).sum())
    return int((np.array(losses) > 1.5 * best).sum())


def test_small_clusters_are_found_beside_large_ones_in_five_columns() -> None:
    """At most 4 bad fits of 10.

    Of 60 fits none was bad; at a chance of 2% each, 5 of 10 are bad with a chance below 1e-6.
    """
    assert bad_fits(unbalanced()) <= MOST_BAD


def test_the_test_of_five_columns_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the largest cells are kept, small clusters are lost."""
    monkeypatch.setattr(sketching, "LARGE", 0.5)
    monkeypatch.setattr(sketching, "FALSE_CELLS", 1e-30)
    monkeypatch.setattr(sketching, "JOINED", ())
    assert bad_fits(unbalanced()) > MOST_BAD
