"""Encoding: a row's integers depend on that row and on public facts alone."""

from __future__ import annotations

import datetime
import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.encode import Codes, Encoding, Grid
from cloister.errors import SchemaError

GRID = Grid("x", center=0.0, step=0.5, half=10, default=3)
CODES = Codes("c", ("red", "green", "3"), default=1)
CELLS = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.floats().map(str),
    st.integers(-30, 30).map(str),
    st.sampled_from([" 2 ", "1,5", "1.5", "+2", "1e3", "1e999", "inf", "nan", "1,2,3", "1,000.5", "red", " green", "3", ""]),
)


def encode_numbers(cells: pa.Array, grid: Grid = GRID) -> list[int]:
    """The grid integers of one column."""
    batch = pa.RecordBatch.from_arrays([cells], names=[grid.name])
    return Encoding((grid,)).encode(batch).numbers[:, 0].tolist()


def encode_codes(cells: pa.Array, codes: Codes = CODES) -> list[int]:
    """The codes of one column."""
    batch = pa.RecordBatch.from_arrays([cells], names=[codes.name])
    return Encoding(categories=(codes,)).encode(batch).codes[:, 0].tolist()


@given(st.lists(st.tuples(CELLS, CELLS), max_size=30), st.data())
def test_a_row_does_not_depend_on_its_batch(rows: list[tuple[str | None, str | None]], data: st.DataObject) -> None:
    """Encoding a batch in two parts gives the same integers as encoding it whole."""
    encoding = Encoding((GRID,), (CODES,))
    schema = pa.schema([("x", pa.string()), ("c", pa.string())])
    batch = pa.RecordBatch.from_pylist([{"x": x, "c": c} for x, c in rows], schema=schema)
    cut = data.draw(st.integers(0, len(rows)))
    whole, head, tail = (encoding.encode(part) for part in (batch, batch.slice(0, cut), batch.slice(cut)))
    assert np.array_equal(whole.numbers, np.concatenate([head.numbers, tail.numbers]))
    assert np.array_equal(whole.codes, np.concatenate([head.codes, tail.codes]))


@given(st.lists(st.one_of(st.none(), st.floats()), max_size=30), st.data())
def test_a_float_does_not_depend_on_its_batch(values: list[float | None], data: st.DataObject) -> None:
    """Floats, nulls among them, encode one by one as they do together."""
    together = encode_numbers(pa.array(values, pa.float64()))
    assert together == [encode_numbers(pa.array([value], pa.float64()))[0] for value in values]


@given(st.lists(CELLS, max_size=20))
def test_a_dictionary_is_read_like_its_values(cells: list[str | None]) -> None:
    """A column gives the same integers whether Arrow stores it plainly or as a dictionary."""
    plain = pa.array(cells, pa.string())
    assert encode_numbers(plain) == encode_numbers(plain.dictionary_encode())
    assert encode_codes(plain) == encode_codes(plain.dictionary_encode())


