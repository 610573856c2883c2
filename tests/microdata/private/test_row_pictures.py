"""Pictures of private rows count those rows."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from cloister.errors import UsageError
from cloister.microdata.private.row_pictures import row_pictures
from cloister.report.picture import MeasuredBars, MeasuredSteps

DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 50) for i in range(100)]
ROWS = pa.table(
    {
        "sex": ["f", "m", None, "f"] * 25,
        "age": [20, 21, 22, 22] * 25,
        "pay": [float(i) for i in range(100)],
        "born": DAYS,
        "one": [7.0] * 100,
        "none": pa.nulls(100, pa.float64()),
    }
)


def test_every_row_is_counted_once() -> None:
    """Words by frequency, numbers and days between edges; blanks are a word."""
    (picture,) = row_pictures(ROWS)
    sex, age, pay, born, one, _ = picture.panels
    assert isinstance(sex, MeasuredBars)
    assert dict(zip(sex.words, sex.values, strict=True)) == {"f": 50, "m": 25, "(blank)": 25}
    assert isinstance(age, MeasuredSteps)
    assert (age.values, age.edges) == ((25, 25, 50), (19.5, 20.5, 21.5, 22.5))
    assert [sum(panel.values) for panel in (pay, born, one)] == [100, 100, 100]
    assert (born.ticks[0][1], born.ticks[-1][1]) == ("2024-01-01", "2024-02-19")


def test_bins_of_whole_numbers_hold_as_many_values() -> None:
    """Ages that are spread evenly have no comb: bins begin and end between them, and hold three each."""
    ages = list(range(17, 91))
    ((panel,),) = [picture.panels for picture in row_pictures(pa.table({"age": ages * 10}))]
    assert panel.edges[:3] == (16.5, 19.5, 22.5)
    assert set(panel.values[:-1]) == {30}


def test_columns_are_chosen_by_name() -> None:
    """Those that were named; another name is refused."""
    assert [panel.x_label for panel in row_pictures(ROWS, ["pay", "age"])[0].panels] == ["pay", "age"]
    with pytest.raises(UsageError, match="no column"):
        row_pictures(ROWS, ["height"])
