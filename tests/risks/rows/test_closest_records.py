"""Nearest records, their ties, and what distances say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from cloister.kernels.loops import nearest_records, nearest_records_numpy
from cloister.risks.rows.closest_records import FAR, TIES, closeness, draw_rows, look_up
from tests.risks.rows.laid_out import laid_out


def by_hand(
    numbers: NDArray[np.float64], codes: NDArray[np.int32], others: NDArray[np.float64], other_codes: NDArray[np.int32],
    blank_is: float = 1.0,
) -> NDArray[np.float64]:  # fmt: skip
    """Squared distances, cell by cell."""
    squares = np.zeros((len(numbers), len(others)))
    for i in range(len(numbers)):
        for p in range(len(others)):
            for a, b in zip(numbers[i], others[p], strict=True):
                if np.isnan(a) or np.isnan(b):
                    squares[i, p] += 0.0 if np.isnan(a) and np.isnan(b) else blank_is
                else:
                    squares[i, p] += (a - b) ** 2
            squares[i, p] += (codes[i] != other_codes[p]).sum()
    return squares


@pytest.mark.parametrize("loops", [nearest_records, nearest_records_numpy], ids=["compiled", "numpy"])
@pytest.mark.parametrize(("d", "c"), [(2, 2), (0, 3), (3, 0)])
def test_the_loops_find_what_a_hand_finds(loops: object, d: int, c: int) -> None:
    """Smallest squares, copies at the smallest, which they are; a loop that takes a blank for equal is caught."""
    random = np.random.default_rng(5)
    rows, others = (random.integers(0, 4, (n, d)) / 4.0 for n in (40, 60))
    for table in (rows, others):
        table[random.random(table.shape) < 0.1] = np.nan
    codes, other_codes = (random.integers(0, 3, (n, c)).astype(np.int32) for n in (40, 60))
    copies = random.integers(1, 5, 60)
    squares, ties, tied = np.empty((40, FAR)), np.empty((40, TIES), np.int64), np.empty(40, np.int64)
    loops.nearest_records(rows, codes, others, other_codes, copies, squares, ties, tied)  # type: ignore[attr-defined]
    truth = by_hand(rows, codes, others, other_codes)
    assert squares == pytest.approx(np.sort(truth, axis=1)[:, :FAR])
    nearest = np.isclose(truth, truth.min(axis=1, keepdims=True))
    assert tied.tolist() == (nearest @ copies).tolist()
    for i in range(40):
        first = np.flatnonzero(nearest[i])[:TIES].tolist()
        assert ties[i].tolist() == first + [-1] * (TIES - len(first))
    if d:
        planted = by_hand(rows, codes, others, other_codes, blank_is=0.0)
        assert squares != pytest.approx(np.sort(planted, axis=1)[:, :FAR])


def test_distances_and_ratios_by_hand() -> None:
    """Rows at 0 and 10 of a range of 10; released 0, 1, 2, 3, 4: the first stands on its record, the second is 0.6 from 4."""
    original, released = laid_out({"x": [0, 10]}, {"x": [0, 1, 2, 3, 4, 4]})
    nearest = look_up(original, released)
    assert sorted(np.sqrt(nearest.squares[:, 0]).tolist()) == pytest.approx([0, 0.6])
    assert sorted(nearest.tied.tolist()) == [1, 2]
    near = closeness(nearest, 2)
    assert near.unchanged == 0.5
    assert near.distance_median == pytest.approx(0.3)
    assert near.ratio_median == pytest.approx((0 / 0.4 + 0.6 / 1.0) / 2)


def test_fewer_records_than_wanted() -> None:
    """With one record the ratio is 1: nothing stands out."""
    original, released = laid_out({"x": [0, 10]}, {"x": [5]})
    near = closeness(look_up(original, released), 2)
    assert (near.distance_median, near.ratio_low) == (0.5, 1.0)


def test_rows_are_drawn_by_their_copies() -> None:
    """Of 1,000 equal rows and 10 others, drawn rows are nearly all the equal one; all are taken where that is asked for."""
    table = laid_out({"x": [1] * 1000 + list(range(2, 12))})[0]
    some = draw_rows(table, 100)
    assert some.rows == 100
    assert some.counts.max() > 90
    assert draw_rows(table, None) is table
