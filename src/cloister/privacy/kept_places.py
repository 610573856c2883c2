"""Where releases that were paid for are kept until they are written: folders of the user alone, and no others."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from pathlib import Path

from cloister.errors import DataError, UsageError
from cloister.parameters import own_folder
from cloister.privacy.ledger import Ledger

__all__ = ["FOLDER", "beside", "check_place", "check_unused", "places", "places_to_read"]

FOLDER = re.compile("[0-9]*-[0-9a-f]{8}")  # the name of the folder of a kept release
OTHERS = 0o077  # permissions of anybody but the owner


def places(ledger: Ledger | None) -> list[Path]:
    """Where releases of a ledger are kept: beside its file; without one, or without room there, in the user's data folder."""
    import platformdirs

    name = "unledgered" if ledger is None else hashlib.sha256(real_place(ledger).encode()).hexdigest()[:16]
    try:
        shared = own_folder(platformdirs.user_data_path, "what is kept", "")
    except UsageError:  # no home folder
        return beside(ledger)
    return [*beside(ledger), shared / "kept" / name]


def places_to_read(ledger: Ledger) -> list[Path]:
    """Where releases of a ledger may be, and those without one: an older Cloister kept them beside a link to its file."""
    linked = [] if "://" in ledger.place else [Path(f"{ledger.place}.kept")]
    return list(dict.fromkeys([*places(ledger), *linked, *places(None)]))


def beside(ledger: Ledger | None) -> list[Path]:
    """The folder beside the file of a ledger, if it has one; a folder that went away with its ledger is not made anew."""
    return [] if ledger is None or "://" in ledger.place else [Path(f"{real_place(ledger)}.kept")]


def real_place(ledger: Ledger) -> str:
    """The address of a ledger, or its file, whichever link it was named by."""
    return ledger.place if "://" in ledger.place else os.path.realpath(ledger.place)


def check_place(place: Path) -> None:
    """Refuse a folder for kept releases that is a link, somebody else's, or open to others: what is in it may be theirs.

    Raises
    ------
    OSError
    """
    facts = place.lstat()
    if not stat.S_ISDIR(facts.st_mode) or (os.name == "posix" and (facts.st_uid != os.geteuid() or facts.st_mode & OTHERS)):
        raise PermissionError(errno.EPERM, "not a folder of this user alone", str(place))


def check_unused(ledger: Ledger) -> None:
    """Refuse to say what is kept where a folder with kept releases, as it seems, may not be used.

    Raises
    ------
    DataError
    """
    for place in places_to_read(ledger):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            try:
                check_place(place)
            except PermissionError:
                try:
                    is_empty = not any(FOLDER.fullmatch(name) for name in os.listdir(place))
                except PermissionError:
                    is_empty = False  # for all that is known
                if not is_empty:
                    raise DataError(
                        f"{place} is not used, and releases may be kept there: it is a link, somebody else's, or open to others. "
                        f"If it is yours, make it a folder of your own, with rights 700, and try again."
                    ) from None
