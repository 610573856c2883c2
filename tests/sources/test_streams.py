"""Streams and frames of foreign classes: what is read from them is known before the charge, or they are refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json
import pytest

import cloister as cl
from cloister.errors import CloisterError, SourceError
from cloister.sources.opening import open_source

STRUCT = pd.ArrowDtype(pa.struct([("c", pa.string())]))


class Survey(pd.DataFrame):
    """A frame with methods of its own, which are not to be called."""

    @property
    def _constructor(self) -> Any:
        raise RuntimeError("no")

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        raise RuntimeError("no")

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no")


def cells_of(data: Any) -> list[dict[str, object]]:
    """All rows."""
    source = open_source(data)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


@pytest.mark.parametrize("cells", [[1, 2], [1, "x"], ["a", None], [{"a": 1}, 2]])
def test_a_frame_of_a_subclass_is_read_as_its_frame(cells: list[object]) -> None:
    """The cells of a class made from pandas.DataFrame are read by the same rule as those of a frame."""
    plain = pd.DataFrame({"c": pd.Series(cells, dtype=object), "n": [1.5, 2.5]})
    assert cells_of(Survey(plain)) == cells_of(plain)
    assert cells_of(Survey({"n": [1.5, 2.5]})) == [{"n": 1.5}, {"n": 2.5}]


@pytest.mark.parametrize("rows", [[{"c": "1"}, {"c": "2"}], [{"c": "1"}, None]])
@pytest.mark.parametrize(
    "make",
    [
        lambda rows: pa.chunked_array([rows], STRUCT.pyarrow_dtype),
        lambda rows: pl.Series(rows, dtype=pl.Struct({"c": pl.String})),
        lambda rows: pd.Series(rows, dtype=STRUCT),
        lambda rows: pd.Series(rows, dtype=object),
    ],
    ids=["pyarrow", "polars", "pandas", "objects"],
)
def test_a_single_column_is_no_table(make: Callable[[Any], Any], rows: list[object]) -> None:
    """A column of structs is refused when it is opened, whatever its rows are: a missing one would end a run after the charge."""
    with pytest.raises(SourceError, match=r"one column|cannot read rows"):  # older Series are no streams
        open_source(make(rows))


@pytest.mark.parametrize(
    "reader",
    [
        pytest.param(
            lambda: arrow_json.open_json(io.BytesIO(b'{"c": 1}\n')),
            marks=pytest.mark.skipif(not hasattr(arrow_json, "open_json"), reason="this pyarrow reads no JSON in batches"),
        ),
        lambda: arrow_csv.open_csv(io.BytesIO(b"c\n1\n")),
    ],
    ids=["JSON", "CSV"],
)
def test_readers_that_guess_types_are_refused(reader: Callable[[], Any]) -> None:
    """Readers whose types follow from their first rows are refused before anything is charged."""
    with pytest.raises(SourceError, match="first rows"):
        open_source(reader())


def test_a_reader_that_was_read_is_refused() -> None:
    """Rows that come once are labelled with the fit that read them, and refused later instead of giving no labels."""
    rows = pa.table({"a": [1.0, 2.0, 3.0]})
    reader, model = rows.to_reader(), cl.KMeans(n_clusters=1, budget=10, bounds=(0, 10))
    assert len(model.fit_predict(reader)) == 3
    for use in (model.predict, model.fit, model.fit_predict):
        with pytest.raises(SourceError, match="read already"):
            use(reader)
    assert len(model.predict(rows.to_reader())) == 3


def test_a_frame_with_columns_named_like_a_source_is_a_frame() -> None:
    """What a frame's columns are called does not make it anything else."""
    frame = pd.DataFrame({"names": ["1"], "in_memory": ["1"], "batches": ["1"]})
    assert cells_of(frame) == frame.to_dict("records")
    assert cl.tabulate(frame, ["names"], 1, domains={"names": ["1"]}).counts.shape == (1,)


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this Polars has no such integers")
def test_types_that_arrow_lacks_are_named() -> None:
    """A Polars frame of 128-bit integers is a table; what it needs is a cast."""
    with pytest.raises(SourceError, match="cast"):
        open_source(pl.DataFrame({"a": [1]}, schema={"a": pl.Int128}))


@pytest.mark.parametrize(
    "kind", ["str", "category", pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))], ids=str
)
def test_columns_of_text_are_not_taken_for_numbers(kind: Any) -> None:
    """A column whose dtype says that it holds text is not clustered unasked, however pandas stores it."""
    frame = pd.DataFrame({"a": pd.Series(["u", "v"], dtype=kind)})
    assert open_source(frame).texts == ("a",)  # type: ignore[attr-defined]
    with pytest.raises(CloisterError):
        cl.KMeans(n_clusters=1, budget=10, bounds=(0, 10)).fit(frame)


def test_a_decimal_with_too_many_digits_reads_alike_in_every_table() -> None:
    """In a dict of columns as in a table: what its type cannot hold is unreadable."""
    raw = np.array([[123456, 0], [5, 0]], dtype=np.int64).tobytes()
    cells = pa.Array.from_buffers(pa.decimal128(3, 0), 2, [None, pa.py_buffer(raw)])
    assert cells_of({"n": cells}) == cells_of(pa.table({"n": cells}))
    assert cells_of({"n": cells})[0] == {"n": None}


class Wrapper:
    """A frame as Narwhals wraps it."""

    __module__ = "narwhals.dataframe"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def to_native(self) -> Any:
        return self.frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("wrapped", ["frame", "subclass", "columns", "narwhals"])
def test_polars_objects_are_refused_before_the_charge(wrapped: str) -> None:
    """Polars hands over the addresses of objects: as names of people, each row would be another person."""

    class Members(pl.DataFrame):
        """A frame of a class of the user's."""

    columns = {"who": pl.Series("who", ["ann"] * 4, dtype=pl.Object), "x": pl.Series("x", [1.0] * 4)}
    data: Any = {
        "frame": lambda: pl.DataFrame(columns),
        "subclass": lambda: Members(columns),
        "columns": lambda: columns,
        "narwhals": lambda: Wrapper(pl.DataFrame(columns)),
    }[wrapped]()
    with pytest.raises(SourceError, match='"who" is of the Polars type Object'):
        open_source(data)


def test_a_narwhals_frame_is_the_frame_that_it_wraps() -> None:
    """The kind of a cell among Python objects depends on the cell alone, behind a wrapper too."""
    frame = pd.DataFrame({"c": pd.Series([1, "x", None], dtype=object)})
    assert cells_of(Wrapper(frame)) == cells_of(frame)
