"""Where files are: paths, folders, globs and URLs -> single files that can be opened."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import pyarrow as pa
from pyarrow import fs

from cloister.errors import SourceError
from cloister.sources.file_sets import check_once, check_without_log, file_identity
from cloister.sources.xz_stream import XzStream

__all__ = ["NEVER_EMPTY", "Place", "find", "find_all"]

NEVER_EMPTY = (
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
    ".arrows",
    ".orc",
    ".xlsx",
    ".xls",
    ".dta",
    ".sav",
    ".zsav",
    ".sas7bdat",
    ".xpt",
)  # formats with a frame around their rows
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# a word may begin as a file of bzip2 does, so that more of it is compared
_COMPRESSIONS = {
    re.compile(rb"\x1f\x8b"): "gzip",
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): "bz2",
    re.compile(rb"\x28\xb5\x2f\xfd"): "zstd",
    re.compile(rb"\xfd7zXZ\0"): "xz",
}


@dataclass(frozen=True)
class Place:
    """One file: its file system, its path, its name in messages, and the columns that its folders' names hold."""

    files: Any  # pyarrow.fs.FileSystem
    path: str
    shown: str
    partition: tuple[tuple[str, bytes | None], ...] = ()  # not all of what folders are called is UTF-8
    is_plain: bool = False  # whether it is not compressed whatever its first bytes are, which are of a row

    @property
    def is_remote(self) -> bool:
        """Whether every look at the file is a request."""
        return not isinstance(self.files, fs.LocalFileSystem)

    def open(self) -> AbstractContextManager[Any]:
        """The file, for reading at any place."""
        opened: AbstractContextManager[Any] = self.files.open_input_file(self.path)
        return opened

    def stream(self) -> AbstractContextManager[Any]:
        """The file from its beginning, decompressed."""
        if self.is_plain:
            return self.files.open_input_stream(self.path, compression=None)  # type: ignore[no-any-return]
        compression = self._compression()
        if compression == "xz":
            return XzStream(self.files.open_input_stream(self.path, compression=None))
        opened: AbstractContextManager[Any] = self.files.open_input_stream(self.path, compression=compression)
        return opened

    def plain_size(self) -> int | None:
        """How many bytes there are to read, for whoever waits; None: they are compressed."""
        if not self.is_plain and self._compression() is not None:
            return None
        with self.open() as file:
            size: int = file.size()
        return size

    def _compression(self) -> str | None:
        with self.open() as file:
            head = file.read(10)
        return next((name for magic, name in _COMPRESSIONS.items() if magic.match(head)), None)


def find_all(data: Iterable[str | os.PathLike[str]]) -> list[Place]:
    """The files that paths, folders, globs and URLs stand for together, none of them twice."""
    places = [place for part in data for place in find(part)]
    check_once((file_identity(place.files, place.path), place.shown) for place in places)
    return places


def find(data: str | os.PathLike[str]) -> list[Place]:
    """The files that a path, folder, glob or URL stands for, in order of their names."""
    text = os.fspath(data)
    if not text:  # the system would take it for the current folder
        raise SourceError("a path is empty. Give the path of a file or a folder; the current folder is a dot.")
    if "://" in text:
        return _find_url(text)
    path = os.path.abspath(os.path.expanduser(text))
    local = fs.LocalFileSystem()
    if os.path.isdir(path):
        try:
            return _in_folder(local, Path(path).as_posix(), text)
        except OSError:
            raise SourceError(f"{text}: the folder cannot be listed to its end. Check who may read what is in it.") from None
    if os.path.exists(path):
        if not os.path.isfile(path):
            raise SourceError(f"{text} is a pipe or a device, and rows may be gone through several times. Give a file.")
        check_without_log(local, os.path.dirname(path), (), text)
        return [Place(local, path, text)]
    matches = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
    if matches:
        for folder in sorted({os.path.dirname(match) for match in matches}):
            check_without_log(local, folder, (), text)
        return [Place(local, match, os.path.relpath(match) if not os.path.isabs(text) else match) for match in matches]
    if glob.has_magic(text):
        raise SourceError(f"{text}: no file matches.")
    raise SourceError(f"{text}: no such file. Check the path.")


def _find_url(url: str) -> list[Place]:
    parts = urlsplit(url)
    shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"  # neither passwords nor tokens are repeated
    if ":" in parts.netloc and "@" not in parts.netloc and "@" in url:  # a slash in a password ends the host before it
        shown = f"{parts.scheme}://..."
    if parts.scheme in ("http", "https", "ftp"):
        raise SourceError(f"{shown}: {parts.scheme} cannot be read as a stream. Download the file and give its path.")
    folder, star, rest = url.partition("*")
    base, _, prefix = folder.rpartition("/") if star else (url, "", "")
    try:
        files, path = fs.FileSystem.from_uri(base)
        info = files.get_file_info(path)
    except (pa.ArrowException, OSError, ValueError):
        raise SourceError(f"{shown}: the place cannot be reached. Check the URL and the credentials.") from None
    if star:
        return _matching(files, path, prefix + star + rest, shown)
    if info.type == fs.FileType.Directory:
        return _in_folder(files, path, shown)
    if info.type == fs.FileType.File:
        check_without_log(files, os.path.dirname(path), (), shown)
        return [Place(files, path, shown)]
    raise SourceError(f"{shown}: no such file. Check the URL.")


def _matching(files: Any, base: str, pattern: str, shown: str) -> list[Place]:
    wanted = pattern.split("/")
    selector = fs.FileSelector(base, recursive=len(wanted) > 1, allow_not_found=True)
    found = files.get_file_info(selector)
    check_without_log(files, base, (info.path[len(base) :].strip("/") for info in found), shown)
    matching = []
    for info in found:
        parts = info.path[len(base) :].strip("/").split("/")
        fits = len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))
        if fits and info.type == fs.FileType.File:
            matching.append(Place(files, info.path, info.path))
    if not matching:
        raise SourceError(f"{shown}: no file matches.")
    return sorted(matching, key=lambda place: place.path)


def _in_folder(files: Any, base: str, shown: str) -> list[Place]:
    found = files.get_file_info(fs.FileSelector(base, recursive=True))
    check_without_log(files, base, (info.path[len(base) :].strip("/") for info in found), shown)
    places: list[Place] = []
    empty: list[Place] = []
    for info in found:
        inside = info.path[len(base) :].strip("/")
        # markers and temporary files of writers begin with an underscore or a dot
        hidden = any(part.startswith((".", "_")) for part in inside.split("/"))
        # a writer of text leaves an empty file where it had no rows; of other formats an empty file lost its rows
        skipped = info.size == 0 and not info.path.lower().endswith(NEVER_EMPTY)
        if info.type == fs.FileType.File and not hidden:
            place = Place(files, info.path, f"{shown.rstrip('/')}/{inside}", tuple(_partition(inside)))
            (empty if skipped else places).append(place)
    places = places or empty  # of files without a header those are a table without rows
    if not places:
        raise SourceError(f"{shown}: the folder holds no data files.")
    return sorted(places, key=lambda place: place.path)


def _partition(inside: str) -> Iterator[tuple[str, bytes | None]]:
    """The columns that writers keep in the names of folders, as in year=2024/part-0.parquet."""
    for folder in inside.split("/")[:-1]:
        name, equals, value = folder.partition("=")
        if name and equals:
            yield unquote(name), None if value == _NULL_PARTITION else unquote_to_bytes(value)
