"""Where intervals are cut: at public places that k rows on each side answer for, never beside the cell of a removed row."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.anonymization.counting.cut_points import Holders, offered_cuts
from cloister.anonymization.counting.public_grid import MonthGrid, NumberGrid, word
from cloister.errors import SchemaError

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200),
    st.integers(-2000, 2000).map(float),
    st.integers(-2000, 2000).map(lambda cents: cents / 100),
)


def offered(values: list[float], rows: list[int], k: int, *, is_date: bool = False) -> list[float]:
    """The cuts of values that so many rows hold."""
    holders = Holders.of(np.arange(len(values)), np.array(rows), None)
    return offered_cuts(np.array(values, float), holders, k, MonthGrid() if is_date else NumberGrid()).tolist()


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=30, unique=True))
def test_places_hold_their_values(values: list[float]) -> None:
    """Whatever the width, a value lies in the interval of its place, and the text of an end reads back as the end."""
    rising = np.unique(values)
    grid = NumberGrid()
    for width in grid.widths(rising):
        places = grid.places(rising, width)
        starts = grid.starts(places, width)
        assert (starts <= rising).all()
        assert (rising < grid.starts(places + 1, width)).all()
        assert all(float(word(start, is_date=False)) == start for start in starts.tolist())


@given(st.lists(st.integers(-40_000, 40_000), min_size=2, max_size=20, unique=True))
def test_months_hold_their_days(days: list[int]) -> None:
    """Every width begins at the first of a month."""
    rising = np.unique(np.array(days, float))
    grid = MonthGrid()
    for width in grid.widths(rising):
        places = grid.places(rising, width)
        starts = grid.starts(places, width)
        assert (starts <= rising).all()
        assert (rising < grid.starts(places + 1, width)).all()
        assert all(str(np.datetime64(int(start), "D")).endswith("-01") for start in starts)


@pytest.mark.parametrize(
    ("values", "rows", "k", "cuts"),
    [
        ([0, 1], [5, 5], 5, [1]),
        ([0, 1], [5, 4], 5, []),
        ([1, 2, 5, 9], [3, 2, 3, 2], 5, [5]),
        ([101, 104], [5, 5], 5, [102]),  # no interval of one width beside 102 holds both: k rows hold each value
        ([101, 103, 104], [5, 1, 5], 5, [102]),  # a single row between them moves nothing
        ([9.99, 19.99], [5, 5], 5, [10]),
        ([-3, 3], [5, 5], 5, [0]),
        ([58, 59, 1_234_567], [9, 1, 9], 9, [1_000_000]),
    ],
)
def test_some_cuts(values: list[float], rows: list[int], k: int, cuts: list[float]) -> None:
    """Cuts that a person would choose."""
    assert offered(values, rows, k) == cuts


def test_days_of_one_month_are_not_told_apart() -> None:
    """Without public bounds a month is the finest; neighbouring months are told apart."""
    days = [date(1984, 3, 6), date(1984, 3, 16), date(1984, 4, 2)]
    values = [float((day - date(1970, 1, 1)).days) for day in days]
    cuts = offered(values, [20, 20, 20], 5, is_date=True)
    assert [word(cut, is_date=True) for cut in cuts] == ["1984-04-01"]


def test_a_step_is_the_finest_cut() -> None:
    """Multiples of a public step, from a public value."""
    grid = NumberGrid(Fraction(5), Fraction(2))
    values = np.array([2.0, 7.0, 12.0])
    holders = Holders.of(np.arange(3), np.array([5, 5, 5]), None)
    assert offered_cuts(values, holders, 5, grid).tolist() == [7.0, 12.0]


def test_people_answer_once() -> None:
    """Ten rows of one person are not k people."""
    values = np.array([0.0, 1.0])
    codes, counts = np.array([0] * 5 + [1]), np.array([1] * 5 + [10])
    by_rows = Holders.of(codes, counts, None)
    by_people = Holders.of(codes, counts, np.arange(6))
    assert offered_cuts(values, by_rows, 5, NumberGrid()).tolist() == [1.0]
    assert offered_cuts(values, by_people, 5, NumberGrid()).tolist() == []


def ends_of(labels: tuple[str, ...]) -> list[str]:
    """The finite ends of intervals among labels."""
    found = (re.fullmatch(r"[\[(](.+), (.+)[\])]", label) for label in labels)
    return sorted({end for match in found if match for end in match.groups()} - {"-inf", "inf"})


def test_a_removed_birthday_leaves_no_gap(tmp_path: Path) -> None:
    """A removed woman's birthday once stood between ``[..., 1984-03-07)`` and ``[1984-03-13, ...)``."""
    days = [date(1984, 3, 6) - timedelta(10 * i) for i in range(20)]
    days += [date(1984, 3, 16) + timedelta(10 * i) for i in range(20)]
    table = pa.table({"born": pa.array([*days, date(1984, 3, 12)]), "sex": ["m"] * 40 + ["f"]})
    model = cl.TopDownSpecialization(k=5, quasi=["born", "sex"], suppression=0.05)
    model.publish(table, tmp_path / "out.csv")
    assert model.summary_.suppressed == 1
    labels = model.summary_.columns[0].labels
    assert (labels[0].split(", ")[0], labels[-1].split(", ")[1]) == ("(-inf", "inf)")
    assert [label.split(", ")[1].rstrip(")") for label in labels[:-1]] == [label[1:11] for label in labels[1:]]
    assert all(end.endswith("-01") for end in ends_of(labels))


