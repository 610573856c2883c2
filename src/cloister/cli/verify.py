"""``cloister verify``: does a release add up, and are its files the ones that were written?"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from cloister.cli.flags import Machine, print_json
from cloister.errors import DataError, SourceError

EXAMPLE = "Example: cloister verify clusters/release.json"


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release.json that a command wrote.")],
    as_json: Machine = False,
) -> None:
    """Add the steps of a release up again and check the hashes of its files."""
    from cloister.privacy.release import Release

    release = release / "release.json" if release.is_dir() else release
    try:
        certificate = Release.from_json(release.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{release} cannot be read. Give the release.json that a command wrote.") from None
    if not certificate.adds_up():
        raise DataError("the steps of this release add up to more than its guarantee.")
    for name, expected in certificate.files.items():
        path = release.parent / name
        if not path.exists():
            raise DataError(f"{name} is missing beside the release.")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise DataError(f"{name} was changed after it was written: its hash differs from the release.")
    if as_json:
        print_json({"verified": True, "guarantee": str(certificate.guarantee), "status": certificate.status})
        return
    steps = "The steps add up and the files" if certificate.events else "The files"
    typer.echo(f"{steps} are those of this release: {certificate.guarantee}.")
    typer.echo(f"Status: {certificate.status}.")
