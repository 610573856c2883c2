"""What a group is written as: means that are rounded, modes or generalisations, blanks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from cloister.microdata.microaggregation.centroids import publish_columns
from cloister.microdata.microaggregation.grouping import Grouping
from cloister.microdata.microaggregation.mixed_rows import MixedRows, NumberColumn, WordColumn
from cloister.schema.hierarchies import Hierarchy

NOBODY = np.zeros(0, np.int32)
TWO = Grouping(np.array([0, 0, 0, 1, 1, 1], np.int32), 2, 1, None)
NAN = np.nan


def written(column: NumberColumn | WordColumn, people: np.ndarray = NOBODY, **trees: Hierarchy) -> list[object]:
    """What two groups of three rows are written as."""
    published = publish_columns(MixedRows((column,), people, 6), TWO, trees)
    values: list[object] = published[0].values.to_pylist()
    return values


def numbers(*cells: float, step: float | None = None, bounds: tuple[float, float] | None = None) -> NumberColumn:
    return NumberColumn("x", np.array(cells), False, bounds, step)


def test_means_are_rounded_to_what_the_column_holds() -> None:
    """To whole numbers, to a step from the lowest value on, or to six digits of the range."""
    cells = (1.0, 2.0, 2.0, 7.0, 7.0, 8.0)
    assert written(numbers(*cells, step=1.0)) == [2, 7]
    assert written(numbers(*cells, step=0.5)) == [1.5, 7.5]
    assert written(numbers(*cells, step=2.0, bounds=(1, 9))) == [1.0, 7.0]
    assert written(numbers(*cells)) == [1.66667, 7.33333]
    assert written(numbers(*[c / 10 for c in cells], step=0.1)) == [0.2, 0.7]


def test_rounding_publishes_no_extreme_of_the_data() -> None:
    """A mean that is rounded beyond the largest cell stays there: cut back to it, it would be somebody's own value."""
    assert written(numbers(0.0, 0.0, 0.0, 17.0, 16.0, 16.0, step=10.0)) == [0.0, 20.0]


def test_the_largest_numbers_have_a_mean() -> None:
    """Nothing overflows or is blank, and the loss is a number."""
    column = numbers(1e308, 1e308, 1e308, -1e308, -1e308, -1e308)
    published = publish_columns(MixedRows((column,), NOBODY, 6), TWO, {})[0]
    assert np.allclose(published.values.to_pylist(), [1e308, -1e308])
    assert np.isclose(published.loss, 0)


def test_dates_are_days() -> None:
    """The mean of three days is a day."""
    column = NumberColumn("x", np.array([0.0, 1.0, 1.0, 10.0, 10.0, 10.0]), True, None, 1.0)
    assert [str(day) for day in written(column)] == ["1970-01-02", "1970-01-11"]


def test_a_mean_of_one_is_not_published() -> None:
    """A group is blank where fewer than half of its rows, or fewer than two, hold a number; people count where k does."""
    assert written(numbers(5.0, NAN, NAN, 7.0, 8.0, NAN, step=1.0)) == [None, 8]
    assert written(numbers(5.0, 6.0, NAN, NAN, NAN, NAN, step=1.0), np.array([0, 0, 1, 0, 1, 2], np.int32)) == [None, None]
    assert written(numbers(*[NAN] * 6)) == [None, None]


def test_blank_groups_lose_all_that_was_known() -> None:
    """Their cells count as if the column's mean stood there."""
    column = numbers(5.0, NAN, NAN, 7.0, 7.0, 7.0)
    published = publish_columns(MixedRows((column,), NOBODY, 6), TWO, {})[0]
    mean = (5 + 7 * 3) / 4
    assert np.isclose(published.loss, 100 * (5 - mean) ** 2 / ((5 - mean) ** 2 + 3 * (7 - mean) ** 2))


def test_categories_are_written_as_their_mode() -> None:
    """The most common value of the group, of equals the one that is more common in the table; a blank is a value."""
    column = WordColumn("x", np.array([1, 1, 0, 2, 2, 0], np.int32), pa.array(["a", "b", ""]))
    assert written(column) == ["b", None]
    assert written(replace(column, codes=np.array([0, 1, 2, 1, 2, 0], np.int32))) == ["a", "a"]


def test_categories_with_a_hierarchy_are_generalised_as_little_as_covers_them() -> None:
    """One value stays, values of a branch become it, others the root; a blank or an unknown value is under the root alone."""
    tree = Hierarchy.from_paths([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
    words = pa.array(["a", "b", "c", "d", "", "zz"])

    def of(*codes: int) -> list[object]:
        return written(WordColumn("x", np.array(codes, np.int32), words), x=tree)

    assert of(0, 1, 1, 2, 2, 2) == ["ab", "c"]
    assert of(0, 1, 2, 2, 3, 3) == ["*", "cd"]
    assert of(4, 4, 4, 0, 4, 0) == [None, "*"]
    assert of(5, 5, 5, 5, 0, 1) == ["zz", "*"]
