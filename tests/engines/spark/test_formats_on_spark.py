"""Cells as people write them read alike on Spark's workers and here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.encode import Codes, Encoding, Grid, MadeUp
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import Histogram, TableCounts
from cloister.kernels.exact import open_exact
from cloister.schema.cell_format import CellFormat
from cloister.sources.opening import open_source
from tests.engines.spark import jobs
from tests.spark_hosts import Host

pytestmark = pytest.mark.spark

CELLS = ["36.993,09", "20.000", "20,000", "1.5", "?", "x", "", None, "-999", "-999,0", "true", "1e999", " 7 "]


def test_formats_and_missing_words_hold_on_spark(classic: Host, tmp_path: Path) -> None:
    """Sums, cells and counts of made-up values are those of the local engine, bit for bit, under every partitioning."""
    pq.write_table(pa.table({"pay": CELLS * 9, "work": CELLS[::-1] * 9}), tmp_path / "t.parquet")
    grid = Grid("pay", 25_000.0, 1.0, 25_000, 5, CellFormat(decimal=",", thousands=".", missing=("?", "-999")))
    work = Codes("work", ("x", "1.5", "(other)"), 2, CellFormat(missing=("x",)))
    encoding = Encoding((grid,), (work, MadeUp(grid), MadeUp(work)))
    kernel = TableCounts(Histogram((), (3,)), (), (25_000,), missing=2)
    expected = dict(open_exact(LocalEngine(open_source(tmp_path / "t.parquet"), encoding).fold(kernel)).parts)
    assert expected["cells"].tolist() == [0, 9, 108]
    assert expected["missing"].tolist() == [9 * 7, 9 * 12]
    for (outcome,) in classic(jobs.folds, tmp_path / "t.parquet", encoding, [kernel], None, (1, (4, "pay"))):
        assert outcome.keys() == expected.keys()
        assert all(np.array_equal(outcome[part], expected[part]) for part in expected)
