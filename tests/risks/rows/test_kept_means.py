"""Means of number columns that moved, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cloister.risks.assess import RowsReport, assess


def compare(released: pa.Table, original: pa.Table, **settings: object) -> RowsReport:
    report = assess(released, against=original, as_rows=True, **settings)  # type: ignore[arg-type]
    assert isinstance(report, RowsReport)
    return report


def test_the_mean_that_moved_most_is_told_in_its_own_units() -> None:
    """Ages 0 and 10 have a mean of 5 and a deviation of 5; a mean of 8 is 0.6 of that away. Pay is kept, blanks are aside."""
    original = pa.table({"age": [0.0, 10.0, 0.0, 10.0, None], "pay": [1.0, 2.0, 3.0, 4.0, 5.0]})
    released = pa.table({"age": [6.0, 10.0, 6.0, 10.0, None], "pay": [5.0, 4.0, 3.0, 2.0, 1.0]})
    report = compare(released, original)
    assert report.means is not None
    assert (report.means.worst, report.means.columns) == ("age", 2)
    assert report.means.largest == pytest.approx(0.6)
    assert report.means.mean == pytest.approx(0.3)
    assert (report.means.original, report.means.released) == pytest.approx((5.0, 8.0))
    assert "age: 5 in the original, 8 here" in str(report)


def test_words_alone_have_no_means() -> None:
    """Nor has a column of one number."""
    table = pa.table({"word": ["a", "b", "a"], "same": [1.0, 1.0, 1.0]})
    assert compare(table, table).means is None


def test_the_page_begins_in_short() -> None:
    """Words that never met are told first; without them, and with a control, that nobody stands out."""
    original = pa.table({"sex": ["f", "m"] * 200, "role": ["wife", "husband"] * 200})
    crossed = pa.table({"sex": ["f", "m"] * 200, "role": ["husband", "wife"] * 200})
    page = str(compare(crossed, original))
    assert page.startswith("In short")
    assert "100% of the rows hold words together that hardly ever meet in the original" in page
    kept = str(compare(original, original, control=original))
    assert "hardly ever meet in the original" not in kept
    assert "By distance nobody in the table stands out." in kept