def test_pay_is_not_shown_to_the_cent(tmp_path: Path) -> None:
    """Pay of 41236.91 once gave ``[41236.92, inf)``."""
    random = np.random.default_rng(8)
    pay = [*np.round(random.uniform(20_000, 41_000, 30), 2), 41236.91, *[41236.92] * 3]
    pay += [*np.round(random.uniform(41_237, 60_000, 27), 2)]
    for k in (5, 10):
        model = cl.TopDownSpecialization(k=k, quasi=["pay"], suppression=0.05)
        model.publish(pa.table({"pay": pay}), tmp_path / f"{k}.csv")
        ends = ends_of(model.summary_.columns[0].labels)
        assert ends
        assert all(float(end) % 100 == 0 for end in ends)


def test_no_cut_lies_between_two_cents(tmp_path: Path) -> None:
    """Of ten rows the fifth earns 41236.91 and the sixth a cent more: the only cut that leaves five on each side told both."""
    pay = [20_000.0, 25_000.0, 30_000.0, 35_000.0, 41236.91, 41236.92, 45_000.0, 50_000.0, 55_000.0, 60_000.0]
    model = cl.TopDownSpecialization(k=5, quasi=["pay"])
    model.publish(pa.table({"pay": pay}), tmp_path / "out.csv")
    assert ends_of(model.summary_.columns[0].labels) == []
    text = (tmp_path / "out.csv").read_text() + (tmp_path / "out.csv.release.json").read_text()
    assert "41236" not in text


@pytest.mark.parametrize("scope", ["global", "local"])
def test_few_ends_are_birthdays(scope: str, tmp_path: Path) -> None:
    """Of 523 interval ends of 8,000 dates 523 were somebody's birthday; now as many as of any days.

    An end is the first of a month, somebody's birthday with a probability of 1 - exp(-8000/26000) = 0.26. Of at most 852
    months more than 0.26 * 852 + 47 are birthdays with a probability below 1e-3 by Hoeffding; the seed is fixed.
    """
    random = np.random.default_rng(5)
    born = [date(1940, 1, 1) + timedelta(int(day)) for day in random.integers(0, 26_000, 8_000)]
    people = Counter(born)
    model = cl.TopDownSpecialization(k=10, quasi=["born"], scope=scope)
    model.publish(pa.table({"born": pa.array(born)}), tmp_path / "out.csv")
    ends = [date.fromisoformat(end) for end in ends_of(model.summary_.columns[0].labels)]
    assert len(ends) > 200
    assert sum(end in people for end in ends) <= 0.26 * len(ends) + 47
    assert sum(people[end] == 1 for end in ends) <= 0.23 * len(ends) + 47
    beside = sum(end in people or end - timedelta(1) in people for end in ends)  # every end was, before
    assert beside <= (1 - math.exp(-2 * 8_000 / 26_000)) * len(ends) + 47


