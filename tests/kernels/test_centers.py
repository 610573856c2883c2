"""Kernels of distances refuse grids on which squared distances would not be exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cloister.clustering.domain import from_bounds
from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels import BallClip, BoxClip, CenterSums, Clip, ClippedSums, DistanceBands, Labels, NearestVotes
from cloister.kernels.centers import check_exact, find_nearest
from cloister.kernels.loops.arrays import EXACT

Make = Callable[[np.ndarray, Clip], object]
KERNELS: dict[str, Make] = {
    "CenterSums": CenterSums,
    "ClippedSums": lambda centers, clip: ClippedSums(centers, np.ones(1, np.int64), False, np.ones(1, np.int64), clip),
    "DistanceBands": lambda centers, clip: DistanceBands(centers, 1, clip),
    "Labels": Labels,
    "NearestVotes": NearestVotes,
}


@pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("clip", [BoxClip((2**26, 2**26)), BallClip(2**26, 2)], ids=["box", "ball"])
def test_a_grid_too_fine_for_exact_distances_is_refused(make: Make, clip: Clip) -> None:
    """The constructor refuses, so nothing has been charged or read yet."""
    make(np.zeros((1, 2), np.int32), BoxClip((2**25, 2**25)))
    with pytest.raises(UsageError, match="too fine for exact distances"):
        make(np.full((3, 2), 2**26, np.int32), clip)


def test_distances_are_exact_up_to_the_border() -> None:
    """Just inside the border the nearest centre is found among centres whose squared distances differ by 1 in 2**53."""
    half = 47_453_132  # (2 half)**2 < 2**53 <= (2 half + 2)**2
    assert (2 * half) ** 2 < EXACT <= (2 * half + 2) ** 2
    check_exact(np.array([[half]], np.int32), BoxClip((half,)))
    with pytest.raises(UsageError):
        check_exact(np.array([[half + 1]], np.int32), BoxClip((half + 1,)))
    centers = np.array([[half], [half - 1]], np.int32)
    labels, squares = find_nearest(Encoded(np.array([[-half]], np.int32), np.zeros((1, 0), np.int32)), centers)
    assert labels.tolist() == [1]
    assert int(squares[0]) == (2 * half - 1) ** 2


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 8, 100, 4097, 8192, 20_000])
def test_every_domain_of_the_estimators_is_fine(columns: int) -> None:
    """The grids that estimators choose pass, with centres in every corner, for any number of columns."""
    domain = from_bounds([f"x{j}" for j in range(columns)], (0, 1), "bounds")
    CenterSums(domain.put(np.full((1, columns), 2.0**40)), domain.clip)


def test_no_centre_is_refused() -> None:
    """Without a centre nothing is nearest."""
    with pytest.raises(UsageError, match="no centre"):
        check_exact(np.empty((0, 2), np.int32), BoxClip((1, 1)))
