"""Rows in memory: NumPy, pandas, Polars and Arrow."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cloister.encode import Codes, Encoding, Grid
from cloister.errors import DataError, SourceError
from cloister.schema.cell_values import texts
from cloister.sources.opening import open_source
from cloister.sources.source import BATCH_ROWS

SQUARE = np.arange(12.0).reshape(4, 3)


def columns_of(data: object, columns: list[str] | None = None) -> dict[str, list[Any]]:
    """All cells, column by column."""
    source = open_source(data)
    wanted = list(source.names if columns is None else columns)
    return pa.Table.from_batches(list(source.batches(wanted))).to_pydict()


@pytest.mark.parametrize(
    "array",
    [
        SQUARE,
        np.asfortranarray(SQUARE),
        SQUARE.astype(">f8"),
        SQUARE.astype(np.float32),
        SQUARE.astype(int),
        SQUARE[::-1][::-1],
    ],
    ids=["C", "Fortran", "big-endian", "float32", "int", "view"],
)
def test_arrays_keep_their_values(array: np.ndarray[Any, Any]) -> None:
    """However an array lies in memory, its columns hold its values."""
    assert columns_of(array) == {f"x{j}": SQUARE[:, j].tolist() for j in range(3)}
    assert list(columns_of(array, ["x2", "x0"])) == ["x2", "x0"]


def test_columns_in_one_piece_are_not_copied() -> None:
    """Batches of a Fortran-ordered array point into the array."""
    array = np.asfortranarray(SQUARE)
    (batch,) = open_source(array).batches(["x1"])
    assert batch.column("x1").buffers()[1].address == array[:, 1].ctypes.data


def test_arrays_come_in_small_batches() -> None:
    """An array of many rows comes in batches, and without columns the rows still count."""
    array = np.zeros((BATCH_ROWS + 1, 1), np.int8)
    for columns in (["x0"], []):
        assert [batch.num_rows for batch in open_source(array).batches(columns)] == [BATCH_ROWS, 1]


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2), (), (3, 0)])
def test_only_tables_are_arrays(shape: tuple[int, ...]) -> None:
    """Arrays of another dimension, or without columns, are refused with a way out."""
    with pytest.raises(SourceError, match=r"Reshape your data|0 columns"):
        open_source(np.zeros(shape))


def test_arrays_of_text_and_objects() -> None:
    """Text, dates and mixed objects become columns too; what is missing is null."""
    assert columns_of(np.array([["a"], ["b"]])) == {"x0": ["a", "b"]}
    mixed = np.array([[1], ["a"], [None], [2.0], [True], [float("nan")], [2**70]], dtype=object)
    assert columns_of(mixed) == {"x0": ["1", "a", None, "2", "true", None, str(2**70)]}
    assert columns_of(np.array([["2024-01-31"]], "datetime64[D]")) == {"x0": [datetime.date(2024, 1, 31)]}


FRAME = {"n": [1.5, None, 3.0], "t": ["a", None, "c"], "i": [1, 2, 3]}


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame(FRAME),
        pl.DataFrame(FRAME),
        pa.table(FRAME),
        pa.record_batch(FRAME),
        pa.table(FRAME).to_reader(),
        pd.DataFrame(FRAME, dtype=object),
    ],
    ids=["pandas", "Polars", "Table", "RecordBatch", "reader", "objects"],
)
def test_frames_of_every_library_encode_alike(data: object) -> None:
    """The same frame from any library gives the same integers, as often as it is read."""
    source = open_source(data)
    assert source.names == ("n", "t", "i")
    assert source.in_memory or isinstance(data, pa.RecordBatchReader)
    encoding = Encoding((Grid("n", 0, 0.5, 9, default=-1), Grid("i", 0, 1, 9)), (Codes("t", ("c", "a"), default=1),))
    for _ in range(2):
        (rows,) = (encoding.encode(batch) for batch in source.batches(encoding.columns))
        assert rows.numbers.tolist() == [[3, 1], [-1, 2], [6, 3]]
        assert rows.codes.tolist() == [[1], [1], [0]]


def test_an_odd_object_changes_no_other_row() -> None:
    """In a pandas column of objects, one odd cell leaves the cells beside it as they were."""
    plain = pd.DataFrame({"a": pd.Series([1, 2.5, True, datetime.date(2024, 1, 31)], dtype=object)})
    odd = pd.concat([plain, pd.DataFrame({"a": [object()]})])
    assert columns_of(odd)["a"][:4] == columns_of(plain)["a"]


def test_a_plain_frame_is_not_copied() -> None:
    """A pandas frame of one kind of numbers is read as the array that it is."""
    frame = pd.DataFrame(np.asfortranarray(SQUARE), columns=["a", "b", "c"])
    (batch,) = open_source(frame).batches(["b"])
    assert batch.column("b").to_pylist() == SQUARE[:, 1].tolist()
    assert np.shares_memory(frame.to_numpy(), open_source(frame).array)  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", [pl.Series([1, 2]), pd.Series([1, 2]), None])
def test_what_is_no_table_is_refused(data: object) -> None:
    """Series and other objects are refused with what to pass instead."""
    with pytest.raises(SourceError, match="Pass"):
        open_source(data)


def test_equal_names_are_refused() -> None:
    """Two columns of one name are told by their places."""
    with pytest.raises(SourceError, match="columns 1 and 2"):
        open_source(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_source_is_its_own_source() -> None:
    """Opening a source again gives it back."""
    source = open_source(SQUARE)
    assert open_source(source) is source


def test_a_stream_is_read_when_its_rows_are_asked_for() -> None:
    """Opening a stream looks at names and types; its rows come later, once for all passes."""
    begun = []

    def batches() -> Iterator[pa.RecordBatch]:
        begun.append(True)
        yield pa.record_batch({"a": [1, 2]})

    source = open_source(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches()))
    assert source.names == ("a",)
    assert not begun
    assert [columns_of(source), columns_of(source)] == [{"a": [1, 2]}] * 2
    assert begun == [True]


def test_texts_of_objects_are_those_of_typed_columns() -> None:
    """A number in a column of objects is written as in a column of numbers."""
    for cells in ([1e20, 0.1, 3.0, -0.0, 1e-7], [2**60, -5], [True, False], [datetime.date(2024, 1, 31)]):
        typed = texts(pa.array(cells)).to_pylist()
        assert columns_of(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))["a"] == typed


def test_a_masked_cell_holds_nothing() -> None:
    """What stands under a mask is not read."""
    assert columns_of(np.ma.masked_greater(SQUARE, 9))["x2"] == ["2", "5", "8", None]


def breaking_reader(error: BaseException) -> pa.RecordBatchReader:
    """A stream whose second batch does not come."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1.0]})
        raise error

    return pa.RecordBatchReader.from_batches(pa.schema([("a", pa.float64())]), batches())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_what_ends_the_program_ends_it_from_within_a_stream(error: BaseException) -> None:
    """A Ctrl-C while batches are made is no fault of the data."""
    source = open_source(breaking_reader(error))
    with pytest.raises(type(error)):
        list(source.batches(["a"]))