@given(st.floats(allow_nan=False))
def test_a_number_goes_to_the_nearest_grid_point_or_the_edge(value: float) -> None:
    """value -> clip(rint((value - center) / step)), infinite values included."""
    expected = 10 if value >= 5 else -10 if value <= -5 else round(value / 0.5)
    assert encode_numbers(pa.array([value])) == [expected]


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), (" 12.5 ", 12.5), ("1e1", 10), ("+3", 3), (".5", 0.5), ("-4.", -4), ("1e999", math.inf)],
)
def test_numbers_are_read_from_text(text: str, value: float) -> None:
    """Text that a person would call a number is read as that number, whatever stands beside it."""
    grid = Grid("x", 0.0, 0.5, 100, default=77)
    expected = encode_numbers(pa.array([float(value)]), grid)
    assert encode_numbers(pa.array([text]), grid) == expected
    assert encode_numbers(pa.array([text, "no number"]), grid)[:1] == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "NA", "?", "inf", "-Infinity", "nan", "1_000", "0x10", "1,2,3", "1,000.5", "12,5", "20,000", "١", "1e", "--1"],
)
def test_what_is_no_number_becomes_the_default(text: str) -> None:
    """Anything else counts as the column's default, alone or among numbers."""
    assert encode_numbers(pa.array([text])) == [3]
    assert encode_numbers(pa.array([text, "1"])) == [3, 2]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pa.array([True, None, False]), [1, None, 0]),
        (pa.array([2, None, -3], pa.int8()), [2, None, -3]),
        (pa.array([2**63, 2], pa.uint64()), [9, 2]),
        (pa.array([1.5, float("nan")], pa.float32()), [1.5, None]),
        (pa.array(np.array([1.5, 2], np.float16)), [1.5, 2]),
        (pa.array([Decimal("1.50"), None]), [1.5, None]),
        (pa.array([datetime.date(1970, 1, 3)]), [2]),
        (pa.array([datetime.date(1970, 1, 3)], pa.date64()), [2]),
        (pa.array([datetime.datetime(1970, 1, 2, 12)], pa.timestamp("ns", "UTC")), [1.5]),
        (pa.array([datetime.timedelta(hours=36)]), [1.5]),
        (pa.array([b"1.5", b"\xff"], pa.binary()), [1.5, None]),
        (pa.array(["1.5"], pa.large_string()), [1.5]),
        (pa.array(["1.5"], pa.string_view()), [1.5]),
        (pa.array([[1], [2]]), [None, None]),
        (pa.nulls(2), [None, None]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], [1.5, 2.0]), [1.5, 1.5, 2]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else None,
)
def test_numbers_are_read_from_every_arrow_type(cells: pa.Array, values: list[float | None]) -> None:
    """Each Arrow type gives the number that it means, or the default."""
    assert encode_numbers(cells) == [3 if value is None else min(10, round(value * 2)) for value in values]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (pa.array([" red", "green ", "blue", None, ""]), [0, 1, 1, 1, 1]),
        (pa.array([3, 4]), [2, 1]),
        (pa.array([3.0, 3.5, float("nan")]), [2, 1, 1]),
        (pa.array([3.0], pa.float32()), [2]),
        (pa.array([Decimal("3.00")]), [2]),
        (pa.array([b"red"], pa.binary()), [0]),
        (pa.array(["red"], pa.large_string()), [0]),
        (pa.array([["red"]]), [1]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else None,
)
def test_categories_are_compared_by_their_text(cells: pa.Array, codes: list[int]) -> None:
    """Each Arrow type is looked up by its text; what is not in the domain becomes the default."""
    assert encode_codes(cells) == codes


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (pa.array([True]), "true"),
        (pa.array([0.1], pa.float32()), "0.1"),
        (pa.array([-0.0]), "0"),
        (pa.array([1e22]), "1" + 22 * "0"),  # as the whole number of the same value
        (pa.array([1e80]), "1e+80"),
        (pa.array([datetime.date(2024, 1, 31)]), "2024-01-31"),
        (pa.array([Decimal("10")]), "10"),
    ],
)
def test_values_have_one_text(cells: pa.Array, text: str) -> None:
    """Booleans, floats, dates and decimals have the text that a person would put into a domain."""
    assert encode_codes(cells, Codes("c", ("other", text))) == [1]


def test_a_domain_may_count_nulls() -> None:
    """A domain that lists the empty text takes nulls for a value of their own, in every encoding."""
    codes = Codes("c", ("a", ""))
    cells = pa.array(["a", None, "", "b"])
    assert encode_codes(cells, codes) == encode_codes(cells.dictionary_encode(), codes) == [0, 1, 1, 0]


def test_text_that_is_not_utf8_does_not_abort() -> None:
    """Bytes that are no UTF-8, which files may hold, leave the rows beside them readable."""
    broken = pa.array([b"\xff\xfe", b" red", b" 2"]).cast(pa.string(), safe=False)
    assert encode_codes(broken) == [1, 0, 1]
    assert encode_numbers(broken) == [3, 3, 4]


@given(st.lists(st.lists(st.integers(-1000, 1000), min_size=3, max_size=3), min_size=1, max_size=20), st.integers(1, 1500))
def test_rows_end_up_inside_the_ball(rows: list[list[int]], radius: int) -> None:
    """After the integer clip every row has a squared length of at most the squared radius; rows inside stay."""
    grids = tuple(Grid(name, 0.0, 1.0, 1000) for name in "abc")
    points = np.array(rows)
    batch = pa.RecordBatch.from_arrays([pa.array(column) for column in points.T], names=list("abc"))
    pulled = Encoding(grids, radius=radius).encode(batch).numbers.astype(np.int64)
    assert ((pulled**2).sum(axis=1) <= radius**2).all()
    inside = (points**2).sum(axis=1) <= radius**2
    assert np.array_equal(pulled[inside], points[inside])


