"""Masked arrays: a cell that is not masked reads as in an array without a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cloister.schema.cell_values import numbers, texts
from cloister.sources.opening import open_source
from cloister.sources.python_cells import row_cells

NO_NUMBER = -12345.0
ARRAYS: dict[str, NDArray[Any]] = {
    "nanoseconds": np.array(["2024-01-01", "2024-06-01T06"], "M8[ns]"),
    "durations": np.array([10**15, 5], "m8[ns]"),
    "years beyond 9999": np.array(["20000-01-01", "1970-01-02"], "M8[s]"),
    "days": np.array(["2024-01-01", "1969-12-31"], "M8[D]"),
    "narrow floats": np.array([0.1, 2.0], np.float32),
    "half floats": np.array([0.1, 2.0], np.float16),
    "floats": np.array([0.1, 1e300]),
    "integers": np.array([2**63 - 1, -1]),
    "booleans": np.array([True, False]),
    "texts": np.array(["1", "x"]),
    "objects": np.array(["7", None], dtype=object),
}


def read(array: NDArray[Any]) -> tuple[list[float], list[str | None]]:
    """The cells of an array with one column, as numbers and as texts."""
    source = open_source(array.reshape(-1, 1))
    (batch,) = source.keeping_kinds().batches(source.names)  # type: ignore[attr-defined]
    return np.nan_to_num(numbers(batch.column(0)), nan=NO_NUMBER).tolist(), texts(batch.column(0)).to_pylist()


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_a_mask_changes_no_cell_but_those_it_hides(name: str) -> None:
    """By rows and by columns, as numbers and as texts: nanoseconds were read as plain integers."""
    array = ARRAYS[name]
    plain_numbers, plain_texts = read(array)
    assert read(np.ma.array(array, mask=[False, False])) == (plain_numbers, plain_texts)
    assert read(np.ma.array(array, mask=[False, True])) == ([plain_numbers[0], NO_NUMBER], [plain_texts[0], None])
    masked_row, row = row_cells(np.ma.array(array), 2), row_cells(array, 2)
    assert [(type(cell), cell) for cell in masked_row] == [(type(cell), cell) for cell in row]
