"""Batches that come once: readers, generators and lazy frames are read in one pass, kept, and gone through as often as needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import cloister as cl
from cloister.errors import DataError, SourceError
from cloister.sources.opening import open_source


def rows_of(source: Any, names: list[str] | None = None) -> list[dict[str, Any]]:
    """All rows."""
    return [row for batch in source.batches(names or source.names) for row in batch.to_pylist()]


def numbers() -> Iterator[pa.RecordBatch]:
    """Two batches of the same columns."""
    yield pa.record_batch({"a": [1, 2], "b": ["x", None]})
    yield pa.record_batch({"a": [3], "b": ["é"]})


ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "é"}]


@pytest.mark.parametrize(
    "make",
    [
        numbers,
        lambda: pa.RecordBatchReader.from_batches(next(numbers()).schema, numbers()),
        lambda: pl.DataFrame(ROWS).lazy(),
        lambda: ds.dataset(pa.Table.from_batches(list(numbers()))).scanner(),
    ],
    ids=["generator", "reader", "lazy frame", "scanner"],
)
def test_rows_that_come_once_are_read_as_often_as_needed(make: Any) -> None:
    """Two passes at once, other columns in another order, and no columns at all see the same rows."""
    source = open_source(make())
    assert source.names == ("a", "b")
    first, second = source.batches(["b", "a"]), source.batches(["a"])
    assert (next(first).column("a").to_pylist()[0], next(second).column("a").to_pylist()[0]) == (1, 1)
    assert rows_of(source) == ROWS
    assert rows_of(source, ["b"]) == [{"b": row["b"]} for row in ROWS]
    assert sum(batch.num_rows for batch in source.batches([])) == len(ROWS)
    assert not source.in_memory


def test_a_fit_of_a_generator_says_whose_rows_they_are() -> None:
    """What the program does is not seen, so the certificate says that the guarantee is per row of what came."""
    batches = (pa.record_batch({"x": [0.1 * number, 0.2]}) for number in range(5))
    model = cl.KMeans(1, 1.0, (0, 1)).fit(batches)
    assert any("per row of them" in note for note in model.release_.notes)
    lazy = cl.tabulate(pl.DataFrame({"s": ["f", "m"]}).lazy(), ["s"], 1, domains={"s": ["f", "m"]})
    assert any("per row of that frame" in note for note in lazy.release.notes)


def test_batches_of_another_schema_are_refused_without_their_values() -> None:
    """The first batch declares the types of all."""

    def changing() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        yield pa.record_batch({"a": ["secret"]})

    with pytest.raises(DataError, match="other columns or types") as caught:
        rows_of(open_source(changing()))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("made", "said"), [([], "gives nothing"), ([[1, 2]], "gives list"), ([{"a": 1}], "gives dict")])
def test_a_generator_of_anything_else_is_refused(made: list[Any], said: str) -> None:
    """Rows that are Python objects belong into a list, which is read cell by cell."""
    with pytest.raises(SourceError, match=said):
        open_source(iter(made))


def test_a_lazy_frame_that_breaks_is_retold() -> None:
    """Polars quotes values in its errors."""
    frame = pl.DataFrame({"a": ["1", "secret"]}).lazy().select(pl.col("a").cast(pl.Int64))
    source = open_source(frame)
    with pytest.raises(DataError, match="lazy frame breaks") as caught:
        rows_of(source)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_lazy_frame_of_objects_is_refused_before_the_charge() -> None:
    """Their cells would be addresses."""
    frame = pl.DataFrame({"who": pl.Series("who", ["ann"], dtype=pl.Object)}).lazy()
    with pytest.raises(SourceError, match="Object"):
        open_source(frame)
