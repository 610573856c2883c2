"""The name of an output, held by one process from before a charge until the output is written.

A reservation is a hidden folder beside the output, ``.NAME.HASH.cloister.partial``, with a locked file in it. The system lets
go of the lock when the process ends, however it ends: a folder whose file is not locked was left behind by a dead process, and
whoever next writes into the same place removes it. Where a place has no locks (some network drives) it is left to the user;
where a network drive keeps them to each machine (mounted with ``local_lock``), let one machine write into a folder at a time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path

from cloister.errors import SinkError
from cloister.interrupts import deferred
from cloister.parameters import CONTROLS
from cloister.sinks.written_files import CERTIFICATE_SUFFIX, certificate_path
from cloister.stopped_commands import remember_result

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Reservation", "existing_output", "refuse_existing", "reserved", "reserved_outputs", "set_aside", "unwritable"]

SUFFIX = ".cloister.partial"
STAGED = re.compile(rf"\..{{1,40}}\.[0-9a-f]{{8}}{re.escape(SUFFIX)}", re.DOTALL)  # as `Reservation` names its folder
LOCK, ROOM, NEW = "lock", "room", "new"  # in the folder: the locked file, bytes that are set aside, what is written
CERTIFICATE = CERTIFICATE_SUFFIX.removeprefix(".")
ROOM_BYTES = 1 << 20  # more than centres, most tables and their certificates take
WAITS = 20  # times 50 ms, for a process that is just removing what another one left

_HELD: ContextVar[Mapping[Path, Reservation]] = ContextVar("reservations", default={})  # noqa: B039 - never changed in place


class Reservation:
    """The name of an output, and of its certificate if that stands beside it, held by this process."""

    def __init__(self, target: Path) -> None:
        self.target = target
        digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()
        self.folder = target.with_name(f".{target.name[:40]}.{digest[:8]}{SUFFIX}")
        self.committed = False
        self._lock: int | None = None
        self._beside: Reservation | None = None  # of the certificate

    @property
    def staging(self) -> Path:
        """The folder that the output is written into, until it is whole."""
        return self.folder / NEW

    def acquire(self, with_certificate: bool) -> None:
        """Take the name, or refuse: it is taken, too long, or in a place that cannot be written."""
        names = [self.target, *([certificate_path(self.target)] if with_certificate else [])]
        for name in names:
            _check_encodable(name)
        if with_certificate and ("\\" in self.target.name or CONTROLS.search(self.target.name)):
            raise SinkError(
                "the name of the output holds a backslash or a character that is not printed, which a certificate beside it "
                "cannot list. Choose another name."
            )
        if self.target.name.startswith(".") and self.target.name.endswith(SUFFIX):
            raise SinkError(
                f"{self.target}: what ends in {SUFFIX} are names of unfinished outputs, which are removed. Choose another name."
            )
        if self.target.name.endswith(CERTIFICATE):
            raise SinkError(
                f"{self.target}: what ends in {CERTIFICATE} are names of certificates, and an output of that name could not be "
                "verified. Choose another name."
            )
        try:
            remove_leftovers(self.target.parent, self.folder)
            for name in names:
                refuse_existing(name)
            if not self.target.parent.is_dir():
                raise SinkError(f"{self.target}: the folder {self.target.parent} does not exist. Create it first.")
            with deferred():
                self._lock = self._make_folder()
            if with_certificate:  # another command may want that name for its output
                self._beside = Reservation(certificate_path(self.target))
                self._beside.hold()
            for name in names:  # another process may have written them before the lock was taken
                refuse_existing(name)
            self._try_names(names)
        except OSError as error:
            raise unwritable(self.target, error) from None

    def hold(self) -> None:
        """Keep others from the name, without anything to be written under it."""
        remove_leftovers(self.target.parent, self.folder)
        with deferred():
            self._lock = self._make_folder()

    def release(self) -> None:
        """Remove the folder, whatever is in it, and let the name go."""
        with deferred():
            if self._beside is not None:
                self._beside.release()
            if self._lock is None:
                return
            if fcntl is None:  # Windows removes no file that is open
                os.close(self._lock)
            shutil.rmtree(self.folder, ignore_errors=True)
            if fcntl is not None:
                os.close(self._lock)
            self._lock = None

    def free_room(self) -> None:
        """Give up the bytes that were set aside: they are needed now."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.folder / ROOM)

    def _make_folder(self) -> int:
        for _ in range(WAITS):
            try:
                os.mkdir(self.folder, 0o700)
                lock = take_lock(self.folder, has_made_folder=True)
            except FileExistsError:
                lock = None
            except FileNotFoundError:  # a process that removes leftovers was faster than our lock
                continue
            if lock is not None:
                return lock
            time.sleep(0.05)
            remove_leftovers(self.target.parent, self.folder)
        raise SinkError(
            f"{self.target} is being written by another command. Wait until that has ended, or choose another name. (If none "
            f"is running, remove {self.folder}.)"
        )

    def _try_names(self, names: list[Path]) -> None:
        """Create files of these names and set bytes aside: trying sees quotas, full disks and limits that asking does not."""
        os.mkdir(self.staging)
        for name in names:
            (self.staging / name.name).touch()
        shutil.rmtree(self.staging)
        self.take_room(ROOM_BYTES)

    def take_room(self, size: int) -> None:
        """Set so many bytes aside, in place of those that were.

        Raises
        ------
        OSError
        """
        with (self.folder / ROOM).open("wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, size)
                return
            except AttributeError:  # macOS
                pass
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                    raise
            for start in range(0, size, ROOM_BYTES):
                file.write(bytes(min(ROOM_BYTES, size - start)))


@contextmanager
def reserved(path: str | PathLike[str], *, with_certificate: bool = False) -> Iterator[Reservation]:
    """Hold the name of a new output while its block runs: checked before anything is charged, and nobody else's meanwhile.

    `stage` inside the block writes under the same reservation. An error that leaves the block after the output was written
    carries a note that says so.

    Raises
    ------
    SinkError
    """
    target = absolute(path)
    if target in _HELD.get():
        yield _HELD.get()[target]
        return
    held = Reservation(target)
    before = _HELD.get()
    try:
        try:
            held.acquire(with_certificate)
            _HELD.set({**before, target: held})
            yield held
        finally:
            _HELD.set(before)
            held.release()
    except BaseException as error:
        if held.committed:
            error.add_note(written_before(target))
        raise
    if held.committed and not before:  # a copy that is kept on the way is no output of the command
        remember_result(written_before(target))


def written_before(target: Path) -> str:
    """What is said of an output where something went wrong after it."""
    return f"{target} was written before that, and is whole."


def reserved_outputs() -> tuple[Path, ...]:
    """The outputs whose names are held here, from the root on."""
    return tuple(_HELD.get())


def set_aside(size: int) -> None:
    """Set room aside for an output of about this size, where that is known before the charge and is more than a megabyte.

    It is that of the outputs whose names are held here; without any, nothing is done.

    Raises
    ------
    SinkError
        There is not as much.
    """
    if size <= ROOM_BYTES:
        return
    for target, held in _HELD.get().items():
        try:
            held.take_room(size)
        except OSError as error:
            raise SinkError(
                f"{target} would take up to {-(-size // 2**20):,} MB, which cannot be set aside: "
                f"{os.strerror(error.errno or errno.EIO)}. Free some room, or choose another place."
            ) from None


def absolute(path: str | PathLike[str]) -> Path:
    """The path of an output, from the root on."""
    text = os.fspath(path) if isinstance(path, str | PathLike) else ""
    if not text or not isinstance(text, str):
        raise SinkError("the output has no name. Give a path, a text or pathlib.Path, that does not exist yet.")
    return Path(os.path.abspath(text))


def remove_leftovers(folder: Path, first: Path) -> None:
    """Remove what dead processes left in a folder: staged parts, and a certificate whose output never came.

    `first` is looked at even where the folder cannot be listed.
    """
    found = {first}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found |= {Path(entry.path) for entry in entries if STAGED.fullmatch(entry.name)}
    for left in found:
        if left.is_symlink() or not left.is_dir():  # what a link leads to is somebody's own
            continue
        with contextlib.suppress(OSError), deferred():
            if not {*os.listdir(left)} <= {LOCK, ROOM, NEW}:  # a folder of the user's under such a name
                continue
            lock = take_lock(left, has_made_folder=False)
            if lock is not None:
                remove_lone_certificates(left)
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)


