"""How cells become numbers on one scale, or words."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from cloister.risks.rows.share_bins import MOST_BINS, bin_cuts
from cloister.schema import Category, Column, Date, Number, Schema
from tests.risks.rows.laid_out import laid_out


def test_numbers_are_scaled_by_the_range_of_the_original() -> None:
    """What the release holds beyond the range is beyond 1, and not clipped: noise would be hidden."""
    original, released = laid_out({"age": [20, 30, 40]}, {"age": [10.0, 25.0, 60.0]})
    assert sorted(original.numbers[:, 0].tolist()) == [0.0, 0.5, 1.0]
    assert sorted(released.numbers[:, 0].tolist()) == [-0.5, 0.25, 2.0]


def test_numbers_are_scaled_by_the_bounds_of_a_schema() -> None:
    """Bounds [0, 100]: 25 is a quarter, whatever the original holds."""
    schema = Schema((Column("age", Number(bounds=(0, 100))),))
    assert sorted(laid_out({"age": [25, 50]}, schema=schema)[0].numbers[:, 0].tolist()) == [0.25, 0.5]


def test_dates_are_days() -> None:
    """With a schema and without one; a tenth of ten days is one day."""
    days = {"born": ["2020-01-01", "2020-01-02", "2020-01-11"]}
    for schema in (None, Schema((Column("born", Date(bounds=(datetime.date(2020, 1, 1), datetime.date(2020, 1, 11)))),))):
        table = laid_out(days, schema=schema)[0]
        assert table.columns[0].is_date
        assert sorted(table.numbers[:, 0].tolist()) == pytest.approx([0, 0.1, 1])


def test_labels_make_a_column_words() -> None:
    """A label is no number: the column is compared as words, equal or not, and a note says so."""
    original, released = laid_out({"age": [21, 30]}, {"age": ["[20, 30)", "30"]})
    assert original.columns[0].note
    assert original.codes.shape == released.codes.shape == (2, 1)
    assert len(np.intersect1d(original.codes, released.codes)) == 1
    schema = Schema((Column("age", Number(bounds=(0, 99))),))
    original, released = laid_out({"age": [21, 30]}, {"age": ["[20, 30)", "30"]}, schema=schema)
    assert original.columns[0].note == "the release holds labels"


def test_one_number_however_it_is_written() -> None:
    """1, 1.0 and 01 are one value of a column of codes, and one record."""
    original, released = laid_out({"code": ["1", "x", "1"]}, {"code": ["1.0", "x", "01"]})
    assert set(original.codes[:, 0].tolist()) == set(released.codes[:, 0].tolist())
    assert len(released) == 2
    assert released.rows == 3


def test_blanks() -> None:
    """A blank is NaN among numbers, and a code of its own, the last, among words; what a schema lists as missing is blank."""
    schema = Schema((Column("age", Number(missing=("?",))), Column("sex", Category(("f", "m"), missing=("?",)))))
    table = laid_out({"age": ["1", "2", "?"], "sex": ["f", "m", "?"]}, schema=schema)[0]
    assert np.isnan(table.numbers).sum() == 1
    assert table.columns[1].size == 3
    assert sorted(table.codes[:, 0].tolist()) == [0, 1, 2]
    assert table.codes[np.isnan(table.numbers[:, 0]), 0].tolist() == [2]


@pytest.mark.parametrize("cells", [[7, 7, 7], [None, None, None], [7, None, 7]])
def test_a_column_that_does_not_vary_is_words(cells: list[int | None]) -> None:
    """It has no width that distances could be measured in."""
    original, released = laid_out({"a": cells, "b": [1, 2, 3]}, {"a": [8, 8, 8], "b": [1, 2, 3]})
    assert not original.columns[0].is_number
    assert not np.intersect1d(original.codes, released.codes).size


def test_bins_hold_about_as_many_rows() -> None:
    """Nine tenths of the rows are at 0: they have a bin of their own, and the rest is told apart."""
    values = np.append(0.0, np.arange(1, 101))
    counts = np.append(900.0, np.ones(100))
    cuts = bin_cuts(values, counts)
    assert cuts[0] == 0
    assert 2 <= len(cuts) < MOST_BINS
    assert bin_cuts(np.arange(1000.0), np.ones(1000)).tolist() == [50.0 * i - 1 for i in range(1, 20)]


def test_a_step_with_few_values_gives_the_bins() -> None:
    """Means between two values are counted with the nearer one."""
    kind = Number(bounds=(1, 4), step=1)
    assert bin_cuts(np.array([1.0, 4.0]), np.ones(2), kind).tolist() == [1.5, 2.5, 3.5]