def lonely() -> pa.Table:
    """Many people of common age, pay and birth, and three at both ends whom nobody is like."""
    groups = [i // 4 for i in range(60)]
    alone = [date(1911, 3, 7), date(1913, 5, 23), date(2019, 11, 13)]
    return pa.table(
        {
            "age": pa.array([30 + g for g in groups] + [117, 7, 113], pa.int64()),
            "pay": pa.array([1000.0 + 10 * g for g in groups] + [1_234_567.0, -98_765.25, 1_234_568.5]),
            "born": pa.array([date(1980 + g, 6, 15) for g in groups] + alone),
        }
    )


def test_a_removed_row_is_nowhere(tmp_path: Path) -> None:
    """No value that only removed rows hold is in the output or in the certificate, nor how many values there were."""
    out = tmp_path / "out.csv"
    model = cl.TopDownSpecialization(k=10, quasi=["age", "pay", "born"], suppression=0.06)
    facts = {**model.publish(lonely(), out).as_dict(), "files": None}
    assert (model.summary_.suppressed > 0, model.summary_.is_starred) == (True, False)
    text = out.read_text() + str(facts)
    removed = ("117", "113", "1234567", "98765", "1234568", "1911", "1913", "2019")
    assert not [value for value in removed if value in text]
    assert "'values'" not in text


def test_one_row_far_away_does_not_coarsen_the_grid(tmp_path: Path) -> None:
    """Of very many numbers the resolution follows the range of most rows: a single far one does not show in it."""
    numbers = np.random.default_rng(2).normal(50, 10, 6000)
    labels = []
    for far in (80.0, 1e9):
        model = cl.TopDownSpecialization(k=50, quasi=["x"])
        model.publish(pa.table({"x": np.append(numbers, far)}), tmp_path / f"{far}.csv")
        labels.append(model.summary_.columns[0].labels)
    assert labels[0] == labels[1]
    assert len(labels[0]) > 20


def test_values_outside_the_bounds_are_refused(tmp_path: Path) -> None:
    """Neither is the label open there, which would show that somebody is, nor is it wrong."""
    schema = cl.Schema.from_text('[columns.age]\nkind = "number"\nbounds = [0, 100]\nrole = "quasi"\n')
    with pytest.raises(SchemaError, match="1 row holds a value outside the bounds"):
        cl.TopDownSpecialization(k=5, schema=schema).publish(pa.table({"age": [30] * 20 + [777]}), tmp_path / "out.csv")


def test_the_loss_of_open_intervals_is_measured(tmp_path: Path) -> None:
    """The risk report reads open intervals and finds the loss that the certificate states."""
    from cloister.risks.assess import assess

    table = pa.table({"x": pa.array(np.repeat([1, 2, 5, 9, 40], [3, 4, 3, 4, 5]), pa.int64())})
    for scope in ("global", "local"):
        model = cl.TopDownSpecialization(k=5, quasi=["x"], scope=scope)
        model.publish(table, tmp_path / f"{scope}.csv")
        assert any("inf" in label for label in model.summary_.columns[0].labels)
        found = assess(str(tmp_path / f"{scope}.csv"), ["x"], against=table)
        assert found.loss is not None
        assert found.loss.lm == pytest.approx(model.summary_.loss)
