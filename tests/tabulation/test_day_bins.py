"""Tables by dates."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cloister as cl
from cloister.cli.tabulate import read_bins
from cloister.errors import CloisterError, UsageError

SCHEMA = cl.Schema.from_text(
    '[columns.born]\nkind = "date"\nbounds = [1920-01-01, 2025-12-31]\nformat = "%d.%m.%Y"\ndefault = 1999-05-01\n'
)
DAYS = ["31.12.1949", "01.01.1950", "31.12.1969", "01.01.1970", "30.06.2030", "?", ""]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"born": DAYS}),
        pd.DataFrame({"born": pd.to_datetime(pd.Series(DAYS), format="%d.%m.%Y", errors="coerce")}),
        [[day] for day in DAYS],
    ],
    ids=["text", "typed", "list"],
)
def test_named_days_cut_the_bounds(rows: object) -> None:
    """A day belongs to the bin that begins with it; what cannot be read counts as the default, which the certificate names."""
    cuts = ["1950-01-01", "1970-01-01"]
    table = cl.tabulate(rows, ["born"], 1e6, bins={"born": cuts}, schema=SCHEMA, count_missing=True)
    assert table.labels == (("[1920-01-01, 1950-01-01)", "[1950-01-01, 1970-01-01)", "[1970-01-01, 2025-12-31]"),)
    assert table.counts.round().tolist() == [1, 2, 4]
    assert table.release_ is not None
    assert table.release_.parameters["defaults"] == {"born": "1999-05-01"}
    assert round(table.release_.result["missing"]["counts"]["born"]) == 2


def test_years_and_decades_are_bins_of_their_own() -> None:
    """Up to 50 years one each; above that decades; ends of the bounds need not be those of a year."""
    few = {"born": (datetime.date(2001, 7, 1), datetime.date(2003, 3, 31))}
    table = cl.tabulate(pa.table({"born": ["2002-01-01"]}), ["born"], 1e6, bounds=few)
    assert table.labels == (("[2001-07-01, 2002-01-01)", "[2002-01-01, 2003-01-01)", "[2003-01-01, 2003-03-31]"),)
    assert table.counts.round().tolist() == [0, 1, 0]
    decades = cl.tabulate(pa.table({"born": ["01.01.1930"]}), ["born"], 1e6, schema=SCHEMA)
    assert decades.labels[0][1] == "[1930-01-01, 1940-01-01)"
    assert np.flatnonzero(decades.counts.round()).tolist() == [1]
    thirds = cl.tabulate(pa.table({"born": ["x"]}), ["born"], 1, schema=SCHEMA, bins={"born": 3})
    assert len(thirds.labels[0]) == 3


@pytest.mark.parametrize(
    "bins",
    [["1970-01-01", "1950-01-01"], [1950, 1970], "1950-01-01", [], 0, 10**9, True, ["1950"], [datetime.datetime.max], 1.5],
)
def test_what_are_no_rising_days_is_refused(bins: object) -> None:
    """Before the charge, in one sentence."""
    with pytest.raises(CloisterError, match=r"days|bins"):
        cl.tabulate(pa.table({"born": DAYS}), ["born"], 1, bins={"born": bins}, schema=SCHEMA)


def test_bins_on_the_command_line() -> None:
    """Edges are parted by colons or commas; a decimal comma is told how to write it."""
    assert read_bins(["age=10", "pay=0:0.5:1", "x=0,18,65", "born=1950-01-01,1970-01-01", "due=2020-01-01"]) == {
        "age": 10,
        "pay": [0, 0.5, 1],
        "x": [0, 18, 65],
        "born": ["1950-01-01", "1970-01-01"],
        "due": ["2020-01-01"],
    }
    with pytest.raises(UsageError, match=r"with a point, such as 0\.5"):
        read_bins(["pay=0:0,5:1"])


EVENING = datetime.datetime(1999, 12, 31, 23)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([EVENING]),
        pa.array([EVENING]).cast(pa.timestamp("ns", "+00:00")),
        pa.array(["1999-12-31T23:00:00"]),
        pa.array(["1999-12-31T23:30:00-05:00"]),
        pa.array([EVENING + datetime.timedelta(hours=5)]).cast(pa.timestamp("us", "America/New_York")),
        pd.Series([pd.Timestamp("1999-12-31 23:30", tz="America/New_York")]),
        pd.Series([EVENING], dtype=object),
    ],
    ids=["typed", "utc", "text", "offset", "zone", "pandas", "objects"],
)
def test_an_evening_is_counted_on_its_own_day(cells: object) -> None:
    """1999-12-31 23:00 was counted in 2000, and 23:30 in New York too."""
    rows = pd.DataFrame({"seen": cells}) if isinstance(cells, pd.Series) else pa.table({"seen": cells})
    bounds = {"seen": (datetime.date(1999, 1, 1), datetime.date(2001, 1, 1))}
    assert cl.tabulate(rows, ["seen"], 1e6, bounds=bounds).counts.round().tolist()[:2] == [1, 0]
