"""The members of .zip archives, as files: they stream in bounded memory, however far a few bytes swell."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from cloister.errors import SourceError
from cloister.sources.places import Place
from cloister.sources.source import retold

__all__ = ["ZipMember", "members_of"]

ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the latter: an archive without members
DOCUMENTS = ("[Content_Types].xml", "mimetype")  # office documents are archives too
MOST_MEMBERS = 10_000
UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)


@dataclass(frozen=True)
class ZipMember(Place):
    """One file in an archive, read from its beginning."""

    archive: Place | None = field(default=None)
    info: Any = field(default=None)

    def open(self) -> AbstractContextManager[Any]:
        """The file from its beginning: in an archive there is no other way."""
        return self.stream()

    def stream(self) -> AbstractContextManager[Any]:
        """The file from its beginning."""
        return self._stream()

    @contextmanager
    def _stream(self) -> Iterator[Any]:
        assert self.archive is not None
        with ExitStack() as opened:
            packed = opened.enter_context(zipfile.ZipFile(opened.enter_context(self.archive.open())))
            yield _Member(opened.enter_context(packed.open(self.info)))


class _Member:
    """The bytes of a member; what breaks is told as any broken file is."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def read(self, size: int = -1, /) -> bytes:
        try:
            piece: bytes = self._opened.read(size)
        except (zipfile.BadZipFile, zlib.error) as error:
            raise OSError("not the archive's own bytes") from error
        return piece


def members_of(place: Place, *, has_header: bool) -> list[Place]:
    """The files in an archive as files of their own; a file that is no archive, or is an office document, is itself.

    A file whose name has no ending, as standard input, may be one too; but where there is no header, the first bytes are of a
    row, and are not looked at.
    """
    is_nameless = has_header and not PurePosixPath(place.path).suffix
    if not is_nameless and not place.path.lower().endswith(".zip"):
        return [place]
    with retold(place.shown), place.open() as file:
        if file.read(4) not in ZIP:
            return [place]
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            raise SourceError(f"{place.shown}: the archive is damaged or incomplete. Get it anew.") from None
    if any(info.filename in DOCUMENTS for info in infos):
        return [place]
    if len(infos) > MOST_MEMBERS:
        raise SourceError(
            f"{place.shown}: an archive may hold {MOST_MEMBERS:,} files at most. Unpack it, and give the folder."
        )
    data = [info for info in infos if _is_data(info)]
    members = [info for info in data if info.file_size] or data  # an empty file lost nothing, unless it is all there is
    if not members:
        raise SourceError(f"{place.shown}: the archive holds no data files.")
    for info in members:
        _check_readable(place, info)
    return [
        ZipMember(place.files, info.filename, f"{place.shown}/{info.filename}", archive=place, info=info) for info in members
    ]


def _is_data(info: zipfile.ZipInfo) -> bool:
    """As in folders: what begins with a dot or an underscore is a marker."""
    hidden = any(part.startswith((".", "_")) for part in info.filename.split("/"))
    return not info.is_dir() and not hidden


def _check_readable(place: Place, info: zipfile.ZipInfo) -> None:
    if info.flag_bits & 1:
        raise SourceError(f"{place.shown}: the archive is encrypted. Unpack it, and give the files.")
    if info.compress_type not in UNPACKED:
        raise SourceError(
            f"{place.shown}: the archive is packed in a way that is not read here. Unpack it, and give the files."
        )
    if info.filename.lower().endswith((".zip", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar")):
        raise SourceError(f"{place.shown}: the archive holds other archives. Unpack it, and give the files.")
