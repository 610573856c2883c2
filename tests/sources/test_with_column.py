"""A source with one more column: rows and numbers stay side by side, and a table that changed is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cloister.errors import DataError
from cloister.sources.opening import open_source
from cloister.sources.with_column import WithColumn

TABLE = pa.table({"x": np.arange(150_000), "y": np.arange(150_000)})  # several batches


def test_numbers_stand_beside_their_rows() -> None:
    """In every batch, in any order of columns, and alone."""
    source = WithColumn(open_source(TABLE), "n", np.arange(150_000, dtype=np.int32))
    assert source.names == ("x", "y", "n")
    batches = list(source.batches(["n", "x"]))
    assert len(batches) > 1
    assert all(batch.schema.names == ["n", "x"] for batch in batches)
    assert all(batch["n"].to_pylist() == batch["x"].to_pylist() for batch in batches)
    assert sum(batch.num_rows for batch in source.batches(["n"])) == 150_000


@pytest.mark.parametrize("count", [149_999, 150_001])
def test_a_table_that_changed_is_refused(count: int) -> None:
    """One row more or less than there are numbers."""
    source = WithColumn(open_source(TABLE), "n", np.zeros(count, np.int32))
    with pytest.raises(DataError, match="other rows now"):
        list(source.batches(["x"]))
