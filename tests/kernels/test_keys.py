"""Keys of rows: the cell of a grid, and the Morton key."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels.cells import GridCells, GridKeys, NestedCells
from cloister.kernels.keyed import KeyedKernel, distinct
from cloister.kernels.morton import MortonKeys

HALVES = (100, 7, 3)
KERNELS = [GridKeys(HALVES, (5, 3, 2)), MortonKeys(HALVES, 4)]


def rows(count: int = 500) -> Encoded:
    random = np.random.default_rng(0)
    numbers = random.integers(-np.array(HALVES), np.array(HALVES) + 1, (count, 3)).astype(np.int32)
    return Encoded(numbers, np.empty((count, 0), dtype=np.int32))


@pytest.mark.parametrize("kernel", KERNELS, ids=["grid", "morton"])
def test_a_rows_key_is_its_own(kernel: KeyedKernel) -> None:
    """A row's key does not depend on the rows beside it, nor on their order."""
    everything = rows()
    keys = kernel.keys(everything)
    assert keys.shape == (500, kernel.width)
    order = np.random.default_rng(1).permutation(500)[:60]
    some = Encoded(np.ascontiguousarray(everything.numbers[order]), everything.codes[order])
    assert np.array_equal(kernel.keys(some), keys[order])


def test_grid_keys_count_what_grid_cells_count() -> None:
    """The keyed counts are those of the dense grid that are not 0."""
    dense = GridCells(HALVES, (5, 3, 2)).fold(rows())["counts"]
    keyed = distinct(GridKeys(HALVES, (5, 3, 2)).keys(rows()))
    assert np.array_equal(np.flatnonzero(dense), keyed.keys[:, 0])
    assert np.array_equal(dense[dense > 0], keyed.counts)


def test_morton_keys_interleave_binary_digits() -> None:
    """Worked by hand: two columns of two digits, 10 and 01, give 1001; the first column comes first."""
    order = MortonKeys((2, 2), 2)  # five places cut into four intervals: 0, 0, 1, 2, 3
    keys = order.keys(Encoded(np.array([[1, 0], [2, 2], [-2, -2]], np.int32), np.empty((3, 0), np.int32)))
    assert keys[:, 0].tolist() == [0b1001, 0b1111, 0b0000]


def test_a_grid_too_fine_to_divide_exactly_is_refused() -> None:
    """The constructors refuse grids on which a place could be put into the wrong interval, or outside of all."""
    half = 2**31 - 1
    GridCells((half,), (2**20,))
    for make in (
        lambda: GridCells((half,), (2**22,)),
        lambda: GridKeys((7, half), (2, 2**22)),
        lambda: NestedCells((half,), (2**11,), np.full(2**11, 2**11)),
        lambda: MortonKeys((half,), 21),
    ):
        with pytest.raises(UsageError, match="too many intervals"):
            make()
