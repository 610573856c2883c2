"""``cloister verify``: whether a release adds up, and whether its files are those that were written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloister.cli import flags
from cloister.cli.output import print_json
from cloister.errors import CloisterError, DataError, SourceError
from cloister.sinks import certificate_path, file_hash, written_files

if TYPE_CHECKING:
    from cloister.privacy.release import Release

EXAMPLE = "Example: cloister verify clusters/release.json"
WANTED = "Give what a command wrote: a release.json, or a file with its certificate inside or beside it"


@flags.takes_groups
def verify(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release.json, or a folder, synopsis or table that a command wrote.")
    ],
    *,
    everywhere: flags.Everywhere,
) -> None:
    """Add the steps of a release up again and check that its files were not changed."""
    certificate, folder = read_release(release)
    if not certificate.adds_up():
        raise DataError("the steps of this release add up to more than its guarantee.")
    for name, expected in certificate.files.items():
        path = folder / name
        if not path.is_file():
            raise DataError(f"{name} is missing beside the release.")
        if file_hash(path) != expected:
            raise DataError(f"{name} was changed after it was written: its hash differs from the release.")
    if everywhere.as_json:
        print_json({"verified": True, "guarantee": str(certificate.guarantee), "status": certificate.status})
        return
    steps = "The steps add up and the files" if certificate.events else "The files"
    typer.echo(f"{steps} are those of this release: {certificate.guarantee}.")
    typer.echo(f"Status: {certificate.status}.")


def read_release(path: Path) -> tuple[Release, Path]:
    """The certificate that is, stands beside, or lies in a file or folder, and where the files that it names are."""
    import pyarrow as pa

    from cloister.privacy.release import Release

    place = Path(os.path.abspath(path))  # `.` and `..` have no name that a certificate could stand beside
    certificate: Release | None
    try:
        if place.name.endswith("release.json"):
            certificate = Release.from_json(place.read_text(encoding="utf-8"))
        elif place.name and certificate_path(place).exists():
            certificate = Release.from_json(certificate_path(place).read_text(encoding="utf-8"))
            check_named(place, certificate)
        elif place.is_dir():
            return read_release(path / "release.json")
        else:
            certificate = read_inside(place)
    except CloisterError:
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException):
        certificate = None
    if certificate is None:
        raise SourceError(f"{path} cannot be read as a release. {WANTED}.")
    return certificate, place.parent


def check_named(path: Path, certificate: Release) -> None:
    """Refuse a certificate that is not about this file, or not about all files of this folder."""
    for name, file in written_files(path).items():
        if name not in certificate.files:
            raise DataError(f"{file.name} is not one of the files that the certificate beside it names.")


def read_inside(path: Path) -> Release | None:
    """The certificate inside a synopsis or a table, checked against what is in the file."""
    import pyarrow.parquet as pq

    from cloister.clustering.synopsis.files import ABOUT, load
    from cloister.tabulation.private_table import read_certificate

    if path.suffix.lower() == ".parquet" and ABOUT in (pq.read_schema(path).metadata or {}):
        return load(path).release
    return read_certificate(path) if path.suffix.lower() in (".parquet", ".json") else None