@pytest.mark.parametrize("error", [ValueError("secret"), pa.ArrowInvalid("secret"), OSError("secret")], ids=repr)
def test_what_goes_wrong_in_a_stream_is_retold(error: Exception) -> None:
    """The message may quote a cell, and is not passed on."""
    source = open_source(breaking_reader(error))
    with pytest.raises(DataError, match=r"the stream.* breaks while it is read") as caught:
        list(source.batches(["a"]))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "10s", "s", "2W", "100ms"])
def test_moments_of_every_unit_of_numpy_are_read(unit: str) -> None:
    """Columns of years, months, weeks, hours, minutes or tens of seconds silently became the default."""
    from cloister.schema.cell_values import days

    cells = np.array([["2020-01-02T12:00:00"], ["NaT"]], dtype=f"datetime64[{unit}]")
    source = open_source(cells).keeping_kinds()  # type: ignore[attr-defined]
    (batch,) = source.batches(source.names)
    expected = cells[0, 0].astype("datetime64[D]").astype(int)
    read = np.floor(days(batch.column(0)))
    assert read[0] == expected
    assert np.isnan(read[1])


def test_moments_below_a_nanosecond_are_refused_by_their_type() -> None:
    """They would all be the default."""
    cells = np.zeros(2, dtype="datetime64[ps]")
    for data in (cells[:, None], {"x": cells}):
        with pytest.raises(SourceError):
            open_source(data)