def remove_lone_certificates(left: Path) -> None:
    """Take back a certificate that appeared without its output: the process died between the two."""
    for copy in (left / NEW).glob(f"*{CERTIFICATE_SUFFIX}"):
        shown = left.parent / copy.name
        output = left.parent / copy.name.removesuffix(CERTIFICATE_SUFFIX)
        if shown.is_file() and not os.path.lexists(output) and shown.read_bytes() == copy.read_bytes():
            shown.unlink()


def take_lock(folder: Path, *, has_made_folder: bool) -> int | None:
    """Lock the file in a folder: its descriptor, or None while another process holds it or where that cannot be known.

    No link is followed: somebody else who may write into the folder could lead it to a file of the user's.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    lock = os.open(folder / LOCK, flags, 0o600)
    try:
        if fcntl is None:
            raise OSError(errno.ENOTSUP, "no locks")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = os.path.samestat(os.fstat(lock), os.stat(folder / LOCK))  # not one that was removed meanwhile
    except OSError as error:
        no_locks = error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
        is_ours = has_made_folder and no_locks
    if is_ours:
        return lock
    os.close(lock)
    return None


def refuse_existing(target: Path) -> None:
    """Refuse a name that something has already, be it a link to nowhere."""
    if os.path.lexists(target):
        raise existing_output(target)


def existing_output(target: Path) -> SinkError:
    """What is said of a name that is taken."""
    return SinkError(f"{target} exists already. Choose another name, or remove it first.")


def unwritable(target: Path, error: OSError) -> SinkError:
    """What is said of a place that cannot be written."""
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    return SinkError(f"{target} cannot be written: {reason}. Choose another place.")


def _check_encodable(path: Path) -> None:
    """Refuse a path that libraries cannot pass on: they take UTF-8."""
    try:
        if "\0" not in str(path):
            str(path).encode("utf-8")
            return
    except UnicodeEncodeError:
        pass
    raise SinkError("the path of the output is not UTF-8, and file formats need that. Choose another name or folder.")
