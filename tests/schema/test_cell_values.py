"""Reading cells: dates from text, and numbers as a plain reading would have them."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.encode import Codes
from cloister.kernels.per_unit import people
from cloister.schema.cell_format import CellFormat
from cloister.schema.cell_values import are_missing, days, numbers, texts
from cloister.sources.python_cells import cell_column, text_column

NUMBERLIKE = st.text(alphabet="0123456789+-.,eE infa\t\u00a0", max_size=8)


def plain_reading(text: str) -> float:
    """What a number in text means, written as slowly and plainly as possible."""
    text = text.strip()
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return float(text)
    return math.nan


@given(st.lists(st.one_of(NUMBERLIKE, st.floats().map(repr), st.integers().map(str)), max_size=10))
def test_numbers_in_text_are_read_plainly(cells: list[str]) -> None:
    """The fast ways of reading numbers agree with a plain one, to the last bit."""
    assert np.array_equal(numbers(pa.array(cells, pa.string())), [plain_reading(cell) for cell in cells], equal_nan=True)


@given(st.integers(-(2**63), 2**63 - 1))
def test_large_integers_are_rounded_as_python_does(value: int) -> None:
    """Integers beyond 2^53 become the nearest float, nulls beside them or not."""
    assert numbers(pa.array([value, None]))[0] == numbers(pa.array([value]))[0] == float(value)


@given(st.dates())
def test_dates_in_text_are_days(day: datetime.date) -> None:
    """An ISO date in text is the same day as the date itself."""
    written = pa.array([day.isoformat(), f" {day.isoformat()}T23:59:59+02:00", "soon"])
    expected = (day - datetime.date(1970, 1, 1)).days
    assert np.array_equal(days(written), [expected, expected, math.nan], equal_nan=True)
    assert days(pa.array([day])).tolist() == [expected]


@pytest.mark.parametrize("text", ["2023-02-30", "2023-13-01", "31.01.2024", "2024", "", "2024-1-1"])
def test_what_is_no_date_is_not_read(text: str) -> None:
    """Days that do not exist, and other ways of writing, are not read."""
    assert np.isnan(days(pa.array([text]))).all()


def as_text(cells: list[bytes]) -> pa.Array:
    """Bytes in a column of text, whether or not they are UTF-8: files may hold them."""
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(cells), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(cells))])


@given(st.lists(st.binary(max_size=4) | st.sampled_from([b"a\xffb", b"\xff", b" a ", b"Jos\xe9 G"]), max_size=8))
def test_bytes_that_are_no_text_are_read_by_themselves(cells: list[bytes]) -> None:
    """What a cell that is not UTF-8 is read as does not depend on its neighbours, and it aborts nothing."""
    alone = [texts(as_text([cell])).to_pylist()[0] for cell in cells]
    assert texts(as_text(cells)).to_pylist() == alone
    assert alone == [cell.decode("utf-8", "replace").strip() for cell in cells]


@given(st.lists(st.none() | st.floats(), max_size=10))
def test_texts_of_floats_do_not_depend_on_their_neighbours(values: list[float | None]) -> None:
    """The text of a float is its own, whatever else is in the batch."""
    together = texts(pa.array(values, pa.float64())).to_pylist()
    assert together == [texts(pa.array([value], pa.float64())).to_pylist()[0] for value in values]


def runs_of(cells: pa.Array, ends: list[int]) -> pa.Array:
    """Cells of which each stands in all rows up to an end."""
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), cells)


def test_runs_are_read_as_what_they_hold() -> None:
    """Runs of dictionaries too, which Arrow itself cannot decode; a slice begins inside a run."""
    plain = pa.array(["1", "1", None, None, "b", "?"])
    form = CellFormat(missing=("?",))
    held = pa.array(["1", None, "b", "?"])
    for cells in (held, held.dictionary_encode(), held.cast(pa.string_view()), held.cast(pa.large_string())):
        for few, same in ((runs_of(cells, [2, 4, 5, 6]), plain), (runs_of(cells, [2, 4, 5, 6])[1:5], plain[1:5])):
            assert texts(few, form).to_pylist() == texts(same, form).to_pylist()
            assert np.array_equal(numbers(few, form), numbers(same, form), equal_nan=True)
            assert np.array_equal(days(few, form), days(same, form), equal_nan=True)
            assert np.array_equal(are_missing(few, form), are_missing(same, form))
            assert np.array_equal(people(few), people(same))
            codes = Codes("x", ("1", "b"), 1)
            assert np.array_equal(codes.look_up(few), codes.look_up(same))


@pytest.mark.parametrize("form", ["dictionary", "runs"])
def test_a_long_name_that_many_rows_share_is_read_once(form: str) -> None:
    """65,536 rows of 33 kB are 2.1 GB if each is written out, more than short offsets count: whose rows they are needs none."""
    rows, name = 65_536, pa.array(["x" * 33_000])
    cells = (
        runs_of(name, [rows]) if form == "runs" else pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), name)
    )
    pool = pa.default_memory_pool()
    most = max(pool.max_memory(), pool.bytes_allocated() + 2**30)
    who = people(cells)
    assert np.array_equal(np.unique(who, axis=0), people(name))
    assert not are_missing(cells, CellFormat(missing=("?",))).any()
    assert np.isnan(numbers(cells, CellFormat(missing=("?",)))).all()
    assert pool.max_memory() <= most


def test_an_instant_has_one_text_whatever_it_is_counted_in() -> None:
    """One person whose time of birth is an identity is one person, in files that count milliseconds and in others."""
    moments = [
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        datetime.datetime(1955, 1, 1),
        datetime.datetime(2020, 1, 1, 0, 0, 0, 250_000),
    ]
    for moment in moments:
        units = ["ms", "us", "ns"] + ["s"] * (moment.microsecond == 0)
        typed = {texts(pa.array([moment], pa.timestamp(unit)))[0].as_py() for unit in units}
        mixed = [moment, *(np.datetime64(moment, unit) for unit in units)]
        assert typed == set(texts(cell_column(mixed)).to_pylist()) == set(text_column(mixed).to_pylist())
        assert len(typed) == 1
    assert texts(pa.array([2**62], pa.timestamp("s"))).to_pylist() == [None]  # no calendar has it, and no two texts do


@pytest.mark.parametrize("number", [3, 2**63, 10**22, -(10**22), 2**250, 10**76, 10**80])
def test_a_whole_number_has_one_text_whatever_its_type(number: int) -> None:
    """10^22 and 1e22 are one number, hence one identity."""
    same = [cell for cell in (number, float(number), Decimal(number), np.float64(number)) if int(cell) == number]
    assert len({*texts(cell_column(same)).to_pylist(), *text_column(same).to_pylist()}) == 1
    exact = [number + 1, Decimal(number + 1)] if abs(number) < 10**76 else []
    assert len(set(texts(cell_column(exact)).to_pylist())) <= 1


@given(
    st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=7, min_value=-(10**20), max_value=10**20), min_size=1)
)
def test_a_decimal_is_the_nearest_number_whatever_holds_it(cells: list[Decimal]) -> None:
    """In an Arrow column of decimals and as an object: Arrow's own conversion differs from it in the last bit."""
    expected = [float(cell) for cell in cells]
    for width in (pa.decimal128(38, 7), pa.decimal256(60, 7)):
        assert numbers(pa.array(cells, width)).tolist() == expected
    assert numbers(cell_column(cells)).tolist() == expected


