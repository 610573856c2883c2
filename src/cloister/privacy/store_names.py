"""A SQLite file must have one name: its write-ahead log lies beside the name by which it was opened.

Two processes that reach one file under two names (a hard link, a mount of the file alone) do not see each other's log: each
charges on what the other one has not written yet, and one charge is lost. Symbolic links do no harm: SQLite follows them.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
from pathlib import Path

__all__ = ["FINISHED", "LOGS", "STAGED", "log_without_file", "second_name_of", "staging_prefix"]

FINISHED, STAGED = "new", ".partial"  # a new store and the end of the name of its folder, until it gets its own name
MOUNTS = Path("/proc/self/mountinfo")  # Linux: what is mounted where; the fifth field is the place
ESCAPED = re.compile(r"\\([0-7]{3})")  # spaces and the like in it

LOGS = ("-wal", "-shm", "-journal")  # SQLite's own files beside a store: what was written last may be there alone
BESIDE = "and what was written last lies beside one name alone, so that a charge could be lost"


def staging_prefix(path: Path) -> str:
    """How the name of the folder begins in which a new store is made."""
    return f".{path.name[:40]}."


def log_without_file(path: Path) -> Path | None:
    """What SQLite left beside a file that is gone; None: nothing, or the file is there.

    It would be read into a new file of that name, which then held what the old one did.
    """
    file = Path(os.path.realpath(path))
    left = [log for log in (file.with_name(file.name + ending) for ending in LOGS) if os.path.lexists(log)]
    return left[0] if left and not path.exists() else None  # asked last: another process may just have made it


def second_name_of(path: Path) -> str | None:
    """Why this file may be in use under another name as well, in words; None where it has one name.

    Raises
    ------
    OSError
    """
    file = path.resolve()
    if file.stat().st_nlink > 1:
        remove_staged(file)
        if file.stat().st_nlink > 1:
            return f"has a second name (a hard link), {BESIDE}. Keep one name, and remove the other."
    if is_mounted_alone(file):
        return f"is a file that is mounted by itself, {BESIDE}. Mount its folder instead."
    return None


def remove_staged(file: Path) -> None:
    """Remove the name under which a store was made; a process that was killed leaves it."""
    pattern = glob.escape(str(file.parent / staging_prefix(file))) + f"*{STAGED}/{FINISHED}"
    for staged in glob.glob(pattern, include_hidden=True):
        with contextlib.suppress(OSError):
            if os.path.samefile(staged, file):
                os.unlink(staged)


def is_mounted_alone(file: Path) -> bool:
    """Whether the file is a mount point, as a file that a container is given; False where the system does not say."""
    try:
        lines = os.fsdecode(MOUNTS.read_bytes()).splitlines()
    except OSError:
        return False
    points = (line.split(" ")[4] for line in lines if line.count(" ") > 4)
    return str(file) in {ESCAPED.sub(lambda found: chr(int(found[1], 8)), point) for point in points}
