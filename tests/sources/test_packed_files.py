"""Compressed files: .xz and .zip stream in bounded memory, and what cannot be read so is refused in one sentence."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cloister import Files
from cloister.errors import DataError, SourceError
from cloister.sources.opening import open_source

TEXT = b"age,sex\n31,f\n40,m\n"
TWO = [{"age": "31", "sex": "f"}, {"age": "40", "sex": "m"}]


def rows_of(data: Any) -> list[dict[str, Any]]:
    """All rows."""
    source = open_source(data)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("t.csv.gz", gzip.compress(TEXT)),
        ("t.csv.bz2", bz2.compress(TEXT)),
        ("t.csv.xz", lzma.compress(TEXT)),
        ("t.csv.xz", lzma.compress(TEXT[:15]) + b"\0" * 8 + lzma.compress(TEXT[15:])),
        ("named_otherwise", lzma.compress(TEXT)),
    ],
    ids=["gz", "bz2", "xz", "two streams", "named otherwise"],  # packed bytes hold the time: no two processes would agree
)
def test_compressed_files_are_known_by_their_bytes(tmp_path: Path, name: str, packed: bytes) -> None:
    """Also of several streams one behind the other."""
    (tmp_path / name).write_bytes(packed)
    assert rows_of(tmp_path / name) == TWO


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_an_archive_of_one_file_is_that_file(tmp_path: Path, method: int) -> None:
    """However it is packed, with the options of the file."""
    assert rows_of(zipped(tmp_path / "t.zip", {"t.csv": TEXT}, method)) == TWO
    path = zipped(tmp_path / "u.zip", {"u.csv": b"title\n31;f\n40;m\n"}, method)
    assert rows_of(Files(path, names=["age", "sex"], skip=1, delimiter=";")) == TWO


def test_an_archive_of_several_files_is_a_folder(tmp_path: Path) -> None:
    """Columns are matched by name; what systems leave in archives is passed over."""
    members = {"a/one.csv": b"age,sex\n31,f\n", "__MACOSX/._one.csv": b"x", "two.csv": b"sex;age\nm;40\n", "empty.csv": b""}
    assert rows_of(zipped(tmp_path / "t.zip", members)) == TWO
    with pytest.raises(SourceError, match="different columns"):
        open_source(zipped(tmp_path / "u.zip", {"one.csv": TEXT, "two.csv": b"a,b\n1,2\n"}))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"__MACOSX/._t.csv": b"x"}, "no data files"),
        ({"t.zip": b"PK"}, "other archives"),
        ({"t.csv.gz": b"x"}, "other archives"),
        ({"t.parquet": b"PAR1...."}, "only text"),
    ],
)
def test_archives_of_other_things_are_refused(tmp_path: Path, members: dict[str, bytes], said: str) -> None:
    """One sentence says what to do."""
    with pytest.raises(SourceError, match=said):
        open_source(zipped(tmp_path / "t.zip", members))


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    """The bit that says so is set by hand."""
    path = zipped(tmp_path / "t.zip", {"t.csv": TEXT})
    raw = bytearray(path.read_bytes())
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(magic) + place] |= 1
    path.write_bytes(raw)
    with pytest.raises(SourceError, match="encrypted"):
        open_source(path)


def test_a_damaged_archive_is_one_sentence(tmp_path: Path) -> None:
    """Cut off, or with other bytes inside."""
    path = zipped(tmp_path / "t.zip", {"t.csv": TEXT * 100}, zipfile.ZIP_STORED)
    raw = path.read_bytes()
    (tmp_path / "cut.zip").write_bytes(raw[:-30])
    with pytest.raises(SourceError, match="damaged"):
        open_source(tmp_path / "cut.zip")
    (tmp_path / "other.zip").write_bytes(raw.replace(b"40,m", b"40,x", 1))
    with pytest.raises(DataError, match="damaged"):
        rows_of(tmp_path / "other.zip")


@pytest.mark.parametrize("cut", [10, 40])
def test_a_damaged_xz_file_is_one_sentence(tmp_path: Path, cut: int) -> None:
    """Cut off near its beginning or its end."""
    (tmp_path / "t.csv.xz").write_bytes(lzma.compress(TEXT)[:-cut])
    with pytest.raises((DataError, SourceError), match="damaged"):
        rows_of(tmp_path / "t.csv.xz")


READ = """
import re, sys
from cloister.sources.opening import open_source
source = open_source(sys.argv[1])
rows = sum(batch.num_rows for batch in source.batches(source.names))
status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: 0 kB"
print(rows, re.search("VmHWM:\\s*(\\d+)", status)[1])
"""


@pytest.mark.parametrize("kind", ["xz", "zip"])
def test_much_text_in_a_small_file_takes_little_memory(tmp_path: Path, kind: str) -> None:
    """200 MB from a few kilobytes are read in bounded memory."""
    path = tmp_path / f"t.csv.{kind}"
    line, lines = b"0" * 999 + b"\n", 200_000
    if kind == "xz":
        with lzma.open(path, "wb", preset=0) as file:
            file.write(b"zeros\n")
            for _ in range(lines // 1000):
                file.write(line * 1000)
    else:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("t.csv", "w") as file,
        ):
            file.write(b"zeros\n")
            for _ in range(lines // 1000):
                file.write(line * 1000)
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    assert rows == lines
    assert peak < 250_000  # kilobytes; pyarrow alone has 100,000
