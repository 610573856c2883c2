"""Data that lies beside a certificate that names it: a release, which Cloister wrote."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from cloister.errors import CloisterError, UsageError
from cloister.file_options import NOTHING_SAID
from cloister.privacy.release import Release
from cloister.sinks import certificate_path, file_hashes
from cloister.sources.stated_names import StatedNames

__all__ = ["certificate_of", "check_decimals", "names_of_release"]

LARGEST_CERTIFICATE = 10_000_000  # bytes: beyond, it is none


def certificate_of(data: Any) -> Release | None:
    """The certificate beside a file: one that can be read, adds up, and names this file by its hash; None: there is none.

    Who wrote it is not asked: what it says decides how the file is read and which figures are shown.
    """
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, str | os.PathLike) or "://" in str(data):
        return None
    try:
        path = certificate_path(data)
        if not path.is_file() or path.stat().st_size > LARGEST_CERTIFICATE:
            return None
        with path.open(encoding="utf-8") as file:
            release = Release.from_json(file.read(LARGEST_CERTIFICATE))
        if not release.adds_up() or not release.files or release.files != file_hashes(Path(data)):
            return None
    except (CloisterError, OSError, ValueError, RecursionError):
        return None
    return release


def names_of_release(data: Any, stated: StatedNames) -> StatedNames:
    """What is said of the files of a table, for what might be a release of it.

    The [file] part of a schema is about the original: a release has a header line, and no title above it.
    """
    return stated if certificate_of(data) is None else replace(stated, file=NOTHING_SAID)


def check_decimals(data: Any) -> None:
    """Refuse to compare a release whose numbers have decimal commas with an original that has them otherwise.

    They would be taken for words, and what is measured would look far safer than it is.
    """
    release = certificate_of(data)
    if release is not None and release.parameters.get("decimal") == ",":
        raise UsageError(
            "this release was written with --dialect semicolon, and its decimal commas are not those of the original: the two "
            "cannot be compared. Publish it as the input is written too, and measure that; what was lost is the same."
        )