@pytest.mark.parametrize("time", [datetime.time(6), datetime.time(23, 59, 59, 500_000), datetime.time.min])
def test_a_time_of_day_reads_alike_in_every_column(time: datetime.time) -> None:
    """As a part of a day, and as one text: in a column of times, whatever its unit, and in one of objects."""
    units = [pa.time64("us"), pa.time64("ns"), pa.time32("ms")] + [pa.time32("s")] * (time.microsecond == 0)
    columns = [pa.array([time], unit) for unit in units] + [cell_column([time])]
    assert len({numbers(column)[0] for column in columns}) == 1
    assert len({texts(column)[0].as_py() for column in columns} | {text_column([time])[0].as_py()}) == 1


LATE = [
    datetime.datetime(1999, 12, 31, 18),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime.datetime(2000, 1, 1),
]


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_a_moment_belongs_to_the_day_that_it_shows(unit: str) -> None:
    """1999-12-31 18:00 was counted in 2000: a typed moment is of the same day as its text, to the last nanosecond of it."""
    expected = [(moment.date() - datetime.date(1970, 1, 1)).days for moment in LATE]
    assert days(pa.array(LATE, pa.timestamp(unit))).tolist() == expected
    assert days(pa.array([moment.isoformat(" ") for moment in LATE])).tolist() == expected
    assert days(cell_column(LATE)).tolist() == expected
    assert days(pa.array([86_400_000 - 1, -1], pa.int64()).cast(pa.timestamp("ms")).cast(pa.date64(), safe=False))[0] == 0
    ends = pa.array([20_000 * 86_400 * 10**9 - 1, None, -(2**63), 2**63 - 1]).cast(pa.timestamp("ns"))
    assert np.array_equal(days(ends), [19_999, math.nan, -106_752, 106_751], equal_nan=True)


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [
        ("UTC", 0), ("+02:00", 120), ("GMT+2", 120), ("-05:30", -330), ("Europe/Berlin", 60), ("America/New_York", -300),
        ("Nowhere/At-All", 0),
    ],
)  # fmt: skip
def test_the_day_of_a_moment_with_a_zone_is_that_of_its_zone(zone: str, minutes: int) -> None:
    """As a text with an offset has its own written day; a zone that nobody knows is read as UTC."""
    seconds = 10_957 * 86_400 + 1_800 * np.arange(-48, 48)  # around 2000-01-01
    assert days(pa.array(seconds).cast(pa.timestamp("s", zone))).tolist() == ((seconds + 60 * minutes) // 86_400).tolist()
    far = pa.array([2**63 - 1, -(2**63)]).cast(pa.timestamp("ns", zone))
    assert np.abs(days(far) - [106_751, -106_752]).max() <= 1


@pytest.mark.parametrize("kind", [pa.decimal128(38, scale) for scale in (0, 6, 7, 10, 37, -3)] + [pa.decimal256(76, 60)])
def test_a_decimal_is_written_with_all_its_digits(kind: pa.DataType) -> None:
    """Zero of scale 10 was "0E-10", and 3000 of scale -3 "3E+3": no domain lists those. Neighbours do not matter."""
    step = Decimal(f"1e{-kind.scale}")
    cells = [Decimal(0), step, -step, 12 * step, Decimal(10) ** max(0, -kind.scale), None]
    written = texts(pa.array(cells, kind)).to_pylist()
    assert written == [texts(pa.array([cell], kind))[0].as_py() for cell in cells]
    assert written[0] == "0"
    for cell, text in zip(cells[:-1], written[:-1], strict=True):
        assert cell is not None
        assert re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", text)
        assert Decimal(text) == cell


def test_a_decimal_is_found_in_its_domain() -> None:
    """A column of money with ten decimals: zeros counted as what is in no domain."""
    codes = Codes("fee", ("0", "0.0000001", "3000", "(other)"), 3)
    cells = [Decimal(0), Decimal("1e-7"), Decimal(3000), Decimal(7)]
    assert codes.look_up(pa.array(cells, pa.decimal128(38, 10))).tolist() == [0, 1, 2, 3]
    assert codes.look_up(pa.array(cells[::2], pa.decimal128(10, -3))).tolist() == [0, 2]


def test_a_moment_with_a_name_beside_it_is_of_its_own_day() -> None:
    """In whole numbers, too: the last microsecond of a day of the year 9999 is no share of a day."""
    moment = pa.array([datetime.datetime(9999, 12, 30, 23, 59, 59, 999_999)], pa.timestamp("us"))
    named = pa.StructArray.from_arrays([moment, pa.array([b"x"])], ["number", "name"])
    assert days(named).tolist() == days(moment).tolist() == [2_932_895]
    written = pa.StructArray.from_arrays([pa.array(["30.12.9999"]), pa.array([b"x"])], ["number", "name"])
    assert days(written, CellFormat(date="%d.%m.%Y")).tolist() == [2_932_895]
