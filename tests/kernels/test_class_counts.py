"""Value counts by class: whose row is whose, and what each column counts."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.encode import Encoded
from cloister.errors import UsageError
from cloister.kernels import ClassCounts, ValueBins
from cloister.schema import Neighbours

BINS = ValueBins(((0, 10),), (2,))  # a number in three bins, a category of two values


def rows(*cells: tuple[int, int]) -> Encoded:
    numbers, codes = np.array(cells, dtype=np.int32).T
    return Encoded(np.ascontiguousarray(numbers[:, None]), np.ascontiguousarray(codes[:, None]))


def test_a_row_is_counted_in_the_class_of_its_highest_score() -> None:
    """The first class likes small numbers, the second the second category; together they decide."""
    scores = np.array([[5, 0, 0, 0, 0], [0, 0, 0, 0, 3]], dtype=np.int32)
    counts = ClassCounts(BINS, scores).fold(rows((-1, 1), (0, 1), (10, 1), (-7, 0)))["counts"]
    assert counts.tolist() == [[2, 0, 0, 1, 1], [0, 1, 1, 0, 2]]


def test_ties_go_to_the_first_class() -> None:
    """A class does not depend on anything but the row."""
    counts = ClassCounts(BINS, np.zeros((3, 5), dtype=np.int32)).fold(rows((5, 0), (5, 1)))["counts"]
    assert counts.sum(axis=1).tolist() == [4, 0, 0]


def test_many_rows_are_scored_as_each_by_itself() -> None:
    """Rows are scored some thousands at a time, which changes nothing."""
    random = np.random.default_rng(0)
    table = Encoded(
        random.integers(-20, 20, (10_000, 1)).astype(np.int32), random.integers(0, 2, (10_000, 1)).astype(np.int32)
    )
    kernel = ClassCounts(BINS, random.integers(-9, 9, (4, 5)).astype(np.int32))
    first = kernel.fold(Encoded(table.numbers[:777], table.codes[:777])) + kernel.fold(
        Encoded(table.numbers[777:], table.codes[777:])
    )
    assert np.array_equal(first["counts"], kernel.fold(table)["counts"])


@pytest.mark.parametrize(("neighbours", "moved"), [(Neighbours.ADD_REMOVE, 2), (Neighbours.REPLACE_ONE, 4)])
def test_sensitivity_is_one_count_a_column(neighbours: Neighbours, moved: int) -> None:
    """However many classes and values there are; a replaced row leaves as many counts as it enters."""
    change = ClassCounts(BINS, np.zeros((90, 5), dtype=np.int32)).sensitivity(neighbours).moves[0]["counts"]
    assert (change.l1, change.l2_squared) == (moved, moved)


def test_scores_that_would_overflow_or_do_not_fit_are_refused() -> None:
    """Scores are added in 32 bits, one for each value of each column."""
    with pytest.raises(UsageError, match="32 bits"):
        ClassCounts(BINS, np.full((2, 5), 2**30, dtype=np.int32))
    with pytest.raises(UsageError, match="one score for each value"):
        ClassCounts(BINS, np.zeros((2, 4), dtype=np.int32))