@pytest.mark.parametrize("radius", [1, 2, 3, 2**15, 2**30, 2**31 - 1])
def test_the_ball_holds_for_adversarial_vectors(radius: int) -> None:
    """Vectors just outside the ball, and the longest ones that 64 bits allow, come inside without overflow."""
    half = 2**30
    grids = tuple(Grid(name, 0.0, 1.0, half) for name in "abcd")
    near = [[radius, 1, 0, 0], [radius, 1, 1, 1], [-radius, -1, 0, 0], [radius // 2 + 1] * 4]
    points = np.clip(np.array([*near, [half] * 4, [-half, half, -1, 0]]), -half, half)
    batch = pa.RecordBatch.from_arrays([pa.array(column) for column in points.T], names=list("abcd"))
    pulled = Encoding(grids, radius=radius).encode(batch).numbers
    assert all(sum(int(v) ** 2 for v in row) <= radius**2 for row in pulled)


def test_a_grid_too_fine_for_a_ball_is_refused() -> None:
    """Squared lengths that might not fit 64 bits are refused when the encoding is made."""
    with pytest.raises(SchemaError, match="too fine"):
        Encoding(tuple(Grid(name, 0.0, 1.0, 2**31 - 1) for name in "ab"), radius=5)


def test_whole_numbers_stay_apart_on_their_grid() -> None:
    """Ages 0 to 99 in steps of 1 have 100 different grid integers, and decode to themselves."""
    grid = Grid.over("age", (0, 99), 1)
    encoding = Encoding((grid,))
    ages = np.arange(100.0)
    rows = encoding.encode(pa.RecordBatch.from_arrays([pa.array(ages)], names=["age"]))
    assert np.array_equal(encoding.decode(rows.numbers)[:, 0], ages)


@pytest.mark.parametrize(
    ("bounds", "step", "default", "place"), [((0, 1), 0.1, 1.0, 10), ((0, 0.7), 0.1, 0.0, -7), ((0, 9), 1, 99.0, 9)]
)
def test_a_default_lies_on_the_grid(bounds: tuple[float, float], step: float, default: float, place: int) -> None:
    """The default of a grid over bounds is the grid integer of the value that was named."""
    assert Grid.over("x", bounds, step, default).default == place


def test_encoded_rows_are_plain_arrays() -> None:
    """Encoded numbers and codes are C-contiguous int32, and the length is the number of rows, without columns too."""
    encoding = Encoding((GRID, Grid("y", 0.0, 1.0, 5)), (CODES,))
    names = list(encoding.columns)
    rows = encoding.encode(pa.RecordBatch.from_arrays([pa.nulls(7)] * 3, names=names))
    assert len(rows) == 7
    for part, width in ((rows.numbers, 2), (rows.codes, 1)):
        assert part.shape == (7, width)
        assert part.dtype == np.int32
        assert part.flags.c_contiguous
    assert len(Encoding().encode(pa.RecordBatch.from_arrays([pa.nulls(7)], names=["z"]))) == 7


def test_an_absent_column_is_a_schema_error() -> None:
    """A batch without the column is refused by the column's name."""
    with pytest.raises(SchemaError, match='"x"'):
        Encoding((GRID,)).encode(pa.RecordBatch.from_arrays([pa.nulls(1)], names=["y"]))


def test_an_encoding_travels() -> None:
    """An encoding survives pickling, as engines on other machines need."""
    encoding = Encoding((GRID,), (CODES,), radius=4)
    assert pickle.loads(pickle.dumps(encoding)) == encoding


def test_one_text_among_booleans_leaves_the_others_as_they_are() -> None:
    """Pandas turns a column of booleans into one of objects when a text joins; the booleans still read as 1 and 0."""
    import pandas as pd

    from cloister.sources.opening import open_source

    encoding = Encoding((Grid("a", 0.0, 1.0, 10, -5),))
    rows = [
        next(iter(open_source(pd.DataFrame({"a": cells})).batches(["a"]))) for cells in ([True, False], [True, False, "x"])
    ]
    assert [encoding.encode(batch).numbers.ravel().tolist() for batch in rows] == [[1, 0], [1, 0, -5]]
