"""Files that are read as one table: each once, and none against the log of its table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import dataset

from cloister.errors import SourceError
from cloister.sources.file_sets import check_urls_once
from cloister.sources.opening import open_source

WAYS: dict[str, Callable[[Path], list[Any]]] = {
    "twice": lambda home: [home / "x.csv", home / "x.csv"],
    "a detour": lambda home: [home / "x.csv", f"{home}/in/../x.csv"],
    "globs": lambda home: [f"{home}/x*.csv", f"{home}/*.csv"],
    "a folder and a file": lambda home: [home / "in", home / "in" / "y.csv"],
    "a folder and a folder": lambda home: [home, home / "in"],
    "a link": lambda home: [home / "x.csv", home / "links" / "soft.csv"],
    "a hard link": lambda home: [home / "x.csv", home / "links" / "hard.csv"],
    "links of one folder": lambda home: [home / "links"],
    "a URL": lambda home: [home / "x.csv", (home / "x.csv").as_uri()],
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Files, and other names of them."""
    home = tmp_path / "home"
    (home / "in").mkdir(parents=True)
    (tmp_path / "home" / "links").mkdir()
    for name in ("x.csv", "z.csv", "in/y.csv"):
        (home / name).write_text("a,b\n1,2\n")
    os.symlink(home / "x.csv", home / "links" / "soft.csv")
    os.link(home / "x.csv", home / "links" / "hard.csv")
    return home


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_read_once_or_not_at_all(home: Path, way: str) -> None:
    """However the same file is named a second time, it is refused: one row would move counts by two."""
    if way == "a folder and a folder":
        for link in (home / "links").iterdir():
            link.unlink()
    with pytest.raises(SourceError, match="rows would count twice"):
        open_source(WAYS[way](home))


def test_files_of_the_same_content_are_two(home: Path) -> None:
    """A copy is another file: what is in a file plays no part."""
    source = open_source([home / "x.csv", home / "z.csv", home / "in"])
    assert sum(batch.num_rows for batch in source.batches([])) == 3


def test_a_dataset_with_a_file_twice_is_refused(tmp_path: Path) -> None:
    """The groups of a file's rows may be parts of a dataset of their own, but none may come twice."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3, 4]}), path, row_group_size=2)
    one = dataset.dataset(path)
    groups = [piece for part in one.get_fragments() for piece in part.split_by_row_group()]
    apart = dataset.FileSystemDataset(groups, one.schema, dataset.ParquetFileFormat())
    assert sum(batch.num_rows for batch in open_source(apart).batches(["a"])) == 4
    for twice in (dataset.dataset([path, path]), dataset.dataset([one, one]), dataset.dataset([one, apart])):
        with pytest.raises(SourceError, match="rows would count twice"):
            open_source(twice)


@pytest.mark.parametrize("log", ["_delta_log/0.json", ".hoodie/hoodie.properties", "metadata/v1.metadata.json"])
@pytest.mark.parametrize("way", ["", "day=1", "day=1/*.parquet", "day=1/0.parquet", "..", "file"])
def test_a_table_with_a_log_is_refused(tmp_path: Path, log: str, way: str) -> None:
    """Files that the log no longer names still lie there: none of the table is read without it."""
    table = tmp_path / "above" / "table"
    (table / "day=1").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1]}), table / "day=1" / "0.parquet")
    named = table.as_uri() if way == "file" else os.path.join(table, way)
    open_source(named)
    (table / log).parent.mkdir()
    (table / log).write_text("{}")
    with pytest.raises(SourceError, match="whose log says which of its files count"):
        open_source(named)


def test_urls_that_cannot_be_looked_at_are_compared_as_they_are() -> None:
    """On a cluster, files elsewhere are the same if they have one name, or if one lies in the folder of the other."""
    check_urls_once(["s3a://b/x", "s3a://b/xy", "hdfs:///x"])
    for urls in (["s3a://b/x", "s3a://b/x/"], ["s3a://b/x/1.parquet", "s3a://b/y", "s3a://b/x"]):
        with pytest.raises(SourceError, match="rows would count twice"):
            check_urls_once(urls)
