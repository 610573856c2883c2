"""Rewriting a table, row by row, on both engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from cloister.engines.local.engine import LocalEngine
from cloister.errors import SinkError
from cloister.sinks import batch_writer
from cloister.sources.opening import open_source
from tests.engines.spark import jobs
from tests.laws.tables import identity, random_rows, write
from tests.spark_hosts import Host

ENCODING = identity(2, 50, ())
SIGNED = pa.schema([("id", pa.int64()), ("sign", pa.string())])


@dataclass(frozen=True)
class Signs:
    """Whether n0 is negative, for rows whose n1 is not zero."""

    columns: tuple[str, ...] = ("n1", "id", "n0")
    schema: pa.Schema = SIGNED

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sign = pc.if_else(pc.less(batch.column("n0"), 0), "negative", "not negative")
        kept = pa.RecordBatch.from_arrays([batch.column("id"), sign], schema=self.schema)
        return kept.filter(pc.not_equal(batch.column("n1"), 0))


@pytest.fixture
def rows_path(tmp_path: Path) -> Path:
    return write(tmp_path, "rows", random_rows(2, 300, 2, 50, ()))


def read(path: Path, format: str) -> list[tuple[int, str]]:
    table = ds.dataset(str(path), format=format, exclude_invalid_files=False).to_table()
    return sorted(zip(table["id"].to_pylist(), table["sign"].to_pylist(), strict=True))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_rewriting_here_keeps_the_order(rows_path: Path, tmp_path: Path, format: str) -> None:
    """Every row that the map keeps is written once, in order."""
    LocalEngine(open_source(rows_path), ENCODING).rewrite(Signs(), str(tmp_path / "out"), format)
    written = ds.dataset(str(tmp_path / "out"), format=format).to_table()
    whole = pa.concat_tables([pa.Table.from_batches(open_source(rows_path).batches(("id", "n1")))])
    assert written["id"].to_pylist() == whole.filter(pc.not_equal(whole["n1"], 0))["id"].to_pylist()


def test_an_unknown_format_is_refused(rows_path: Path, tmp_path: Path) -> None:
    """A format that cannot be written is told before a row is read."""
    with pytest.raises(SinkError, match="Choose parquet"):
        LocalEngine(open_source(rows_path), ENCODING).rewrite(Signs(), str(tmp_path / "out"), "odt")


@pytest.mark.spark
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_rewriting_on_spark_gives_the_same_rows(classic: Host, rows_path: Path, tmp_path: Path, format: str) -> None:
    """On Spark the same rows are written into a folder with a success marker; an existing folder is refused."""
    LocalEngine(open_source(rows_path), ENCODING).rewrite(Signs(), str(tmp_path / "here"), format)
    classic(jobs.rewrite, rows_path, ENCODING, Signs(), str(tmp_path / "there"), format)
    assert (tmp_path / "there" / "_SUCCESS").exists()
    assert read(tmp_path / "there", format) == read(tmp_path / "here", format)
    assert (
        classic(jobs.attempt, jobs.rewrite, rows_path, ENCODING, Signs(), str(tmp_path / "there"), format)[0] == "SinkError"
    )


@dataclass(frozen=True)
class AsTheyAre:
    """Every row as it is."""

    schema: pa.Schema
    columns: tuple[str, ...]

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)


@pytest.mark.spark
def test_a_shuffled_table_is_a_function_of_its_rows(classic: Host, tmp_path: Path) -> None:
    """Rows that differ by a microsecond, or by bits that text does not show, lie alike whatever their order was."""
    moments = [1_700_000_000_000_000 + i for i in (3, 1, 2, 5, 4, 3)]
    rows = pa.table(
        {
            "when": pa.array(moments, pa.timestamp("us", "UTC")),
            "size": pa.array([0.1, 0.1 + 2**-53, 0.1, float("nan"), -0.0, 0.0]),
            "spans": pa.array([[("a", i)] for i in (3, 1, 2, 5, 4, 3)], pa.map_(pa.string(), pa.int64())),
        }
    )
    row_map = AsTheyAre(rows.schema, tuple(rows.column_names))
    written = []
    for name, order, cut in (("one", [0, 1, 2, 3, 4, 5], 1), ("other", [5, 4, 3, 2, 1, 0], 3)):
        source = tmp_path / f"{name}.parquet"
        pq.write_table(rows.take(order), source)
        classic(jobs.rewrite, source, identity(0, 1, ()), row_map, str(tmp_path / name), "parquet", cut, 2)
        parts = sorted((tmp_path / name).glob("part-*"))
        written.append([[str(row) for row in pq.read_table(part).to_pylist()] for part in parts])
    assert written[0] == written[1]
    assert sum(map(len, written[0])) == len(rows)


@dataclass(frozen=True)
class Without:
    """Every row but some."""

    schema: pa.Schema
    columns: tuple[str, ...]
    removed: tuple[int, ...]

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keeps = [number not in self.removed for number in batch.column(0).to_pylist()]
        return pa.RecordBatch.from_arrays(batch.filter(pa.array(keeps, pa.bool_())).columns, schema=self.schema)


NUMBERED = pa.table({"number": np.arange(1_000), "word": ["some", "words"] * 500})


@pytest.mark.parametrize("batch", [1, 37, 250])
@pytest.mark.parametrize("rows", [100, 999, 65_536])
def test_row_groups_follow_from_the_number_of_rows(
    batch: int, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rows are removed, and however the input is cut, a file of as many rows is cut alike; no group is empty."""
    monkeypatch.setattr(batch_writer, "ROWS_AT_ONCE", rows)
    with pa.ipc.new_file(tmp_path / "in.arrow", NUMBERED.schema) as writer:
        for some in NUMBERED.to_batches(max_chunksize=batch):
            writer.write_batch(some)
    for removed in ((437,), (0,), (999,)):
        out = tmp_path / f"{removed[0]}.parquet"
        row_map = Without(NUMBERED.schema, ("number", "word"), removed)
        LocalEngine(open_source(tmp_path / "in.arrow"), identity(0, 1, ())).rewrite(row_map, str(out))
        file = pq.ParquetFile(out)
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        assert groups == [rows] * (999 // rows) + [999 % rows] * (999 % rows > 0)
        kept = [i for i in range(1_000) if i not in removed]
        assert file.read()["number"].to_pylist() == kept


@pytest.mark.spark
@pytest.mark.parametrize("rows", [100, 5_000])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_part_files_follow_from_the_number_of_rows(classic: Host, rows: int, format: str, tmp_path: Path) -> None:
    """On Spark too: files of a fixed number of rows, in the order of the input, whatever its partitions were."""
    pq.write_table(NUMBERED, tmp_path / "in.parquet")
    row_map = Without(NUMBERED.schema, ("number", "word"), (437, 438, 900))
    out = tmp_path / "out"
    cut = (10, "number")
    classic(jobs.rewrite_into_files, tmp_path / "in.parquet", identity(0, 1, ()), row_map, str(out), format, cut, rows)
    read = pq.read_table if format == "parquet" else pyarrow.csv.read_csv
    parts = [read(part)["number"].to_pylist() for part in sorted(out.glob("part-*"))]
    assert [len(part) for part in parts] == ([100] * 9 + [97] if rows == 100 else [997])
    together = [number for part in parts for number in part]
    assert sorted(together) == [i for i in range(1_000) if i not in (437, 438, 900)]
    one = tmp_path / "one"
    classic(jobs.rewrite_into_files, tmp_path / "in.parquet", identity(0, 1, ()), row_map, str(one), format, 1, rows)
    in_order = [number for part in sorted(one.glob("part-*")) for number in read(part)["number"].to_pylist()]
    assert in_order == sorted(together)
