"""Bounds that a call states: days however they are written, and never against the schema."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.schema import Category, Column, Date, Number, Schema, Text
from cloister.schema.stated_bounds import has_days, read_ends

FIRST, LAST = datetime.date(1930, 1, 1), datetime.date(2020, 12, 31)
DAYS: dict[str, Any] = {
    "texts": ("1930-01-01", "2020-12-31"),
    "a list of texts": ["1930-01-01", "2020-12-31"],
    "dates": (FIRST, LAST),
    "moments": (datetime.datetime(1930, 1, 1), datetime.datetime(2020, 12, 31, 17, 5)),
    "pandas": (pd.Timestamp("1930-01-01"), pd.Timestamp("2020-12-31")),
    "pandas with a zone": (pd.Timestamp("1930-01-01", tz="Asia/Tokyo"), pd.Timestamp("2020-12-31", tz="Asia/Tokyo")),
    "NumPy": (np.datetime64("1930-01-01"), np.datetime64("2020-12-31", "ns")),
    "an array": np.array(["1930-01-01", "2020-12-31"], dtype="datetime64[D]"),
    "of two kinds": ("1930-01-01", pd.Timestamp("2020-12-31")),
}
NEITHER: list[Any] = [
    ("1930-01-01", 5), ("1930", "2020"), ("1930-02-30", "2020-12-31"), ("1930-01-01 05:00", "2020-12-31"), (pd.NaT, pd.NaT),
    (np.datetime64("NaT"), LAST), (np.datetime64("1930"), np.datetime64("2020")), (FIRST,), (FIRST, LAST, LAST), "1930-01-01",
    5, None, (True, 5), (None, 5), ((FIRST, LAST), (FIRST, LAST)), np.datetime64("1930-01-01"), object(),
]  # fmt: skip
ROWS = {"born": [FIRST + datetime.timedelta(days=300 * i) for i in range(100)], "age": list(range(100))}
KINDS = {"number": Number((0, 100)), "category": Category(("a", "b")), "text": Text()}


@pytest.mark.parametrize("how", DAYS)
def test_days_are_read_however_they_are_given(how: str) -> None:
    """Texts, dates, moments and those of pandas and NumPy name the same two days."""
    assert read_ends("born", DAYS[how]) == (FIRST, LAST)
    assert all(type(end) is datetime.date for end in read_ends("born", DAYS[how]))
    assert has_days(DAYS[how])


@pytest.mark.parametrize("ends", NEITHER, ids=[f"case {i}" for i in range(len(NEITHER))])
def test_what_is_neither_numbers_nor_days_is_refused(ends: Any) -> None:
    """The sentence shows both."""
    with pytest.raises(UsageError, match=r"two numbers.*two days"):
        read_ends("born", ends)


@pytest.mark.parametrize("ends", [(0, 110), [0.5, 1.5], np.array([0, 110]), (np.float32(0.5), np.int64(3))])
def test_numbers_stay_numbers(ends: Any) -> None:
    """NumPy's too."""
    assert read_ends("age", ends) == tuple(float(end) for end in ends)
    assert not has_days(ends)


@pytest.mark.parametrize("how", DAYS)
def test_methods_that_take_dates_take_days(how: str) -> None:
    """`tabulate`, `choose` and `PrivateMicrodata` have the same plan as with dates of Python."""
    table = cl.tabulate(ROWS, by=["born"], budget=1, bounds={"born": DAYS[how]})
    assert table.labels[0][0] == "1930s"
    assert table.labels[0][-1] == "2020s"
    chosen = cl.choose(ROWS, "born", budget=1, quantile=0.5, bounds=DAYS[how]).value
    assert str(FIRST) <= str(chosen) <= str(LAST)
    made = cl.PrivateMicrodata(budget=1, bounds={"born": DAYS[how]}).sample(ROWS)
    assert all(FIRST <= day <= LAST for day in made.table["born"].to_pylist())


TAKE_NONE: dict[str, Callable[[Any], Any]] = {
    "KMeans": lambda ends: cl.KMeans(2, budget=1, bounds={"born": ends}).fit(ROWS),
    "KMeans, all columns": lambda ends: cl.KMeans(2, budget=1, bounds=ends).fit(np.array([[1.0], [2.0]])),
    "Ball": lambda ends: cl.KMeans(2, budget=1, bounds=cl.Ball(1, center=ends)).fit(np.array([[1.0, 2.0], [2.0, 3.0]])),
    "KPrototypes": lambda ends: cl.KPrototypes(
        2, budget=1, bounds={"born": ends}, schema=Schema((Column("sex", Category(("f", "m"))),))
    ).fit({**ROWS, "sex": ["f", "m"] * 50}),
    "synopsis": lambda ends: cl.synopsis(ROWS, budget=1, bounds={"born": ends, "age": (0, 100)}),
    "PublicScaler": lambda ends: cl.PublicScaler({"born": ends}).fit(pd.DataFrame(ROWS)[["born"]]),
    "means": lambda ends: cl.tabulate(ROWS, by=["age"], means=["born"], budget=1, bounds={"age": (0, 100), "born": ends}),
}


@pytest.mark.parametrize("method", TAKE_NONE)
@pytest.mark.parametrize("how", ["texts", "dates", "pandas", "NumPy", "an array"])
def test_methods_that_take_no_dates_say_so(method: str, how: str) -> None:
    """Nanoseconds of NumPy were taken for numbers, and clusters of defaults were paid for."""
    with pytest.raises(UsageError, match=r"days.*numbers"):
        TAKE_NONE[method](DAYS[how])


def verbs(ends: Any, schema: Schema, ledger: cl.Ledger) -> dict[str, Callable[[], Any]]:
    paid: dict[str, Any] = {"budget": 1, "schema": schema, "table": "people", "ledger": ledger}
    return {
        "tabulate": lambda: cl.tabulate(ROWS, by=["born"], bounds={"born": ends}, **paid),
        "choose": lambda: cl.choose(ROWS, "born", quantile=0.5, bounds=ends, **paid),
        "microdata": lambda: cl.PrivateMicrodata(bounds={"born": ends}, **paid).sample(ROWS),
        "kmeans": lambda: cl.KMeans(2, bounds={"born": ends}, **paid).fit(ROWS),
        "synopsis": lambda: cl.synopsis(ROWS, bounds={"born": ends, "age": (0, 100)}, **paid),
    }


@pytest.mark.parametrize("verb", ["tabulate", "choose", "microdata", "kmeans", "synopsis"])
@pytest.mark.parametrize(
    ("kind", "ends"),
    [*((kind, DAYS["texts"]) for kind in KINDS), ("category", (0, 9)), ("text", (0, 9)), ("date", (0, 9))],
)
def test_bounds_against_the_schema_are_refused_before_the_charge(verb: str, kind: str, ends: Any, tmp_path: Path) -> None:
    """Days of a number, numbers of a date, a category or a text: nothing is charged."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 5)
    schema = Schema((Column("born", KINDS.get(kind, Date((FIRST, LAST)))),))
    with pytest.raises(UsageError, match="born"):
        verbs(ends, schema, ledger)[verb]()
    assert ledger.account("people").epsilon_spent == 0
