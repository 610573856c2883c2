"""Where results go: write into a hidden sibling, then rename it into place. Nothing half-written is ever seen."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from cloister.errors import SinkError

__all__ = [
    "Staged",
    "certificate_path",
    "check_free",
    "check_free_with_certificate",
    "commit_with_certificate",
    "file_hash",
    "file_hashes",
    "stage",
    "writer_of",
    "written_files",
]

CERTIFICATE_SUFFIX = ".release.json"

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


@dataclass(slots=True)
class Staged:
    """An output on its way: write to `path`, then `commit`."""

    path: Path
    target: Path
    committed: bool = False

    def commit(self) -> None:
        """Make the output appear under its name, at once and whole; an output that is there by now is not replaced."""
        try:
            _flush(self.path)
            if self.path.is_dir():
                _refuse_existing(self.target)
                os.rename(self.path, self.target)
            else:
                _move_file(self.path, self.target)
            _flush_folder(self.target.parent)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise _exists(self.target) from None
            raise _unwritable(self.target, error) from None
        self.committed = True


def check_free(path: str | PathLike[str]) -> None:
    """Refuse an output that exists already or that cannot be written, before anything is charged.

    Raises
    ------
    SinkError
    """
    target = _target(path)
    _refuse_existing(target)
    if not target.parent.is_dir():
        raise SinkError(f"{target}: the folder {target.parent} does not exist. Create it first.")
    try:
        # trying is surer than asking: it sees quotas, read-only disks and access lists too
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _unwritable(target, error) from None


@contextmanager
def stage(path: str | PathLike[str], *, directory: bool) -> Iterator[Staged]:
    """Write an output, file or directory, so that it appears whole or not at all.

    Without `commit`, or when anything goes wrong on the way, what was written is removed. Only a process that is killed
    leaves something behind: a hidden folder beside the target, whose name ends in ``.partial``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "centers.csv"
    >>> with stage(target, directory=False) as staged:
    ...     _ = staged.path.write_text("x,y")
    ...     staged.commit()
    >>> target.read_text()
    'x,y'
    """
    check_free(path)
    target = _target(path)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        staged = Staged(folder / target.name, target)
        if directory:
            staged.path.mkdir()
        yield staged
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise _unwritable(target, error) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def certificate_path(out: str | PathLike[str]) -> Path:
    """Where the certificate of an output stands: beside it, under its name with ``.release.json`` after it.

    >>> certificate_path("tables/safe.csv").name
    'safe.csv.release.json'
    """
    path = Path(out)
    return path.with_name(path.name + CERTIFICATE_SUFFIX)


def check_free_with_certificate(out: str | PathLike[str]) -> None:
    """`check_free` for an output and for the certificate beside it."""
    check_free(out)
    check_free(certificate_path(out))


def commit_with_certificate(staged: Staged, certificate: Staged, text: str) -> None:
    """Make an output appear with the text of its certificate, or neither of them."""
    certificate.path.write_text(text, encoding="utf-8")
    staged.commit()
    try:
        certificate.commit()
    except BaseException:  # an output without its certificate is no release
        (shutil.rmtree if staged.target.is_dir() else os.unlink)(staged.target)
        raise


def written_files(path: Path, name: str | None = None) -> dict[str, Path]:
    """The files of an output, a file or a folder, by the names that a certificate beside it lists.

    `name` is the final name of an output that is still staged. Hidden files are checksums and markers of an engine.
    """
    name = path.name if name is None else name
    if not path.is_dir():
        return {name: path}
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {f"{name}/{file.relative_to(path)}": file for file in files}


def file_hashes(path: Path, name: str | None = None) -> dict[str, str]:
    """The hash of each file of an output, by the names of `written_files`."""
    return {listed: file_hash(file) for listed, file in written_files(path, name).items()}


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def writer_of(path: str, format: str, schema: Any) -> Any:
    """A writer of record batches; columns of text are written as they are, nulls as nothing. Stage its path."""
    if format == "parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(path, schema)
    if format == "csv":
        from pyarrow import csv

        return csv.CSVWriter(path, schema)
    raise SinkError(f'format "{format}" cannot be written. Choose parquet or csv.')


def _target(path: str | PathLike[str]) -> Path:
    text = os.fspath(path)
    if not text:
        raise SinkError("the output has no name. Give a path that does not exist yet.")
    return Path(os.path.abspath(text))


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise _exists(target)


def _exists(target: Path) -> SinkError:
    return SinkError(f"{target} exists already. Choose another name, or remove it first.")


def _unwritable(target: Path, error: OSError) -> SinkError:
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    return SinkError(f"{target} cannot be written: {reason}. Choose another place.")


def _move_file(source: Path, target: Path) -> None:
    """Rename without replacing: a link fails where a file is, which a plain rename would overwrite."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _refuse_existing(target)
        os.rename(source, target)
    else:
        os.unlink(source)


def _flush(path: Path) -> None:
    """Bring the bytes to the disk before their name: a crash must not leave an empty file under it."""
    for file in [path] if path.is_file() else path.rglob("*"):
        if not file.is_file():
            continue
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


def _flush_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems cannot open a folder; the rename has happened all the same
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
