"""Where intervals are cut: round places between values, never the values of removed rows."""

from __future__ import annotations

import itertools
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.anonymization.counting import scale
from cloister.anonymization.counting.cut_points import day_between, inner_edges, number_between, word
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.searching.column_blocks import ScaleColumn
from cloister.risks.fingerprints import spans

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.integers(-2000, 2000).map(float),
    st.integers(-2000, 2000).map(lambda cents: cents / 100),
)


def digits(number: float) -> int:
    """The significant digits of a number as it is written."""
    return len("".join(map(str, Decimal(repr(number)).normalize().as_tuple().digits)).strip("0"))


@given(NUMBERS, NUMBERS)
def test_a_cut_lies_between(a: float, b: float) -> None:
    """A cut is above the lower value and not above the upper, so every value keeps its side; its text reads back."""
    low, high = sorted([a, b])
    if low < high:
        cut = number_between(low, high)
        assert low < cut <= high
        assert float(word(cut, is_date=False)) == cut


@given(st.integers(-300, 300), st.integers(1, 300))
def test_a_cut_is_the_roundest_whole_number(low: int, gap: int) -> None:
    """Of the numbers between two whole ones none has fewer digits, and none with as few is nearer to the lower."""
    cut = number_between(float(low), float(low + gap))
    rivals = [x / 10 for x in range(10 * low + 1, 10 * (low + gap) + 1)]
    fewest = min(digits(x) for x in rivals)
    assert digits(cut) == fewest
    if low != 0:  # from zero up there is no nearest
        assert cut == min(x for x in rivals if digits(x) == fewest)


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (58, 1_234_567, 60),
        (58, 59, 59),
        (0, 1, 1),
        (0, 0.3, 0.1),
        (-3, 3, 0),
        (-100, -7, -90),
        (-58, -57, -57),
        (1.23, 1.24, 1.24),
    ],
)
def test_some_cuts(low: float, high: float, cut: float) -> None:
    """Cuts that a person would choose."""
    assert number_between(low, high) == cut


@given(st.integers(-40_000, 40_000), st.integers(1, 2000))
def test_a_day_lies_between(low: int, gap: int) -> None:
    """A cut of days is after the lower day and not after the upper."""
    assert low < day_between(low, low + gap) <= low + gap


@settings(deadline=None)  # it may run beside others on few cores
@given(st.lists(NUMBERS, min_size=2, max_size=8, unique=True), st.booleans())
def test_every_value_lies_in_its_label(values: list[float], has_null: bool) -> None:
    """Whatever interval of values is published, its label as others read it holds those values and no other."""
    rising = np.unique(values)
    column = ScaleColumn(0, Scale(rising, has_null))
    for low, high in itertools.combinations(range(len(rising) + 1), 2):
        if high - low > 1:
            first, last = (end[0] for end in spans(pa.array([column.label(low, high)])))
            inside = (first <= rising) & (rising <= last)
            assert np.flatnonzero(inside).tolist() == list(range(low, high))


def test_bounds_that_do_not_hold_are_not_shown() -> None:
    """A value beyond the bounds makes that end open; it does not stand there itself."""
    column = ScaleColumn(0, Scale(np.array([1.0, 2.0, 30.0, 777.0]), bounds=(0.0, 100.0)))
    assert (column.label(0, 2), column.label(2, 4)) == ("[0, 3)", "[3, inf)")


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


REMOVED = ("117", "113", "1234567", "98765", "1234568", "1911", "1913", "2019")


def published(out: Path) -> str:
    """All text of a table and its certificate, but for the hashes."""
    model = cl.TopDownSpecialization(k=10, quasi=["age", "pay", "born"], suppression=0.06)
    release = model.publish(lonely(), out)
    assert (model.summary_.suppressed, model.summary_.is_starred) == (3, False)
    facts = {**release.as_dict(), "files": None}
    return out.read_text() + str(facts)


def test_a_removed_row_is_nowhere(tmp_path: Path) -> None:
    """No value that only removed rows hold is in the output or in the certificate, nor how many values there were."""
    text = published(tmp_path / "out.csv")
    assert not [value for value in REMOVED if value in text]
    assert "'values'" not in text


def test_cells_as_edges_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: with cells as the edges of intervals, as it once was, removed values do show."""
    monkeypatch.setattr(scale, "inner_edges", lambda values, is_date: values[1:])
    monkeypatch.setattr(Scale, "ends", property(lambda self: (float(self.values[0]), float(self.values[-1]))))
    text = published(tmp_path / "out.csv")
    assert [value for value in REMOVED if value in text]


def test_inner_edges_are_one_fewer() -> None:
    """There is a cut between each two neighbours."""
    assert inner_edges(np.array([1.0, 5.0, 50.0]), is_date=False).tolist() == [2, 6]


def test_the_loss_of_open_intervals_is_measured(tmp_path: Path) -> None:
    """The risk report reads open intervals and finds the loss that the certificate states."""
    from cloister.risks.assess import assess

    table = pa.table({"x": pa.array(np.repeat([1, 2, 5, 9, 40], [3, 4, 3, 4, 5]), pa.int64())})
    model = cl.TopDownSpecialization(k=5, quasi=["x"])
    model.publish(table, tmp_path / "out.csv")
    assert any("inf" in label for label in model.summary_.columns[0].labels)
    found = assess(str(tmp_path / "out.csv"), ["x"], against=table)
    assert found.loss is not None
    assert found.loss.lm == pytest.approx(model.summary_.loss)
