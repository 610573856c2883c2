"""Files of one table: what is broken is refused on Spark as it is locally, before anything is charged; the rest reads alike."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.encode import DayGrid, Encoding
from cloister.engines.local.engine import LocalEngine
from cloister.errors import CloisterError
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from cloister.schema.cell_format import CellFormat
from cloister.sources.opening import open_source
from tests.engines import kernels
from tests.engines.spark import parts_jobs
from tests.laws.row_readings import ENCODING, NAMES
from tests.laws.test_csv_row_laws import draw_line, draw_record, file_of
from tests.laws.test_typed_row_laws import draw_typed, table
from tests.spark_hosts import Host

GOOD = {"x0": pa.array([0.5, 0.25]), "x1": pa.array([0.1, 0.2])}
BROKEN = {
    "a column less": ({"x0": GOOD["x0"]}, "different columns"),
    "a column more": ({**GOOD, "x2": GOOD["x0"]}, "different columns"),
    "another name": ({"x0": GOOD["x0"], "X1": GOOD["x1"]}, "different columns"),
    "text for numbers": ({**GOOD, "x1": pa.array(["a", "b"])}, 'column "x1" is of one type'),
    "integers for floats": ({**GOOD, "x1": pa.array([1, 2])}, 'column "x1" is of one type'),
    "float32 for float64": ({**GOOD, "x0": pa.array([1, 2], pa.float32())}, 'column "x0" is of one type'),
}
SPARK_TYPES = [
    pa.float64(), pa.float32(), pa.int8(), pa.int64(), pa.bool_(), pa.string(), pa.binary(), pa.decimal128(38, 3),
    pa.dictionary(pa.int32(), pa.string()),
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("case", BROKEN)
def test_parts_that_do_not_fit_are_refused_alike(classic: Host, tmp_path: Path, case: str) -> None:
    """A part that lacks a column, types that drift: the same verdict in the same words, and nothing is charged."""
    columns, message = BROKEN[case]
    folder, url = tmp_path / "rows.parquet", str(tmp_path / "ledger.sqlite")
    folder.mkdir()
    pq.write_table(pa.table(GOOD), folder / "part-0 [a].parquet")
    pq.write_table(pa.table(columns), folder / "part-1 {b}.parquet")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    with pytest.raises(CloisterError, match=message) as locally:
        cl.KMeans(2, 1.0, (0, 1), columns=NAMES, table="people", ledger=url).fit(str(folder))
    assert classic(parts_jobs.charged_fit, str(folder), NAMES, url)[0] == type(locally.value).__name__
    assert message in classic(parts_jobs.charged_fit, str(folder), NAMES, url)[1]
    assert kernels.spent(url) == 0


@pytest.mark.spark
@pytest.mark.parametrize("name", ["rows", "rows.parquet", "rows.csv"])
def test_text_files_and_typed_files_are_no_one_table_on_spark_either(classic: Host, tmp_path: Path, name: str) -> None:
    """A folder of CSV and Parquet parts is refused, whatever it is called, and nothing is charged."""
    folder, url = tmp_path / name, str(tmp_path / "ledger.sqlite")
    folder.mkdir()
    pq.write_table(pa.table(GOOD), folder / "part-0.parquet")
    (folder / "part-1.csv").write_text("x0,x1\n0.5,0.1\n")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    with pytest.raises(CloisterError) as locally:
        cl.KMeans(2, 1.0, (0, 1), columns=NAMES, table="people", ledger=url).fit(str(folder))
    assert classic(parts_jobs.charged_fit, str(folder), list(NAMES), url)[0] == type(locally.value).__name__
    assert kernels.spent(url) == 0


@pytest.mark.spark
def test_days_read_on_spark_as_they_do_locally(classic: Host, tmp_path: Path) -> None:
    """Dates of a table's axis, as texts in the format of the schema."""
    encoding = Encoding((DayGrid("born", 0.0, 1.0, 40_000, form=CellFormat(date="%d.%m.%Y")),))
    (tmp_path / "t.csv").write_text("born,x\n01.01.1950,1\n31.12.1969,1\n?,1\n,1\n")
    keyed = open_exact(LocalEngine(open_source(tmp_path / "t.csv"), encoding).fold_by_key(RowKeys(1)))
    expected = dict(zip(map(tuple, keyed.keys.tolist()), keyed.counts.tolist(), strict=True))
    assert expected == {(-7305,): 1, (-1,): 1, (0,): 2}
    assert classic(parts_jobs.integers, str(tmp_path / "t.csv"), encoding) == expected


@pytest.mark.spark
def test_an_evening_is_of_its_own_day_on_spark_too(classic: Host, tmp_path: Path) -> None:
    """Typed moments without a zone; those with one are of the day in the zone of the session, which is the machine's."""
    encoding = Encoding((DayGrid("seen", 0.0, 1.0, 40_000),))
    hours = pa.array([18 * 3_600_000_000, 86_399_999_999, -1, None])
    pq.write_table(pa.table({"seen": hours.cast(pa.timestamp("us"))}), tmp_path / "t.parquet")
    keyed = open_exact(LocalEngine(open_source(tmp_path / "t.parquet"), encoding).fold_by_key(RowKeys(1)))
    expected = dict(zip(map(tuple, keyed.keys.tolist()), keyed.counts.tolist(), strict=True))
    assert expected == {(-1,): 1, (0,): 3}
    assert classic(parts_jobs.integers, str(tmp_path / "t.parquet"), encoding) == expected


