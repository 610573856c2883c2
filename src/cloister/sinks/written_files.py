"""The files of an output: their hashes, and where their certificate stands."""

from __future__ import annotations

import hashlib
import os
import zlib
from os import PathLike
from pathlib import Path
from typing import NoReturn

__all__ = [
    "CERTIFICATE_SUFFIX",
    "certificate_path",
    "everything_in",
    "file_hash",
    "file_hashes",
    "written_files",
]

CERTIFICATE_SUFFIX = ".release.json"
BLOCK, CRC_BYTES = 512, 4  # of a checksum of Hadoop, unless its users set another size: then its files are no checksums here
CHECKSUM_HEAD = b"crc\0" + BLOCK.to_bytes(4, "big")


def certificate_path(out: str | PathLike[str]) -> Path:
    """Where the certificate of an output stands: beside it, under its name with ``.release.json`` after it.

    >>> certificate_path("tables/safe.csv").name
    'safe.csv.release.json'
    """
    path = Path(out)
    return path.with_name(path.name + CERTIFICATE_SUFFIX)


def written_files(path: Path, name: str | None = None) -> dict[str, Path]:
    """The files of an output, a file or a folder, by the names that a certificate beside it lists.

    `name` is the final name of an output that is still staged. Hidden files are checksums and markers of an engine.
    """
    name = path.name if name is None else name
    if not path.is_dir():
        return {name: path}
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {f"{name}/{file.relative_to(path)}": file for file in files}


def everything_in(folder: Path) -> set[str]:
    """Whatever lies in a folder, by its name below it: hidden files, links and empty folders too; other folders by their content.

    Links are not followed. Left out are the checksums that Spark keeps of its own files, ``.NAME.crc`` beside ``NAME``.

    Raises
    ------
    OSError
        A folder that may not be listed: what is in it is not known.
    """

    def fail(error: OSError) -> NoReturn:
        raise error

    found = set()
    for place, folders, files in os.walk(folder, onerror=fail):
        here = Path(place)
        if not folders and not files and here != folder:
            found.add(here.relative_to(folder).as_posix())
        links = [name for name in folders if (here / name).is_symlink()]
        found |= {(here / name).relative_to(folder).as_posix() for name in (*files, *links) if not _is_checksum(here / name)}
    return found


def _is_checksum(path: Path) -> bool:
    """Whether this is what Hadoop's local file system writes beside a file: a head, and the CRC-32 of each of its blocks.

    They are compared, so that nothing but what follows from the file can stand there.
    """
    name = path.name.removeprefix(".").removesuffix(".crc")
    named = path.parent / name
    if path.name != f".{name}.crc" or path.is_symlink() or not path.is_file() or not named.is_file():
        return False
    blocks = -(-named.stat().st_size // BLOCK)
    if path.stat().st_size != len(CHECKSUM_HEAD) + CRC_BYTES * blocks:
        return False
    with path.open("rb") as sums, named.open("rb") as file:
        return sums.read(len(CHECKSUM_HEAD)) == CHECKSUM_HEAD and all(
            sums.read(CRC_BYTES) == zlib.crc32(file.read(BLOCK)).to_bytes(CRC_BYTES, "big") for _ in range(blocks)
        )


def file_hashes(path: Path, name: str | None = None) -> dict[str, str]:
    """The hash of each file of an output, by the names of `written_files`."""
    return {listed: file_hash(file) for listed, file in written_files(path, name).items()}


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
