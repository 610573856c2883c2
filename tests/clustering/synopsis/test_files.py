"""Synopses as files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.clustering.synopsis.files import load_about
from cloister.errors import SinkError, SourceError, UsageError
from cloister.schema import Column, Number, Schema


@pytest.fixture(scope="module")
def made() -> cl.Synopsis:
    rows = np.random.default_rng(0).normal([[0.2, 0.2]] * 500 + [[0.8, 0.8]] * 500, 0.05)
    return cl.synopsis(rows, 1.0, (0, 1))


def test_a_file_is_checked_in_batches_as_it_is_whole(made: cl.Synopsis, tmp_path: Path) -> None:
    """For Spark the cells are not kept; the hash is the same."""
    made.save(tmp_path / "s.parquet")
    assert load_about(tmp_path / "s.parquet").release.digest() == made.release.digest()


@pytest.mark.parametrize("bounds", [(0, 1), ([0, -2], [1, 5]), cl.Ball(2.0)], ids=["box", "wide", "ball"])
def test_a_file_gives_the_same_synopsis_back(bounds: object, tmp_path: Path) -> None:
    """Cells, grid, total and certificate survive a round trip to the last bit."""
    rows = np.random.default_rng(0).normal(0.5, 0.1, (500, 2))
    for method in ("adaptive-grid", "tree"):
        first = cl.synopsis(rows, 1.0, bounds, method)
        path = tmp_path / f"{method}.parquet"
        first.save(path)
        again = cl.Synopsis.load(path)
        for name in first.cells.__slots__:
            assert np.array_equal(getattr(first.cells, name), getattr(again.cells, name))
        assert again.domain.encoding == first.domain.encoding
        assert again.release.digest() == first.release.digest()
        assert again.total == first.total


OTHER = """
import sys, cloister as cl
made = cl.Synopsis.load(sys.argv[1])
print(made.cluster(2, "evolution", random_state=0).cluster_centers_.round(1).tolist())
print(made.sample(10).num_rows, round(made.count({"x0": (0, 0.5)}).value) > 300, made.suggest_k().clusters)
"""


def test_a_process_without_the_data_clusters_samples_and_answers(made: cl.Synopsis, tmp_path: Path) -> None:
    """The file alone is enough, in a fresh process in an empty folder."""
    made.save(tmp_path / "s.parquet")
    run = [sys.executable, "-c", OTHER, str(tmp_path / "s.parquet")]
    done = subprocess.run(run, check=True, capture_output=True, text=True, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert sorted(json.loads(lines[0])) == [[0.2, 0.2], [0.8, 0.8]]
    assert lines[1].startswith("10 True")


def test_a_file_is_never_overwritten(made: cl.Synopsis, tmp_path: Path) -> None:
    """An existing file is refused."""
    (tmp_path / "s.parquet").write_text("precious")
    with pytest.raises(SinkError):
        made.save(tmp_path / "s.parquet")
    assert (tmp_path / "s.parquet").read_text() == "precious"


def cluster_on_spark(path: Path) -> cl.Synopsis:
    """The other way to read a file; what is refused is refused before Spark starts."""
    raise AssertionError(cl.Synopsis.cluster_file(path, 2))


READERS = pytest.mark.parametrize("read", [cl.Synopsis.load, cluster_on_spark], ids=["local", "spark"])


@READERS
def test_missing_corrupt_and_foreign_files_are_told(
    read: Callable[[Path], cl.Synopsis], made: cl.Synopsis, tmp_path: Path
) -> None:
    """Each is refused in one line that says what to give instead."""
    with pytest.raises(SourceError, match="does not exist"):
        read(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no parquet at all")
    with pytest.raises(SourceError, match="damaged, or is not a synopsis"):
        read(tmp_path / "text.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "foreign.parquet")
    with pytest.raises(SourceError, match="not a synopsis file"):
        read(tmp_path / "foreign.parquet")
    made.save(tmp_path / "s.parquet")
    whole = (tmp_path / "s.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="damaged"):
        read(tmp_path / "cut.parquet")


@READERS
def test_changed_cells_and_certificates_are_seen(
    read: Callable[[Path], cl.Synopsis], made: cl.Synopsis, tmp_path: Path
) -> None:
    """A count that was changed, a column that was dropped, and a certificate that was edited are all refused."""
    made.save(tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    place = table.column_names.index("counts")
    counts = table["counts"].to_numpy().copy()
    counts[0] += 1
    pq.write_table(table.set_column(place, "counts", pa.array(counts)), tmp_path / "count.parquet")
    with pytest.raises(SourceError, match="changed after it was written"):
        read(tmp_path / "count.parquet")
    pq.write_table(table.drop_columns(["points 1"]), tmp_path / "column.parquet")
    with pytest.raises(SourceError, match="damaged"):
        read(tmp_path / "column.parquet")
    edited = {**table.schema.metadata}
    edited[b"cloister.release"] = edited[b"cloister.release"].replace(b'"epsilon": "1"', b'"epsilon": "2"')
    pq.write_table(table.replace_schema_metadata(edited), tmp_path / "edited.parquet")
    with pytest.raises(UsageError, match="changed after it was written"):
        read(tmp_path / "edited.parquet")


@READERS
@pytest.mark.parametrize(("column", "other"), [("groups", pa.float64()), ("counts", pa.int64()), ("lower 0", pa.int64())])
def test_columns_of_another_type_are_seen(
    column: str, other: pa.DataType, read: Callable[[Path], cl.Synopsis], made: cl.Synopsis, tmp_path: Path
) -> None:
    """The same numbers as another type: the hash goes through them as floats, and would fit."""
    made.save(tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    place = table.column_names.index(column)
    changed = table.set_column(place, column, table[column].cast(other, safe=False))
    pq.write_table(changed, tmp_path / "types.parquet", compression="zstd")
    with pytest.raises(SourceError, match=r"damaged|changed"):
        read(tmp_path / "types.parquet")


HIDDEN: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
    "blanks after the certificate": (b"cloister.release", lambda text: text + b" \t \t\t  \t"),
    "blanks inside the certificate": (b"cloister.release", lambda text: text.replace(b'"kind": ', b'"kind": \t \t', 1)),
    "letters as numbers": (b"cloister.release", lambda text: text.replace(b'"synopsis"', b'"s\\u0079nopsis"', 1)),
    "another order": (
        b"cloister.release",
        lambda text: json.dumps(dict(sorted(json.loads(text).items())), indent=2).encode(),
    ),
    "bytes that are no text": (b"cloister.release", lambda text: text + b"\xff"),
    "blanks after the grid": (b"cloister.synopsis", lambda text: text + b" \t \t\t  \t"),
    "blanks inside the grid": (b"cloister.synopsis", lambda text: text.replace(b": ", b":\t \t", 1)),
    "a mark before the grid": (b"cloister.synopsis", lambda text: b"\xef\xbb\xbf" + text),
    "a number written otherwise": (b"cloister.synopsis", lambda text: text.replace(b'"version": 2', b'"version": 2.0', 1)),
}


@READERS
@pytest.mark.parametrize("hidden", HIDDEN)
def test_nothing_is_hidden_in_the_metadata(
    hidden: str, read: Callable[[Path], cl.Synopsis], made: cl.Synopsis, tmp_path: Path
) -> None:
    """What means the same in other bytes carries a message out under a good signature."""
    made.save(tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    key, edit = HIDDEN[hidden]
    edited = {**table.schema.metadata, key: edit(table.schema.metadata[key])}
    assert edited != table.schema.metadata
    pq.write_table(table.replace_schema_metadata(edited), tmp_path / "hidden.parquet", compression="zstd")
    with pytest.raises((SourceError, UsageError), match=r"changed after it was written|is damaged|JSON"):
        read(tmp_path / "hidden.parquet")


@pytest.mark.parametrize(("version", "told"), [("3", "has version 3"), ('"2"', "is damaged"), ("true", "is damaged")])
def test_a_version_is_a_whole_number(version: str, told: str, made: cl.Synopsis, tmp_path: Path) -> None:
    """The text "2" was called another version than 2."""
    made.save(tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    facts = table.schema.metadata[b"cloister.synopsis"].replace(b'"version": 2', f'"version": {version}'.encode())
    edited = table.replace_schema_metadata({**table.schema.metadata, b"cloister.synopsis": facts})
    pq.write_table(edited, tmp_path / "other.parquet")
    with pytest.raises(SourceError, match=told):
        cl.Synopsis.load(tmp_path / "other.parquet")


def test_formats_of_cells_are_in_the_file(tmp_path: Path) -> None:
    """A synopsis of German numbers labels German numbers after it was loaded; where cells are plain the file has no format."""
    pay = Number((0, 100_000), decimal=",", thousands=".", missing=("?",))
    rows = pa.table({"pay": ["36.993,09", "1.000", "?"] * 200})
    cl.synopsis(rows, 50, schema=Schema((Column("pay", pay),)), method="uniform-grid").save(tmp_path / "s.parquet")
    loaded = cl.Synopsis.load(tmp_path / "s.parquet")
    clusters = loaded.cluster(3)
    labels = clusters.predict(rows)
    centers = clusters.cluster_centers_.ravel()[labels[:3]]
    assert centers.tolist() == pytest.approx([36_993, 1_000, 50_000], abs=8_000)
    assert loaded.release_.parameters["defaults"] == {"pay": 50_000.0}
    plain = Schema((Column("pay", Number((0, 100_000))),))
    cl.synopsis(pa.table({"pay": [1.0, 2.0]}), 1, schema=plain).save(tmp_path / "plain.parquet")
    about = json.loads(pq.read_schema(tmp_path / "plain.parquet").metadata[b"cloister.synopsis"])
    assert set(about["grids"][0]) == {"name", "center", "step", "half", "default"}  # as every older file has it


def test_a_file_is_called_what_it_is(made: cl.Synopsis, tmp_path: Path) -> None:
    """No Parquet under the name of a CSV file; and a count says whose error it has."""
    with pytest.raises(UsageError, match=r"ends in \.parquet"):
        made.save(tmp_path / "synopsis.csv")
    assert not list(tmp_path.iterdir())
    assert str(cl.clustering.synopsis.queries.Count(12, 3)) == "12.0 +- 3.0 of the noise"