@pytest.mark.spark
def test_parts_that_fit_are_read(classic: Host, tmp_path: Path) -> None:
    """Names that look like patterns, other orders of columns, and how texts are laid out do not matter."""
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    text = pa.array(["a", "b"])
    pq.write_table(pa.table({"x0": GOOD["x0"], "x1": text}), folder / "part [a] %20 {b,c}?.parquet")
    pq.write_table(pa.table({"x1": text.dictionary_encode(), "x0": GOOD["x0"]}), folder / "part-1*.parquet")
    assert classic(parts_jobs.integers, str(folder), ENCODING) == locally(str(folder))


@pytest.mark.spark
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".ndjson", ".json.gz"])
def test_json_is_refused_whatever_its_rows_hold(classic: Host, tmp_path: Path, suffix: str) -> None:
    """Its columns and types would come from its rows: one more made centres in three columns, another made a fit refuse."""
    path = tmp_path / f"rows{suffix}"
    for rows in ('{"x0": 0.5, "x1": 0.5}\n', '{"x0": 0.5, "x1": 0.5}\n{"x2": 1}\n', '{"x0": 0.5, "x1": 0.5}\n{"x0": "a"}\n'):
        path.write_text(rows * 20)
        found, told = classic(parts_jobs.charged_fit, str(path), NAMES, None)
        assert (found, "does not say what its columns are" in told) == ("SourceError", True)
        with pytest.raises(CloisterError, match=r"unknown format|which columns the table has"):
            open_source(path)


def locally(path: str) -> dict[tuple[int, ...], int]:
    """How many rows of a file have the same integers."""
    keyed = open_exact(LocalEngine(open_source(path), ENCODING).fold_by_key(RowKeys(4)))
    return dict(zip(map(tuple, keyed.keys.tolist()), keyed.counts.tolist(), strict=True))


def csv_of_any_lines(folder: Path) -> Path:
    chance = random.Random(1)
    records = [chance.choice((draw_record(chance, ","), draw_line(chance, ",", False) + b"\n")) for _ in range(300)]
    return file_of(folder / "rows.csv", ",", records)


def parquet_of_any_values(folder: Path) -> Path:
    chance = random.Random(2)
    for number, kind in enumerate(SPARK_TYPES):
        kinds = [kind, pa.float64()]
        rows = [within_digits(kind, draw_typed(kinds, chance)) for _ in range(50)]
        (folder / f"{number}").mkdir()
        pq.write_table(table(kinds, rows), folder / f"{number}" / "rows.parquet")
    return folder


def within_digits(kind: pa.DataType, row: list[Any]) -> list[Any]:
    """A decimal beyond its type ends a run on Spark, which docs/guarantees.md states: here it is null."""
    bits = row[0]
    if pa.types.is_decimal(kind) and bits is not None:
        is_beyond = abs(int.from_bytes(bits, "little", signed=True)) >= 10**kind.precision
        return [None if is_beyond else bits, *row[1:]]
    return row


@pytest.mark.spark
def test_any_line_reads_on_spark_as_it_does_locally(classic: Host, tmp_path: Path) -> None:
    """Records of odd cells and lines of any bytes give the same integers."""
    path = str(csv_of_any_lines(tmp_path))
    assert classic(parts_jobs.integers, path, ENCODING) == locally(path)


@pytest.mark.spark
def test_any_value_reads_on_spark_as_it_does_locally(classic: Host, tmp_path: Path) -> None:
    """Values of every type that both know give the same integers."""
    parquet_of_any_values(tmp_path)
    for number in range(len(SPARK_TYPES)):
        path = str(tmp_path / f"{number}" / "rows.parquet")
        assert classic(parts_jobs.integers, path, ENCODING) == locally(path), SPARK_TYPES[number]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_that_are_named_twice_or_have_a_log_are_refused_alike(classic: Host, tmp_path: Path, kind: str) -> None:
    """Two names of one file, and a table of Delta Lake: the same verdict in the same words."""
    folder = tmp_path / "rows"
    folder.mkdir()
    file = folder / f"0.{kind}"
    if kind == "csv":
        file.write_text("x0,x1\n0.5,0.1\n")
    else:
        pq.write_table(pa.table(GOOD), file)
    (tmp_path / f"link.{kind}").symlink_to(file)
    for names in ([file, file], [file, tmp_path / f"link.{kind}"], [file, f"file:{file}"], [folder, file]):
        told = classic(parts_jobs.charged_fit, [str(name) for name in names], NAMES, None)
        assert told[0] == "SourceError"
        assert "rows would count twice" in told[1]
    (folder / "_delta_log").mkdir()
    told = classic(parts_jobs.charged_fit, str(folder), NAMES, None)
    assert told[0] == "SourceError"
    assert "whose log says" in told[1]
