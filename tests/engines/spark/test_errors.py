"""Everything that can be wrong with Spark: one clear error each, and nothing charged."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cloister as cl
from cloister.engines.local.engine import LocalEngine
from cloister.engines.spark import session as spark_session
from cloister.engines.spark.frames import format_of, open_spark
from cloister.engines.spark.options import Spark
from cloister.engines.spark.session import check_java, check_reachable
from cloister.errors import EngineError, UsageError
from cloister.kernels import BoxClip, CenterSums
from cloister.kernels.exact import open_exact
from cloister.sources.opening import open_source
from tests.engines import kernels
from tests.engines.spark import jobs
from tests.laws.tables import identity, random_rows, write
from tests.spark_hosts import Host, free_port

ENCODING = identity(2, 50, ())
PER_PERSON = """
unit = "who"
max_rows = 2
[columns.who]
kind = "text"
[columns.n0]
kind = "number"
bounds = [0, 1]
"""


@pytest.fixture
def rows_path(tmp_path: Path) -> Path:
    return write(tmp_path, "rows", random_rows(6, 100, 2, 50, ()))


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyspark the error says what to install."""
    for name in [name for name in sys.modules if name == "pyspark" or name.startswith("pyspark.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(EngineError, match=r"pip install 'cloister\[spark\]'"):
        open_spark("people.parquet", Spark())


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without Java the error says which one is needed and how to get it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EngineError, match=r"Java 17 or newer, and none was found.*apt install"):
        check_java()


@pytest.mark.parametrize(("told", "version"), [('openjdk version "11.0.2"', 11), ('java version "1.8.0_392"', 8)])
def test_with_an_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str, version: int) -> None:
    """An old Java is refused by its version."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=f"and this is Java {version}"):
        check_java()


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer(scheme: str) -> None:
    """An address where nothing listens is told within seconds, not after Spark's minutes."""
    begun = time.monotonic()
    with pytest.raises(EngineError, match="nothing answers at"):
        check_reachable(f"{scheme}://127.0.0.1:{free_port()}")
    assert time.monotonic() - begun < 30


def test_connect_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark Connect without grpc: the error says what to install."""
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(EngineError, match=r"pip install 'pyspark\[connect\]'"):
        spark_session.check_connect()


def test_master_and_remote_together() -> None:
    """Two places to run at once make no sense."""
    with pytest.raises(UsageError, match="Give one of them"):
        Spark(master="local[2]", remote="sc://host")


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.parquet", "parquet"), ("s3a://b/c.csv.gz", "csv"), ("hdfs://h/x/", None), ("people", None), ("d.orc", "orc")],
)
def test_formats_by_name(name: str, format: str | None) -> None:
    """A name's end says the format, compression aside."""
    assert format_of(name) == format


@pytest.mark.spark
@pytest.mark.parametrize(
    ("case", "kind", "message"),
    [
        ("frame locally", "UsageError", 'Drop engine="local"'),
        ("array on Spark", "UsageError", "use the local engine"),
        ("missing path", "SourceError", "no such file or table"),
        ("missing table", "SourceError", "Spark"),
        ("empty CSV", "SourceError", "the file is empty"),
    ],
)
def test_data_that_does_not_fit_the_engine(classic: Host, rows_path: Path, case: str, kind: str, message: str) -> None:
    """Each is told in the user's words."""
    (rows_path.parent / "empty.csv").write_text("")
    found, told = classic(jobs.misused, case, rows_path)
    assert found == kind
    assert message in told


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "settings", "kind", "message"),
    [
        ("n0", {"bounds": (-50, 50), "columns": ["n0", "absent"]}, "SchemaError", 'no column "absent"'),
        ("n0;array(n1) AS n1", {"bounds": (-50, 50)}, "SchemaError", 'column "n1" is of type array'),
        ("n0", {"bounds": (50, -50)}, "UsageError", "below its high bound"),
        ("n0", {"schema": cl.Schema.from_text(PER_PERSON)}, "SchemaError", 'no column "who"'),
    ],
    ids=["column missing", "type mismatch", "bounds", "unit missing"],
)
def test_nothing_is_charged_before_the_schema_is_checked(
    classic: Host, rows_path: Path, tmp_path: Path, columns: str, settings: dict[str, Any], kind: str, message: str
) -> None:
    """A fault of the schema on Spark is one clear error, and the ledger is untouched."""
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    found, told = classic(jobs.charged_fit, rows_path, columns, settings, url)
    assert found == kind
    assert message in told
    assert kernels.spent(url) == 0


@pytest.mark.spark
@pytest.mark.parametrize("module", ["numba", "pyarrow"])
def test_workers_without_a_module(classic: Host, rows_path: Path, tmp_path: Path, module: str) -> None:
    """Workers without numba or pyarrow: one error that says how to provide an environment; nothing is charged."""
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    classic(jobs.hide, module)
    try:
        kind, told = classic(jobs.charged_fit, rows_path, "n0;n1", {"bounds": (-50, 50)}, url)
    finally:
        classic(jobs.hide)
    assert kind == "EngineError"
    assert f"the Spark workers have no {module}." in told
    assert "venv-pack" in told
    assert kernels.spent(url) == 0


@pytest.mark.spark
def test_workers_without_numba_can_use_numpy(classic: Host, rows_path: Path) -> None:
    """With spark.cloister.kernels=numpy workers without numba give the same integers."""
    kernel = CenterSums(np.array([[-20, 3], [10, 10], [10, 10]], np.int32), BoxClip((50, 50)))
    expected = open_exact(LocalEngine(open_source(rows_path), ENCODING).fold(kernel))
    classic(jobs.hide, "numba")
    classic(jobs.set_conf, "spark.cloister.kernels", "numpy")
    try:
        found = classic(jobs.folds, rows_path, ENCODING, [kernel])[0][0]
    finally:
        classic(jobs.set_conf, "spark.cloister.kernels", None)
        classic(jobs.hide)
    assert all(np.array_equal(found[part], expected[part]) for part in kernel.parts)


@pytest.mark.spark
def test_csv_is_read_as_the_local_engine_reads_it(classic: Host, tmp_path: Path) -> None:
    """Delimiter and names from the header, every cell text, ragged lines filled and cut, a byte order mark dropped."""
    path = tmp_path / "people.csv"
    path.write_bytes('\ufeff"age"; name \n1;"a ""b"" ;c"\n2\n3;d;extra\n'.encode())
    names, rows = classic(jobs.csv_columns, str(path))
    assert names == open_source(path).names == ("age", "name")
    here = [tuple(row.values()) for batch in open_source(path).batches(names) for row in batch.to_pylist()]
    assert rows == here


@pytest.mark.spark
def test_a_column_of_the_labels_name_is_not_overwritten(classic: Host, rows_path: Path) -> None:
    """Rows with a column "cluster" of their own are refused, not changed."""
    kind, told = classic(jobs.attempt, jobs.predict_named_cluster, rows_path)
    assert kind == "UsageError"
    assert 'a column "cluster" already' in told
