"""A list of frames is no list of rows, and one frame among rows decides nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import SourceError
from cloister.sources.opening import open_source
from cloister.sources.stated_names import StatedNames

COLUMNS = {"age": [20.0, 30.0], "pay": [1.0, 2.0]}


class OwnFrame(pd.DataFrame):  # type: ignore[misc]
    """A class made from that of pandas."""


FRAMES: dict[str, list[Any]] = {
    "pandas": [pd.DataFrame(COLUMNS), pd.DataFrame(COLUMNS)],
    "made from pandas": [OwnFrame(COLUMNS)],
    "Polars": [pl.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)],
    "lazy": [pl.LazyFrame(COLUMNS)],
    "Arrow": [pa.table(COLUMNS), pa.table(COLUMNS)],
    "batches": pa.table(COLUMNS).to_batches(),
    "of several libraries": [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)],
}


@pytest.mark.parametrize("which", FRAMES)
def test_a_list_of_frames_is_refused(which: str) -> None:
    """Every verb says how to join them; nothing is read."""
    bounds = {"age": (0, 110), "pay": (0, 9)}
    model = cl.KMeans(1, budget=1, bounds=bounds)
    for verb in (
        model.fit,
        lambda data: cl.tabulate(data, by=["age"], budget=1, bounds=bounds),
        lambda data: cl.synopsis(data, budget=1, bounds=bounds),
        lambda data: cl.risk(data, quasi=["age"]),
    ):
        with pytest.raises(SourceError, match=r"pd\.concat"):
            verb(FRAMES[which])
        with pytest.raises(SourceError, match=r"pd\.concat"):
            verb(tuple(FRAMES[which]))
    with pytest.raises(SourceError, match=r"pd\.concat"):
        cl.KMeans(1, budget=1, bounds=bounds).fit(pd.DataFrame(COLUMNS)).predict(FRAMES[which])


@pytest.mark.parametrize("odd", [frames[0] for frames in FRAMES.values()], ids=list(FRAMES))
def test_a_frame_among_rows_decides_nothing(odd: Any) -> None:
    """The other rows are read as they are without it: no path is taken because of one element."""
    rows: list[Any] = [[20.0, 1.0], {"age": 30.0, "pay": 2.0}, (40.0, 3.0)]
    names = StatedNames(columns=("age", "pay"))
    alone = pa.Table.from_batches(open_source(rows, names).batches(["age", "pay"]))
    beside = pa.Table.from_batches(open_source([*rows, odd], names).batches(["age", "pay"]))
    assert beside.slice(0, 3).to_pylist() == alone.to_pylist()
    assert beside.num_rows == 4


@pytest.mark.parametrize("rows", [[], [[1.0, 2.0]], [np.zeros(2)], [pd.Series([1.0, 2.0])], [{"age": 1.0}], [object()]])
def test_rows_are_read_as_before(rows: list[Any]) -> None:
    """Arrays, Series, dicts and other objects are rows."""
    source = open_source(rows, StatedNames(columns=("age", "pay")))
    assert sum(batch.num_rows for batch in source.batches(["age"])) == len(rows)
