"""Reading cells: dates from text, and numbers as a plain reading would have them."""

from __future__ import annotations

import datetime
import math
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.schema.cell_values import days, numbers, texts

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
