"""Folders for files on their way to a download: they go when the download is made, or, after a kill, when a service starts next.

Whoever uses a folder holds a lock on it, which the system drops with the process: a folder without one is abandoned.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, so that nobody can tell what is abandoned
    fcntl = None  # type: ignore[assignment]

__all__ = ["export_folder", "remove_abandoned"]

PREFIX = "cloister-export-"
MADE_HERE = re.compile(f"{PREFIX}[a-z0-9_]{{8}}")  # as `mkdtemp` names them
PAUSE = 0.1  # seconds in which an empty folder is removed


@contextmanager
def export_folder() -> Iterator[Path]:
    """Make a folder that is removed when the block ends."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = lock_of(folder)
    if lock is None:  # there are no locks here, or a service that starts now takes it for abandoned
        time.sleep(PAUSE)
        if not folder.exists():
            folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            lock = lock_of(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_abandoned() -> None:
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if MADE_HERE.fullmatch(folder.name) and (lock := lock_of(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def lock_of(folder: Path) -> int | None:
    """Lock a folder until what is returned is closed; None: it is gone, in use, somebody else's, or no folder."""
    if fcntl is None:
        return None
    with suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(lock)
            is_own = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700  # as `mkdtemp` makes them
            if is_own and os.path.samestat(found, os.stat(folder)):
                return lock
        except OSError:
            os.close(lock)
            raise
        os.close(lock)
    return None
