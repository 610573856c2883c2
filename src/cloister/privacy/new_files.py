"""Files that several processes may make at once: the first one is kept, whole, and the others use it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from cloister.sinks import flush_folder

__all__ = ["NO_LINKS", "place_new_file"]

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""What a file system answers that has no hard links."""


def place_new_file(finished: Path, path: Path) -> bool:
    """Give a finished file the name `path`, unless a file has it already; whether it was given.

    Nobody ever sees a part of it: a link appears at once, and it does not replace a file as a rename would.
    """
    try:
        os.link(finished, path)
    except FileExistsError:
        return False
    flush_folder(path.parent)
    return True
