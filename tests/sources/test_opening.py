"""Parquet and Arrow files, folders, globs and URLs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import dataset, feather

from cloister.errors import DataError, SourceError
from cloister.sources.opening import open_source
from cloister.sources.source import BATCH_ROWS, Source

TABLE = pa.table({"a": [1, 2, 3], "b.c": ["x", "y", None]})


def rows_of(source: Source) -> list[dict[str, object]]:
    """All rows of a source."""
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def write_stream(table: pa.Table, path: Path) -> None:
    """An Arrow stream in a file."""
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    "write", [pq.write_table, feather.write_feather, write_stream], ids=["Parquet", "Feather", "stream"]
)
def test_formats_are_known_by_their_first_bytes(tmp_path: Path, write: object) -> None:
    """Each columnar format is read whatever the file is called, twice over, and columns in any order."""
    path = tmp_path / "data.bin"
    write(TABLE, path)  # type: ignore[operator]
    source = open_source(path)
    assert source.names == ("a", "b.c")
    assert not source.in_memory
    assert rows_of(source) == rows_of(source) == TABLE.to_pylist()
    assert [batch.column_names for batch in source.batches(["b.c", "a"])] == [["b.c", "a"]]
    assert sum(batch.num_rows for batch in source.batches([])) == 3


def test_batches_are_small(tmp_path: Path) -> None:
    """However large a stored batch is, no batch has more rows than promised."""
    big = pa.table({"a": pa.array(range(BATCH_ROWS * 2 + 5), pa.int32())})
    feather.write_feather(big, tmp_path / "t.feather", chunksize=len(big))
    sizes = [batch.num_rows for batch in open_source(tmp_path / "t.feather").batches(["a"])]
    assert sizes == [BATCH_ROWS, BATCH_ROWS, 5]


def test_a_glob_and_a_list_are_files_one_after_the_other(tmp_path: Path) -> None:
    """Files come in the order of their names, and the order of their columns does not matter."""
    other = pa.table({"b.c": ["z"], "a": [4]})
    pq.write_table(TABLE, tmp_path / "1.parquet")
    pq.write_table(other, tmp_path / "2.parquet")
    expected = [*TABLE.to_pylist(), {"a": 4, "b.c": "z"}]
    assert rows_of(open_source(str(tmp_path / "*"))) == expected
    assert rows_of(open_source([tmp_path / "1.parquet", tmp_path / "2.parquet"])) == expected


def test_a_folder_with_parts_and_partitions(tmp_path: Path) -> None:
    """Folders as Spark writes them: markers are passed over, and names of folders are columns."""
    for year in ("2023", "2024", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"a": [1]}), tmp_path / f"year={year}" / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata").write_bytes(b"junk")
    found = rows_of(open_source(tmp_path))
    assert found == [{"a": 1, "year": "2023"}, {"a": 1, "year": "2024"}, {"a": 1, "year": None}]
    assert sum(batch.num_rows for batch in open_source(tmp_path).batches(["year"])) == 3


def test_urls_go_through_the_file_systems(tmp_path: Path) -> None:
    """A URL of a file, of a folder and with a star give the same rows as the path."""
    pq.write_table(TABLE, tmp_path / "t.parquet")
    for url in (f"file://{tmp_path}/t.parquet", f"file://{tmp_path}", f"file://{tmp_path}/*.parquet"):
        assert rows_of(open_source(url)) == TABLE.to_pylist()


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ("nowhere.csv", "no such file"),
        ("no*where.csv", "no file matches"),
        ("https://user:secret@example.org/t.csv?token=secret", "Download"),
        ("file:///no/where.csv", "no such file"),
        ("file:///no/*.csv", "no file matches"),
        ("strange://bucket/t.csv", "cannot be reached"),
        ([], "list of rows"),
        ([[1.0, 2.0]], "Give a schema"),
        (42, "cannot read rows"),
    ],
)
def test_what_is_not_there_is_a_source_error(data: object, hint: str) -> None:
    """Missing files, globs without a match and strange objects are told in a line, without secrets of a URL."""
    with pytest.raises(SourceError, match=hint) as caught:
        open_source(data)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "hint"),
    [(b"", "empty"), (b"PK\x03\x04\0\0\0\0rest", "damaged"), (b"<html></html>", "unknown format")],
    ids=["empty", "zip", "HTML"],
)
def test_unknown_formats_are_refused(tmp_path: Path, content: bytes, hint: str) -> None:
    """A file of an unknown format is refused with the formats that are read."""
    (tmp_path / "t.dat").write_bytes(content)
    with pytest.raises(SourceError, match=hint):
        open_source(tmp_path / "t.dat")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    """A folder without data files is a source error."""
    with pytest.raises(SourceError, match="holds no data files"):
        open_source(tmp_path)


def test_an_empty_part_lost_its_rows(tmp_path: Path) -> None:
    """Writers of CSV leave empty files where they had no rows; a Parquet file is never empty."""
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("")
    assert open_source(tmp_path).names == ("x",)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).unlink()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"")
    with pytest.raises(SourceError, match=r"b\.parquet"):
        open_source(tmp_path)


def test_different_columns_are_refused(tmp_path: Path) -> None:
    """Files with different columns cannot be one table."""
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(SourceError, match="different columns"):
        open_source(str(tmp_path / "*.csv"))


@pytest.mark.parametrize("where", ["at the end", "in a page"])
def test_a_damaged_file_is_told_without_its_values(tmp_path: Path, where: str) -> None:
    """Damage found while opening or while reading is a data error that quotes nothing of the file."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [f"secret{i}" for i in range(20_000)]}), path, use_dictionary=False)
    raw = bytearray(path.read_bytes())
    if where == "at the end":
        raw = raw[:-20]
    else:
        raw[1000:4000] = b"\xee" * 3000
    path.write_bytes(raw)
    with pytest.raises(DataError) as caught:
        rows_of(open_source(path))
    assert "secret" not in str(caught.value)


