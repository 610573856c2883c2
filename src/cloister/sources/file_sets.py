"""Files that are read as one table: each of them once, and none that the table's own log leaves out.

Privacy
-------
A file that is read twice gives every person in it twice the rows, and the guarantee says nothing of that. A table with a log
(Delta Lake and its like) keeps files whose rows were deleted or written anew: read without the log, they count again. Both are
known from names and places of files alone, so both are refused before a row is read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from pyarrow import fs

from cloister.errors import SourceError

__all__ = ["check_once", "check_urls_once", "check_without_log", "file_identity"]

_LOGS = {"_delta_log": "Delta Lake", ".hoodie": "Apache Hudi", "_spark_metadata": "Spark's streaming"}
_ICEBERG = "Apache Iceberg", "metadata", ".metadata.json"


def file_identity(files: Any, path: str) -> Hashable:
    """What is the same for all names of one file: links, detours (x/../x) and hard links lead to one place on a disk."""
    if not isinstance(files, fs.LocalFileSystem):
        return files.type_name, path
    try:
        stat = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return (stat.st_dev, stat.st_ino) if stat.st_ino else os.path.realpath(path)


def check_once(files: Iterable[tuple[Hashable, str]]) -> None:
    """Refuse files, each an identity and a name for messages, of which two are one."""
    seen: dict[Hashable, str] = {}
    for identity, shown in files:
        if identity in seen:
            _refuse_twice(seen[identity], shown)
        seen[identity] = shown


def check_urls_once(urls: Sequence[str]) -> None:
    """Refuse URLs of files that cannot be looked at from here, of which one is, or lies in, another."""
    whole = sorted(url.rstrip("/") + "/" for url in urls)
    for first, second in pairwise(whole):
        if second.startswith(first):
            _refuse_twice("one of the URLs", "another")


def _refuse_twice(first: str, second: str) -> None:
    """A file would be read twice, under these names."""
    same = f"{first} is named twice" if first == second else f"{first} and {second} are one file"
    raise SourceError(f"{same}: its rows would count twice. Name every file once.")


def check_without_log(files: Any, base: str, inside: Iterable[str], shown: str) -> None:
    """Refuse files of a table whose log says which of them count; `inside`: what is in the folder `base`, as paths from it."""
    kinds = [kind for path in inside if (kind := _log_in(path.split("/")))]
    if not kinds and isinstance(files, fs.LocalFileSystem):
        kinds = [kind for folder in (base, *map(str, PurePath(base).parents)) if (kind := _log_beside(folder))]
    if kinds:
        raise SourceError(
            f"{shown}: this is of a table of {kinds[0]}, whose log says which of its files count; others still lie beside them. "
            "Give the rows as the table's own reader has them: an Arrow table, a data frame, or a Spark DataFrame."
        )


def _log_in(parts: Sequence[str]) -> str | None:
    """The kind of table whose log this path is of."""
    kind, folder, ending = _ICEBERG
    if folder in parts[:-1] and parts[-1].endswith(ending):
        return kind
    return next((_LOGS[part] for part in parts if part in _LOGS), None)


def _log_beside(folder: str) -> str | None:
    """The kind of table whose log lies in a folder of this machine."""
    kind, inner, ending = _ICEBERG
    if glob.glob(os.path.join(glob.escape(folder), inner, "*" + ending)):
        return kind
    return next((kind for name, kind in _LOGS.items() if os.path.exists(os.path.join(folder, name))), None)
