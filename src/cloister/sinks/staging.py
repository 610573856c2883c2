"""Write into a hidden folder beside the output, then move what is whole to its name. Nothing half-written is ever seen.

An output with a certificate beside it has one commit for both: the certificate appears first, then the output, which is the
point of commit. A process that dies between the two leaves a certificate without its output; the copy in the hidden folder
tells the next run in that place that it may be removed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from cloister.interrupts import deferred
from cloister.sinks.reservations import Reservation, existing_output, refuse_existing, reserved, unwritable
from cloister.sinks.written_files import certificate_path

__all__ = ["Staged", "check_free", "check_free_with_certificate", "flush_folder", "stage"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


class Staged:
    """An output on its way: write to `path`, then `commit`."""

    def __init__(self, reservation: Reservation) -> None:
        self.target = reservation.target
        self.path = reservation.staging / reservation.target.name
        self._reservation = reservation

    @property
    def committed(self) -> bool:
        """Whether the output is under its name."""
        return self._reservation.committed

    def commit(self, certificate: str | None = None) -> None:
        """Make the output appear under its name, at once and whole; an output that is there by now is not replaced.

        With the text of a certificate, that appears beside it, or neither of them does.
        """
        try:
            if certificate is not None:
                certificate_path(self.path).write_text(certificate, encoding="utf-8")
                flush(certificate_path(self.path))
            flush(self.path)
            with deferred():  # a signal waits until both or none are there
                self._appear(has_certificate=certificate is not None)
                self._reservation.committed = True
            flush_folder(self.target.parent)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise existing_output(self.target) from None
            raise unwritable(self.target, error) from None

    def _appear(self, has_certificate: bool) -> None:
        if has_certificate:
            refuse_existing(self.target)
            show_copy(certificate_path(self.path), certificate_path(self.target))
            flush_folder(self.target.parent)
        try:
            if self.path.is_dir():
                refuse_existing(self.target)
                os.rename(self.path, self.target)
            else:
                show(self.path, self.target)
        except BaseException:  # a certificate without its output certifies nothing
            if has_certificate:
                os.unlink(certificate_path(self.target))
            raise


@contextmanager
def stage(path: str | PathLike[str], *, directory: bool, with_certificate: bool = False) -> Iterator[Staged]:
    """Write an output, file or directory, so that it appears whole or not at all.

    Without `commit`, or when anything goes wrong on the way, what was written is removed. Only a process that is killed
    leaves something behind: a hidden folder beside the target, whose name ends in ``.partial``. The next one that writes
    into the same place removes it.

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
    with reserved(path, with_certificate=with_certificate) as reservation:
        staged = Staged(reservation)
        try:
            reservation.free_room()
            os.mkdir(reservation.staging)
            if directory:
                os.mkdir(staged.path)
            yield staged
        except OSError as error:
            if error.errno in _NO_ROOM or not reservation.staging.is_dir():  # full, or its folder is gone
                raise unwritable(staged.target, error) from None
            raise
        finally:
            with deferred():
                shutil.rmtree(reservation.staging, ignore_errors=True)


def check_free(path: str | PathLike[str]) -> None:
    """Refuse an output that exists already or that cannot be written, before anything is charged.

    Raises
    ------
    SinkError
    """
    with reserved(path):
        pass


def check_free_with_certificate(out: str | PathLike[str]) -> None:
    """`check_free` for an output and for the certificate beside it."""
    with reserved(out, with_certificate=True):
        pass


def show(source: Path, target: Path) -> None:
    """Move a file without replacing: a link fails where a file is, which a plain rename would overwrite."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        refuse_existing(target)
        os.rename(source, target)


def show_copy(source: Path, target: Path) -> None:
    """The same, but the source stays where it is too."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        refuse_existing(target)
        other = source.with_name("certificate")
        shutil.copyfile(source, other)
        flush(other)
        os.rename(other, target)


def flush(path: Path) -> None:
    """Bring the bytes to the disk before their name: a crash must not leave an empty file under it."""
    for file in [path] if path.is_file() else path.rglob("*"):
        if not file.is_file():
            continue
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


def flush_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems cannot open a folder; the names are there all the same
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
