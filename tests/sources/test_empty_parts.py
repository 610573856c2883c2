"""Parts of a folder that hold no row: whether they hold one never decides whether the folder is read."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cloister.errors import SourceError
from cloister.file_options import Files
from cloister.sources.opening import open_source

PACKED: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}


def part(folder: Path, number: int, packing: str, content: bytes) -> None:
    with PACKED[packing](folder / f"part-{number}.csv{packing}", "wb") as file:
        file.write(content)


def rows(folder: Path) -> int:
    return sum(batch.num_rows for batch in open_source(folder).batches(["pay"]))


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("blank", [b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf", b"\n" * 200_000])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_blank_part_is_passed_over(tmp_path: Path, packing: str, blank: bytes, place: int) -> None:
    """Wherever it stands; with one row in it, it counts one more."""
    for number in range(3):
        part(tmp_path, number, packing, blank if number == place else b"pay\n5\n6\n")
    assert rows(tmp_path) == 4
    part(tmp_path, place, packing, b"pay\n7\n")
    assert rows(tmp_path) == 5


def test_a_folder_of_nothing_but_blank_parts_is_refused(tmp_path: Path) -> None:
    """There are no columns."""
    for number in range(2):
        part(tmp_path, number, ".gz", b"")
    with pytest.raises(SourceError, match="empty"):
        open_source(tmp_path)
    (tmp_path / "part-2.parquet").write_bytes(b"")
    with pytest.raises(SourceError):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["part.csv", "part.jsonl"])
def test_files_without_a_header_are_read_whether_they_hold_a_row_or_none(tmp_path: Path, name: str) -> None:
    """In a folder and in an archive, as by themselves: the names of the columns are said."""
    for content in (b"", b"5\n"):
        folder, archive = tmp_path / "folder", tmp_path / "packed.zip"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr(name, content)
        for path in (folder / name, folder, archive):
            batches = open_source(Files(path, names=["pay"])).batches(["pay"])
            assert sum(batch.num_rows for batch in batches) == len(content) // 2
