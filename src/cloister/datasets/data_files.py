"""Where the files of data sets are: a folder that the user names, the cache, or else an address to fetch them from."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import os
import tempfile
import urllib.error
import urllib.request
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from cloister.datasets.dataset import DataFile
from cloister.errors import SinkError, SourceError
from cloister.sinks import flush_folder

__all__ = ["FOLDER_VARIABLE", "cache_folder", "fetch", "find_bytes"]

FOLDER_VARIABLE = "CLOISTER_DATA"
MOST_BYTES = 2**27  # of a file, packed or not: Covertype has 75 million
SECONDS = 30  # that a server may be silent
CHUNK = 2**16


def cache_folder() -> Path:
    """Where fetched files are kept: beside the user's own ledger."""
    return platformdirs.user_data_path("cloister", appauthor=False) / "datasets"


def find_bytes(file: DataFile, folder: str | None, is_fetched: bool) -> bytes:
    """What a file holds, unpacked, with the checksum that is known.

    Parameters
    ----------
    file : DataFile
    folder : str or None
        Where to look first. A file there with another checksum is refused, not passed over.
    is_fetched : bool
        Whether a file that is neither there nor in the cache may be fetched.
    """
    if folder and os.path.lexists(place := Path(folder) / file.name):
        raw = unpacked(file, read_file(place))
        if raw is None:
            raise SourceError(
                f"{place} is not the {file.name} that is known: its SHA-256 differs. Replace it, or leave it out of "
                f"{FOLDER_VARIABLE}."
            )
        return raw
    cached = cache_folder() / file.name
    if cached.exists() and (raw := unpacked(file, read_file(cached))) is not None:
        return raw  # a damaged one is fetched again
    if not is_fetched or file.address is None:
        why = "no address of it is known" if file.address is None else "it may not be fetched"
        raise SourceError(f"{file.name} is not here, and {why}. Put it into a folder, and name that in {FOLDER_VARIABLE}.")
    packed = fetch(file)
    raw = unpacked(file, packed)
    if raw is None:
        raise SourceError(
            f"what {shown(file.address)} holds is not the {file.name} that is known: its SHA-256 differs. Nothing was kept. Get "
            f"the file elsewhere, and name its folder in {FOLDER_VARIABLE}."
        )
    keep(packed, cached)
    return raw


def unpacked(file: DataFile, packed: bytes) -> bytes | None:
    """The bytes of a file, unpacked; None: they are not those that are known."""
    raw = packed
    if file.is_packed:
        try:
            with gzip.open(io.BytesIO(packed)) as opened:
                raw = opened.read(MOST_BYTES)
        except (OSError, EOFError, zlib.error):
            return None
    return raw if hashlib.sha256(raw).hexdigest() == file.sha256 else None


def read_file(path: Path) -> bytes:
    """The bytes of a file that is there."""
    try:
        with path.open("rb") as opened:
            return opened.read(MOST_BYTES)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise SourceError(f"{path} cannot be read: {reason}.") from None


def fetch(file: DataFile) -> bytes:
    """What the address of a file holds, in memory; redirects are followed.

    Raises
    ------
    SourceError
        The server cannot be reached, has no such file, or ended the connection early.
    """
    assert file.address is not None
    place = shown(file.address)
    advice = f"Try again, or get {file.name} elsewhere and name its folder in {FOLDER_VARIABLE}."
    request = urllib.request.Request(file.address, headers={"User-Agent": "cloister"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            promised = answer.headers.get("Content-Length")
            parts, size = [], 0
            while size <= MOST_BYTES and (part := answer.read(CHUNK)):
                parts.append(part)
                size += len(part)
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceError(f"{place} cannot be fetched: the server answered {error.code}. {advice}") from None
    except http.client.HTTPException:
        raise SourceError(f"{place} was cut off on the way. Nothing was kept. {advice}") from None
    except (OSError, ValueError):  # no network, no such host, a silent server, a redirect to nowhere
        raise SourceError(f"{place} cannot be reached. {advice}") from None
    if size > MOST_BYTES:
        raise SourceError(f"{place} holds more than {MOST_BYTES:,} bytes: it is not {file.name}. {advice}")
    if promised is not None and promised.isdigit() and int(promised) != size:
        raise SourceError(f"{place} was cut off on the way. Nothing was kept. {advice}")
    return b"".join(parts)


def shown(address: str) -> str:
    """An address in a message: without a password or a token."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def keep(packed: bytes, path: Path) -> None:
    """Put a file into the cache: it appears whole or not at all, whoever else does the same."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, staged = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(packed)
                opened.flush()
                os.fsync(opened.fileno())
            os.replace(staged, path)
        except BaseException:
            os.unlink(staged)
            raise
        flush_folder(path.parent)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise SinkError(
            f"{path} cannot be written: {reason}. Make room, or put the file into a folder and name that in {FOLDER_VARIABLE}."
        ) from None
