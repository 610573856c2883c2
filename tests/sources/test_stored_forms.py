"""Ways to store a column in which one cell could end the reading of all, or be taken for another: refused by type, or read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import cloister as cl
from cloister.errors import CloisterError, SchemaError, SourceError
from cloister.testing import audit
from tests.engines import kernels
from tests.engines.spark import jobs
from tests.spark_hosts import Host

DATES = cl.Schema.from_text('[columns.d]\nkind="date"\nbounds=[1900-01-01,2100-12-31]\n')
FAR = ["2020-01-01"] * 100 + ["9999-12-31"] * 50


def counted(data: Any) -> list[float]:
    made = cl.tabulate(data, by=["d"], bins={"d": ["1950-01-01", "2050-01-01"]}, budget=50, schema=DATES)
    return np.round(np.asarray(made.counts) / 10).tolist()


def decimal_bytes(path: Path, cells: list[bytes]) -> Path:
    """A Parquet file whose decimals are bytes of any number, as Avro and Kafka write them."""
    table = pa.table({"pay": pa.array(cells, pa.binary()), "x": [5.0] * len(cells)})
    pq.write_table(table, path, store_schema=False, use_dictionary=False, write_statistics=False, compression="none")
    raw = path.read_bytes()
    length = int.from_bytes(raw[-8:-4], "little")
    footer = raw[-8 - length : -8]
    place = footer.index(b"\x03pay") + 4
    footer = footer[:place] + b"\x25\x0a\x15\x04\x15\x14" + footer[place:]  # DECIMAL, scale 2, precision 10
    path.write_bytes(raw[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


@pytest.mark.parametrize("cells", [[b"\x01\x02"], [b"\x01\x02", b""], [b"\x01\x02", b"\0" * 17]])
def test_decimals_in_bytes_are_refused_before_the_charge(tmp_path: Path, cells: list[bytes]) -> None:
    """By their type: whether each of them can be read is never asked. Other columns of the file are read."""
    path = decimal_bytes(tmp_path / "d.parquet", cells)
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(99))
    settings: dict[str, Any] = {"bounds": {"pay": (0, 9), "x": (0, 9)}, "bins": {"pay": 2, "x": 2}, "budget": 1}
    for data in (path, [path, decimal_bytes(tmp_path / "e.parquet", cells)]):
        with pytest.raises(SchemaError, match='"pay" holds decimals stored as bytes'):
            cl.tabulate(
                data, by=["pay"], table="people", ledger=url, **{**settings, "bins": {"pay": 2}, "bounds": {"pay": (0, 9)}}
            )
    assert kernels.spent(url) == 0
    with pytest.raises(SourceError, match='"pay" of the dataset is stored as BYTE_ARRAY'):
        cl.tabulate(pyarrow.dataset.dataset(path), by=["x"], bounds={"x": (0, 9)}, bins={"x": 2}, budget=1)
    cl.tabulate(path, by=["x"], bounds={"x": (0, 9)}, bins={"x": 2}, budget=1)


def test_moments_of_the_old_form_are_read_as_they_are(tmp_path: Path) -> None:
    """INT96, as Spark wrote them for long: the year 9999 was taken for 1816."""
    table = pa.table({"d": np.array(FAR, "M8[us]")})
    for old in (False, True):
        pq.write_table(table, tmp_path / "i.parquet", use_deprecated_int96_timestamps=old)
        assert counted(tmp_path / "i.parquet") == [0, 10, 5]
    with pytest.raises(SourceError, match="INT96"):
        counted(pyarrow.dataset.dataset(tmp_path / "i.parquet"))


@pytest.mark.parametrize("last", ["2020-01-01", "9999-12-31", "0001-01-01"])
def test_moments_in_orc_are_refused_by_their_type(tmp_path: Path, last: str) -> None:
    """Arrow gives up at some of them. Dates are read."""
    moments = np.array([*FAR[:100], last], "M8[us]")
    orc.write_table(pa.table({"d": moments}), tmp_path / "o.orc")
    with pytest.raises(SourceError, match="moments in ORC") as error:
        counted(pyarrow.dataset.dataset(tmp_path / "o.orc", format="orc"))
    assert isinstance(error.value, CloisterError)
    orc.write_table(pa.table({"d": moments.astype("M8[D]")}), tmp_path / "o.orc")
    assert sum(counted(pyarrow.dataset.dataset(tmp_path / "o.orc", format="orc"))) == 10


@pytest.mark.parametrize("last", [b"c", b"\xff"])
def test_a_column_whose_path_is_that_of_another_is_refused(tmp_path: Path, last: bytes) -> None:
    """Arrow finds columns of Parquet by dotted paths, reads a struct beside the column asked for, and stops at its cells."""
    texts = pa.array([b"a", b"b", last], pa.binary()).view(pa.string())
    struct = pa.StructArray.from_arrays([texts], ["b"])
    beside = {"a": struct, "deep": pa.StructArray.from_arrays([struct], ["a"]), "tags": pa.array([["x"], [], None])}
    cells = ["x", "y", "x"]
    plain = {"tag": cells, "tag.b": cells}
    path, copy, url = tmp_path / "s.parquet", tmp_path / "t.parquet", str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(99))
    for name, holder in {"a.b": "a", "deep.a": "deep", "tags.list.element": "tags"}.items():
        for place in (path, copy):
            pq.write_table(pa.table({name: cells, holder: beside[holder], **plain}), place)
        for data in (path, [path, copy]):
            with pytest.raises(SchemaError, match=f'"{name}" is also the path of a part of another column'):
                cl.tabulate(data, by=[name], domains={name: ["x", "y"]}, budget=1, table="people", ledger=url)
        for other in plain:
            made = cl.tabulate(path, by=[other], domains={other: ["x", "y"]}, budget=3000)
            assert np.rint(made.fitted).tolist() == [2, 1]
    assert kernels.spent(url) == 0


def test_a_dotted_column_of_orc_beside_a_struct_is_refused(tmp_path: Path) -> None:
    """Arrow read it as nothing but missing cells."""
    path = tmp_path / "p.orc"
    orc.write_table(pa.table({"a.b": ["x", "y", "x"], "a": [{"b": "x"}] * 3, "c.d": ["x", "y", "x"]}), path)
    data = pyarrow.dataset.dataset(path, format="orc")
    with pytest.raises(SchemaError, match=r'"a\.b" is also the path of a part of another column'):
        cl.tabulate(data, by=["a.b"], domains={"a.b": ["x", "y"]}, budget=1)
    made = cl.tabulate(data, by=["c.d"], domains={"c.d": ["x", "y"]}, budget=3000)
    assert np.rint(made.fitted).tolist() == [2, 1]


def test_a_file_of_a_dataset_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    """Its rows counted as the default. A column that the names of folders hold is in no file."""
    pq.write_table(pa.table({"who": ["a"], "z": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"z": [1]}), tmp_path / "2.parquet")
    data = pyarrow.dataset.dataset([str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")])
    with pytest.raises(SchemaError, match='column "who" is missing in a file of the dataset'):
        cl.tabulate(data, by=["who"], domains={"who": ["a", "b"]}, budget=1)
    table = pa.table({"who": ["a", "b", None], "z": [1, 2, 3]})
    pyarrow.dataset.write_dataset(table, tmp_path / "h", format="parquet", partitioning=["who"], partitioning_flavor="hive")
    for kept in (pyarrow.dataset.dataset(tmp_path / "h", partitioning="hive"), pyarrow.dataset.dataset(table)):
        made = cl.tabulate(kept, by=["z"], bounds={"z": (0, 4)}, bins={"z": 2}, budget=3000)
        assert np.rint(made.fitted).sum() == 3


PEOPLE = cl.Schema.from_text(
    'unit = "seen"\nmax_rows = 1\n[columns.c]\nkind = "category"\ndomain = ["a", "b"]\n'
    '[columns.x]\nkind = "number"\nbounds = [0, 1]\n'
    '[columns.seen]\nkind = "date"\nrole = "identifier"\n'
)


def moments_of_people(path: Path, nanoseconds: list[int], *, is_int96: bool) -> Path:
    """A file in which moments say whose a row is."""
    seen = pa.array(nanoseconds, pa.int64()).cast(pa.timestamp("ns"))
    table = pa.table({"seen": seen, "c": ["a", "b"][: len(nanoseconds)], "x": [0.5] * len(nanoseconds)})
    pq.write_table(table, path, use_deprecated_int96_timestamps=is_int96)
    return path


def test_moments_of_96_bits_do_not_name_people(tmp_path: Path) -> None:
    """They are read in microseconds, where two people would be one: refused by how they are stored. As values they are read."""
    file = moments_of_people(tmp_path / "one.parquet", [0, 1], is_int96=True)
    moments_of_people(tmp_path / "other.parquet", [0], is_int96=False)
    for data in (file, [file, tmp_path / "other.parquet"]):
        with pytest.raises(SchemaError, match="two people could be taken for one"):
            cl.tabulate(data, by=["c"], budget=1, schema=PEOPLE)
    assert cl.tabulate(file, by=["c"], budget=1, schema=cl.Schema((PEOPLE["c"],))).counts.shape == (2,)


def test_moments_of_64_bits_name_people_by_the_nanosecond(tmp_path: Path) -> None:
    """One more person moves a count by one."""
    both = moments_of_people(tmp_path / "both.parquet", [0, 1], is_int96=False)
    one = moments_of_people(tmp_path / "one.parquet", [0], is_int96=False)
    found = audit(lambda file: cl.tabulate(file, by=["c"], budget=1, schema=PEOPLE), (both, one))
    assert found.holds


@pytest.mark.spark
def test_spark_does_not_name_people_by_moments_of_files(classic: Host, tmp_path: Path) -> None:
    """It reads microseconds, and does not say how a file stores them."""
    file = moments_of_people(tmp_path / "one.parquet", [0, 1000], is_int96=True)
    with pytest.raises(SchemaError, match="two people could be taken for one"):
        classic(jobs.kmeans, file, {"columns": ["x"], "budget": 1, "schema": PEOPLE}, 1, "path")