def test_a_forbidden_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission to read is a source error, not a broken file."""
    (tmp_path / "t.csv").write_text("a\n1\n")

    def refuse(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("cloister.sources.places.Place.open", refuse)
    with pytest.raises(SourceError, match="may not read"):
        open_source(tmp_path / "t.csv")


def test_a_dataset_whose_types_come_from_rows_is_refused(tmp_path: Path) -> None:
    """CSV and JSON in a dataset, and files whose values its types might not hold: one row could end a pass over them."""
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "a.json").write_text('{"a": 1}\n')
    for format in ("csv", "json"):
        with pytest.raises(SourceError, match="takes its types from the rows"):
            open_source(dataset.dataset(tmp_path / f"a.{format}", format=format))
    pq.write_table(pa.table({"a": [2**40]}), tmp_path / "a.parquet")
    narrow = pa.schema([("a", pa.int32())])
    with pytest.raises(SourceError, match='column "a" has another type'):
        open_source(dataset.dataset(tmp_path / "a.parquet", schema=narrow))
    wide = dataset.dataset(tmp_path / "a.parquet", schema=pa.schema([("a", pa.int64()), ("b", pa.string())]))
    assert open_source(wide).names == ("a", "b")


def test_files_whose_types_differ_are_refused(tmp_path: Path) -> None:
    """Types that drift between the parts of a table are told by their column, before a row is read."""
    for name, cells in (("1", [0.5]), ("2", ["a"])):
        pq.write_table(pa.table({"a": cells}), tmp_path / f"{name}.parquet")
    with pytest.raises(SourceError, match='column "a" is of one type in'):
        open_source(tmp_path)
    pq.write_table(pa.table({"a": pa.array([0.5]).dictionary_encode()}), tmp_path / "2.parquet")
    assert open_source(tmp_path).names == ("a",)


def test_nested_columns_are_read_past(tmp_path: Path) -> None:
    """Lists, structs and maps stand beside the columns that are read, and can be copied as they are."""
    cells = {"a": [["x", "y"]] * 9, "b": [{"c": 1}] * 9, "x": ["t"] * 9}
    pq.write_table(pa.table(cells), tmp_path / "nested.parquet")
    source = open_source(tmp_path / "nested.parquet")
    for columns in (["x"], ["a"], ["b", "x"]):
        assert pa.Table.from_batches(list(source.batches(columns))).to_pydict() == {name: cells[name] for name in columns}


def test_a_dataset_is_a_source(tmp_path: Path) -> None:
    """A pyarrow dataset is streamed as it is."""
    pq.write_table(TABLE, tmp_path / "t.parquet")
    assert rows_of(open_source(dataset.dataset(tmp_path))) == TABLE.to_pylist()


def test_text_files_and_typed_files_are_no_one_table(tmp_path: Path) -> None:
    """1.0 in a CSV file is a text and in a Parquet file it is 1: one person would have two identities."""
    (tmp_path / "1.csv").write_text("a\n1.0\n")
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "2.parquet")
    for files in (["1.csv", "2.parquet"], ["2.parquet", "1.csv"]):
        with pytest.raises(SourceError, match="not of one kind"):
            open_source([tmp_path / name for name in files])


def test_folders_that_name_one_column_twice_are_refused(tmp_path: Path) -> None:
    """Which of the two a row has would be anybody's guess; a column of the file itself goes before those of folders."""
    folder = tmp_path / "a=1" / "a=2"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"c": [1]}), folder / "0.parquet")
    with pytest.raises(SourceError, match="columns 2 and 3 have the same name"):
        open_source(tmp_path)
    pq.write_table(pa.table({"a": [1]}), folder / "0.parquet")
    assert open_source(tmp_path).names == ("a",)


@pytest.mark.parametrize("url", ["mysql://ann:secret@db.example/people", "mysql+pymysql://db.example/people"])
def test_databases_that_are_not_read_are_named(url: str) -> None:
    """And not taken for a place that cannot be reached; no password is repeated."""
    with pytest.raises(SourceError, match="MySQL is not read here: SQLite, DuckDB and PostgreSQL are") as refused:
        open_source(url)
    assert "secret" not in str(refused.value)
