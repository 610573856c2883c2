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
    assert table.labels == (("2001", "2002", "2003"),)
    assert table.counts.round().tolist() == [0, 1, 0]
    decades = cl.tabulate(pa.table({"born": ["01.01.1930"]}), ["born"], 1e6, schema=SCHEMA)
    assert decades.labels[0][1] == "1930s"
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
    assert read_bins(["born=01.01.1940:1.1.1950"]) == {"born": ["01.01.1940", "1.1.1950"]}  # as the schema may write them
    with pytest.raises(UsageError, match="--bins takes"):
        read_bins(["age=many"])
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


@pytest.mark.parametrize(
    "days",
    [
        ["01.01.1950", "1.1.1970"],
        [datetime.date(1950, 1, 1), datetime.date(1970, 1, 1)],
        [datetime.datetime(1950, 1, 1), "1970-01-01"],
        pd.to_datetime(["1950-01-01", "1970-01-01"]),
        np.array(["1950-01-01", "1970-01-01"], dtype="datetime64[D]"),
        np.array(["1950-01-01", "1970-01-01"], dtype="datetime64[ns]"),
        (np.datetime64("1950"), pd.Timestamp("1970-01-01")),
        ["1950-01-01", "1970-01-01", "2025-12-31"],
        ["1900-01-01", "1950-01-01", "1970-01-01", "2030-01-01"],
    ],
)
def test_days_may_be_given_as_python_has_them_and_as_the_column_writes_them(days: object) -> None:
    """Dates, moments at midnight, those of NumPy and pandas, and texts in the format of the schema."""
    table = cl.tabulate(pa.table({"born": DAYS}), ["born"], 1e6, bins={"born": days}, schema=SCHEMA)
    assert table.counts.round().tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    "bins", [[np.datetime64("NaT")], [pd.NaT], ["1950-01-01T12:00"], [datetime.datetime(1950, 1, 1, 12)]]
)
def test_what_is_no_day_is_no_edge(bins: object) -> None:
    """A moment of a day cuts it, and no value is known so well."""
    with pytest.raises(UsageError, match=r"it holds dates.*%d\.%m\.%Y"):
        cl.tabulate(pa.table({"born": DAYS}), ["born"], 1, bins={"born": bins}, schema=SCHEMA)


NUMBERS = cl.Schema.from_text('[columns.born]\nkind = "number"\nbounds = [1920, 2025]\n')
EDGES: dict[str, tuple[list[int], int]] = {  # years, and how many bins they make; 0: refused
    "inside": ([1950, 1970], 3),
    "one": ([1950], 2),
    "all": ([1920, 1950, 2025], 2),
    "below": ([1900, 1950], 2),
    "around": ([1900, 1950, 2050], 2),
    "one bin": ([1900, 2050], 1),
    "far beyond": ([1800, 1900, 1950, 2050, 2060], 4),
    "all below": ([1800, 1900], 0),
    "one below": ([1900], 0),
    "all above": ([2030, 2050], 0),
    "falling": ([1970, 1950], 0),
    "none": ([], 0),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("kind", ["number", "date"])
def test_edges_of_numbers_and_of_days_follow_one_rule(kind: str, name: str) -> None:
    """They cut the bounds: the rest on both sides is counted, too; all on one side of them they cut nothing."""
    years, bins = EDGES[name]
    last = {2025: "2025-12-31"}
    edges = years if kind == "number" else [last.get(year, f"{year}-01-01") for year in years]
    schema = NUMBERS if kind == "number" else SCHEMA
    if bins:
        assert cl.tabulate(pa.table({"born": ["?"]}), ["born"], 1, bins={"born": edges}, schema=schema).counts.shape == (
            bins,
        )
    else:
        with pytest.raises(UsageError, match='"born"'):
            cl.tabulate(pa.table({"born": ["?"]}), ["born"], 1, bins={"born": edges}, schema=schema)


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        ("year", ("2023", "2024")),
        ("quarter", ("2023-Q4", "2024-Q1", "2024-Q2")),
        ("month", ("2023-11", "2023-12", "2024-01", "2024-02", "2024-03", "2024-04")),
        ("decade", ("2020s",)),
        (" Year ", ("2023", "2024")),
    ],
)
def test_periods_are_bins_under_their_names(period: str, labels: tuple[str, ...]) -> None:
    """A period that the bounds cut is there as far as they reach; what lies outside is in the first or last."""
    bounds = {"seen": (datetime.date(2023, 11, 17), datetime.date(2024, 4, 1))}
    days = ["2023-11-30", "2023-12-01", "2024-03-31", "2024-04-01", "2019-01-01", "2030-01-01"]
    table = cl.tabulate(pa.table({"seen": days}), ["seen"], 1e6, bounds=bounds, bins={"seen": period})
    assert table.labels == (labels,)
    expected = {"month": [2, 1, 0, 0, 1, 2], "quarter": [3, 1, 2], "year": [3, 3], "decade": [6]}
    assert table.counts.tolist() == expected[period.strip().lower()]


def test_weeks_are_those_of_the_iso_calendar() -> None:
    """From Monday on; the first days of a year may be in the last week of the one before."""
    bounds = {"seen": (datetime.date(2020, 12, 27), datetime.date(2021, 1, 10))}
    table = cl.tabulate(
        pa.table({"seen": ["2021-01-03", "2021-01-04"]}), ["seen"], 1e6, bounds=bounds, bins={"seen": "week"}
    )
    assert table.labels == (("2020-W52", "2020-W53", "2021-W01"),)
    assert table.counts.tolist() == [0, 1, 1]


def test_a_period_of_numbers_and_an_unknown_one_are_refused() -> None:
    """In one sentence that names what can be given."""
    with pytest.raises(UsageError, match="decade, year, quarter, month, week"):
        cl.tabulate(pa.table({"born": DAYS}), ["born"], 1, bins={"born": "fortnight"}, schema=SCHEMA)
    with pytest.raises(UsageError, match="rising edges"):
        cl.tabulate(pa.table({"born": [1]}), ["born"], 1, bins={"born": "month"}, schema=NUMBERS)
    assert read_bins(["born=month", "due= Quarter "]) == {"born": "month", "due": "quarter"}
