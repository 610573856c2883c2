"""The SQLite file of an inbox is its owner's alone: who can copy it again and again sees codes vanish and reports appear."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cloister.privacy.store_names import LOGS

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["make_private", "tighten"]

OWNERS_ALONE = 0o600


def make_private(connection: Connection) -> None:
    """Close a new file to others, before it gets its name; other databases are left as they are."""
    if connection.dialect.name == "sqlite":
        os.chmod(connection.exec_driver_sql("PRAGMA database_list").all()[0].file, OWNERS_ALONE)


def tighten(path: Path) -> None:
    """Close a file and its logs to others, as far as this user may; a backup that was restored may have come back open."""
    file = Path(os.path.realpath(path))
    for each in (file, *(file.with_name(file.name + ending) for ending in LOGS)):
        with suppress(OSError):  # no such log, or a file of somebody else, who decides who may read it
            if stat.S_IMODE(each.stat().st_mode) & ~OWNERS_ALONE:
                each.chmod(OWNERS_ALONE)
